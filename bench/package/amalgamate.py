"""The library as few files: attend.h, attend_c.h and attend.cpp, from include/attend and src.

attend_c.h is every header of the C surface, attend.h includes it and is every header of the C++ surface. attend.cpp includes
attend_c.h alone, and is every source with every other header in its place: where attend.h asks for a newer language, the rest
still compiles. Sources of one instruction set become a section with a namespace of its own inside `attend`, in_avx2 say,
because each section has its own copy of all helpers, compiled for its own instructions:

  - `namespace attend {` in headers of src/ becomes `namespace attend { namespace in_avx2 {`;
  - entry points are defined for the section's own declaration of their class, in_avx2::core::Entry<Backend>, so that the names in
    their bodies are the section's; attend::core::Entry<Avx2Backend> derives from it.

All other sources follow the sections, as they are.

bench/package/amalgamate.py FOLDER, from the project's top folder, writes the three there.
"""
import pathlib
import re
import sys

# Declarations that sections share with the dispatcher: they come once, before all sections.
SHARED = ['src/numerics/float_rules.h', 'src/isa/list.h', 'src/isa/list.h', 'src/kernel/operands.h']
INCLUDE = re.compile(r'^#include "([^"]+)".*$')
ENTRY_CLASS = re.compile(r'^template <class Backend>\nstruct (\w+) \{\n.*?^\};\n', re.M | re.S)


# Helpers stood in headers, where nobody expects that a source uses all of them.
NOT_ALL_USED = ''.join(['#if defined(__clang__)\n', *(f'#pragma clang diagnostic ignored "-W{name}"\n' for name in
                       ('unused-function', 'unused-const-variable', 'unneeded-internal-declaration')), '#endif\n'])


def is_c(text):
    return '#pragma once' not in text


class Headers:
    """Puts headers in the place of their includes, each once: where an #if decides, under a guard if it has to come twice."""

    def __init__(self, root, taken, edit=lambda text: text, prefix='', guarded=()):
        self.root, self.taken, self.edit, self.prefix = root, set(taken), edit, prefix
        self.guarded, self.places, self.conditions = guarded, {}, []

    def source(self, path):
        """The text of a file, with its headers."""
        output, run = [f'\n// {path}\n'], []

        def end_run():
            text = ''.join(run)
            run.clear()
            output.append(self.edit(text))

        for line in (self.root / path).read_text().splitlines(keepends=True):
            include = INCLUDE.match(line)
            if include is None:
                self.follow(line)
                if line.strip() != '#pragma once':
                    run.append(line)
                continue
            header = str((self.root / path).parent.joinpath(include[1]).resolve().relative_to(self.root))
            text = self.header(header)
            if text:
                end_run()
                output.append(text)
        end_run()
        return ''.join(output)

    def follow(self, line):
        directive = re.match(r'#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)', line)
        if directive is None:
            return
        if directive[1].startswith('if'):
            self.conditions.append(directive[1] + directive[2])
        elif directive[1] == 'endif':
            self.conditions.pop()
        else:
            self.conditions[-1] += ' ' + directive[1] + directive[2]

    def header(self, path):
        if path in self.taken:
            return ''
        if path == 'src/backend/alone.h':  # sections are alone
            return self.header('src/isa/list.h')
        switch = path.endswith('_on.h') or path.endswith('_off.h')  # once for each source
        here = tuple(self.conditions)
        if not switch and any(place == here[:len(place)] for place in self.places.get(path, [])):
            return ''
        self.places.setdefault(path, []).append(here)
        if switch or path not in self.guarded:
            return self.source(path)
        guard = 'ATTEND_' + re.sub(r'\W', '_', f'{self.prefix}{path}').upper()
        return f'#ifndef {guard}\n#define {guard}\n{self.source(path)}#endif\n'


def expand(root, sources, taken, edit=lambda text: text, prefix=''):
    """The sources one after another with their headers. A first round finds the headers that need a guard."""
    first = Headers(root, taken, edit, prefix)
    for source in sources:
        first.source(source)
    guarded = {path for path, places in first.places.items() if len(places) > 1}
    second = Headers(root, taken, edit, prefix, guarded)
    return ''.join(second.source(source) for source in sources)


def section_of(text):
    """What sources of one section have in common: the instruction set and the backend that they name."""
    isa = re.search(r'^using Isa = attend::(.+);', text, re.M)
    backend = re.search(r'^using Backend = attend::core::(\w+);', text, re.M)
    return isa and (isa[1], backend[1])


def editor(name):
    """What becomes of the text of a section's files."""

    def edit(text):
        if '\nnamespace attend {' in '\n' + text or '}  // namespace attend' in text:
            text = re.sub(r'^namespace attend \{$', f'namespace attend {{\nnamespace {name} {{', text, flags=re.M)
            text = text.replace('}  // namespace attend\n', f'}}  // namespace {name}\n}}  // namespace attend\n')
            return re.sub(r'(?<!namespace )\battend::(?!core)', f'attend::{name}::', text)
        code = re.sub(r'^\s*(//.*|#.*|)$', '', text, flags=re.M).strip()
        if not re.search(r'^(template|using)\b', code, re.M):
            return text
        # Entry points, and the names of instruction set and backend.
        text = re.sub(r'\battend::(core::)', r'\1', text)
        text = re.sub(r'\battend::', '', text)
        return re.sub(r'^((?:template|using)\b.*)\Z', lambda m: f'namespace attend {{\nnamespace {name} {{\n{m[1]}}}  // namespace {name}\n}}  // namespace attend\n',
                      text, count=1, flags=re.M | re.S) if '#endif' not in text else wrap_lines(text, name)

    return edit


