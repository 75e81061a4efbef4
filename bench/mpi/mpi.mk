# One sequence over the processes of MPI.
#: distributed decode over keys that RANKS= (4) processes of MPI divide, of TOKENS= (65536) in STEPS= (20), as a table (MPI=openmpi or mpich); WHAT=prefill: all tokens, in pieces of PIECE= (256)
#: distributed-check  sums of attention by every MPI that is installed, in every order that its algorithms have, and prefill, beside one process
#: distributed-model  ROUNDS= (5) rounds of measured costs and runs of 1 to 8 ranks, beside a model of them, and what it says of 1,024 ranks, as tables and bench/speed/results/ranks.svg (needs python3; gnuplot)
#: distributed-python  one token over TOKENS= (20000) keys that RANKS= (4) processes divide, by mpi4py and by torch.distributed over gloo, beside one call
.PHONY: distributed distributed-check distributed-model distributed-python
distributed: $(BUILD)/libattend.a
	@sh bench/mpi/run.sh "$(or $(WHAT),decode)" $(BUILD) "$(or $(RANKS),4)" "$(or $(TOKENS),65536)" \
		"$(if $(filter prefill,$(WHAT)),$(or $(PIECE),256),$(or $(STEPS),20))"
distributed-check: $(BUILD)/libattend.a
	@RANKS="$(RANKS)" sh tests/mpi/check.sh $(BUILD)
distributed-model: $(BUILD)/libattend.a
	@rm -f build/model.tsv
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/mpi/model.py measure $(BUILD) "$(or $(ROUNDS),5)"
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/mpi/model.py table
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/mpi/model.py plot bench/speed/results/ranks.svg
distributed-python: package
	@PYTHON="$(PYTHON)" sh bench/mpi/python.sh "$(or $(RANKS),4)" "$(or $(TOKENS),20000)"
