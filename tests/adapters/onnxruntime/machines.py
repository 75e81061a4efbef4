"""The small host program (host.c) on this processor and on emulated ones, with the plugin or without.

check.sh says in the environment what there is: ORT_HOST and ORT_LIBRARY, ORT_PLUGIN for this processor, ORT_ARM_HOST, ORT_ARM_LIBRARY,
ORT_ARM_PLUGIN and ORT_ARM_ROOT for AArch64 under qemu-aarch64. ORT_WORK is a folder for files.
"""
import hashlib
import os
import shutil
import subprocess

import numpy

import host

WORK = os.environ.get("ORT_WORK", "build/onnxruntime-work")


def write_tensor(array, path):
    array = numpy.asarray(array, order="C")
    with open(path, "wb") as out:
        out.write(("%d %d%s\n" % (host.NUMBERS[array.dtype], array.ndim, "".join(" %d" % n for n in array.shape))).encode())
        out.write(array.tobytes())
    return path


def read_tensor(path):
    with open(path, "rb") as file:
        head, data = file.read().split(b"\n", 1)
    kind, _, *shape = map(int, head.split())
    return numpy.frombuffer(data, host.TYPES[kind]).reshape(shape)


class Job:
    """A run: model is a path, inputs arrays by name."""

    def __init__(self, model, inputs, threads=1, times=1):
        self.model, self.inputs, self.threads, self.times = model, inputs, threads, times


class Answer:
    """outputs, or error; taken: nodes that the plugin computed, and others; times: microseconds of each run."""

    def __init__(self, outputs=None, error=None, taken=(0, 0), times=()):
        self.outputs, self.error, self.taken, self.times = outputs, error, taken, times


class Machine:
    def __init__(self, name, command, library, plugin, **environment):
        self.name, self.command, self.library, self.plugin, self.environment = name, command, library, plugin, environment

    def run(self, jobs, plugin=True):
        """Answers in the order of jobs, which are run in one process."""
        folder = os.path.join(WORK, "%s.%s.%d" % (self.name.replace(" ", "-"), "plugin" if plugin else "shipped", os.getpid()))
        os.makedirs(folder, exist_ok=True)
        try:
            lines, opened = [], None
            for i, job in enumerate(jobs):
                if (job.model, job.threads) != opened:
                    lines.append("model %s %d" % (job.model, job.threads))
                    opened = job.model, job.threads
                for j, (name, array) in enumerate(job.inputs.items()):
                    lines.append("input %s %s" % (name, write_tensor(array, os.path.join(folder, "in.%d.%d" % (i, j)))))
                lines.append("run %s %d" % (os.path.join(folder, "out.%d" % i), job.times))
            with open(os.path.join(folder, "jobs"), "w") as out:
                out.write("\n".join(lines) + "\n")
            done = subprocess.run(self.command + [self.library, self.plugin if plugin else "none", os.path.join(folder, "jobs")], capture_output=True,
                                  text=True, env={**os.environ, **self.environment})
            answers = [self._answer(line) for line in done.stdout.splitlines() if line.startswith(("ok ", "error "))]
            died = "the program ended with %d: %s" % (done.returncode, done.stderr.strip()[-300:])
            return answers + [Answer(error=died)] * (len(jobs) - len(answers))
        finally:
            shutil.rmtree(folder)

    @staticmethod
    def _answer(line):
        kind, output, rest = line.split(" ", 2)
        if kind == "error":
            return Answer(error=rest)
        ours, others, *times = map(int, rest.split())
        outputs = []
        while os.path.exists("%s.%d" % (output, len(outputs))):
            outputs.append(read_tensor("%s.%d" % (output, len(outputs))))
        return Answer(outputs, None, (ours, others), times)


def machines():
    """Those that this check was given: the first is this processor as it is."""
    here = [os.environ["ORT_HOST"]]
    library, plugin = os.environ["ORT_LIBRARY"], os.environ.get("ORT_PLUGIN", "none")
    found = {"here": Machine("here", here, library, plugin), "scalar": Machine("scalar", here, library, plugin, ATTEND_BACKEND="scalar")}
    if os.environ.get("ORT_ARM_HOST"):
        found["AArch64"] = Machine("AArch64", ["qemu-aarch64", "-L", os.environ["ORT_ARM_ROOT"], os.environ["ORT_ARM_HOST"]], os.environ["ORT_ARM_LIBRARY"],
                                   os.environ.get("ORT_ARM_PLUGIN", "none"))
    if shutil.which("qemu-x86_64"):
        found["Nehalem"] = Machine("Nehalem", ["qemu-x86_64", "-cpu", "Nehalem"] + here, library, plugin)
    return found


def digest(arrays):
    """SHA-256 of the bytes of arrays; of a NaN and of zero the sign is not promised."""
    whole = hashlib.sha256()
    for array in arrays:
        if array.dtype.kind == "f":
            array = numpy.where(numpy.isnan(array), array.dtype.type(numpy.nan), array + array.dtype.type(0))
        whole.update(str(array.shape).encode())
        whole.update(numpy.asarray(array, order="C").tobytes())
    return whole.hexdigest()


def difference(expected, found):
    """As the table of invariance says it: same, or how many numbers differ by how much."""
    if digest(expected) == digest(found):
        return "same"
    apart = most = count = 0
    for a, b in zip(expected, found):
        if a.shape != b.shape:
            return "differs (in shape)"
        a, b = a.astype(numpy.float64), b.astype(numpy.float64)
        with numpy.errstate(invalid="ignore"):
            off = numpy.nan_to_num(numpy.abs(a - b), nan=numpy.inf) * (a != b)
        apart, most, count = apart + int((a != b).sum()), max(most, off.max(initial=0)), count + a.size
    return "differs (%s %% of numbers, at most %.0e)" % (max(1, round(100.0 * apart / count)), most)
