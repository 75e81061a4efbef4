// Elements of the page, and whether two digests are equal.

export const by = (id) => document.getElementById(id);

const svgNames = new Set(['svg', 'rect', 'path', 'text', 'title']);

// element('td', { class: 'cell' }, 'text', other)
export function element(name, attributes = {}, ...inside) {
  const made = svgNames.has(name) ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(...inside);
  return made;
}

export const verdict = (here, there) => (here === there ? '✓ equal, bit for bit' : '✗ different');

// Numbers on a cell whose shade is a share: dark text on light shades only.
export function shaded(share) {
  const percent = Math.round(Math.min(Math.max(share, 0), 1) * 45);
  return `background:color-mix(in srgb, var(--shade) ${percent}%, var(--paper, #fff))`;
}
