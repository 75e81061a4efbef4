"""The names of the reference: where each is shown, which pages name it, and what a piece of code on a page means by a name."""
import re


class Name:
    """One name of a surface: 'attend_run', 'ScoreOptions', 'ScoreOptions.soft_cap', 'attend.Cache', 'attend.nn.Linear'."""

    def __init__(self, full, language, kind, page, anchor, summary, owner=''):
        self.full, self.language, self.kind, self.page, self.anchor = full, language, kind, page, anchor
        self.summary, self.owner = summary, owner
        self.short = full.rsplit('.', 1)[-1]
        self.pages = {}  # {page that names it: its anchor there}

    @property
    def url(self):
        return f'{self.page}#{self.anchor}'


class Names:
    def __init__(self):
        self.all = []
        self.by_full = {}
        self.members = {}

    def add(self, name):
        self.all.append(name)
        first = self.by_full.setdefault((name.language, name.full), name)
        name.pages = first.pages  # overloads are one name
        if name.owner:
            self.members.setdefault((name.language, name.short), []).append(name)
        return name

    def find(self, language, full):
        return self.by_full.get((language, full))

    def member(self, language, short, owners=()):
        """A member of one of these owners; without them, one that a single declaration has, or the first that has a comment."""
        found = self.members.get((language, short), [])
        for owner in owners:
            for name in found:
                if name.owner == owner:
                    return name
        # A field of one struct alone may be anything elsewhere; in C and JavaScript, whose structs are few, it is this one.
        likely = [name for name in found if language in ('c', 'javascript') or name.kind not in ('field', 'constant', 'parameter')]
        return likely[0] if likely and len({name.owner for name in found}) == 1 else None

    def in_code(self, word, before, language):
        """What a word of a code block means, by what stands before it."""
        if word.startswith(('attend_', 'ATTEND_')):
            return self.find('c', word)
        if language == 'js':
            return self.find('javascript', f'Attend.{word}') if before.endswith('attend.') else None
        if language == 'python':
            match = re.search(r'\battend((?:\.\w+)*)\.$', before)
            return self.find('python', f'attend{match[1]}.{word}') if match else None
        if re.search(r'\battend::(?:Status::)?$', before):
            return self.find('cpp', f'Status.{word}' if before.endswith('Status::') else word)
        return None

    def in_span(self, code, page):
        """What a code span on a page means: a name with its prefix or its owner; a name, a call of it, a field or an option alone only of
        the page's own language, because elsewhere `scale` is a word."""
        code, own = re.sub(r'^(\w+ = )?new ', '', code.strip()), own_languages(page)
        match = re.match(r'(attend_\w+|ATTEND_\w+)\b(?![*.])', code)
        if match:
            return self.find('c', match[1])
        match = re.match(r'(attend(?:\.\w+)+)', code) if 'javascript' not in own else None
        if match and self.find('python', match[1]):
            return self.find('python', match[1])
        explicit = re.match(r'attend::(\w+)', code)
        if explicit:
            return self.find('cpp', explicit[1])
        command = re.match(r'python3 -m attend (\w+)', code)
        if command:
            return self.find('command', command[1])
        option = re.match(r'(?:attend (?P<command>\w+) )?(?P<option>--[a-z]+)', code) if 'command' in own else None
        if option:
            return self.member('command', option['option'], (option['command'], *MAIN['command']))
        match = re.match(rf'(?:(\w+)(?:::|\.))?(\w+)(?=$|[<({{ ={":" * ("javascript" in own)}])', code)
        if not match:
            return None
        owner, word = match.groups()
        languages = own if not owner or owner[0].islower() and owner != 'nn' else [*own, *(each for each in ('cpp', 'python') if each not in own)]
        for language in languages:
            if owner:
                found = self.find(language, f'{owner}.{word}') or self.find(language, f'attend.{owner}.{word}')
                if found is None and owner[0].islower():
                    found = self.member(language, word, OWNERS.get((language, owner), ()))
            else:
                found = self.find(language, word) or self.find(language, f'attend.{word}') or self.find(language, f'attend.nn.{word}') or \
                    self.member(language, word, MAIN[language])
            if found:
                return found
        return None

    def in_comment(self, text, language, link):
        """A comment's words, with links for names that cannot be ordinary words."""
        def linked(match):
            word = match[0]
            full = re.sub(r'^attend::', '', word).replace('::', '.')
            found = self.find(language, full) if language != 'python' else self.find('python', word)
            if found is None and language == 'python':
                found = self.find('python', f'attend.{word}')
            if found is None or language != 'python' and not is_clear(word, text[match.end():]):
                return word
            return link(found, word)
        return re.sub(r'(?<![\w.&;])(?:attend::)?[A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*(?!\w)', linked, text)


# Of an ambiguous field, the declarations that guides mean.
MAIN = {'cpp': ('ScoreOptions', 'Options', 'RangedOptions', 'KvCache'), 'c': ('attend_problem', 'attend_layer', 'attend_cache_shape'),
        'python': ('attend.attention', 'attend.Layer', 'attend.Cache'), 'javascript': ('Options', 'Attend', 'Shape', 'Results', 'Cache', 'State'), 'command': ('export', 'replay')}
# What variables of examples are called.
OWNERS = {('cpp', 'cache'): ('KvCache', ), ('cpp', 'ring'): ('RingCache', ), ('cpp', 'state'): ('State', ), ('cpp', 'options'): MAIN['cpp'],
          ('cpp', 'rotary'): ('Rotary', ), ('cpp', 'documents'): ('Documents', ), ('cpp', 'sequence'): ('PagedCache', ),
          ('python', 'cache'): ('attend.Cache', ), ('python', 'state'): ('attend.State', ),
          ('javascript', 'attend'): ('Attend', ), ('javascript', 'cache'): ('Cache', ), ('javascript', 'state'): ('State', )}
# Whose bare names pages have, but those of include/guide and the first, which have those of C++.
OWN = {'include/guide/c.md': ['c'], 'include/guide/linear_attention_c.md': ['c'], 'include/guide/python.md': ['python'], 'include/guide/families.md': ['python'], 'bench/mpi/python.md': ['python'],
       'include/guide/javascript.md': ['javascript'], 'bench/javascript/README.md': ['javascript'], 'include/guide/export.md': ['command'],
       'include/guide/receipts.md': ['command']}


def own_languages(page):
    return OWN.get(page, ['cpp'] if page == 'README.md' or page.startswith('include/guide/') else [])


def is_clear(word, after):
    """Whether a word of a comment in C++ is a name: `Key` alone may be the beginning of a sentence."""
    return word.startswith('attend::') or '::' in word or '_' in word or bool(re.search(r'[a-z0-9][A-Z]', word)) or after.startswith(('&lt;', '(', '{}'))
