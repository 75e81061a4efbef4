# Programs to copy from.
#: examples    programs to copy from, in bench/examples: a GPT-2 block, a Llama decoder on threads, gated delta, Mamba-2 and LFM2 blocks, an encoder batch in C99, calibration to 8 bits, a stream on a board
EXAMPLES := $(patsubst bench/examples/%,$(BUILD)/examples/%,$(basename $(wildcard bench/examples/*.cpp bench/examples/*.c)))
.PHONY: examples
examples: $(EXAMPLES)
	@for program in $^; do echo "$${program##*/}:"; "$$program" || exit 1; done

$(EXAMPLES): $(BUILD)/examples/%: $(BUILD)/bench/examples/%.o $(BUILD)/libattend.a
	@mkdir -p $(@D)
	$(call link,-lpthread)

$(BUILD)/bench/examples/%.o: bench/examples/%.c
	@mkdir -p $(@D)
	@echo "  compile $<" >&2
	@$(CC) -std=c99 $(OPT) $(DEBUG) $(WARNINGS) -Iinclude $(CPPFLAGS) -MMD -MP $(EXTRA) $(CFLAGS) -c $< -o $@
