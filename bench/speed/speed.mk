# What is measured: speed beside peers, errors, sizes.
MEASURES := $(patsubst %.cpp,$(BUILD)/%.o,bench/speed/cases.cpp bench/speed/machine.cpp)

#: size        flash, RAM, stack and instructions of each Cortex-M and RISC-V board, as a table, held to limits; writes bench/speed/results/sizes.md (TARGETS= some)
.PHONY: size
size:
	@sh bench/speed/sizes/size.sh

#: worst-cases what loops of calls in integers take on emulated boards, for attend/worst_case.h (needs python3-numpy; ARM_CXX= another compiler, LEVELS="-O3" other flags)
.PHONY: worst-cases
worst-cases:
	@python="$(PYTHON)"; for candidate in python3 /usr/bin/python3; do \
	  [ -n "$$python" ] || ! "$$candidate" -c 'import numpy' 2>/dev/null || python=$$candidate; done; \
	for level in $(or $(LEVELS),-O2 -Os); do echo "// $$level"; for board in m0plus m3 m4 m33; do \
	  OPT=$$level sh bench/boards/board.sh build $$board build/worst worst && sh bench/boards/board.sh count $$board build/worst/$$board.worst loops >build/worst/loops && \
	  "$${python:-python3}" bench/speed/sizes/worst_cases.py cortex_$$board <build/worst/loops || exit; done; done

#: environment what setting the floating-point environment costs: ticks of a call on this machine, bytes of flash on boards, as tables (TARGETS= some)
.PHONY: environment
environment: $(BUILD)/environment
	@$(BUILD)/environment
	@echo
	@sh bench/speed/sizes/environment.sh

#: accuracy    errors against float64 and numpy, of caches in other formats, and of integers beside three calls of 8 bits, as tables (needs python3-numpy)
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

#: perplexity  of a small Llama in weights of fewer bits, on TOKENS= (5000) of its own text, as a table (needs python3-numpy, and stories260K.bin in MODELS=)
.PHONY: perplexity
perplexity: lib
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/packages/package.py --shared-object $(BUILD)/libattend.so $(BUILD)/packages >/dev/null
	@python="$(PYTHON)"; for candidate in python3 /usr/bin/python3; do \
	  [ -n "$$python" ] || { "$$candidate" -c 'import numpy' 2>/dev/null && python=$$candidate; }; done; \
	  PYTHONPATH=$(BUILD)/packages/python "$${python:-python3}" bench/speed/errors/perplexity.py "$(MODELS)/stories260K.bin" $(or $(TOKENS),5000)

#: bound       look for inputs whose errors pass the bound, for SECONDS= (5); the worst that was found beside the bound, as a table
SECONDS ?= 5
.PHONY: bound
bound: $(BUILD)/error_search
	@$(BUILD)/error_search --seconds $(SECONDS) $(ARGS)

$(BUILD)/error_search: $(BUILD)/bench/speed/errors/error_search.o $(BUILD)/libattend.a
	$(call link)

#: linear-bound  the same for linear attention, whose bound is another (SECONDS=, SEED=)
.PHONY: linear-bound
linear-bound: $(BUILD)/linear_search
	@$(BUILD)/linear_search $(SECONDS) $(or $(SEED),1)

$(BUILD)/linear_search: $(BUILD)/bench/speed/errors/linear_search.o
	$(call link)

#: every-float the largest error of each activation over all 2^32 floats, some minutes each with two threads (ARGS= names of some)
.PHONY: every-float
every-float: $(BUILD)/every_float
	@$(BUILD)/every_float $(ARGS)

$(BUILD)/every_float: $(BUILD)/bench/speed/errors/every_float.o $(BUILD)/libattend.a
	$(call link,-lpthread)

#: bench       the rows of bench/speed/results/speed.md: speed as a fraction of the machine's measured limits, and of peers', as a table, in some six minutes (needs Google Benchmark; arguments for it in ARGS=; with ONNX Runtime and ggml after `make peers`)
#: bench-all   the same for every length and shape, with two threads too
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

#: peers       fetch the peers that are no packages of the distribution, ONNX Runtime and ggml, from npm into build/
.PHONY: peers
peers:
	@sh bench/speed/peers/fetch.sh onnxruntime ggml

#: story-peer  the most likely story of a GGUF file (MODEL=x.gguf, STEPS=200) by the application and by llama.cpp's library, which `make peers` fetches; fails where they differ
.PHONY: story-peer
story-peer: $(BUILD)/run $(BUILD)/llama_story
	@$(BUILD)/run --model "$(MODEL)" --steps $(or $(STEPS),200) >build/story.txt
	@$(BUILD)/llama_story "$(GGML_LIBRARIES)" "$(MODEL)" $(or $(STEPS),200) >build/story-peer.txt
	@# The space that is put before texts is printed by the peer.
	@for story in build/story.txt build/story-peer.txt; do sed '1s/^ //' $$story >$$story.trimmed; done
	@cmp build/story.txt.trimmed build/story-peer.txt.trimmed && cat build/story.txt && echo "llama.cpp tells the same, $$(wc -c <build/story.txt) bytes"

#: sweep       each shape of a sweep against every peer that was found, in turns; to build/sweep.tsv, and a table (NAME= part of the names of some)
.PHONY: sweep
sweep: $(BUILD)/sweep
	@$(BUILD)/sweep build/sweep.tsv $(NAME) >build/sweep.log
	@{ awk -f bench/speed/sweep_table.awk build/sweep.tsv; cat build/sweep.log; } | tee build/sweep.txt

#: costs       what options and number formats cost, each beside the call without it, in turns; to build/costs.tsv, and a table
.PHONY: costs
costs: $(BUILD)/options
	@$(BUILD)/options build/costs.tsv | tee build/costs.txt

#: integer     attention in integers beside the same call in float32, and its decode beside reading as many bytes; a table
.PHONY: integer
integer: $(BUILD)/integer
	@$(BUILD)/integer | tee build/integer.txt

#: tokens      tokens in a second of the application's models, beside the read bandwidth
.PHONY: tokens
tokens: $(BUILD)/tokens
	@$(BUILD)/tokens $(MODEL_FILES)

#: linear      linear projections beside the machine's limits and OpenBLAS, in turns; to build/linear.tsv, and a table
.PHONY: linear
linear: $(BUILD)/linear
	@$(BUILD)/linear build/linear.tsv | tee build/linear.txt

#: linear-attention linear attention as a share of the FMA peak, beside ggml and on two threads, in turns; to build/linear-attention.tsv, and a table
.PHONY: linear-attention
linear-attention: $(BUILD)/linear_attention
	@$(BUILD)/linear_attention build/linear-attention.tsv | tee build/linear-attention.txt

$(BUILD)/linear_attention: $(patsubst %,$(BUILD)/bench/speed/%.o,linear_attention machine peers/linear_attention_ggml peers/ggml_library) $(BUILD)/libattend.a
	$(call link,-lpthread -ldl)

$(BUILD)/options: $(BUILD)/bench/speed/options.o $(BUILD)/bench/speed/decode_costs.o $(BUILD)/bench/speed/machine.o $(BUILD)/libattend.a
	$(call link)

$(BUILD)/environment: $(BUILD)/bench/speed/environment.o
	$(call link)

$(BUILD)/integer: $(BUILD)/bench/speed/integer.o $(BUILD)/bench/speed/machine.o $(BUILD)/libattend.a
	$(call link)

#: plots       bench/speed/results/*.svg of the last `make bench` and `make sweep` (needs gnuplot; TO= another folder)
.PHONY: plots
plots:
	@sh bench/speed/plots.sh $(TO)

# Peers are other people's code or what a user would write, with the optimisations that such a user would ask for. Each is
# optional, and looked for anew each time.
PEER_OBJECTS = $(patsubst %,$(BUILD)/bench/speed/peers/%.o,peers peer_naive peer_ggml ggml_library) $(foreach peer,eigen openblas,$(if $(HAVE_$(peer)),$(BUILD)/bench/speed/peers/peer_$(peer).o))
ifneq ($(filter bench bench-all sweep linear linear-attention story-peer $(BUILD)/benchmarks $(BUILD)/sweep $(BUILD)/linear $(BUILD)/linear_attention,$(MAKECMDGOALS)),)
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
