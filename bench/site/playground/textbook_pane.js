// The textbook example: scores, weights and output of six words, as options change.
import { digest } from './attend/digest.js';
import { by, element, shaded, verdict } from './element.js';

const words = ['Life', 'is', 'short', 'eat', 'dessert', 'first'];
const queryDim = 24, valueDim = 28, everyWord = words.length;

export function textbookPane(attend, { query, key, value, full, causal }) {
  const [q, k, v] = [query, key, value].map((numbers) => Float32Array.from(numbers));

  function options() {
    const factor = Number(by('scale').value), cap = Number(by('cap').value), left = Number(by('window').value), scale = attend.defaultScale(queryDim);
    by('scale-value').textContent = `${factor.toFixed(2)} / √${queryDim}`;
    by('cap-value').textContent = cap === 0 ? 'none' : cap.toFixed(2);
    by('window-value').textContent = left === everyWord ? 'all words' : `${left} words`;
    return {
      headDim: queryDim, valueDim, causal: by('causal').checked, scale: Math.fround(factor * scale),
      ...(cap === 0 ? {} : { softCap: cap }), ...(left === everyWord ? {} : { window: [left, null] }),
    };
  }

  function table(caption, numbers, cell) {
    const head = element('tr', {}, element('td'), ...words.map((word) => element('th', { scope: 'col' }, word)));
    const rows = words.map((word, i) => element('tr', {}, element('th', { scope: 'row' }, word),
      ...words.map((_, j) => cell(numbers[i * everyWord + j], i * everyWord + j))));
    return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption }, element('table', {}, element('caption', {}, caption), head, ...rows));
  }

  function outputs(numbers) {
    const most = Math.max(...numbers.map(Math.abs));
    const rows = words.map((word, i) => element('tr', {}, element('th', { scope: 'row' }, word), ...Array.from({ length: 8 }, (_, j) => {
      const number = numbers[i * valueDim + j];
      return element('td', { style: shaded(Math.abs(number) / most) }, number.toFixed(3));
    })));
    const caption = 'Output: weights × values (the first 8 of 28 numbers)';
    return element('div', { class: 'scroll wide', tabindex: '0', role: 'region', 'aria-label': caption }, element('table', {}, element('caption', {}, caption), ...rows));
  }

  function update() {
    const given = options();
    const { scores } = attend.attention(q, k, v, { ...given, scores: 'capped' });
    const { output, scores: weights } = attend.attention(q, k, v, { ...given, scores: 'weights' });
    by('textbook').replaceChildren(
      table('Scores, after the cap', scores, (score, at) => element('td', {}, weights[at] === 0 ? '·' : score.toFixed(2))),
      table('Weights: softmax of each row', weights, (weight) => element('td', { style: shaded(weight) }, weight === 0 ? '·' : weight.toFixed(3))),
      outputs(output));
    const here = digest(output), plain = by('scale').value === '1' && by('cap').value === '0' && by('window').value === String(everyWord);
    by('textbook-digest').textContent = here;
    by('textbook-verdict').textContent = plain ? verdict(here, given.causal ? causal : full) : '';
  }

  ['scale', 'cap', 'window', 'causal'].forEach((id) => by(id).addEventListener('input', update));
  update();
}
