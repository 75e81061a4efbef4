# The library inside of runtimes.
#: adapters    the library inside of ONNX Runtime, llama.cpp, TensorFlow Lite, PyTorch and ExecuTorch: builds what it finds, fetches the rest from npm, and tests each in the runtime itself (ADAPTERS= some of them, ALL=1 every problem)
.PHONY: adapters
adapters: lib
	@sh tests/scripts/check_adapters.sh "$(CXX)" $(BUILD)

#: invariance  what changes the bits of each runtime (threads, batch, padding, chunks, processors), as it is shipped and with the library inside, and what that costs in time; a table; writes bench/speed/results/invariance.md (ADAPTERS= some)
.PHONY: invariance
invariance: lib
	@sh bench/speed/invariance.sh "$(CXX)" $(BUILD)

#: spellings   times of attention as exporters spell it out, inside of ONNX Runtime as shipped and with the library, as tables; writes bench/adapters/onnxruntime/README.md (ARGS= for spellings.py, then it stays as it is)
.PHONY: spellings
spellings: lib
	@sh tests/adapters/onnxruntime/spellings.sh "$(CXX)" $(BUILD) $(ARGS)

#: linear-nodes  times of LinearAttention and CausalConvWithState inside of ONNX Runtime, as shipped and with the library, as a table; writes bench/adapters/onnxruntime/README.md
.PHONY: linear-nodes
linear-nodes: lib
	@sh tests/adapters/onnxruntime/linear_timing.sh "$(CXX)" $(BUILD)