def wrap_lines(text, name):
    """Wraps what stands between preprocessor lines."""
    output = []
    for part in re.split(r'(^#.*\n)', text, flags=re.M):
        if re.search(r'^(template|using)\b', part, re.M):
            part = f'namespace attend {{\nnamespace {name} {{\n{part}}}  // namespace {name}\n}}  // namespace attend\n'
        output.append(part)
    return ''.join(output)


def section(root, name, sources, backend, taken, classes, types):
    body = expand(root, sources, taken, editor(name), name + '/')
    used = [kind for kind in classes if re.search(rf'\b{kind}<(Backend|core::{backend})>::\w+(<[^>]*>)?\(', body)]
    condition = re.search(r'^#if (ATTEND_\w+)$', (root / sources[0]).read_text(), re.M)
    own = ''.join(classes[kind] for kind in used)
    derived = ''.join(f'template <>\nstruct {kind}<{backend}> : {name}::core::{kind}<{backend}> {{}};\n' for kind in used)
    head = (f'namespace attend {{\nnamespace {name} {{\nnamespace core {{\nusing namespace attend::core;\n{types}{own}}}  // namespace core\n'
            f'}}  // namespace {name}\nnamespace core {{\n{derived}}}  // namespace core\n}}  // namespace attend\n')
    if condition:
        head = f'#if {condition[1]}\n{head}#endif\n'
    return f'\n// ---- {", ".join(sources)}\n\n{head}{body}'


def headers(root, banner, paths, c_paths):
    """The texts of attend_c.h and attend.h."""
    c_text = ''.join(map(Headers(root, []).header, c_paths))
    cpp_text = ''.join(map(Headers(root, c_paths).header, [path for path in paths if path not in c_paths]))
    guard = lambda name, text: f'{banner}#ifndef ATTEND_{name}_H\n#define ATTEND_{name}_H\n{text}\n#endif\n'
    return {'attend_c.h': guard('AMALGAMATION_C', c_text),
            'attend.h': guard('AMALGAMATION', f'#include "attend_c.h"\n\n#ifdef __cplusplus\n{cpp_text}\n#endif\n')}


def reached(root, sources, c_paths):
    """The headers of include/attend that sources include, those for C aside, each where the first needs it."""
    every = Headers(root, c_paths)
    for source in sources:
        every.source(source)
    once = Headers(root, c_paths)
    return ''.join(once.header(path) for path in sorted(every.places) if path.startswith('include/'))


def amalgamate(root, banner):
    """The texts of the files. `banner`: a comment for C that says what they are."""
    root = pathlib.Path(root).resolve()
    public = sorted(str(path.relative_to(root)) for path in root.glob('include/attend/*.h'))
    c_surface = [path for path in public if is_c((root / path).read_text())]
    sources = sorted(str(path.relative_to(root)) for path in root.glob('src/*.cpp'))
    classes = {}
    for path in SHARED:
        for match in ENTRY_CLASS.finditer((root / path).read_text()):
            classes[match[1]] = match[0]
    # What entry points take is named one by one, because some of these names are also in namespace attend.
    entry_text = ''.join(classes.values())
    names = {name for path in public if pathlib.Path(path).stem.startswith('core')
             for name in re.findall(r'^(?:struct|enum class) (\w+)', (root / path).read_text(), re.M)
             if re.search(rf'\bconst {name}&', entry_text)}
    types = ''.join(f'using attend::core::{name};\n' for name in sorted(names))
    shared = expand(root, SHARED[:1] + ['src/isa/list.h', 'src/kernel/operands.h'], public)
    taken = public + SHARED
    sections, rest = {}, []
    for source in sources:
        name = pathlib.Path(source).stem
        if name.startswith('backend_'):
            sections.setdefault(section_of((root / source).read_text()), []).append(source)
        elif not name.startswith('combine_scalar'):
            rest.append(source)
    combine = [source for source in sources if pathlib.Path(source).stem.startswith('combine_scalar')]
    for key, files in sections.items():
        if 'src/backend_scalar.cpp' in files:
            files += combine
    texts = [section(root, 'in_' + pathlib.Path(files[0]).stem[len('backend_'):], files, key[1], taken, classes, types)
             for key, files in sections.items()]
    calls = expand(root, rest, taken)
    source_text = f'{banner}{NOT_ALL_USED}#include "attend_c.h"\n{reached(root, sources, c_surface)}{shared}{"".join(texts)}\n// ---- calls\n{calls}'
    return {**headers(root, banner, public, c_surface), 'attend.cpp': source_text}


if __name__ == '__main__':
    for file_name, content in amalgamate('.', '').items():
        pathlib.Path(sys.argv[1], file_name).write_text(content)
