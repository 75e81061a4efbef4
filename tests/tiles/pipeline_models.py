"""Cycles of loops by llvm-mca's models of processors.

A loop is simulated for 100 rounds. Its last branch stays: a model takes it for an instruction that reads flags, and never
mispredicts it. Loads find everything in the first-level cache. The limit of a processor is what a row of multiply-adds takes that
wait for nothing. A model is a table that somebody wrote: compare what it says with what it said before, and believe it only as far
as its tables.
"""
import json
import re
import subprocess

ROUNDS = 100
# Models have no numbers for T32's conditions and the end of a loop that the processor counts; they are left out of the simulation.
FREE = re.compile(r"it[te]*|le|letp")
IN_ORDER = ("cortex-a53", "cortex-a55")


def cycles(mca, backend, model, bodies, rounds):
    """Cycles of a round of each loop, None for what the model does not know, and of a multiply-add at the processor's limit."""
    texts = [limit_text(backend)] + [body_text(backend, body) for body in bodies]
    lines = []
    for i, text in enumerate(texts):
        lines += ["# LLVM-MCA-BEGIN %d" % i, *text, "# LLVM-MCA-END"]
    command = [mca, "-mtriple=" + backend.triple, "-mcpu=" + model, *backend.mca_flags, "-iterations=%d" % rounds,
               "-instruction-info=0", "-resource-pressure=0", "-skip-unsupported-instructions=lack-sched"]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    totals = re.findall(r"^Total Cycles: +(\d+)", done.stdout, re.MULTILINE)
    if done.returncode != 0 or len(totals) != len(texts):
        raise RuntimeError("llvm-mca -mcpu=%s: %s" % (model, done.stderr.strip().split("\n")[0]))
    unknown = set(re.findall(r"note: instruction:\s+(\S+)", done.stderr))
    of_rounds = [int(total) / rounds for total in totals]
    known = [all(i.mnemonic not in unknown or FREE.fullmatch(i.mnemonic) for i in body) for body in bodies]
    return [total if is_known else None for total, is_known in zip(of_rounds[1:], known)], of_rounds[0] / len(texts[0])


def cycles_of_instructions(mca, backend, model, body):
    """By how many cycles each instruction begins, or where processors change their order ends, after all before it did, in the second
    of two rounds."""
    command = [mca, "-mtriple=" + backend.triple, "-mcpu=" + model, *backend.mca_flags, "-iterations=2", "-json", "-timeline",
               "-timeline-max-iterations=2", "-timeline-max-cycles=0", "-instruction-info=0", "-resource-pressure=0"]
    done = subprocess.run(command, input="\n".join(body_text(backend, body)) + "\n", capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError("llvm-mca -mcpu=%s: %s" % (model, done.stderr.strip().split("\n")[0]))
    key = "CycleIssued" if model in IN_ORDER else "CycleRetired"
    at = [entry[key] for entry in json.loads(done.stdout)["CodeRegions"][0]["TimelineView"]["TimelineInfo"]]
    taken, last = [], max(at[: len(body)])
    for cycle in at[len(body) :]:
        taken.append(max(cycle - last, 0))
        last = max(cycle, last)
    return taken


def limit_text(backend):
    return [backend.multiply_add.format(i) for i in range(backend.registers)]


def body_text(backend, body):
    """What an assembler takes: branches and near addresses go to a label, and calls and returns are jumps, whose targets a processor foresees."""
    machine = backend.machine
    texts = []
    for i in body:
        if machine.branch.fullmatch(i.mnemonic) or machine.near_address.fullmatch(i.mnemonic):
            texts.append(re.sub(r"#?0x[0-9a-f]+$", "loop_begin", i.text))
        elif machine.jumps.fullmatch(i.mnemonic):
            texts.append("b loop_begin")
        else:
            texts.append(i.text)
    return texts
