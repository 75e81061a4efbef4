/* Of the kind that vendors ship: it calls main(). */
#include <stdint.h>

extern uint32_t _estack[], _sidata[], _sdata[], _edata[], _sbss[], _ebss[];
int main(void);

void Reset_Handler(void) {
#ifdef __ARM_FP
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;
#endif
  for (uint32_t *to = _sdata, *from = _sidata; to < _edata;) *to++ = *from++;
  for (volatile uint32_t *to = _sbss; to < _ebss;) *to++ = 0;
  main();
  for (;;) {
  }
}

static void Default_Handler(void) {
  for (;;) {
  }
}

__attribute__((section(".isr_vector"), used)) static void (*const vectors[4])(void) = {
    (void (*)(void))_estack, Reset_Handler, Default_Handler, Default_Handler};
