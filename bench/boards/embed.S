/* The application's files in flash. MODEL_PATH and TOKENIZER_PATH come from board.sh; not every program has a tokenizer. */
  .section .rodata.embedded, "a"

  .global model_begin, model_end, tokenizer_begin, tokenizer_end

  .balign 16
model_begin:
  .incbin MODEL_PATH
model_end:

  .balign 16
tokenizer_begin:
#ifdef TOKENIZER_PATH
  .incbin TOKENIZER_PATH
#endif
tokenizer_end:
