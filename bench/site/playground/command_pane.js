// A household command: the action, what each head looked at, what may come next, and the digest of all scores.
import { by, element, shaded, verdict } from './element.js';

const shownPieces = 5;

export function commandPane(household, native) {
  const input = by('command'), { config } = household;
  let shown; // what was computed last, and the chosen word

  by('digest-machine').textContent = native.machine;
  by('command-list').append(...native.sentences.map(({ sentence }) => element('option', { value: sentence })));

  function compute() {
    const rows = [], scores = []; // [position][layer] weights; [position] scores
    const begun = performance.now();
    const found = household.answer(input.value, {
      watch: (position, layer, weights) => ((rows[position] ??= [])[layer] = weights),
      choose: (position, logits) => (scores[position] = logits.slice()),
    });
    return { ...found, rows, scores, time: (performance.now() - begun) / found.tokens };
  }

  // Words as they are shown, and the tokens of each.
  function wordsOf({ sentence, pieces }) {
    const words = sentence.words.map((text, i) => ({ text, piece: i === 0 || i === sentence.words.length - 1, tokens: [] }));
    sentence.wordOf.forEach((word, token) => words[word].tokens.push(token));
    pieces.forEach((text, i) => words.push({ text, piece: true, tokens: [sentence.tokens.length + i] }));
    return words;
  }

  // The share of `to` in what a head looked at from the last token of `from`.
  function share(layer, head, from, to) {
    const position = from.tokens.at(-1), weights = shown.rows[position][layer];
    return to.tokens.reduce((sum, token) => (token <= position ? sum + weights[head * (position + 1) + token] : sum), 0);
  }

  function drawWords() {
    by('words').replaceChildren(...shown.words.map(({ text, piece }, i) => {
      const button = element('button', { type: 'button', 'aria-pressed': String(i === shown.chosen), class: piece ? 'piece' : '' }, text.trim());
      const choose = () => chooseWord(i);
      ['pointerenter', 'focus', 'click'].forEach((event) => button.addEventListener(event, choose));
      return button;
    }));
  }

  function chooseWord(i) {
    shown.chosen = i;
    [...by('words').children].forEach((button, at) => button.setAttribute('aria-pressed', String(at === i)));
    shadeWords();
    drawHeads();
    drawNext();
  }

  // By what all heads together looked at from the chosen word.
  function shadeWords() {
    const heads = config.layers * config.heads;
    [...by('words').children].forEach((button, at) => {
      let sum = 0;
      for (let i = 0; i < heads; ++i) sum += share(Math.floor(i / config.heads), i % config.heads, shown.words[shown.chosen], shown.words[at]);
      button.style.cssText = shaded((2 * sum) / heads);
    });
  }

  function drawHeads() {
    const { words, chosen } = shown, pictures = [];
    for (let layer = 0; layer < config.layers; ++layer) {
      for (let head = 0; head < config.heads; ++head) pictures.push(picture(layer, head, words, chosen));
    }
    by('heads').replaceChildren(...pictures);
  }

  // One row for each word that looks, one column for each that is looked at; the chosen row has a frame.
  function picture(layer, head, words, chosen) {
    const count = words.length, name = `layer ${layer + 1}, head ${head + 1}`;
    const svg = element('svg', { viewBox: `0 0 ${count} ${count}`, role: 'img' });
    const shares = words.map((to) => share(layer, head, words[chosen], to));
    const most = shares.indexOf(Math.max(...shares));
    const said = `“${words[chosen].text.trim()}” → “${words[most].text.trim()}”, ${Math.round(100 * shares[most])} %`;
    svg.append(element('title', {}, `${name}: ${said}`));
    words.forEach((from, y) => words.slice(0, y + 1).forEach((to, x) => {
      const weight = y === chosen ? shares[x] : share(layer, head, from, to);
      if (weight > 0.02) svg.append(element('rect', { class: 'cell', x, y, width: 0.94, height: 0.94, opacity: (0.12 + 0.88 * weight).toFixed(3) }));
    }));
    svg.append(element('rect', { class: 'from', x: 0, y: chosen, width: chosen + 1, height: 1 }));
    svg.addEventListener('pointermove', (event) => {
      const row = Math.floor((event.offsetY / svg.clientHeight) * count);
      if (row >= 0 && row < count && row !== shown.chosen) chooseWord(row);
    });
    return element('figure', {}, svg, element('figcaption', {}, `${name}: ${said}`));
  }

  function drawNext() {
    const position = shown.words[shown.chosen].tokens.at(-1), logits = shown.scores[position];
    if (!logits) {
      by('next').replaceChildren(element('p', { class: 'hint' }, 'The model was trained to continue actions: choose a piece after the sentence.'));
      return;
    }
    const end = 2, tokens = Array.from({ length: config.firstLetter - end }, (_, i) => end + i);
    const most = Math.max(...tokens.map((token) => logits[token])), weight = (token) => Math.exp(logits[token] - most);
    const sum = tokens.reduce((total, token) => total + weight(token), 0);
    const best = tokens.sort((a, b) => logits[b] - logits[a]).slice(0, shownPieces);
    by('next').replaceChildren(...best.map((token) => {
      const percent = (100 * weight(token)) / sum;
      return element('div', { class: 'next-row' }, element('span', { class: 'mono' }, token === end ? '(end)' : household.pieces[token].trim()),
        element('i', { style: `width:${percent.toFixed(2)}%` }), element('span', {}, `${percent.toFixed(1)} %`));
    }));
  }

  function drawDigest() {
    const here = household.digest(input.value), known = native.sentences.find(({ sentence }) => sentence === input.value.trim());
    by('digest-here').textContent = here;
    by('digest-native').textContent = known?.digest ?? 'not of this sentence';
    by('digest-verdict').textContent = known ? verdict(here, known.digest) : 'choose a proposed sentence to compare';
    by('token-time').textContent = `${shown.time.toFixed(2)} ms, with pictures of all heads`;
  }

  function update() {
    try {
      shown = compute();
    } catch (error) {
      by('action').textContent = error.message;
      return;
    }
    by('action').textContent = shown.action;
    shown.words = wordsOf(shown);
    shown.chosen = Math.max(shown.words.length - 1, 0);
    drawWords();
    chooseWord(shown.chosen);
    drawDigest();
  }

  input.addEventListener('input', update);
  by('command-form').addEventListener('submit', (event) => event.preventDefault());
  update();
}
