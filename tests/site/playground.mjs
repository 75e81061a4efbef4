// The playground in Chromium: node tests/site/playground.mjs FOLDER [SCREENSHOTS], a folder with a page index.html that has it.
import { pathToFileURL } from 'node:url';
import { overflow, say, violations, withBrowser } from './chromium.mjs';

const [folder, screenshots] = process.argv.slice(2);
const native = await import(pathToFileURL(`${folder}/playground/native.js`));

const check = (right, what, found = '') => say(right ? [] : [found], what);

await withBrowser(folder, async ({ open }) => {
  const page = await open('/');
  const text = (id) => page.$eval(`#${id}`, (found) => found.textContent);
  const change = (id, value) => page.$eval(`#${id}`, (input, to) => {
    if (typeof to === 'boolean') input.checked = to;
    else input.value = to;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, value);
  await page.waitForSelector('#playground[data-ready]', { timeout: 30000 });
  check((await text('digest-verdict')).startsWith('✓'), 'the first sentence has the native digest', await text('digest-verdict'));

  for (const { sentence, action, digest } of native.sentences) {
    await change('command', sentence);
    check((await text('action')) === action, `“${sentence}” gives ${action}`, await text('action'));
    check((await text('digest-here')) === digest, `“${sentence}” has the native digest of scores`, await text('digest-here'));
  }
  await change('command', '');
  check((await text('action')).includes('at least one word'), 'no word is refused', await text('action'));
  await page.focus('#command');
  await page.keyboard.type('lock the front door');
  check((await text('action')) === 'lock.lock door=front', 'the action appears as one types', await text('action'));

  const picture = () => page.$$eval('#heads figcaption', (all) => all.map((one) => one.textContent).join('|'));
  const before = await picture();
  await page.hover('#words button:nth-child(3)');
  check((await picture()) !== before, 'the pointer on a word changes the pictures', before);
  await page.focus('#words button:nth-last-child(2)');
  check((await page.$$('#next .next-row')).length === 5, 'a piece that was reached by keyboard shows what may come next');

  check((await text('textbook-verdict')).startsWith('✓'), 'the textbook example has the native digest', await text('textbook-verdict'));
  await change('causal', true);
  check((await text('textbook-digest')) === native.textbook.causal, 'causal too', await text('textbook-digest'));
  const cells = () => page.$$eval('#textbook > div:nth-child(2) td', (all) => all.map((one) => one.textContent).join(' '));
  for (const [id, value] of [['scale', '2'], ['cap', '1'], ['window', '1']]) {
    const old = await cells();
    await change(id, value);
    check((await cells()) !== old, `the slider ${id} changes the weights`, old);
  }
  // By doubles: of the second word, which sees the first and itself, with twice the scale and the cap 1.
  const { query, key } = native.textbook, dot = (i, j) => query.slice(24 * i, 24 * i + 24).reduce((sum, number, d) => sum + number * key[24 * j + d], 0);
  const [first, second] = [0, 1].map((j) => Math.exp(Math.tanh((2 * dot(1, j)) / Math.sqrt(24))));
  const row = await page.$$eval('#textbook > div:nth-child(2) tr:nth-child(4) td', (all) => all.map((one) => one.textContent));
  check(row.slice(0, 2).join() === [first, second].map((weight) => (weight / (first + second)).toFixed(3)).join() && row[2] === '·', 'weights are those of the formula', row);

  for (let machines = 1; machines <= 8; ++machines) {
    await change('backwards', machines % 2 === 0);
    await change('machines', String(machines));
    check((await text('long-digest')) === native.long.digest, `${machines} machines: the native digest`, await text('long-digest'));
  }
  check(page.problems.length === 0, 'no error, no request to elsewhere', page.problems.join('; '));

  // Browsers refuse the module there, so the sentence has to come from elsewhere.
  await page.goto(pathToFileURL(`${folder}/index.html`));
  check((await text('playground-state')).includes('python3 -m http.server'), 'opened from a file it says what to do', await text('playground-state'));

  for (const [name, how] of [['phone', { width: 360 }], ['wide', {}], ['dark', { dark: true }], ['dark phone', { width: 360, dark: true }]]) {
    const other = await open('/', how);
    await other.waitForSelector('#playground[data-ready]', { timeout: 30000 });
    const pixels = await overflow(other, how.width ?? 1280);
    check(pixels <= 0, `${name}: as wide as the window`, `${pixels} pixels more`);
    say(await violations(other, '#playground'), `${name}: axe finds nothing`);
    if (screenshots) await (await other.$('#playground')).screenshot({ path: `${screenshots}/playground-${name.replace(' ', '-')}.png` });
    await other.close();
  }
});
