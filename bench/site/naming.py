"""What has a name in the reference, and where it is shown."""
import pathlib
import re

import comments
from declarations import Entry
from names import Name
from pages import slug


def name_all(names, headers, package, others):
    """Gives every declaration of the headers, of the package and of the other modules its address, and its name in names."""
    for page in headers.pages.values():
        used = set()
        page.address = f'reference/{page.language}/{pathlib.PurePosixPath(page.path).stem}.html'
        for part in page.parts:
            if isinstance(part, Entry):
                for item in part.items:
                    name_item(names, item, part, page, used)
            else:
                part.id = unique(slug(part.title), used) if part.title else ''
    for module in package.modules:
        module.address = f'reference/python/{module.name}.html'
        module.members = [each for each in module.members if not is_again(package, module, each)]
        for each in module.members:
            name_python(names, each, module.address)
    for module in others:
        module.address = f'reference/{module.language}/attend.html'
        for each in module.members:
            name_python(names, each, module.address, module.language)


def is_again(package, module, each):
    """attend.nn.Cache is attend.Cache."""
    return module.full != 'attend' and any((other.path, other.line) == (each.path, each.line) for other in package.modules[0].members)


def name_item(names, item, entry, page, used):
    item.id = unique(item.name, used)
    summary = comments.first_sentence(item.comment) or comments.first_sentence(entry.comment)
    item.names = [names.add(Name(item.name, page.language, item.kind, page.address, item.id, summary))]
    item.names[0].item = item
    for member in item.members:
        full = member.name if member.kind == 'enumerator' and page.language == 'c' else f'{item.name}.{member.name}'
        member.id = unique(member.name if member.kind == 'enumerator' and page.language == 'c' else f'{item.id}.{member.name}', used)
        text = ' '.join(content if kind == 'text' else '' for kind, content in comments.blocks(member.comment)).strip()
        if item.name == 'Status':
            text = text.split('  ')[-1]
        names.add(Name(full, page.language, member.kind, page.address, member.id, text or summary, item.name))


def name_python(names, each, address, language='python'):
    names.add(Name(each.full, language, each.kind, address, each.full, comments.first_sentence(each.doc)))
    for kind, content in comments.blocks(each.doc):
        if kind == 'terms' and each.kind in ('function', 'class'):
            for term, text in content:
                if re.fullmatch(r'[a-z]\w*', term) and names.find(language, f'{each.full}.{term}') is None:
                    names.add(Name(f'{each.full}.{term}', language, 'parameter', address, f'{each.full}.{term}', text, each.full))
    for member in each.members:
        names.add(Name(member.full, language, member.kind, address, member.full, comments.first_sentence(member.doc), each.full))


def unique(name, used):
    found, count = name, 1
    while found in used:
        count += 1
        found = f'{name}-{count}'
    used.add(found)
    return found
