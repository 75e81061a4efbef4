# WebAssembly, which the npm package has, and `make package` where its compiler is.
CLANG ?= clang++
WASM_LINKS := $(shell command -v $(firstword $(CLANG)) >/dev/null 2>&1 && command -v wasm-ld >/dev/null 2>&1 && echo yes)

package: lib $(if $(WASM_LINKS),wasm)
	@PYTHONDONTWRITEBYTECODE=1 python3 bench/packages/package.py --shared-object $(BUILD)/libattend.so --url "$(URL)" $(if $(WASM_LINKS),--wasm $(WASM_BUILD)) build/packages

#: wasm        the library as WebAssembly with vectors, in WASM_BUILD= (build/wasm), as the npm package has it: attend.wasm, and attend-small.wasm for floats alone (needs clang and lld; CLANG=)
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

#: vendor      the part of include/ and src/ that a program needs, with a manifest: CPU=cortex-m4 (a board, or host; or CXX= and CXXFLAGS= of yours), USES="decode ring project" or PROGRAM="main.cpp ...", TO=folder
USES ?= attention decode prefill
.PHONY: vendor vendor-table
vendor:
	@MAKEFLAGS= sh bench/packages/vendor_for.sh "$(CPU)" "$(CXX)" "$(CXXFLAGS)" "$(TO)" $(or $(PROGRAM),$(USES))

#: vendor-table  how much that is for some targets, into include/guide/targets.md
vendor-table:
	@PAGE=include/guide/targets.md sh tests/scripts/check_vendor.sh "$(CXX)" $(BUILD)

#: release     what a version consists of, in build/release: source archive, packages, Debian's, sums, a bill of materials, of the last commit (KEY= signs; URL= MAINTAINER=; needs git, python3, xz)
.PHONY: release
release:
	@CXX="$(CXX)" URL="$(URL)" KEY="$(KEY)" MAINTAINER="$(MAINTAINER)" ABI="$(ABI)" sh bench/packages/release.sh build/release
