// Milliseconds of a prefill of 256 × 256 × 64 by each module, and of a household command: node speed.mjs PACKAGE MODULE…
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [folder, ...modules] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/index.js`));
const { Household } = await import(pathToFileURL(`${folder}/household.js`));
const fill = (length) => Float32Array.from({ length }, (_, i) => Math.sin(i * 1.7));

function fastest(work, times) {
  let best = Infinity;
  for (let i = 0; i < times; ++i) {
    const begin = performance.now();
    work();
    best = Math.min(best, performance.now() - begin);
  }
  return best.toFixed(2);
}

for (const module of modules) {
  const attend = await load(readFileSync(module)), household = await Household.load(attend);
  const [q, k, v] = [1, 2, 3].map(() => new attend.Floats(fill(256 * 64))), out = new attend.Floats(256 * 64);
  const prefill = fastest(() => attend.attention(q, k, v, { headDim: 64, out }), 40);
  const command = fastest(() => household.answer('could you dim the lamp in the bedroom to thirty percent'), 40);
  console.log(`${module} ${prefill} ${command}`);
}
