"""Every form of node through the runtime: nodes.py LIBRARY [--plugin PLUGIN] [--only TEXT] [--every N] [--level 0|1|2|99]

Each is a model of one node. With the plugin it must be the plugin that computes it, unless the form says why it leaves it; the outputs are
compared with float64 either way. Without the plugin the runtime's own kernels are compared, with wider bounds: those show that the reference
is right.
"""
import argparse
import sys

import form
import host
import nodes_attention  # noqa: F401, adds forms
import nodes_contrib  # noqa: F401
import nodes_linear  # noqa: F401
import nodes_products  # noqa: F401
import nodes_rows  # noqa: F401


def check(runtime, one, plugin, level=99):
    """A sentence about what is wrong, or None."""
    try:
        session = runtime.session(one.model(), provider=plugin, level=level)
        left = session.left() if plugin else []
        if one.shipped == form.CRASHES and (left or not plugin):
            return "the plugin leaves it" if plugin else None
        wrong = one.wrong(session.run(one.fed()), shipped=not plugin or bool(left))
        if wrong and one.shipped and (not plugin or left):
            return None
    except host.Error as error:
        return None if one.shipped and not plugin else str(error)
    if left and not one.left:
        return (wrong + ", and the" if wrong else "the") + " plugin leaves it"
    if one.left and plugin and not left:
        return (wrong + ", and it" if wrong else "it") + " was said to be left: " + one.left
    return wrong


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", default="")
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--level", type=int, default=99)
    arguments.add_argument("--trace", action="store_true", help="names each form first, to find one that crashes")
    asked, runtime = host.opened(arguments)
    counts = {}
    for i, one in enumerate(f for f in form.FORMS if asked.only in f.operator() + " " + f.name):
        if i % asked.every:
            continue
        if asked.trace:
            print(one.name, flush=True)
        wrong = check(runtime, one, bool(asked.plugin), asked.level)
        tally = counts.setdefault(one.operator(), [0, 0, 0])
        tally[1 if wrong else 0] += 1
        tally[2] += 1 if one.left else 0
        if wrong:
            print("FAIL %s: %s" % (one.name, wrong))
    for operator, (right, wrong, left) in counts.items():
        print("%-50s %4d right, %d wrong%s" % (operator, right, wrong, ", %d of other types left" % left if left else ""))
    print("%d forms, %d wrong" % (sum(c[0] + c[1] for c in counts.values()), sum(c[1] for c in counts.values())))
    return 1 if any(c[1] for c in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
