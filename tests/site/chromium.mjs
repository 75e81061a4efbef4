// Debian's Chromium without a window, for a folder of pages: pages report errors and requests to elsewhere. NODE_MODULES= is the folder
// where npm has put puppeteer-core, CHROMIUM= the program.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', wasm: 'application/wasm' };

async function serve(folder) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname), file = path.endsWith('/') ? `${path}index.html` : path;
    try {
      const bytes = await readFile(join(folder, file));
      response.writeHead(200, { 'content-type': types[file.split('.').at(-1)] ?? 'application/octet-stream' });
      response.end(bytes);
    } catch {
      response.writeHead(path === '/favicon.ico' ? 204 : 404);
      response.end();
    }
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return server;
}

// Calls work({ open }): open(path, { width, dark }) gives a page, whose `problems` are a list.
export async function withBrowser(folder, work) {
  const puppeteer = createRequire(`${process.env.NODE_MODULES}/`)('puppeteer-core');
  const server = await serve(folder), address = `http://127.0.0.1:${server.address().port}`;
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  const open = async (path, { width = 1280, dark = false } = {}) => {
    const page = await browser.newPage();
    page.problems = [];
    page.on('pageerror', (error) => page.problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && page.problems.push(message.text()));
    page.on('request', (request) => !request.url().startsWith(address) && !/^(data|blob):/.test(request.url()) && page.problems.push(`asks for ${request.url()}`));
    page.on('response', (response) => response.status() >= 400 && page.problems.push(`${response.status()} ${response.url()}`));
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    await page.goto(address + path, { waitUntil: 'load' });
    return page;
  };
  try {
    await work({ open });
  } finally {
    await browser.close();
    server.close();
  }
}
