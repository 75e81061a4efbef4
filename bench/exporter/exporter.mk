# What `attend export` has written of trained models, and how they are trained anew; the exporter itself is a part of the wheel.
$(EXPORTED_EXAMPLES:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/bench/exporter/examples/%/run.o $(BUILD)/exported/%.o $(BUILD)/libattend.a
	$(call link)

# The numbers of their arrays lie packed beside them.
RESTORED := $(patsubst %,build/exported/%/model.cpp,$(EXPORTED_EXAMPLES) keywords/linear)
.PHONY: restored
restored: $(RESTORED)
build/exported/restore: bench/exporter/examples/restore.cpp
	@mkdir -p $(@D)
	@$(CXX) -std=c++17 -O1 $< -o $@
$(RESTORED): build/exported/%/model.cpp: build/exported/restore $(wildcard bench/exporter/examples/*/model/* bench/exporter/examples/*/*/model/*)
	@mkdir -p $(@D)
	@$< bench/exporter/examples/$*/model $(@D)
$(EXPORTED_EXAMPLES:%=$(BUILD)/exported/%.o): $(BUILD)/exported/%.o: build/exported/%/model.cpp
	$(call compile)

#: train-examples  train the models of EXAMPLE= anew, and export them (needs python3-torch and python3-onnx)
.PHONY: train-examples
train-examples: package
	@python="$(PYTHON)"; for candidate in python3 /usr/bin/python3; do \
	  [ -n "$$python" ] || { "$$candidate" -c 'import torch, onnx' 2>/dev/null && python=$$candidate; }; done; \
	  [ -n "$$python" ] || { echo "train-examples: PyTorch or onnx was not found; install them (Debian: apt-get install python3-torch python3-onnx)" >&2; exit 1; }; \
	  for name in $(EXPORTED_EXAMPLES); do PYTHON="$$python" sh bench/exporter/examples/train.sh $$name build/packages/python || exit 1; done

#: exports     export fifty models of PyTorch's own exporter, compare with PyTorch, and run their self-tests here, on AArch64, s390x and boards (needs python3-torch and python3-onnx)
.PHONY: exports
exports: lib
	@TORCH=1 sh tests/scripts/check_exporter.sh "$(CXX)" $(BUILD)
