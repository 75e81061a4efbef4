// Runs a program for WebAssembly (wasm.cpp): node tests/boards/wasm.mjs PROGRAM. The exit status is the program's.
import { readFileSync, writeSync } from 'node:fs';

const host = {
  write: (text, length) => writeSync(1, new Uint8Array(program.instance.exports.memory.buffer, text, length)),
  finish: (status) => process.exit(status),
};
const program = await WebAssembly.instantiate(readFileSync(process.argv[2]), { host });
program.instance.exports.start();
