"""Leaves out one line after another of right programs: tests/python/leave_out.py CC LIBRARY BUILD_DIR

Lines are assignments to fields and calls in the functions of tests/c/leave_out.c and in the C program of
include/guide/c.md. What is left must be refused, or compute the same; anything else is wrong numbers without a word. Where it
makes another right program, a comment of the line says which: "else ...". With VERBOSE=1 each line is printed with what became
of it.
"""
import os
import re
import subprocess
import sys

compiler, library, build = sys.argv[1:]
LINE = re.compile(r"^ +((?:\w+\.)+\w+(?: = (?:\w+\.)+\w+)* = [^;]*;|(?:run|must)\([^;]*;)(?: +/\* *(else)?.*\*/)?$")


def read_main(text):
    """main() begins with the number of the line that is left out, which is the last argument."""
    return re.sub(r"int main\(.*\) \{\n", "int main(int count, char** names) {\n  without = atoi(names[count - 1]);\n", text)


def instrument(text):
    """The program with a test before each line that may be left out; and these, with their function and what they say."""
    lines, found, function, inside = ["#include <stdlib.h>", "static int without;"], [], -1, False
    for line in text.split("\n"):
        if line.endswith("{") and not line.startswith(" "):
            inside = re.match(r"(static void \w+|int main)\(void\) ", line) is not None
            function += inside
        match = LINE.match(line)
        if match and inside and "_init(" not in line:
            found.append((function, match[1], match[2] is not None))
            line = "if (without != %d) { %s }" % (len(found), match[1])
        lines.append(line)
    return "\n".join(lines), found


def compiled(name, text):
    source, program = (os.path.join(build, name + end) for end in (".c", ""))
    with open(source, "w") as file:
        file.write(text)
    subprocess.run([compiler, "-x", "c", "-std=c11", "-Iinclude", source, "-x", "none", library, "-o", program], check=True)
    return program


def answer(program, function, number):
    done = subprocess.run([program, str(function), str(number)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.decode().strip()


counts = {"refused": 0, "same": 0, "other": 0, "WRONG": 0}


def judge(name, text):
    text, found = instrument(text)
    program = compiled(name, read_main(text))
    for number, (function, line, has_else) in enumerate(found, 1):
        whole, (code, said) = answer(program, function, 0), answer(program, function, number)
        if whole[0] != 0:
            sys.exit("%s, function %d: %s" % (name, function, whole))
        verdict = ("refused" if code == 1 else "WRONG" if code != 0 else "same" if said == whole[1] else
                   "other" if has_else else "WRONG")
        counts[verdict] += 1
        if verdict == "WRONG" or os.environ.get("VERBOSE"):
            print("%-7s without %s %s" % (verdict, line, said if code != 0 else ""))


judge("leave_out", open("tests/c/leave_out.c").read())
for program in re.findall(r"```c\n(.*?)```", open("include/guide/c.md").read(), re.S):
    judge("guide", program.replace("= ATTEND_CAUSAL;", "= ATTEND_CAUSAL; /* else every key is seen */"))
print("%d lines left out: %d refused, %d the same, %d another right program, %d wrong" % (
    sum(counts.values()), counts["refused"], counts["same"], counts["other"], counts["WRONG"]))
sys.exit(counts["WRONG"] > 0 or counts["refused"] < 80)
