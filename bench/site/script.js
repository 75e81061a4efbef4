// The search, the switch of colours and the buttons that copy. Every page can be read without it.
'use strict';

const root = document.documentElement.dataset.root;

// ---- Light and dark: the system's choice until the reader makes one ----

const theme = document.querySelector('.theme');
theme.hidden = false;
theme.addEventListener('click', () => {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const now = document.documentElement.dataset.theme || (dark ? 'dark' : 'light');
  const next = now === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem('theme', next); } catch (error) { /* a folder that keeps nothing */ }
});

// ---- Code can be copied ----

for (const block of document.querySelectorAll('.code:not(.source, .signature)')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('pre').innerText);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  block.append(button);
}

// A list of pages that scrolls shows where the reader is.
const current = document.querySelector('#site-pages [aria-current]');
if (current && innerWidth >= 1024) {
  const list = document.getElementById('site-pages');
  const offset = current.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (offset > list.clientHeight - 100) list.scrollTop = offset - 150;
}

// The contents on the right show the section that is being read.
const places = [...document.querySelectorAll('#site-contents a')];
if (places.length) {
  const heads = places.map((place) => document.getElementById(decodeURIComponent(place.hash.slice(1))));
  const frame = document.getElementById('site-contents');
  const mark = () => {
    const now = heads.filter((head) => head.getBoundingClientRect().top < innerHeight / 4).length - 1;
    places.forEach((place, at) => place.classList.toggle('seen', at === now));
    const { top, bottom } = places[Math.max(now, 0)].getBoundingClientRect();
    if (bottom > innerHeight - 20 || top < 60) frame.scrollTop += top - innerHeight / 2;
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

// ---- Search ----

const input = document.getElementById('site-search');
const list = document.getElementById('site-found');
let index = null, shown = [], chosen = -1;
input.closest('.search').hidden = false;

// search.js calls this: [name, what is shown, kind, page, anchor, words] of each entry.
function attendSearch(found) {
  index = found.entries.map(([name, words, kind, page, anchor, text]) => ({
    name: name.toLowerCase(), words, kind, text, lower: words.toLowerCase(), all: `${words} ${text}`.toLowerCase(),
    address: `${root}${found.pages[page]}${anchor ? '#' + anchor : ''}`, isName: name !== ''
  }));
  show();
}
window.attendSearch = attendSearch;

function load() {
  if (load.begun) return;
  load.begun = true;
  const script = document.createElement('script');
  script.src = `${root}search.js`;
  document.head.append(script);
}

// How well an entry answers; 0: not at all. Exact names come first, and of these declarations before their members.
function score(entry, query, parts) {
  if (!parts.every((part) => entry.all.includes(part))) return 0;
  let points = 1;
  if (entry.isName && (entry.name === query || entry.lower === query)) points += 100;
  else if (entry.isName && entry.name.startsWith(query)) points += 50;
  else if (entry.lower.startsWith(query)) points += 40;
  else if (parts.every((part) => entry.lower.includes(part))) points += 25;
  if (entry.isName && !/constant/.test(entry.kind)) points += 4;
  if (/function|struct|class|enum/.test(entry.kind)) points += 6;
  if (entry.kind === 'page') points += 3;
  return points - entry.words.length / 200;
}

function show() {
  const query = input.value.trim().toLowerCase();
  if (!index || !query) return close();
  const parts = query.split(/\s+/);
  shown = index.map((entry) => ({ entry, points: score(entry, query, parts) })).filter((each) => each.points > 0)
    .sort((a, b) => b.points - a.points).slice(0, 30).map((each) => each.entry);
  list.replaceChildren(...shown.map((entry, at) => {
    const item = document.createElement('li');
    item.id = `found-${at}`;
    item.setAttribute('role', 'option');
    item.className = entry.isName ? 'name' : 'page';
    const name = document.createElement('b');
    name.textContent = entry.words;
    const kind = document.createElement('span');
    kind.className = 'kind';
    kind.textContent = entry.kind;
    item.append(name, ' ', kind);
    if (entry.isName && entry.text) {
      const text = document.createElement('small');
      text.textContent = entry.text;
      item.append(text);
    }
    item.addEventListener('pointerdown', (event) => { event.preventDefault(); go(entry); });
    return item;
  }));
  if (!shown.length) {
    const none = document.createElement('li');
    none.setAttribute('role', 'option');
    none.setAttribute('aria-disabled', 'true');
    none.textContent = `Nothing has “${input.value.trim()}”.`;
    list.append(none);
  }
  list.hidden = false;
  input.setAttribute('aria-expanded', 'true');
  choose(shown.length ? 0 : -1);
}

function close() {
  list.hidden = true;
  input.setAttribute('aria-expanded', 'false');
  input.removeAttribute('aria-activedescendant');
  chosen = -1;
}

function choose(at) {
  chosen = at;
  [...list.children].forEach((item, each) => item.setAttribute('aria-selected', String(each === at)));
  if (at < 0) return input.removeAttribute('aria-activedescendant');
  input.setAttribute('aria-activedescendant', `found-${at}`);
  list.children[at].scrollIntoView({ block: 'nearest' });
}

function go(entry) {
  close();
  input.blur();
  location.href = entry.address;
}

input.addEventListener('focus', () => { load(); show(); });
input.addEventListener('input', () => { load(); show(); });
input.addEventListener('blur', close);
input.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' && shown.length) choose((chosen + 1) % shown.length);
  else if (event.key === 'ArrowUp' && shown.length) choose((chosen + shown.length - 1) % shown.length);
  else if (event.key === 'Enter' && chosen >= 0) go(shown[chosen]);
  else if (event.key === 'Escape') { if (list.hidden) input.blur(); else close(); }
  else return;
  event.preventDefault();
});
addEventListener('keydown', (event) => {
  const writes = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable;
  if (event.key !== '/' || writes || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
  input.select();
});
