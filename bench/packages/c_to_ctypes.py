"""The structs, constants and functions of the C surface as ctypes."""
from c_surface import Surface

SCALARS = {'size_t': 'ctypes.c_size_t', 'ptrdiff_t': 'ctypes.c_ssize_t', 'int': 'ctypes.c_int', 'char': 'ctypes.c_char',
           'float': 'ctypes.c_float', 'double': 'ctypes.c_double', 'uint32_t': 'ctypes.c_uint32', 'int32_t': 'ctypes.c_int32',
           'attend_status': 'ctypes.c_int', 'void': 'None', 'function': 'ctypes.CFUNCTYPE(None, ctypes.c_void_p)'}


def module(root, banner):
    surface = Surface(root)

    def type_of(kind):
        """Of 'float*', say."""
        if kind.endswith('*'):
            return 'ctypes.c_char_p' if kind == 'char*' else 'ctypes.c_void_p'
        return kind if kind in surface.structs else SCALARS[kind]

    def struct(name, fields):
        lines = [f"('{field}', {type_of(kind)}{f' * {count}' if count else ''})" for field, kind, count in fields]
        return f'class {name}(ctypes.Structure):\n    _fields_ = [' + ',\n                '.join(lines) + ']\n'

    constants = [f'{name} = {number}' for name, number in surface.constants]
    functions = [f'    library.{name}.restype = {type_of(result)}\n'
                 f"    library.{name}.argtypes = [{', '.join(type_of(kind) for kind in arguments)}]"
                 for result, name, arguments in surface.functions]
    return (f'{banner}import ctypes\n\n' + '\n'.join(constants) + '\n\n\n' +
            '\n\n'.join(struct(name, fields) for name, fields in surface.structs.items()) +
            '\n\ndef declare(library):\n' + '\n'.join(functions) + '\n')
