# What is known about the library, from what other commands have measured.
#: evidence    requirements with their tests, stack, sizes, bits, errors, targets, what is missing: one page, its data and a bill of materials, in build/evidence (needs python3; reads what make test, make check, make mutants left)
#:               RUN=1  first runs $(EVIDENCE_RUNS), each unless it has passed with the same files: some hour and a half on two processors;  RUN="coverage proofs"  these alone
EVIDENCE_RUNS := test check rules proofs coverage thread-sanitizer
.PHONY: evidence
evidence:
	@$(if $(RUN),env -u RUN MAKEFLAGS= sh bench/evidence/once.sh $(if $(filter 1,$(RUN)),$(EVIDENCE_RUNS),$(RUN)))
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/evidence/evidence.py $(BUILD) build/evidence
