"""The backends, the compilers that are looked for, and how each source is compiled: as a vendor would, at -O2."""
import dataclasses
import fnmatch
import os
import re
import shutil
import subprocess

import machines

CLANG = 22  # beside GCC; others make other loops, but nobody would work on those


@dataclasses.dataclass
class Backend:
    name: str
    source: str  # of SOURCES
    machine: machines.Machine
    clang: str  # flags
    gcc: str = ""  # the compiler and flags; nothing where GCC 12 lacks the instruction set
    gcc_package: str = ""
    models: tuple = ()  # processors that llvm-mca has a model of
    triple: str = ""  # the target that llvm-mca assembles for
    mca_flags: tuple = ()
    multiply_add: str = ""  # one that waits for nothing but its sum, register {}
    registers: int = 0  # how many sums there may be
    lanes: int = 0  # of a vector, where whole tiles are followed too: whole_tile.py
    emulator: str = ""  # that runs them
    linker: str = ""


def board_flags(board):
    command = ["sh", "bench/boards/board.sh", "flags", board]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def x86(name, models, vector, registers, multiply_add="vfmadd231ps"):
    return Backend(name, name, machines.X86(), gcc="x86_64-linux-gnu-g++", gcc_package="g++", clang="--target=x86_64-linux-gnu",
                   models=models, triple="x86_64", multiply_add=multiply_add + " %V15, %V14, %V{}".replace("V", vector),
                   registers=registers)


def board(name, source, vector, **others):
    flags = board_flags(name)
    return Backend("helium" if source == "helium" else "vfp-" + name[-2:], source, machines.Arm(vector, "--mcpu=" + name),
                   gcc="arm-none-eabi-g++ " + flags, gcc_package="gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib",
                   clang="--target=arm-none-eabi -ffreestanding " + flags, **others)


def backends():
    return [
        x86("avx2", ["haswell", "znver3"], "ymm", 12),
        x86("avx512", ["icelake-server", "znver4"], "zmm", 12),
        Backend("sse2", "sse2", machines.X86Unfused(), gcc="x86_64-linux-gnu-g++", gcc_package="g++", clang="--target=x86_64-linux-gnu"),
        x86("avxvnni", ["alderlake"], "ymm", 12, "{{vex}} vpdpbusd"),
        x86("avx512vnni", ["icelake-server", "znver4"], "zmm", 12, "vpdpbusd"),
        Backend("neon64", "neon", machines.Aarch64(), gcc="aarch64-linux-gnu-g++", gcc_package="g++-aarch64-linux-gnu",
                clang="--target=aarch64-linux-gnu -ffreestanding", triple="aarch64",
                models=["neoverse-n2", "cortex-a53"], multiply_add="fmla v{}.4s, v30.4s, v31.s[0]",
                registers=24, lanes=4, emulator="qemu-aarch64", linker="aarch64-linux-gnu-g++"),
        # The flags say Thumb, which cross compilers of distributions choose by themselves, and Clang does not. Of the models
        # there are, that of A57 is of a processor which executes this: A9 has no fused multiply-add. That of R52, the nearest to
        # A7 and A53, lets no load end before a multiply-add that began earlier.
        Backend("neon32", "neon", machines.Arm(r"\bq\d+"), gcc="arm-linux-gnueabihf-g++ -mthumb -mfpu=neon-vfpv4",
                gcc_package="g++-arm-linux-gnueabihf", triple="thumbv7-linux-gnueabihf", mca_flags=["-mattr=+neon,+vfp4"],
                clang="--target=arm-linux-gnueabihf -march=armv7-a -mthumb -mfpu=neon-vfpv4 -ffreestanding",
                models=["cortex-a57"], multiply_add="vfma.f32 q{}, q14, q15", registers=12),
        # Without relaxation, because the linker, which would do it, also fills in the targets of branches.
        Backend("rvv", "rvv", machines.Riscv(),
                clang="--target=riscv64-linux-gnu -march=rv64gcv -mno-relax -ffreestanding"),
        Backend("rvf", "rvf", machines.RiscvFloats(), gcc="riscv64-unknown-elf-g++ " + board_flags("rv32imafc"),
                gcc_package="gcc-riscv64-unknown-elf",
                clang="--target=riscv32-unknown-elf -mno-relax " + board_flags("rv32imafc")),
        board("cortex-m4", "vfp", r"\bs\d+"),
        board("cortex-m7", "vfp", r"\bs\d+", triple="thumbv7em-none-eabihf", models=["cortex-m7"],
              multiply_add="vfma.f32 s{}, s30, s31", registers=24),
        board("cortex-m55", "helium", r"\bq\d+", triple="thumbv8.1m.main-none-eabihf", models=["cortex-m55"],
              multiply_add="vfma.f32 q{}, q6, q7", registers=6),
    ]


