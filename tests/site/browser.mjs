// The site in Debian's Chromium, headless: node tests/site/browser.mjs FOLDER MODULES [all|shots OUT]. Prints a line for each check.
// MODULES: a folder with node_modules of puppeteer-core and axe-core. all: axe on every page, not on one of each kind.
import http from 'node:http';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const [folder, modules, how = '', out = ''] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, 'package.json'));
const puppeteer = require('puppeteer-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const types = { '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript', '.mjs': 'text/javascript', '.svg': 'image/svg+xml', '.wasm': 'application/wasm' };

function say(wrong, what) {
  console.log(wrong.length ? `FAIL ${what}: ${wrong.slice(0, 6).join('; ')}${wrong.length > 6 ? ' and more' : ''}` : `ok   ${what}`);
}

const server = http.createServer((request, response) => {
  const place = path.join(folder, decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
  fs.readFile(place, (error, data) => {
    response.writeHead(error ? 404 : 200, { 'content-type': types[path.extname(place)] ?? 'application/octet-stream' });
    response.end(data);
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const home = `http://127.0.0.1:${server.address().port}/`;

const files = fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.html')).sort();
const texts = files.filter((name) => !name.startsWith('source/'));
const sources = files.filter((name) => name.startsWith('source/'));
const kinds = ['index.html', 'guide/options.html', 'reference/index.html', 'reference/cpp/options.html', 'reference/c/attend_c.html', 'reference/python/attend.html'];
const chosen = files.includes('index.html') ? [...kinds.filter((name) => files.includes(name)), ...sources.slice(0, 1)] : files;

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage();
let problems = [];
page.on('console', (message) => { if (message.type() === 'error') problems.push(`${page.url()}: ${message.text()}`); });
page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
page.on('requestfailed', (request) => { if (!/ERR_ABORTED/.test(request.failure()?.errorText ?? '')) problems.push(`${request.url()} fails`); });
page.on('response', (response) => { if (response.status() >= 400) problems.push(`${response.url()} is ${response.status()}`); });
page.on('request', (request) => { if (!request.url().startsWith(home) && !/^(data|blob):/.test(request.url())) problems.push(`${page.url()} asks ${request.url()}`); });

async function look(width, dark) {
  await page.setViewport({ width, height: 900, isMobile: width < 600, hasTouch: width < 600 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
}

if (how === 'shots') {
  fs.mkdirSync(out, { recursive: true });
  for (const [width, dark] of [[360, false], [360, true], [1280, false], [1280, true]]) {
    for (const name of chosen) {
      await look(width, dark);
      await page.goto(home + name, { waitUntil: 'load' });
      await page.screenshot({ path: path.join(out, `${name.replace(/\W/g, '_')}-${width}${dark ? '-dark' : ''}.png`) });
    }
  }
} else {
  await everything();
}
await browser.close();
server.close();

async function everything() {
  // Every page, on a phone: it loads, nothing is asked of others, and the page itself does not scroll sideways.
  await look(360, false);
  const wide = [];
  const visited = how === 'all' ? files : [...texts, ...sources.filter((_, at) => at % 40 === 0)];
  for (const name of visited) {
    await page.goto(home + name, { waitUntil: 'load' });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - 360);
    if (over > 0) wide.push(`${name} by ${over} pixels`);
  }
  say(problems, `${visited.length} pages load without an error, and ask nobody outside`);
  say(wide, 'no page is wider than a phone of 360 pixels');

  // What axe finds.
  const found = [];
  let looked = 0;
  for (const width of [360, 1280]) {
    for (const dark of [false, true]) {
      await look(width, dark);
      for (const name of how === 'all' ? texts : chosen) {
        await page.goto(home + name, { waitUntil: 'load' });
        await page.evaluate(axe);
        const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
        looked += 1;
        for (const each of result.violations) found.push(`${name} at ${width}${dark ? ', dark' : ''}: ${each.id} ${each.nodes[0].target} (${each.nodes.length})`);
      }
    }
  }
  say(found, `axe finds nothing on ${looked} pages, light and dark, of 360 and 1280 pixels`);
  if (!files.includes('reference/index.html')) return;

  // The search: by the keyboard alone, from the first page to the declaration.
  problems = [];
  await look(1280, false);
  await page.goto(home + 'index.html', { waitUntil: 'load' });
  await page.keyboard.press('/');
  await page.keyboard.type('soft_cap');
  await page.waitForSelector('#site-found li[aria-selected="true"]');
  const names = await page.$$eval('#site-found li b', (all) => all.map((each) => each.textContent));
  const missing = ['ScoreOptions::soft_cap', 'attend_problem.soft_cap', 'attend.attention.soft_cap'].filter((name) => !names.slice(0, 6).includes(name));
  say(missing, 'the search finds soft_cap of all three surfaces first');
  const second = await page.evaluate(() => new Promise((resolve) => {
    document.getElementById('site-search').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
    resolve(document.querySelector('#site-found li[aria-selected="true"]').id);
  }));
  say(second === 'found-1' ? [] : [second], 'an arrow chooses the next one');
  await page.keyboard.press('ArrowUp');
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  const there = await page.evaluate(() => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const box = target?.getBoundingClientRect();
    return { address: location.pathname + location.hash, text: target?.textContent ?? '', seen: !!box && box.top >= 0 && box.top < innerHeight };
  });
  say(there.text.includes('soft_cap') && there.seen && there.address.includes('reference/') ? [] : [JSON.stringify(there)], 'Enter leads to its declaration, in sight');

  await page.click('.theme');
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.reload();
  const kept = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  say(dark === kept && dark !== 'rgb(255, 255, 255)' ? [] : [dark, kept], 'the switch makes the page dark, and it stays so');
  say(problems, 'the search and the switch make no error');

  // Without the script there is no search and no button, and everything can be read.
  await page.setJavaScriptEnabled(false);
  await page.goto(home + 'reference/cpp/options.html', { waitUntil: 'load' });
  const text = await page.$eval('main', (main) => main.innerText.includes('soft_cap'));
  say(text ? [] : ['no'], 'without the script a page has its text');
}
