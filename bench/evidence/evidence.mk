# What is known about the library, from what other commands have measured.
#: evidence    requirements with their tests, stack, sizes, bits, errors, targets, what is missing: one page, its data and a bill of materials, in build/evidence (needs python3; reads what make test, make check, make mutants left)
.PHONY: evidence
evidence:
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/evidence/evidence.py $(BUILD) build/evidence
