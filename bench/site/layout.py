"""The frame of every page: head, the bar with the search and the switch of colours, the list of all pages, and the page itself."""
from markup import attribute, escaped

# Set before anything is drawn, so that nothing flashes; without the script the system's choice holds.
THEME = "try{var t=localStorage.getItem('theme');if(t)document.documentElement.dataset.theme=t}catch(e){}"


def up(page):
    return '../' * page.count('/')


def between(page, target):
    """The address of a page of the site as another one writes it."""
    path, _, anchor = target.partition('#')
    anchor = f'#{anchor}' if anchor else ''
    if path == page and anchor:
        return anchor
    here, there = page.split('/')[:-1], path.split('/')
    while here and len(there) > 1 and here[0] == there[0]:
        here, there = here[1:], there[1:]
    return '../' * len(here) + '/'.join(there) + anchor


def navigation(page, groups, headings):
    """groups: [(title, [(address, words)])]. The page's own headings stand below it."""
    parts = []
    for title, links in groups:
        items = []
        for address, words in links:
            if address == page:
                inner = ''.join(f'<li><a href="#{attribute(anchor)}">{escaped(text)}</a></li>' for level, anchor, text in headings if level == 2)
                inner = f'<ul>{inner}</ul>' if inner else ''
                items.append(f'<li><a href="{attribute(between(page, address))}" aria-current="page">{escaped(words)}</a>{inner}</li>')
            else:
                items.append(f'<li><a href="{attribute(between(page, address))}">{escaped(words)}</a></li>')
        parts.append(f'<p class="group">{escaped(title)}</p><ul>{"".join(items)}</ul>')
    return ''.join(parts)


def contents(headings):
    """The page's own headings, on the right of a wide window, where navigation() hides them."""
    items = ''.join(f'<li class="level-{level}"><a href="#{attribute(anchor)}">{escaped(text)}</a></li>' for level, anchor, text in headings if level in (2, 3))
    return f'<nav id="site-contents" aria-label="On this page"><p class="group">On this page</p><ul>{items}</ul></nav>\n' if items else ''


def turning(page, around):
    """Links to the pages before and after this one."""
    links = [f'<a rel="{rel}" href="{attribute(between(page, entry[0]))}"><small>{words}</small> {escaped(entry[1])}</a>'
             for rel, words, entry in zip(('prev', 'next'), ('Previous', 'Next'), around) if entry]
    return f'<nav class="turning" aria-label="Previous and next">{"".join(links)}</nav>\n' if links else ''


# The playground's own style and script, which the first page has; it is loaded after the text.
PLAYGROUND = '''<link rel="stylesheet" href="playground/playground.css">
<script type="module" src="playground/playground.js"></script>
'''


def framed(page, title, lead, body, groups, headings, kind='', around=(None, None)):
    root = up(page)
    playground = PLAYGROUND if 'id="playground"' in body else ''
    description = f'<meta name="description" content="{attribute(lead[:200])}">\n' if lead else ''
    return f'''<!DOCTYPE html>
<html lang="en" data-root="{root}">
<head>
<meta charset="utf-8">
<title>{escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
{description}<meta name="color-scheme" content="light dark">
<link rel="icon" href="{root}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{root}style.css">
<script>{THEME}</script>
<script src="{root}script.js" defer></script>
{playground}</head>
<body class="{kind}">
<a class="skip" href="#site-main">To the text</a>
<header class="bar">
<button class="menu" type="button" popovertarget="site-pages" aria-label="Pages">☰</button>
<a class="brand" href="{root}index.html">Attend</a>
<div class="search" role="search" hidden>
<input type="search" id="site-search" placeholder="Search  /" autocomplete="off" spellcheck="false" aria-label="Search names and pages" role="combobox" aria-expanded="false" aria-controls="site-found" aria-autocomplete="list">
<ul id="site-found" role="listbox" aria-label="Found" hidden></ul>
</div>
<button class="theme" type="button" hidden aria-label="Light or dark">◐</button>
</header>
<div class="sheet">
<nav id="site-pages" popover aria-label="Pages">{navigation(page, groups, headings)}</nav>
<main id="site-main">
{body}
{turning(page, around)}</main>
{contents(headings)}</div>
</body>
</html>
'''
