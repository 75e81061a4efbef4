# Attend. `make help` says what there is.

OPT ?= -O2
DEBUG ?=
EXTRA ?=
BUILD ?= build/$(subst $() ,_,$(notdir $(CXX)))$(OPT)$(subst /,_,$(subst $() ,_,$(EXTRA)))
MODELS ?= ../shared/models
# Where the compiled tests lie: with the folder of another build by the same compiler, only the library is compiled anew.
TEST_BUILD ?= $(BUILD)
TEST_OPT ?= -O1

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
FLAGS := -std=c++17 $(OPT) $(DEBUG) -ffp-contract=off $(WARNINGS) -Iinclude -MMD -MP $(EXTRA)

# Instruction sets, which take longest, are compiled first: no core waits for one of them in the end.
LIBRARY := $(patsubst %.cpp,$(BUILD)/%.o,$(sort $(wildcard src/backend/*.cpp) $(wildcard src/layers/layers_*.cpp)) $(filter-out src/backend/% src/layers/layers_%,$(wildcard src/*/*.cpp)))
MEASURES := $(patsubst %.cpp,$(BUILD)/%.o,bench/speed/cases.cpp bench/speed/machine.cpp)
BENCH := $(BUILD)/bench/speed/bench.o $(BUILD)/bench/speed/sweep.o $(BUILD)/bench/speed/options.o $(BUILD)/bench/speed/decode_costs.o $(BUILD)/bench/speed/integer.o $(BUILD)/bench/speed/linear.o $(BUILD)/bench/speed/tokens.o $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard bench/speed/peers/*.cpp)) $(MEASURES)
APPLICATION := $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard bench/app/*.cpp))
APPLICATION_SOURCES := $(patsubst $(BUILD)/%.o,%.cpp,$(APPLICATION))
# Inline functions lie in several objects, and the linker keeps the first copy: tests that are compiled with optimisation come first.
TEST_ROOMS ?= unit conformance app typed c
TEST_SOURCES := $(wildcard $(TEST_ROOMS:%=tests/%/test_*.cpp))
# GROUPED= compiles so many of them as one file, where their names allow it: what is compiled once and thrown away is there sooner.
ifneq ($(GROUPED),)
TEST_SOURCES := $(shell sh tests/support/groups.sh $(GROUPED) $(TEST_BUILD)/tests/groups $(TEST_SOURCES))
$(if $(TEST_SOURCES),,$(error tests could not be put into groups: see tests/support/groups.sh))
endif
TESTS := $(patsubst %.cpp,$(TEST_BUILD)/%.o,$(patsubst $(TEST_BUILD)/%,%,$(TEST_SOURCES)) tests/support/main.cpp $(if $(filter app,$(TEST_ROOMS)),$(filter-out bench/app/run.cpp,$(APPLICATION_SOURCES))))

# Kernels of instruction sets that this processor may lack, with emulated intrinsics, and a dispatcher that chooses them.
EMULATED := $(patsubst %.cpp,$(TEST_BUILD)/%.o,$(wildcard tests/emulated/*.cpp))

# All cores, unless a -j is given.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Build messages go to standard error: what `make run` prints is the program's own.
define compile
@mkdir -p $(@D)
@echo "  compile $<" >&2
@$(CXX) $(FLAGS) $(1) -c $< -o $@ $(2)
endef

comma := ,
define link
@echo "  link    $@" >&2
@$(CXX) $(FLAGS) $(filter %.o,$^) $(filter %.a,$^) $(1) -o $@
endef

$(BUILD)/%.o: %.cpp
	$(call compile)

$(BUILD)/libattend.a: $(LIBRARY)
	@mkdir -p $(@D) && rm -f $@
	@ar rcs $@ $^

## lib         the static and the shared library, for programs in C or with a foreign-function interface: libattend.a, libattend.so
.PHONY: lib
lib: $(BUILD)/libattend.a $(BUILD)/libattend.so
	@ls $^

# Both libraries are made of the same objects. The shared one exports only what the headers of the C surface declare, and needs no
# run-time of C++. GCC tells beside each object who calls whom and with how much stack, which check_stack.sh reads.
NOTES := $(shell $(CXX) -fcallgraph-info=su -fstack-usage -E -x c++ /dev/null >/dev/null 2>&1 && echo -fcallgraph-info=su -fstack-usage)
$(BUILD)/src/%.o: src/%.cpp
	@rm -f $(@:.o=.ci) $(@:.o=.su) # compilers' caches bring none
	$(call compile,-fPIC -fvisibility=hidden -ffunction-sections $(NOTES))

# A program that was linked with it finds at run time what has its major version.
$(BUILD)/libattend.so: $(LIBRARY)
	$(call link,-shared -nostdlib -Wl$(comma)-soname$(comma)libattend.so.$(MAJOR))
	@ln -sf libattend.so $@.$(MAJOR)

MAJOR = $(firstword $(subst ., ,$(VERSION)))
VERSION := $(shell sed -nE 's/^.define ATTEND_VERSION_(MAJOR|MINOR|PATCH) //p' include/attend/core/version.h | paste -sd.)

## install     headers, both libraries, files for pkg-config and CMake, below PREFIX= (/usr/local), or staged below DESTDIR=
## uninstall   removes what install has written, told the same folders
PREFIX ?= /usr/local
includedir ?= $(PREFIX)/include
libdir ?= $(PREFIX)/lib
.PHONY: install uninstall
install: lib
	@sh src/install.sh install "$(VERSION)" $(BUILD) "$(DESTDIR)" "$(includedir)" "$(libdir)"
uninstall:
	@sh src/install.sh uninstall "$(VERSION)" $(BUILD) "$(DESTDIR)" "$(includedir)" "$(libdir)"

## package     what others vendor or install, in build/packages: one header and one source, an Arduino library, a PlatformIO library, an ESP-IDF component, a Zephyr module, a CMSIS-Pack, a Python wheel, with clang and lld an npm package (URL= of the project, for descriptions and links)
CLANG ?= clang++
WASM_LINKS := $(shell command -v $(firstword $(CLANG)) >/dev/null 2>&1 && command -v wasm-ld >/dev/null 2>&1 && echo yes)
.PHONY: package
package: lib $(if $(WASM_LINKS),wasm)
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/packages/package.py --shared-object $(BUILD)/libattend.so --url "$(URL)" $(if $(WASM_LINKS),--wasm $(WASM_BUILD)) build/packages

## wasm        the library as WebAssembly with vectors, in WASM_BUILD= (build/wasm), as the npm package has it: attend.wasm, and attend-small.wasm for floats alone (needs clang and lld; CLANG=)
WASM_BUILD ?= build/wasm
NPM_BUILD ?= build/npm
WASM := $(CLANG) --target=wasm32 -msimd128 -mbulk-memory
WASM_SOURCES := $(wildcard src/*/*.cpp) bench/javascript/wasm/memory.cpp
.PHONY: wasm
wasm: $(WASM_BUILD)/attend.wasm $(WASM_BUILD)/attend-small.wasm

# The small one is compiled for size, without functions of integers.
define wasm_objects
$(WASM_BUILD)/$(1)/%.o: %.cpp
	@mkdir -p $$(@D)
	@echo "  compile $$< ($(1).wasm)" >&2
	@$(WASM) -std=c++17 $(2) -ffp-contract=off -ffreestanding -fno-builtin -fno-exceptions -fno-rtti -ffunction-sections -Iinclude -MMD -MP -c $$< -o $$@
$(WASM_BUILD)/$(1).wasm: $(WASM_SOURCES:%.cpp=$(WASM_BUILD)/$(1)/%.o) bench/packages/c_to_js.py bench/packages/c_surface.py
	@echo "  link    $$@" >&2
	@$(WASM) -nostdlib -Wl,--no-entry -Wl,--gc-sections -Wl,--strip-all -Wl,-z,stack-size=65536 -Wl,--stack-first -Wl,--export=__heap_base \
	  $$$$(PYTHONDONTWRITEBYTECODE=1 python3 bench/packages/c_to_js.py exports | $(3)) $$(filter %.o,$$^) -o $$@
-include $(WASM_SOURCES:%.cpp=$(WASM_BUILD)/$(1)/%.d)
endef
$(eval $(call wasm_objects,attend,-O2,cat))
$(eval $(call wasm_objects,attend-small,-Oz,grep -v integer))

# What npm users get, without the archives of `make package`: bench/site/playground has it too.
$(NPM_BUILD): wasm
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/packages/package.py --url "$(URL)" --wasm $(WASM_BUILD) --only npm $(NPM_BUILD)
.PHONY: $(NPM_BUILD)

## site        every page, and the reference of the C++, C and Python surfaces with a search, as a site that asks nobody for anything, in build/site (needs python3-clang-19, python3-markdown-it, python3-pygments)
.PHONY: site
site:
	@sh bench/site/make.sh build/site

