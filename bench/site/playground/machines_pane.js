// One sequence over several machines: states of some keys each, merged in pairs.
import { digest } from './attend/digest.js';
import { by, element, verdict } from './element.js';

const segment = 512; // keys; states can begin at multiples
const width = 720, level = 62, box = { width: 78, height: 36 };

// Uniform in [-1, 1), the same numbers as the machine had that built this page.
function* numbers(seed) {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield Math.fround((state >>> 8) / 2 ** 23 - 1);
  }
}

export function machinesPane(attend, { heads, headDim, keys, seed, digest: native }) {
  const source = numbers(seed), fill = (count) => Float32Array.from({ length: count }, () => source.next().value);
  const query = fill(heads * headDim), key = fill(keys * headDim), value = fill(keys * headDim);

  function update() {
    const count = Number(by('machines').value), segments = keys / segment;
    by('machines-value').textContent = count;
    const bounds = Array.from({ length: count + 1 }, (_, i) => Math.floor((i * segments) / count) * segment);
    let nodes = bounds.slice(0, count).map((first, i) => {
      const state = new attend.State(query, { heads, kvHeads: 1, headDim, firstKey: first }), end = bounds[i + 1];
      state.take(key.subarray(first * headDim, end * headDim), value.subarray(first * headDim, end * headDim));
      return { state, x: ((i + 0.5) * width) / count, y: 0, lines: [`${end - first} keys`, `${state.save().length} bytes`] };
    });
    const drawn = [...nodes], edges = [];
    for (let y = 1; nodes.length > 1; ++y) {
      const next = [];
      for (let i = 0; i < nodes.length; i += 2) {
        const [left, right] = [nodes[i], nodes[i + 1]];
        if (!right) {
          next.push(left);
          continue;
        }
        const [into, other] = by('backwards').checked ? [right, left] : [left, right];
        into.state.merge(other.state);
        const merged = { state: into.state, x: (left.x + right.x) / 2, y, lines: ['merged', `${into.state.save().length} bytes`] };
        edges.push([left, merged], [right, merged]);
        drawn.push(merged);
        next.push(merged);
      }
      nodes = next;
    }
    const here = digest(nodes[0].state.finish());
    new Set(drawn.map(({ state }) => state)).forEach((state) => state.free());
    draw(drawn, edges, count);
    by('long-digest').textContent = here;
    by('long-verdict').textContent = verdict(here, native);
  }

  function draw(nodes, edges, count) {
    const height = 4 * level, svg = element('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img' });
    const top = ({ y }) => 8 + y * level;
    svg.append(element('title', {}, `${count} machines; their states are merged in pairs`));
    svg.append(...edges.map(([from, to]) => element('path', { d: `M${from.x} ${top(from) + box.height}C${from.x} ${top(to) - 8} ${to.x} ${top(from) + box.height + 8} ${to.x} ${top(to)}` })));
    for (const node of nodes) {
      svg.append(element('rect', { x: node.x - box.width / 2, y: top(node), width: box.width, height: box.height, rx: 5 }));
      svg.append(...node.lines.map((line, i) => element('text', { x: node.x, y: top(node) + 15 + 14 * i, 'text-anchor': 'middle' }, line)));
    }
    by('tree').replaceChildren(svg);
  }

  ['machines', 'backwards'].forEach((id) => by(id).addEventListener('input', update));
  update();
}
