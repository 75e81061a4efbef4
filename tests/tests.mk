# The compiled tests, and what looks at the library as `make test` and `make check` do, one at a time.
TEST_OPT ?= -O1
# Where the compiled tests lie: with the folder of another build by the same compiler, only the library is compiled anew.
TEST_BUILD ?= $(BUILD)
# Inline functions lie in several objects, and the linker keeps the first copy: tests that are compiled with optimisation come first.
TEST_ROOMS ?= unit conformance app typed c
TEST_FILES ?= $(wildcard $(TEST_ROOMS:%=tests/%/test_*.cpp))
TEST_SOURCES := $(TEST_FILES)
# GROUPED= compiles so many of them as one file, where their names allow it: what is compiled once and thrown away is there sooner.
ifneq ($(GROUPED),)
TEST_SOURCES := $(shell sh tests/support/groups.sh $(GROUPED) $(TEST_BUILD)/tests/groups $(TEST_SOURCES))
$(if $(TEST_SOURCES),,$(error tests could not be put into groups: see tests/support/groups.sh))
endif
TESTS := $(patsubst %.cpp,$(TEST_BUILD)/%.o,$(patsubst $(TEST_BUILD)/%,%,$(TEST_SOURCES)) tests/support/main.cpp $(if $(filter app,$(TEST_ROOMS)),$(filter-out bench/app/run.cpp,$(APPLICATION_SOURCES))))