## run         the action that a household command asks for: of commands that are typed at a terminal, or of three examples
##               SENTENCE="dim the lamp"  of this one;  HEATMAP=1  shows what each head looked at, and draws it to build/heatmap-*.svg
##               LIST=1  the 48 actions and 14 rooms that it knows, and what else can stand in an action
##               EXAMPLE=textbook  self-attention step by step
##               EXAMPLE=gestures  what an exported model makes of held-out gestures of a motion sensor, drawn to build/gestures.svg
##               EXAMPLE=anomaly   how much the vibration of two machines surprises another one, drawn to build/anomaly.svg
##               EXAMPLE=keywords  how often spoken words of held-out voices are understood, drawn to build/keywords.svg; with FILE=sound.wav the
##                                 words in it (bench/exporter/examples/keywords/keywords.wav is one): 16,000 samples a second, one channel
##                                 of these three with TARGET= the self-test on a board
##               MODEL=  a story by a Llama or a GPT-2 in a GGUF file, or with TOKENIZER= by a checkpoint of llama2.c (PROMPT= STEPS= TEMPERATURE= TOP_P= SEED=)
##               TARGET=cortex-m4, cortex-m7, cortex-m33 or cortex-m55  the same on an emulated board; with STEPS= or PROMPT= a story
##               QUANTISED=1  computes attention and projections in integers of 8 bits
##               TARGET=cortex-m0plus  the same in integers on an emulated board without floats, with the instructions it took
##               TARGET=rv32imafc or rv32imac  README's first program on an emulated RISC-V board: there is no C++ library for the others
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
run:
	@mkdir -p build
	@EXPORTED=bench/exporter/examples/$(EXPORTED)/model sh bench/boards/board.sh build "$(TARGET)" build exported
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

# Prints what the page's playground and the npm package are compared with.
$(BUILD)/playground_native: $(BUILD)/bench/site/playground/native.o $(BUILD)/libattend.a $(filter-out %/run.o,$(APPLICATION))
	$(call link)

