// The site in a browser: node tests/site/browser.mjs FOLDER [all|shots OUT]. Prints a line for each check. all: axe on every page, not on one
// of each kind; shots: pictures of one of each kind, to a folder, and no checks.
import fs from 'node:fs';
import path from 'node:path';
import { overflow, say, violations, withBrowser } from './chromium.mjs';

const [folder, how = '', out = ''] = process.argv.slice(2);
const files = fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.html')).sort();
const texts = files.filter((name) => !name.startsWith('source/'));
const sources = files.filter((name) => name.startsWith('source/'));
const kinds = ['index.html', 'guide/options.html', 'bench/speed/results/invariance.html', 'reference/index.html', 'reference/cpp/options.html', 'reference/c/attend_c.html', 'reference/python/attend.html'];
const chosen = files.includes('index.html') ? [...kinds.filter((name) => files.includes(name)), ...sources.slice(0, 1)] : files;
const windows = [[360, false], [360, true], [1280, false], [1280, true]];

await withBrowser(folder, async ({ open }) => {
  const page = await open(`/${chosen[0]}`);
  if (how === 'shots') return shots(page);
  await everyPage(page);
  await accessible(page);
  if (files.includes('reference/index.html')) await columns(page);
  if (files.includes('reference/index.html')) await search(page);
});

async function shots(page) {
  fs.mkdirSync(out, { recursive: true });
  for (const [width, dark] of windows) {
    for (const name of chosen) {
      await page.look({ width, dark });
      await page.visit(`/${name}`);
      await page.screenshot({ path: path.join(out, `${name.replace(/\W/g, '_')}-${width}${dark ? '-dark' : ''}.png`) });
    }
  }
}

// On a phone: every page loads, nothing is asked of others, and the page itself does not scroll sideways.
async function everyPage(page) {
  await page.look({ width: 360 });
  const wide = [];
  const visited = how === 'all' ? files : [...texts, ...sources.filter((_, at) => at % 40 === 0)];
  for (const name of visited) {
    await page.visit(`/${name}`);
    const over = await overflow(page, 360);
    if (over > 0) wide.push(`${name} by ${over} pixels`);
  }
  say(page.problems, `${visited.length} pages load without an error, and ask nobody outside`);
  say(wide, 'no page is wider than a phone of 360 pixels');
}

async function accessible(page) {
  const found = [], looked = how === 'all' ? texts : chosen;
  for (const [width, dark] of windows) {
    await page.look({ width, dark });
    for (const name of looked) {
      await page.visit(`/${name}`);
      for (const each of await violations(page)) found.push(`${name} at ${width}${dark ? ', dark' : ''}: ${each}`);
    }
  }
  say(found, `axe finds nothing on ${looked.length * windows.length} pages, light and dark, of 360 and 1280 pixels`);
}

// On a phone the first column stays where it is while a table scrolls; in a wide window the page's contents stand to the right of the text, with
// the section that is read.
async function columns(page) {
  await page.look({ width: 360 });
  await page.visit('/bench/speed/results/invariance.html');
  const [before, after, other] = await page.evaluate(() => {
    const table = document.querySelector('.table'), left = (at) => table.querySelector(`tbody td:nth-child(${at})`).getBoundingClientRect().left;
    const first = left(1), second = left(2);
    table.scrollLeft = 200;
    return [first, left(1), second - left(2)];
  });
  say(before === after && other === 200 ? [] : [`${before} ${after} ${other}`], 'the first column of a wide table stays while the others pass');
  const edges = async (width) => {
    await page.look({ width });
    await page.visit('/guide/caches.html#formats');
    await new Promise((done) => setTimeout(done, 100));
    return page.evaluate(() => {
      const box = (found) => document.querySelector(found)?.getBoundingClientRect() ?? {}, contents = box('#site-contents');
      return { text: box('main').right, contents: contents.left, shown: contents.width > 0, seen: document.querySelector('#site-contents .seen')?.hash, below: box('#site-pages ul ul').width > 0 };
    });
  };
  const wide = await edges(1400), phone = await edges(360);
  say(wide.shown && wide.contents >= wide.text && wide.seen === '#formats' && !wide.below && !phone.shown ? [] : [JSON.stringify({ wide, phone })],
    'the contents stand on the right of a wide window, with the section that is read');
}

// By the keyboard alone, from the first page to a declaration; the switch of colours; and what is there without the script.
async function search(page) {
  page.problems = [];
  await page.look();
  await page.visit('/index.html');
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

  await page.look({ width: 360 });
  await page.visit('/index.html');
  await page.type('#site-search', '--weights');
  await page.waitForSelector('#site-found li[aria-selected="true"]');
  const found = await page.$eval('#site-found', (list) => ({ text: list.innerText, left: list.getBoundingClientRect().left, right: list.getBoundingClientRect().right }));
  say(found.text.includes('export --weights') && found.left >= 0 && found.right <= 360 ? [] : [JSON.stringify(found)], 'on a phone what is found, an option of the command too, is in sight');
  await page.look();
  await page.visit('/index.html');

  await page.click('.theme');
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.reload();
  const kept = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  say(dark === kept && dark !== 'rgb(255, 255, 255)' ? [] : [dark, kept], 'the switch makes the page dark, and it stays so');
  say(page.problems, 'the search and the switch make no error');

  // Without the script there is no search and no button, and everything can be read.
  await page.setJavaScriptEnabled(false);
  await page.visit('/reference/cpp/options.html');
  const text = await page.$eval('main', (main) => main.innerText.includes('soft_cap'));
  say(text ? [] : ['no'], 'without the script a page has its text');
}
