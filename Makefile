# Attend. `make help` says what there is; what rooms of bench/ and tests/ add stands in their own .mk files, and the library needs none of them.

OPT ?= -O2
DEBUG ?=
EXTRA ?=
# Other flags make other objects: folders are named after them, without signs that rules of make cannot have.
named = $(subst $() ,_,$(subst =,-,$(subst :,-,$(subst /,_,$(strip $(1))))))
BUILD ?= build/$(subst $() ,_,$(notdir $(CXX)))$(OPT)$(call named,$(EXTRA))$(call named,$(CXXFLAGS) $(CPPFLAGS))
MODELS ?= ../shared/models

# A compiler for another processor has an archiver of its own.
ifeq ($(origin AR),default)
AR := $(firstword $(filter %-ar,$(patsubst %-g++,%-ar,$(CXX))) ar)
endif
# A warning of a compiler that nobody has tried stops no user.
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow $(if $(filter true,$(CI)),-Werror)
# What users say comes last. CXXFLAGS= are the compiler's and the linker's, as EXTRA= was before them.
FLAGS = -std=c++17 $(OPT) $(DEBUG) -ffp-contract=off $(WARNINGS) -Iinclude $(CPPFLAGS) -MMD -MP $(EXTRA) $(CXXFLAGS)

# Instruction sets, which take longest, are compiled first: no core waits for one of them in the end.
LIBRARY := $(patsubst %.cpp,$(BUILD)/%.o,$(sort $(wildcard src/backend/*.cpp) $(wildcard src/layers/layers_*.cpp)) $(filter-out src/backend/% src/layers/layers_%,$(wildcard src/*/*.cpp)))

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
@$(CXX) $(FLAGS) $(filter %.o,$^) $(filter %.a,$^) $(1) $(LDFLAGS) -o $@
endef

define archive
@mkdir -p $(@D) && rm -f $@
@$(AR) rcs $@ $^
endef

$(BUILD)/%.o: %.cpp
	$(call compile)

## lib         the static and the shared library, for programs in C or with a foreign-function interface: libattend.a, libattend.so
.PHONY: lib
lib: $(BUILD)/libattend.a $(BUILD)/libattend.so
	@ls $^

$(BUILD)/libattend.a: $(LIBRARY)
	$(archive)

# Both libraries are made of the same objects. The shared one exports only what the headers of the C surface declare, and needs no
# run-time of C++. GCC tells beside each object who calls whom and with how much stack, which check_stack.sh reads.
NOTES = $(eval NOTES := $$(shell $$(CXX) -fcallgraph-info=su -fstack-usage -E -x c++ /dev/null >/dev/null 2>&1 && echo -fcallgraph-info=su -fstack-usage))$(NOTES)
$(BUILD)/src/%.o: src/%.cpp
	@rm -f $(@:.o=.ci) $(@:.o=.su) # compilers' caches bring none
	$(call compile,-fPIC -fvisibility=hidden -ffunction-sections -fdata-sections $(NOTES))

# A program that was linked with it finds at run time what has its major version.
$(BUILD)/libattend.so: $(LIBRARY) Makefile
	$(call link,-shared -nostdlib -Wl$(comma)-soname$(comma)libattend_c.so.$(MAJOR))
	@ln -sf libattend.so $(@D)/libattend_c.so.$(MAJOR)

MAJOR = $(firstword $(subst ., ,$(VERSION)))
VERSION = $(eval VERSION := $$(shell sed -nE 's/^.define ATTEND_VERSION_(MAJOR|MINOR|PATCH) //p' include/attend/core/version.h | paste -sd. -))$(VERSION)

## static      libattend.a for a board, for example: CXX=arm-none-eabi-g++ CXXFLAGS='-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os'
.PHONY: static
static: $(BUILD)/static/libattend.a
	@ls $^

STATIC := $(LIBRARY:$(BUILD)/%=$(BUILD)/static/%)
$(BUILD)/static/libattend.a: $(STATIC)
	$(archive)

# At addresses that a linker gives them.
$(BUILD)/static/src/%.o: src/%.cpp
	$(call compile,-ffunction-sections -fdata-sections)

## run         the action that a household command asks for; SENTENCE="dim the lamp", MODEL=x.gguf and others: make help ALL=1

## unit        the compiled tests only (arguments for doctest in ARGS=)
.PHONY: unit
unit: $(BUILD)/unit
	@$(BUILD)/unit $(ARGS)

## test        every test that this machine can run, some four minutes
.PHONY: test
test: compiled
	@sh tests/scripts/all.sh "$(CXX)" $(BUILD)

## check       the rest, some twenty minutes: other compilers, sanitizers, every target, sizes (needs what .ci/run installs; ALL=1: the whole of it, before a release)
.PHONY: check
check:
	@CXX="$(CXX)" MODELS="$(MODELS)" ALL="$(ALL)" sh tests/scripts/rest.sh $(BUILD)

## install     headers, both libraries, files for pkg-config and CMake, below PREFIX= (/usr/local), or staged below DESTDIR=
#: uninstall   removes what install has written, told the same folders
PREFIX ?= /usr/local
includedir ?= $(PREFIX)/include
libdir ?= $(PREFIX)/lib
.PHONY: install uninstall
install: lib
	@sh src/install.sh install "$(VERSION)" $(BUILD) "$(DESTDIR)" "$(includedir)" "$(libdir)"
uninstall:
	@sh src/install.sh uninstall "$(VERSION)" $(BUILD) "$(DESTDIR)" "$(includedir)" "$(libdir)"

## package     what others vendor or install, as archives in build/packages: one source, Arduino, PlatformIO, ESP-IDF, Zephyr, CMSIS, a wheel for Python, npm (URL= of the project)
.PHONY: package

#: format      lay out the sources with clang-format
.PHONY: format
format:
	@clang-format -i $(filter-out tests/wrong_code/%,$(wildcard src/*/*.cpp src/*/*.h src/*/*/*.h include/attend/*.h include/attend/*/*.h \
	  bench/*/*.cpp bench/*/*.h bench/*/*/*.h bench/speed/*/*.cpp bench/exporter/examples/*/*.h tests/*/*.cpp tests/*/*.h))

## clean       removes build/
.PHONY: clean
clean:
	@rm -rf build

# Each room's commands and files: not one of them is needed for the library.
ROOMS := $(sort $(wildcard bench/*/*.mk tests/*.mk))
-include $(ROOMS)

## help        this list, with ALL=1 all of it; CXX=clang++, OPT=-O3, DEBUG=-g, CXXFLAGS=, CPPFLAGS=, LDFLAGS=, AR= choose how things are made, BUILD= where
.PHONY: help
help:
	@echo "make ..."
	@sed -n$(if $(ALL),E) 's/^#$(if $(ALL),[#:],#) /  /p' $(if $(ALL),Makefile $(ROOMS),Makefile)

# What compilers have written beside objects, of any room: what these were made of.
-include $(wildcard $(foreach folder,$(sort $(BUILD) $(TEST_BUILD)),$(folder)/*/*.d $(folder)/*/*/*.d $(folder)/*/*/*/*.d))