$(EXPORTED_EXAMPLES:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/bench/exporter/examples/%/run.o $(BUILD)/bench/exporter/examples/%/model/model.o $(BUILD)/libattend.a
	$(call link)

## examples    programs to copy from, in bench/examples: a GPT-2 block, a Llama decoder on threads, an encoder batch in C99, calibration to 8 bits, a stream on a board
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
	@$(CC) -std=c99 $(OPT) $(DEBUG) $(WARNINGS) -Iinclude -MMD -MP $(EXTRA) -c $< -o $@

## quantise    give the model of household commands the scales of its activations, for the model in integers, and tell what it then understands
.PHONY: quantise
quantise: $(BUILD)/run
	@$(BUILD)/run --quantise bench/app/model/calibration.txt

## train       train the model of household commands anew and test it on sentences that it has not seen; writes bench/app/model (needs python3-torch)
.PHONY: train
train:
	@python="$(PYTHON)"; for candidate in python3 /usr/bin/python3; do \
	  [ -n "$$python" ] || { "$$candidate" -c 'import torch' 2>/dev/null && python=$$candidate; }; done; \
	  [ -n "$$python" ] || { echo "train: PyTorch was not found; install it (Debian: apt-get install python3-torch libopenblas0)" >&2; exit 1; }; \
	  PYTHONDONTWRITEBYTECODE=1 "$$python" bench/app/train/train.py --model bench/app/model/household.bin --held-out bench/app/model/held_out.txt $(ARGS)

## test        every test, some four minutes: bits, digests, errors, masks, instruction sets of x86 that the processor lacks, wrong code that must not compile, symbols, stack, freestanding, vendoring, Windows, the C surface, peers of the benchmarks, installs, packages, other projects' warnings and flags, who includes whom, pages
.PHONY: test unit
MODEL_FILES := $(wildcard $(MODELS)/stories260K.bin)
test unit: export ATTEND_MODEL = $(MODEL_FILES)
test unit: export ATTEND_TOKENIZER = $(if $(MODEL_FILES),$(MODELS)/tok512.bin)
test unit: export ATTEND_STORY = $(if $(MODEL_FILES),$(MODELS)/stories260K.greedy200.txt)
test: compiled
	@sh tests/scripts/all.sh "$(CXX)" $(BUILD)
.PHONY: compiled
compiled: $(BUILD)/unit $(BUILD)/emulated lib

## check       the rest, some twenty minutes: Clang, contraction, sanitizers, every target, sizes, errors (needs what .ci/run installs; ALL=1: the whole of it, before a release)
.PHONY: check
check:
	@CXX="$(CXX)" MODELS="$(MODELS)" ALL="$(ALL)" sh tests/scripts/rest.sh $(BUILD)

## unit        the compiled tests only (arguments for doctest in ARGS=)
unit: $(BUILD)/unit
	@$(BUILD)/unit $(ARGS)

$(BUILD)/unit: $(BUILD)/libattend.a $(TESTS)
	$(call link,-lpthread)

# The same tests. What is emulated comes before the library, whose objects of these instruction sets nobody asks for then.
$(BUILD)/emulated: $(BUILD)/libattend.a $(EMULATED) $(TESTS)
	$(call link,-lpthread)

# doctest comes from the system, or from the distribution's package unpacked here, or the message says what to install.
# Clang 22 finds __COUNTER__ in its macros, and says that no standard has it; other compilers have no such warning. Tests of the
# surfaces compute little, and are compiled sooner without optimisation.
DOCTEST := -isystem build/doctest/usr/include -DDOCTEST_CONFIG_SUPER_FAST_ASSERTS -Wno-unknown-warning-option -Wno-c2y-extensions
$(BUILD)/tests/c/%.o $(BUILD)/tests/typed/%.o: TEST_OPT := -O0
# Tests of the C++ surface use all of it, and other people's projects have more warnings: check_consumers.sh looks for the headers' ones.
$(BUILD)/tests/typed/%.o: private OTHERS = @tests/support/other_warnings.flags
$(filter $(BUILD)/tests/typed/%,$(TESTS)): tests/support/other_warnings.flags
# What nearly all tests include is compiled once for each level of optimisation; compilers find it beside the header.
TEST_HEADERS := $(sort $(BUILD)/tests/standard-O0.h.gch $(BUILD)/tests/standard$(TEST_OPT).h.gch)
$(BUILD)/tests/%.o: tests/%.cpp | $(TEST_HEADERS)
	$(call compile,$(TEST_OPT) $(if $(filter $@,$(TESTS)),$(DOCTEST) -include $(BUILD)/tests/standard$(TEST_OPT).h) $(OTHERS),$(if $(OTHERS),2>$(@:.o=.warnings) || { grep -A 4 -w error $(@:.o=.warnings) >&2; exit 1; }))

$(BUILD)/tests/groups/%.o: $(BUILD)/tests/groups/%.cpp | $(TEST_HEADERS)
	$(call compile,$(TEST_OPT) $(DOCTEST) -Wno-shadow -include $(BUILD)/tests/standard$(TEST_OPT).h)

$(TEST_HEADERS): $(BUILD)/tests/standard-%.h.gch: tests/support/standard.h | build/doctest.ready
	@mkdir -p $(@D)
	@cp $< $(basename $@)
	@$(CXX) $(FLAGS) -$* $(DOCTEST) -x c++-header $(basename $@) -o $@

build/doctest.ready:
	@mkdir -p build
	@sh tests/support/find_doctest.sh "$(CXX)" build/doctest
	@touch $@

## train-examples  train the models of EXAMPLE= anew, and export them (needs python3-torch and python3-onnx)
.PHONY: train-examples
train-examples: package
	@python="$(PYTHON)"; for candidate in python3 /usr/bin/python3; do \
	  [ -n "$$python" ] || { "$$candidate" -c 'import torch, onnx' 2>/dev/null && python=$$candidate; }; done; \
	  [ -n "$$python" ] || { echo "train-examples: PyTorch or onnx was not found; install them (Debian: apt-get install python3-torch python3-onnx)" >&2; exit 1; }; \
	  for name in $(EXPORTED_EXAMPLES); do PYTHON="$$python" sh bench/exporter/examples/train.sh $$name build/packages/python || exit 1; done

## exports     export forty models of PyTorch's own exporter, compare with PyTorch, and run their self-tests here, on AArch64, s390x and boards (needs python3-torch and python3-onnx)
.PHONY: exports
exports: lib
	@TORCH=1 sh tests/scripts/check_exporter.sh "$(CXX)" $(BUILD)

## targets     the same bits on every target: this machine's backends, emulated Linux targets and boards, WebAssembly, a story on the boards, builds as vendors make them
.PHONY: targets
targets:
	@CXX="$(CXX)" MODELS="$(MODELS)" sh tests/scripts/targets.sh $(BUILD)

## size        flash, RAM, stack and instructions of each Cortex-M and RISC-V board, as a table, held to limits; writes bench/speed/results/sizes.md (TARGETS= some)
.PHONY: size
size:
	@sh bench/speed/sizes/size.sh

## environment what setting the floating-point environment costs: ticks of a call on this machine, bytes of flash on boards, as tables (TARGETS= some)
.PHONY: environment
environment: $(BUILD)/environment
	@$(BUILD)/environment
	@echo
	@sh bench/speed/sizes/environment.sh

## accuracy    errors against float64 and numpy, of caches in other formats, and of integers beside three calls of 8 bits, as tables (needs python3-numpy)
.PHONY: accuracy
accuracy: $(BUILD)/accuracy $(BUILD)/integer_accuracy
	@$(BUILD)/accuracy --formats
	@$(BUILD)/accuracy --dump $(BUILD)/accuracy.data
	@python="$(PYTHON)"; for candidate in python3 /usr/bin/python3; do \
	  [ -n "$$python" ] || { "$$candidate" -c 'import numpy' 2>/dev/null && python=$$candidate; }; done; \
	  "$${python:-python3}" bench/speed/errors/accuracy.py $(BUILD)/accuracy.data --table $(BUILD)/accuracy.txt && \
	  $(BUILD)/integer_accuracy $(BUILD)/integer_accuracy.data && \
	  "$${python:-python3}" bench/speed/errors/integer_accuracy.py $(BUILD)/integer_accuracy.data
	@echo "the full table of floats is in $(BUILD)/accuracy.txt"

# It computes in float64 for most of its time, and the library is not compiled with these.
$(BUILD)/bench/speed/errors/accuracy.o: FLAGS += -O3 -march=native
$(BUILD)/accuracy $(BUILD)/integer_accuracy: $(BUILD)/%: $(BUILD)/bench/speed/errors/%.o $(BUILD)/libattend.a
	$(call link)

## perplexity  of a small Llama in weights of fewer bits, on TOKENS= (5000) of its own text, as a table (needs python3-numpy, and stories260K.bin in MODELS=)
.PHONY: perplexity
perplexity: lib
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/packages/package.py --shared-object $(BUILD)/libattend.so $(BUILD)/packages >/dev/null
	@python="$(PYTHON)"; for candidate in python3 /usr/bin/python3; do \
	  [ -n "$$python" ] || { "$$candidate" -c 'import numpy' 2>/dev/null && python=$$candidate; }; done; \
	  PYTHONPATH=$(BUILD)/packages/python "$${python:-python3}" bench/speed/errors/perplexity.py "$(MODELS)/stories260K.bin" $(or $(TOKENS),5000)

## bound       look for inputs whose errors pass the bound, for SECONDS= (5); the worst that was found beside the bound, as a table
SECONDS ?= 5
.PHONY: bound
bound: $(BUILD)/error_search
	@$(BUILD)/error_search --seconds $(SECONDS) $(ARGS)

$(BUILD)/error_search: $(BUILD)/bench/speed/errors/error_search.o $(BUILD)/libattend.a
	$(call link)

## every-float the largest error of each activation over all 2^32 floats, some minutes each with two threads (ARGS= names of some)
.PHONY: every-float
every-float: $(BUILD)/every_float
	@$(BUILD)/every_float $(ARGS)

$(BUILD)/every_float: $(BUILD)/bench/speed/errors/every_float.o $(BUILD)/libattend.a
	$(call link,-lpthread)

## bench       the rows of bench/speed/results/speed.md: speed as a fraction of the machine's measured limits, and of peers', as a table, in some six minutes (needs Google Benchmark; arguments for it in ARGS=; with ONNX Runtime and ggml after `make peers`)
## bench-all   the same for every length and shape, with two threads too
.PHONY: bench bench-all
PAGE_ROWS := (^prefill/.*/(q1024_k1024_d64_h1|q1024_k1024_d64_h1_causal|q4096_k4096_d64_h1_causal|q1024_k1024_d128_h1|q1024_k1024_d64_h8|q197_k197_d64_h12|q128_k128_d64_h8|q128_k128_d64_h8_causal|q64_k64_d32_h4_causal|q16_k16_d16_h4_causal)|^prefill_cache/.*/q1024_k1024_d64_h8(_causal)?|^decode/.*/(q1_k256_d64_h8|q1_k2048_d64_h8|q1_k131072_d64_h8|q1_k16_d16_h4))$$
bench: BENCH_ROWS = --benchmark_filter='$(PAGE_ROWS)'
bench-all: BENCH_ROWS =
bench bench-all: $(BUILD)/benchmarks $(BUILD)/linear
	@$(BUILD)/benchmarks --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true --benchmark_min_time=0.05 $(BENCH_ROWS) \
	  --benchmark_display_aggregates_only=true --benchmark_counters_tabular=true --benchmark_out=build/bench.json $(ARGS) >build/bench.log
	@awk -f bench/speed/medians.awk build/bench.json >build/bench.tsv
	@sh bench/speed/peers/onnxruntime.sh build/bench.tsv $(BUILD)/benchmarks
	@awk -f bench/speed/table.awk build/bench.tsv | tee build/bench.txt
	@$(BUILD)/linear build/linear.tsv | tee build/linear.txt

## peers       fetch the peers that are no packages of the distribution, ONNX Runtime and ggml, from npm into build/
.PHONY: peers
peers:
	@sh bench/speed/peers/fetch.sh onnxruntime ggml

## adapters    the library inside of ONNX Runtime, llama.cpp, TensorFlow Lite, PyTorch and ExecuTorch: builds what it finds, fetches the rest from npm, and tests each in the runtime itself (ADAPTERS= some of them, ALL=1 every problem)
.PHONY: adapters
adapters: lib
	@sh tests/scripts/check_adapters.sh "$(CXX)" $(BUILD)

## invariance  what changes the bits of each runtime (threads, batch, padding, chunks, processors), as it is shipped and with the library inside, and what that costs in time; a table; writes bench/speed/results/invariance.md (ADAPTERS= some)
.PHONY: invariance
invariance: lib
	@sh bench/speed/invariance.sh "$(CXX)" $(BUILD)

## story-peer  the most likely story of a GGUF file (MODEL=x.gguf, STEPS=200) by the application and by llama.cpp's library, which `make peers` fetches; fails where they differ
.PHONY: story-peer
story-peer: $(BUILD)/run $(BUILD)/llama_story
	@$(BUILD)/run --model "$(MODEL)" --steps $(or $(STEPS),200) >build/story.txt
	@$(BUILD)/llama_story "$(GGML_LIBRARIES)" "$(MODEL)" $(or $(STEPS),200) >build/story-peer.txt
	@# The space that is put before texts is printed by the peer.
	@for story in build/story.txt build/story-peer.txt; do sed '1s/^ //' $$story >$$story.trimmed; done
	@cmp build/story.txt.trimmed build/story-peer.txt.trimmed && cat build/story.txt && echo "llama.cpp tells the same, $$(wc -c <build/story.txt) bytes"

## sweep       each shape of a sweep against every peer that was found, in turns; to build/sweep.tsv, and a table (NAME= part of the names of some)
.PHONY: sweep
sweep: $(BUILD)/sweep
	@$(BUILD)/sweep build/sweep.tsv $(NAME) >build/sweep.log
	@{ awk -f bench/speed/sweep_table.awk build/sweep.tsv; cat build/sweep.log; } | tee build/sweep.txt

## costs       what options and number formats cost, each beside the call without it, in turns; to build/costs.tsv, and a table
.PHONY: costs
costs: $(BUILD)/options
	@$(BUILD)/options build/costs.tsv | tee build/costs.txt

## integer     attention in integers beside the same call in float32, and its decode beside reading as many bytes; a table
.PHONY: integer
integer: $(BUILD)/integer
	@$(BUILD)/integer | tee build/integer.txt

## tokens      tokens in a second of the application's models, beside the read bandwidth
.PHONY: tokens
tokens: $(BUILD)/tokens
	@$(BUILD)/tokens $(MODEL_FILES)

## linear      linear projections beside the machine's limits and OpenBLAS, in turns; to build/linear.tsv, and a table
.PHONY: linear
linear: $(BUILD)/linear
	@$(BUILD)/linear build/linear.tsv | tee build/linear.txt

$(BUILD)/options: $(BUILD)/bench/speed/options.o $(BUILD)/bench/speed/decode_costs.o $(BUILD)/bench/speed/machine.o $(BUILD)/libattend.a
	$(call link)

$(BUILD)/environment: $(BUILD)/bench/speed/environment.o
	$(call link)

$(BUILD)/integer: $(BUILD)/bench/speed/integer.o $(BUILD)/bench/speed/machine.o $(BUILD)/libattend.a
	$(call link)

## distributed decode over keys that RANKS= (4) processes of MPI divide, of TOKENS= (65536) in STEPS= (20), as a table (MPI=openmpi or mpich); WHAT=prefill: all tokens, in pieces of PIECE= (256)
## distributed-check  sums of attention by every MPI that is installed, in every order that its algorithms have, and prefill, beside one process
## distributed-model  ROUNDS= (5) rounds of measured costs and runs of 1 to 8 ranks, beside a model of them, and what it says of 1,024 ranks, as tables and bench/speed/results/ranks.svg (needs python3; gnuplot)
## distributed-python  one token over TOKENS= (20000) keys that RANKS= (4) processes divide, by mpi4py and by torch.distributed over gloo, beside one call
.PHONY: distributed distributed-check distributed-model distributed-python
distributed: $(BUILD)/libattend.a
	@sh bench/mpi/run.sh "$(or $(WHAT),decode)" $(BUILD) "$(or $(RANKS),4)" "$(or $(TOKENS),65536)" \
		"$(if $(filter prefill,$(WHAT)),$(or $(PIECE),256),$(or $(STEPS),20))"
distributed-check: $(BUILD)/libattend.a
	@RANKS="$(RANKS)" sh bench/mpi/run.sh check $(BUILD)
distributed-model: $(BUILD)/libattend.a
	@rm -f build/model.tsv
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/mpi/model.py measure $(BUILD) "$(or $(ROUNDS),5)"
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/mpi/model.py table
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/mpi/model.py plot bench/speed/results/ranks.svg
distributed-python: package
	@PYTHON="$(PYTHON)" sh bench/mpi/python.sh "$(or $(RANKS),4)" "$(or $(TOKENS),20000)"

## plots       bench/speed/results/*.svg of the last `make bench` and `make sweep` (needs gnuplot; TO= another folder)
.PHONY: plots
plots:
	@sh bench/speed/plots.sh $(TO)

# Peers are other people's code or what a user would write, with the optimisations that such a user would ask for. Each is
# optional, and looked for anew each time.
PEER_OBJECTS = $(patsubst %,$(BUILD)/bench/speed/peers/%.o,peers peer_naive peer_ggml ggml_library) $(foreach peer,eigen openblas,$(if $(HAVE_$(peer)),$(BUILD)/bench/speed/peers/peer_$(peer).o))
ifneq ($(filter bench bench-all sweep linear story-peer $(BUILD)/benchmarks $(BUILD)/sweep $(BUILD)/linear,$(MAKECMDGOALS)),)
PEERS_FOUND := $(shell mkdir -p build; sh bench/speed/peers/find_peers.sh "$(CXX)" build/peers.mk)
include build/peers.mk
export OPENBLAS_CORETYPE GGML_LIBRARIES
endif

$(BUILD)/bench/speed/peers/peers.o: build/peers.mk
$(BUILD)/bench/speed/peers/peers.o: FLAGS += $(if $(HAVE_eigen),-DPEER_EIGEN) $(if $(HAVE_openblas),-DPEER_OPENBLAS)
$(BUILD)/bench/speed/peers/peer_naive.o $(BUILD)/bench/speed/peers/peer_openblas.o: FLAGS += -O3 -march=native -ffast-math -ffp-contract=fast
$(BUILD)/bench/speed/peers/peer_eigen.o: FLAGS += -O3 -march=native -ffp-contract=fast $(HAVE_eigen)

$(BUILD)/benchmarks: $(BUILD)/bench/speed/bench.o $(MEASURES) $(PEER_OBJECTS) $(BUILD)/libattend.a
	$(call link,-lbenchmark -lpthread -ldl $(HAVE_openblas))

$(BUILD)/sweep: $(BUILD)/bench/speed/sweep.o $(MEASURES) $(PEER_OBJECTS) $(BUILD)/libattend.a
	$(call link,-lpthread -ldl $(HAVE_openblas))

$(BUILD)/llama_story: $(BUILD)/bench/speed/peers/llama_story.o
	$(call link,-ldl)

$(BUILD)/tokens: $(BUILD)/bench/speed/tokens.o $(BUILD)/bench/speed/machine.o $(filter-out $(BUILD)/bench/app/run.o,$(APPLICATION)) $(BUILD)/libattend.a
	$(call link)

$(BUILD)/linear: $(BUILD)/bench/speed/linear.o $(BUILD)/bench/speed/machine.o $(PEER_OBJECTS) $(BUILD)/libattend.a
	$(call link,-lpthread -ldl $(HAVE_openblas))

$(BUILD)/bench/speed/bench.o: bench/speed/bench.cpp | build/benchmark.ready
	$(call compile)

build/benchmark.ready:
	@mkdir -p build
	@echo '#include <benchmark/benchmark.h>' | $(CXX) -std=c++17 -E -x c++ - >/dev/null 2>&1 || \
	  { echo "bench: Google Benchmark was not found; install it (Debian: apt-get install libbenchmark-dev)" >&2; exit 1; }
	@touch $@

## fuzz        random problems for FUZZ_SECONDS= (60): every backend against scalar code, the definition, the oracle (needs CXX=clang++)
.PHONY: fuzz
fuzz: $(BUILD)/libattend.a
	@sh tests/scripts/check_fuzz.sh "$(CXX)" $(BUILD)

## mutants     make N= (300) random mistakes in include/ and src/, one at a time: which do the unit tests not find? (SEED= JOBS= FILES=pattern of paths; FIRST=n goes on with the n-th)
N ?= 300
SEED ?= 1
FIRST ?= 1
MUTANTS_BASE = $(MAKE) --no-print-directory CXX="$(CXX)" DEBUG= OPT=-O1 TEST_OPT=-O1 BUILD=build/mutants/base build/mutants/base/unit \
  build/mutants/base/emulated
.PHONY: mutants
mutants:
	@MAKEFLAGS= $(MUTANTS_BASE)
	@MAKEFLAGS= $(MUTANTS_BASE) --dry-run --always-make >build/mutants/base/commands
	@python3 tests/mutants/mutants.py --compiler "$(CXX)" --base build/mutants/base --count $(N) --seed $(SEED) --first $(FIRST) \
	  $(if $(JOBS),--jobs $(JOBS)) $(if $(FILES),--files '$(FILES)')

## rooms       lines of each room of include and src beside its budget
.PHONY: rooms
rooms:
	@sh tests/support/budget.sh

## tiles       hot loops of every backend as each compiler makes them: instructions, loads, accesses of the stack, and cycles by models of processors, held to limits
##               COMPILERS="gcc clang-19" BACKENDS="avx2 neon64"  some;  LOOPS=all  every loop;  LOOPS=parts  the parts of whole tiles;  LIMITS=write  makes today's figures the limits
.PHONY: tiles
tiles:
	@PYTHONDONTWRITEBYTECODE=1 python3 tests/tiles/tiles.py --compilers "$(COMPILERS)" --backends "$(BACKENDS)" \
	  $(if $(filter all,$(LOOPS)),--all) $(if $(filter parts,$(LOOPS)),--parts) $(if $(filter write,$(LIMITS)),--write) $(if $(JOBS),--jobs $(JOBS))

## digests     print the table of digests as this build computes it, for tests/conformance/digests.inc
.PHONY: digests
digests: $(BUILD)/unit
	@$(BUILD)/unit --test-case="committed digests*" --success | sed -nE 's/.* (DIGEST\(.*\)).*/\1/p' | awk '!seen[$$0]++'

## format      lay out the sources with clang-format
.PHONY: format
format:
	@clang-format -i $(filter-out tests/wrong_code/%,$(wildcard src/*/*.cpp src/*/*.h src/*/*/*.h include/attend/*.h include/attend/*/*.h \
	  bench/*/*.cpp bench/*/*.h bench/*/*/*.h bench/speed/*/*.cpp bench/exporter/examples/*/*.h tests/*/*.cpp tests/*/*.h))

## clean       remove build/
.PHONY: clean
clean:
	@rm -rf build

## help        this list; CXX=clang++ and OPT=-O3 choose compiler and level, DEBUG=-g adds debug information, EXTRA= adds flags, BUILD= the folder
.PHONY: help
help:
	@echo "make ..."
	@sed -n 's/^## /  /p' $(firstword $(MAKEFILE_LIST))

-include $(patsubst %.o,%.d,$(LIBRARY) $(EXAMPLES:$(BUILD)/%=$(BUILD)/bench/%.o) $(BENCH) $(APPLICATION) $(TESTS) $(EMULATED) $(BUILD)/bench/speed/errors/accuracy.o \
  $(BUILD)/bench/speed/errors/integer_accuracy.o $(BUILD)/bench/speed/errors/error_search.o $(BUILD)/bench/speed/errors/every_float.o)
