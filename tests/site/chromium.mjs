// Debian's Chromium without a window, for a folder of pages: pages report errors and requests to elsewhere. NODE_MODULES= is the folder
// where npm has put puppeteer-core and axe-core, CHROMIUM= the program.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';

const types = { '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript', '.mjs': 'text/javascript', '.svg': 'image/svg+xml', '.wasm': 'application/wasm' };

async function serve(folder) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    try {
      const bytes = await readFile(join(folder, path.endsWith('/') ? `${path}index.html` : path));
      response.writeHead(200, { 'content-type': types[extname(path) || '.html'] ?? 'application/octet-stream' });
      response.end(bytes);
    } catch {
      response.writeHead(path === '/favicon.ico' ? 204 : 404);
      response.end();
    }
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return server;
}

// A line for each check, with the first of what is wrong.
export function say(wrong, what) {
  console.log(wrong.length ? `FAIL ${what}: ${wrong.slice(0, 6).join('; ')}${wrong.length > 6 ? ' and more' : ''}` : `ok   ${what}`);
}

// How many pixels the page is wider than a window of this width. (innerWidth grows with the page on a phone.)
export const overflow = (page, width) => page.evaluate((most) => document.documentElement.scrollWidth - most, width);

// What axe finds within a selector.
export async function violations(page, selector = 'html') {
  await page.evaluate(readFileSync(`${process.env.NODE_MODULES}/axe-core/axe.min.js`, 'utf8'));
  return page.evaluate(async (within) => (await globalThis.axe.run(within, { resultTypes: ['violations'] })).violations
    .map(({ id, nodes }) => `${id} ${nodes[0].target} (${nodes.length}): ${nodes[0].html.slice(0, 150)}`), selector);
}

// Calls work({ open }): open(path, { width, dark }) gives a page, whose `problems` are a list, and whose look({ width, dark }) and
// visit(path) change its window and its address.
export async function withBrowser(folder, work) {
  const puppeteer = createRequire(`${process.env.NODE_MODULES}/`)('puppeteer-core');
  const server = await serve(folder), address = `http://127.0.0.1:${server.address().port}`;
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  const open = async (path, how = {}) => {
    const page = await browser.newPage();
    page.problems = [];
    const report = (text) => page.problems.push(`${page.url()}: ${text}`);
    page.on('pageerror', (error) => report(error.message));
    page.on('console', (message) => message.type() === 'error' && report(message.text()));
    page.on('request', (request) => !request.url().startsWith(`${address}/`) && !/^(data|blob):/.test(request.url()) && report(`asks for ${request.url()}`));
    page.on('requestfailed', (request) => !/ERR_ABORTED/.test(request.failure()?.errorText ?? '') && report(`${request.url()} fails`));
    page.on('response', (response) => response.status() >= 400 && report(`${response.url()} is ${response.status()}`));
    page.look = async ({ width = 1280, dark = false } = {}) => {
      await page.setViewport({ width, height: 900, isMobile: width < 600, hasTouch: width < 600 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
    };
    page.visit = (to) => page.goto(address + to, { waitUntil: 'load' });
    await page.look(how);
    await page.visit(path);
    return page;
  };
  try {
    await work({ open });
  } finally {
    await browser.close();
    server.close();
  }
}
