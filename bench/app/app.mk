# The application: `make run`, its model, and the trained examples of the exporter that it runs.
APPLICATION := $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard bench/app/*.cpp))
APPLICATION_SOURCES := $(patsubst $(BUILD)/%.o,%.cpp,$(APPLICATION))

#: run         in full: commands that are typed at a terminal, or three examples, unless it is told
#:               SENTENCE="dim the lamp"  of this one;  HEATMAP=1  shows what each head looked at, and draws it to build/heatmap-*.svg
#:               LIST=1  the 48 actions and 14 rooms that it knows, and what else can stand in an action
#:               EXAMPLE=textbook  self-attention step by step
#:               EXAMPLE=gestures  what an exported model makes of held-out gestures of a motion sensor, drawn to build/gestures.svg
#:               EXAMPLE=anomaly   how much the vibration of two machines surprises another one, drawn to build/anomaly.svg
#:               EXAMPLE=keywords  how often spoken words of held-out voices are understood, drawn to build/keywords.svg; with FILE=sound.wav the
#:                                 words in it (bench/exporter/examples/keywords/keywords.wav is one): 16,000 samples a second, one channel
#:                                 of these three with TARGET= the self-test on a board
#:               MODEL=  a story by a Llama or a GPT-2 in a GGUF file, or with TOKENIZER= by a checkpoint of llama2.c (PROMPT= STEPS= TEMPERATURE= TOP_P= SEED=)
#:               TARGET=cortex-m4, cortex-m7, cortex-m33 or cortex-m55  the same on an emulated board; with STEPS= or PROMPT= a story
#:               QUANTISED=1  computes attention and projections in integers of 8 bits
#:               TARGET=cortex-m0plus  the same in integers on an emulated board without floats, with the instructions it took
#:               TARGET=rv32imafc or rv32imac  README's first program on an emulated RISC-V board: there is no C++ library for the others
# As they were given, dollar signs too.
export ATTEND_PROMPT := $(value PROMPT)
export ATTEND_SENTENCE := $(value SENTENCE)
RUN_OPTIONS = $(if $(filter-out undefined,$(origin SENTENCE)),--sentence "$$ATTEND_SENTENCE") $(if $(LIST),--list) $(if $(HEATMAP),--heatmap build) $(if $(QUANTISED),--arithmetic integer) \
  $(if $(EXAMPLE),--example "$(EXAMPLE)") $(if $(MODEL),--model "$(MODEL)") $(if $(TOKENIZER),--tokenizer "$(TOKENIZER)") \
  $(if $(value PROMPT),--prompt "$$ATTEND_PROMPT") $(if $(STEPS),--steps "$(STEPS)") $(if $(TEMPERATURE),--temperature "$(TEMPERATURE)") \
  $(if $(TOP_P),--top-p "$(TOP_P)") $(if $(filter-out file undefined,$(origin SEED)),--seed "$(SEED)")
# On a board: household commands, or a story where PROMPT= or STEPS= asks for one.
# In integers where QUANTISED=1 asks for it, and on the smallest board.
BOARD_COUNTS = $(if $(value PROMPT)$(STEPS),,$(QUANTISED)$(filter cortex-m0plus m0plus,$(TARGET)))
BOARD_PROGRAM = $(if $(value PROMPT)$(STEPS),story,$(if $(BOARD_COUNTS),household_count,$(if $(value SENTENCE),household,$(if $(filter rv32%,$(TARGET)),example,household))))
BOARD_ARGUMENTS = $(if $(value PROMPT)$(STEPS),"$(or $(STEPS),64)" $(if $(value PROMPT),"$$ATTEND_PROMPT"),$(if $(value SENTENCE),"$$ATTEND_SENTENCE"))
EXPORTED_EXAMPLES := gestures keywords anomaly
EXPORTED := $(filter $(EXPORTED_EXAMPLES),$(EXAMPLE))
ifneq ($(and $(TARGET),$(MODEL)$(TOKENIZER)$(HEATMAP)$(LIST)$(filter-out $(EXPORTED),$(EXAMPLE))),)
$(error TARGET= takes SENTENCE=, or for a story STEPS= and PROMPT=, or EXAMPLE= $(EXPORTED_EXAMPLES); MODEL=, TOKENIZER=, HEATMAP= and LIST= are of this machine)
endif
.PHONY: run
ifneq ($(EXPORTED),)
ifeq ($(TARGET),)
run: $(BUILD)/$(EXPORTED)
	@mkdir -p build
	@$< bench/exporter/examples/$(EXPORTED)/held_out.bin build/$(EXPORTED).svg $(if $(FILE),"$(FILE)")
	@echo "drawn to build/$(EXPORTED).svg"
else
run: build/exported/$(EXPORTED)/model.cpp
	@EXPORTED=$(<D) sh bench/boards/board.sh build "$(TARGET)" build exported
	@sh bench/boards/board.sh run "$(TARGET)" build/$(TARGET).exported
endif
else ifeq ($(TARGET),)
run: $(BUILD)/run
	@$(BUILD)/run $(RUN_OPTIONS)
else
run:
	@mkdir -p build
	@MODELS="$(MODELS)" sh bench/boards/board.sh build "$(TARGET)" build $(BOARD_PROGRAM)
	@sh bench/boards/board.sh $(if $(BOARD_COUNTS),count,run) "$(TARGET)" build/$(TARGET).$(BOARD_PROGRAM) $(BOARD_ARGUMENTS)
endif

$(BUILD)/run: $(BUILD)/libattend.a $(APPLICATION)
	$(call link)

#: quantise    give the model of household commands the scales of its activations, for the model in integers, and tell what it then understands
.PHONY: quantise
quantise: $(BUILD)/run
	@$(BUILD)/run --quantise bench/app/model/calibration.txt

#: train       train the model of household commands anew and test it on sentences that it has not seen; writes bench/app/model (needs python3-torch)
.PHONY: train
train:
	@python="$(PYTHON)"; for candidate in python3 /usr/bin/python3; do \
	  [ -n "$$python" ] || { "$$candidate" -c 'import torch' 2>/dev/null && python=$$candidate; }; done; \
	  [ -n "$$python" ] || { echo "train: PyTorch was not found; install it (Debian: apt-get install python3-torch libopenblas0)" >&2; exit 1; }; \
	  PYTHONDONTWRITEBYTECODE=1 "$$python" bench/app/train/train.py --model bench/app/model/household.bin --held-out bench/app/model/held_out.txt $(ARGS)
