"""The commands of python3 -m attend and their options, from the parser that the program itself has."""
import argparse
import runpy
import textwrap

from python_api import Object

PROGRAM = 'bench/python/attend/__main__.py'


def module(root):
    text = (root / PROGRAM).read_text()
    parser = runpy.run_path(str(root / PROGRAM), run_name='attend')['parser']()
    found = Object('python3 -m attend', 'module', PROGRAM, 1, '', parser.description)
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    words = {choice.dest: choice.help for choice in commands._choices_actions}
    for name, command in commands.choices.items():
        options = [action for action in command._actions if action.dest != 'help']
        usages = ' '.join(usage(action).replace(' ', '\xa0') for action in options)  # which lines do not break
        signature = textwrap.fill(f'python3 -m attend {name} {usages}', 76, subsequent_indent='    ', break_on_hyphens=False).replace('\xa0', ' ')
        each = Object(name, 'command', PROGRAM, line_of(text, f"add_parser('{name}'"), signature, f'{words[name][0].upper()}{words[name][1:]}.')
        for action in options:
            shown = (action.option_strings or [action.dest])[0]
            more = ['required'] * (action.required and bool(action.option_strings)) + [f'`{action.default}` by default'] * bool(action.default and f'({action.default})' not in action.help)
            more += ['it may be given several times'] * isinstance(action, argparse._AppendAction)
            doc = '; '.join([action.help, *more])
            signature = ', '.join(f'{option} {value_of(action)}'.strip() for option in action.option_strings) or action.dest
            each.members.append(Object(f'{name}.{shown}', 'option', PROGRAM, line_of(text, f"{name}.add_argument('{shown}'"), signature, doc))
        found.members.append(each)
    found.language = 'command'
    return found


def usage(action):
    text = f'{action.option_strings[0]} {value_of(action)}'.strip() if action.option_strings else value_of(action)
    return text if action.required else f'[{text}]'


def value_of(action):
    return '' if action.nargs == 0 else action.metavar or action.dest.upper()


def line_of(text, call):
    return 1 + text[:text.index(call)].count('\n')