# Kernels of instruction sets that this processor may lack, with emulated intrinsics, and a dispatcher that chooses them.
EMULATED := $(patsubst %.cpp,$(TEST_BUILD)/%.o,$(wildcard tests/emulated/*.cpp))

MODEL_FILES := $(wildcard $(MODELS)/stories260K.bin)
test unit coverage: export ATTEND_MODEL = $(MODEL_FILES)
test unit coverage: export ATTEND_TOKENIZER = $(if $(MODEL_FILES),$(MODELS)/tok512.bin)
test unit coverage: export ATTEND_STORY = $(if $(MODEL_FILES),$(MODELS)/stories260K.greedy200.txt)
.PHONY: compiled
compiled: $(BUILD)/unit $(BUILD)/emulated lib

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

#: doctest     unpack Debian's package of doctest below build/, where it is not installed
.PHONY: doctest
doctest:
	@mkdir -p build/doctest && cd build/doctest && apt-get download -qq doctest-dev && dpkg-deb -x doctest-dev_*.deb .

build/doctest.ready:
	@mkdir -p build
	@sh tests/support/find_doctest.sh "$(CXX)" build/doctest
	@touch $@

#: targets     the same bits on every target: this machine's backends, emulated Linux targets and boards, WebAssembly, a story on the boards, builds as vendors make them
.PHONY: targets
targets:
	@CXX="$(CXX)" MODELS="$(MODELS)" sh tests/scripts/targets.sh $(BUILD)

#: fuzz        random problems for FUZZ_SECONDS= (60): every backend against scalar code, the definition, the oracle (needs CXX=clang++)
.PHONY: fuzz
fuzz: $(BUILD)/libattend.a
	@sh tests/scripts/check_fuzz.sh "$(CXX)" $(BUILD)

#: fuzz-depth  small problems, states and files without libFuzzer, until FUZZ_RUNS= (10000000; of attention ten times as many) or for FUZZ_SECONDS= each; what ran lies in build/fuzz (TARGETS= some, SEED=)
.PHONY: fuzz-depth
fuzz-depth: $(BUILD)/libattend.a
	@sh tests/fuzz/depth.sh "$(CXX)" $(BUILD)

#: thread-sanitizer  calls in parts, of states, teams and layers, and first calls, on threads under ThreadSanitizer (needs clang-22; some ten minutes, most of which compile)
RACES := unit/test_threads unit/test_parts unit/test_state_parts typed/test_threads typed/test_layer_threads typed/test_layer_steps \
  typed/test_stored_range typed/test_linear_attention typed/test_convolution
.PHONY: thread-sanitizer
thread-sanitizer:
	@rm -f build/races/files
	@$(MAKE) build/races/unit build/races/first_calls BUILD=build/races CXX=clang++-22 OPT=-O1 CXXFLAGS='-fsanitize=thread -g1' TEST_ROOMS='unit typed' TEST_FILES='$(RACES:%=tests/%.cpp)'
	@for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do build/races/first_calls || exit; done
	@ATTEND_QUICK=12 build/races/unit && sh tests/support/files.sh >build/races/files

$(BUILD)/first_calls: $(BUILD)/tests/unit/first_calls.o $(BUILD)/libattend.a
	$(call link,-lpthread)

#: mutants     make N= (300) random mistakes in include/ and src/, one at a time: which do the unit tests not find? (SEED= JOBS= FILES=pattern of paths; FIRST=n goes on with the n-th)
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

#: rooms       lines of each room of include and src beside its budget
.PHONY: rooms
rooms:
	@sh tests/support/budget.sh

#: tiles       hot loops of every backend as each compiler makes them: instructions, loads, accesses of the stack, and cycles by models of processors, held to limits
#:               COMPILERS="gcc clang-22" BACKENDS="avx2 neon64"  some;  PROCESSORS=apple-m1  by models of others, without limits;  LOOPS=all  every loop;  LOOPS=parts  the parts of whole tiles;  LIMITS=write  makes today's figures the limits
.PHONY: tiles
tiles:
	@PYTHONDONTWRITEBYTECODE=1 python3 tests/tiles/tiles.py --compilers "$(COMPILERS)" --backends "$(BACKENDS)" --models "$(PROCESSORS)" \
	  $(if $(filter all,$(LOOPS)),--all) $(if $(filter parts,$(LOOPS)),--parts) $(if $(filter write,$(LIMITS)),--write) $(if $(JOBS),--jobs $(JOBS))

#: digests     print the table of digests as this build computes it, for tests/conformance/digests.inc
.PHONY: digests
digests: $(BUILD)/unit
	@$(BUILD)/unit --test-case="committed digests*" --success | sed -nE 's/.* (DIGEST\(.*\)).*/\1/p' | awk '!seen[$$0]++'

#: rules       MISRA C++:2023: what tools find in the embedded form and in the surfaces, and functions above limits of complexity and length, held to tests/rules/rules.toml; RULES=write makes today's counts the file's (needs clang-22, clang-tools-22, clang-tidy-22, cppcheck, python3; a minute and a half)
.PHONY: rules
rules: | build/doctest.ready
	@rm -f build/rules/log build/rules/files
	@PYTHONDONTWRITEBYTECODE=1 python3 tests/rules/rules.py build/rules $(filter write,$(RULES))
	@sh tests/support/files.sh >build/rules/files

#: proofs      bounds of polynomials by Sollya and Gappa, then functions of one float over every float and ranges of integers (needs python3, sollya, gappa; with make every-float some half an hour)
.PHONY: proofs
proofs: $(BUILD)/unit
	@mkdir -p build/proofs && rm -f build/proofs/files
	@python3 tests/proofs/polynomials.py >build/proofs/log; status=$$?; cat build/proofs/log; exit $$status
	@ATTEND_EVERY_FLOAT=1 $(BUILD)/unit --test-case='the polynomial of*,near_minus_reciprocal*,the reciprocal root*,soft floats: *,integers: every weight*,integers: no scale*,integers: every reciprocal*' || { echo 'FAIL functions of every float, ranges of integers' >>build/proofs/log; exit 1; }
	@echo 'ok   functions of one float on every float, multiply-adds in software, ranges of integers' >>build/proofs/log
	@sh tests/support/files.sh >build/proofs/files

#: coverage    lines, branches and MC/DC of include and src that the compiled tests reach, as hosts, boards and 32 bits have them, beside tests/coverage/exceptions.toml: what is missing fails, and so do more than 60 places there (needs clang-22, llvm-22, g++-i686-linux-gnu, qemu-user, python3; some twenty minutes)
COVERED := unit emulated embedded/unit soft/unit small/unit c_surface c_layers c_integer c_linear
COVERAGE = $(MAKE) CXX=clang++-22 OPT=-O1 WARNINGS=-w CXXFLAGS='-fprofile-instr-generate -fprofile-update=atomic -fcoverage-mapping -fcoverage-mcdc'
# The form of boards, on this machine: what looks at operations of hosts' sets is left out. Then floats by software, with tests that compare bits;
# these are optimised, or they ask for doubles of the library that this form has not. Then small code, where addresses have 32 bits.
BOARDS = TEST_ROOMS=none CPPFLAGS='-DATTEND_EMBEDDED=1 $(1)'
coverage: export ATTEND_QUICK = 6
.PHONY: coverage
coverage:
	@rm -f build/coverage/coverage.json build/coverage/files
	@$(COVERAGE) BUILD=build/coverage TEST_OPT=-O0 build/coverage/unit build/coverage/emulated
	@$(COVERAGE) BUILD=build/coverage/embedded TEST_OPT=-O0 $(BOARDS) build/coverage/embedded/unit \
	  TEST_FILES='$(filter-out tests/app/% tests/unit/test_operations.cpp tests/unit/test_formats%,$(TEST_FILES))'
	@$(COVERAGE) BUILD=build/coverage/soft TEST_OPT=-O1 $(call BOARDS,-D__SOFTFP__) build/coverage/soft/unit \
	  TEST_FILES='$(patsubst %,tests/conformance/test_%.cpp,digests options linear)'
	@$(COVERAGE) BUILD=build/coverage/small TEST_OPT=-O0 $(BOARDS) OPT=-Os EXTRA='--target=i686-linux-gnu -msse2 -mfpmath=sse' LDFLAGS=-static build/coverage/small/unit \
	  TEST_FILES='$(wildcard tests/c/test_*.cpp) tests/unit/test_cache_head.cpp'
	@rm -f $(COVERED:%=build/coverage/%.profile)
	@$(MAKE) $(COVERED:%=build/coverage/%.profile)
	@python3 tests/coverage/coverage.py build/coverage $(COVERED:%=build/coverage/%)
	@sh tests/support/files.sh >build/coverage/files

.SECONDARY: $(COVERED:%=build/coverage/%)
build/coverage/c_%: tests/c/c_%.c build/coverage/libattend.a
	@clang-22 -std=c11 -Iinclude $^ -fprofile-instr-generate -o $@

build/coverage/emulated.profile: export ATTEND_QUICK = 72
build/coverage/emulated.profile: LEFT_OUT = --test-case-exclude='errors*,integer attention keeps*,app*,soft floats*,dispatch*,*of x86*'
# Processors that lack leaf 7 of CPUID, or the sets that are newer than AVX2.
build/coverage/unit.profile: OLDER = for cpu in Haswell Haswell,level=6; do LLVM_PROFILE_FILE=$@.raw.$$cpu qemu-x86_64 -cpu $$cpu build/coverage/unit --test-case='dispatch*' || exit; done >build/coverage/older.log 2>&1
build/coverage/embedded/unit.profile build/coverage/small/unit.profile build/coverage/soft/unit.profile: export ATTEND_QUICK = 24
build/coverage/%.profile: build/coverage/%
	@LLVM_PROFILE_FILE=$@.raw build/coverage/$* $(LEFT_OUT) >build/coverage/$*.log || { cat build/coverage/$*.log; exit 1; }
	@$(OLDER)
	@llvm-profdata-22 merge -sparse $@.raw* -o $@
	@rm $@.raw*
