"""What the shared library says about its structs and errors, by the declarations of its headers: tests/python/c_words.py LIBRARY

Needs nothing but the standard library.
"""
import ctypes
import re
import sys

from c_library import attend, c, root

passed = failed = 0


def check(right, what):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    if not right:
        print("FAIL", what)


for name in ("attend_problem", "attend_cache_shape", "attend_integer_scales", "attend_layer"):
    init, struct = getattr(attend, name + "_init"), getattr(c, name)()
    check(init(ctypes.byref(struct), ctypes.sizeof(struct)) == c.ATTEND_OK, "size of " + name)
    check(init(ctypes.byref(struct), ctypes.sizeof(struct) - 1) != c.ATTEND_OK, "another size of " + name)
status = attend.attend_run(ctypes.byref(c.attend_problem()), None, 0)
check(attend.attend_argument_name(status) == b"size", "a struct that was not initialised")
# Each error and argument of the header has its words, in its order.
header = (root / "include/attend/c/status.h").read_text()
listed = {kind: re.findall(r"^  (ATTEND_\w+)", header[header.index("enum attend_%s {" % kind):].split("};")[0], re.M)
          for kind in ("error", "argument")}
for number, name in enumerate(listed["argument"][1:], 1):
    said = attend.attend_argument_name(number << 8 | 1).decode()
    short = re.sub(r"\.(data|table)$", "", said).replace(".", "_")
    check("ATTEND_ARG_" + short.upper() == name, "the name of " + name + ": " + said)
texts = {attend.attend_error_text(256 | number) for number in range(1, len(listed["error"]))}
check(len(texts | {attend.attend_error_text(0), attend.attend_error_text(-1)}) == len(listed["error"]) + 1, "texts of errors")
print("%d checks, %d failed" % (passed, failed))
sys.exit(failed > 0 or passed < 100)