class Compiler:
    """A compiler for one backend, and what to install where it was not found. Its name has its version: gcc-12, clang-22."""

    def __init__(self, name, command, package):
        self.name, self.command, self.package = name, command, package


def compilers_of(backend):
    """Those that were found, and those that were not."""
    found, missing = [], []
    if backend.gcc:
        program, *flags = backend.gcc.split()
        version = version_of(program)
        compiler = Compiler("gcc-%s" % version if version else "gcc", [program, *flags], backend.gcc_package)
        (found if version else missing).append(compiler)
    names = [name for name in ("clang++-%d" % CLANG, "clang++") if version_of(name) == str(CLANG)]
    compiler = Compiler("clang-%d" % CLANG, [*names[:1], *backend.clang.split()], "clang-%d" % CLANG)
    (found if names else missing).append(compiler)
    return found, missing


versions = {}


def version_of(program):
    """A compiler's version up to the first dot; empty where there is no such program."""
    if program not in versions:
        path = shutil.which(program)
        said = subprocess.run([path, "-dumpversion"], capture_output=True, text=True).stdout if path else ""
        versions[program] = said.strip().split(".")[0]
    return versions[program]


# The sources of a set: attention, then layers, where they are, and linear attention in sets whose loops of it were worked on. Outside x86 the compiler's flags name the set; embedded processors have
# sources of their own for calls that a program may leave out.
TARGET = ["src/backend/target.cpp", "src/layers/layers_target.cpp"]
EMBEDDED = ["src/backend/embedded_options.cpp", "src/layers/embedded_linear.cpp"]
LINEAR_ATTENTION = {"avx2": "avx2", "avx512": "avx512", "neon64": "target"}
SETS_OF_X86 = ("avx2", "avx512", "sse2", "avxvnni", "avx512vnni")


def sources_of(backend):
    if backend.source in SETS_OF_X86:
        sources = ["src/backend/%s.cpp" % backend.source, "src/layers/layers_%s.cpp" % backend.source]
    else:
        sources = TARGET + (EMBEDDED if backend.source in ("vfp", "helium", "rvf") else [])
    if backend.name in LINEAR_ATTENTION:
        sources = sources + ["src/linear_attention/linear_%s.cpp" % LINEAR_ATTENTION[backend.name]]
    return [source for source in sources if os.path.exists(source)]


def newest_source():
    """When a source or a header was changed last."""
    times = [os.path.getmtime(os.path.join(top, name)) for folder in ("src", "include") for top, _, files in os.walk(folder)
             for name in files if name.endswith((".h", ".cpp"))]
    return max(times)


def compile_source(backend, compiler, source, folder, newest):
    """The object file. It is kept until a source or a header changes."""
    stem = "%s.%s.%s" % (backend.name, compiler.name, os.path.basename(source))
    path = os.path.join(folder, stem + ".o")
    if not os.path.exists(path) or os.path.getmtime(path) < newest:
        command = [*compiler.command, "-std=c++17", "-O2", "-Iinclude", "-c", source, "-o", path]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError("%s\n%s" % (" ".join(command), done.stderr))
    return path


def unmeasured():
    """Sets whose registers no compiler chooses: engines of WebAssembly do."""
    return [Backend("simd128", "simd128", None, clang="--target=wasm32 -msimd128 -ffreestanding")]


def empty_sources():
    """What is wrong with sets: folders of src/isa without a row here, and sources that have no code of the set in their own row."""
    rows = backends() + unmeasured()
    shared = {"x86", "dsp", "scalar", "unfused"}  # what several sets have in common, and integers of embedded processors
    for folder in sorted(set(os.listdir("src/isa")) - shared - {row.source for row in rows}):
        if os.path.isdir(os.path.join("src/isa", folder)):
            yield "src/isa/%s has no row in tests/tiles/builds.py" % folder
    for row in rows:
        for compiler in compilers_of(row)[0]:
            source = sources_of(row)[0]
            command = [*compiler.command, "-std=c++17", "-Iinclude", "-E", source]
            made = subprocess.run(command, capture_output=True, text=True).stdout
            if not re.search(r"namespace attend::%s \{\s*(ATTEND_HOT )?\s*void Backend::run" % row.source, made):
                yield ("%s has no code of its set by %s for %s: the condition in src/backend/list.h is not met, or stands behind one that is"
                       % (source, compiler.name, row.name))
                break


def chosen(name, patterns):
    """Whether a name is among the patterns of COMPILERS= or BACKENDS=, which may leave out versions; none means all."""
    return not patterns or any(fnmatch.fnmatch(name, p) or fnmatch.fnmatch(name, p + "-*") for p in patterns)
