#: javascript-speed  milliseconds of a prefill of 256 tokens and of a household command in Node, by each module of the npm package (needs nodejs, clang and lld)
.PHONY: javascript-speed
javascript-speed: build/npm
	@node bench/javascript/speed.mjs "$(CURDIR)/build/npm" build/npm/attend.wasm build/npm/attend-small.wasm
