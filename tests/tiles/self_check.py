"""Instructions whose figures are known, and loops that are written here: `make tiles` first shows that it counts them right."""
import disassembly
import machines
import measure
import names
import parts
import whole_tile


def code(*texts, first=0):
    """A function of these instructions, four bytes each from an address on."""
    function = disassembly.Function("void attend::score_tile<attend::Avx2, float, 2, 1, 16>(float const*)")
    function.instructions = [disassembly.Instruction(first + 4 * i, text) for i, text in enumerate(texts)]
    return function


X86, AARCH64, RISCV = machines.X86(), machines.Aarch64(), machines.Riscv()
NEON, VFP = machines.Arm(r"\bq\d+"), machines.Arm(r"\bs\d+")

# machine, instruction, whether it is a multiply-add, registers that it loads, whether it touches the stack, whether it is a move
INSTRUCTIONS = [
    (X86, "vfmadd231ps %ymm1, %ymm2, %ymm3", 1, 0, 0, 0),
    (X86, "vfmadd231ps (%rdi,%rax,4), %ymm2, %ymm3", 1, 1, 0, 0),
    (X86, "vfmadd213ps -0x40(%rsp), %zmm2, %zmm3", 1, 1, 1, 0),
    (X86, "vfmadd132ss %xmm1, %xmm2, %xmm3", 0, 0, 0, 0),
    (X86, "vbroadcastss (%rcx,%r8), %ymm10", 0, 1, 0, 0),
    (X86, "vmovaps %ymm1, 0x20(%rsp)", 0, 0, 1, 0),
    (X86, "vmaskmovps %ymm1, %ymm2, (%rdi)", 0, 0, 0, 0),
    (X86, "vpmovsxbd (%rdi), %ymm2", 0, 1, 0, 0),
    (X86, "vmovaps %zmm1, %zmm7", 0, 0, 0, 1),
    (X86, "movq %rax, %rbp", 0, 0, 0, 1),
    (X86, "movl $0x4, %eax", 0, 0, 0, 0),
    (X86, "leaq 0x40(%rsp), %rax", 0, 0, 0, 0),
    (X86, "prefetcht0 0x200(%rdi)", 0, 0, 0, 0),
    (X86, "addq $0x10, 0x8(%rsp)", 0, 1, 1, 0),
    (AARCH64, "fmla v0.4s, v1.4s, v2.s[1]", 1, 0, 0, 0),
    (AARCH64, "fmadd s0, s1, s2, s3", 0, 0, 0, 0),
    (AARCH64, "ldp q0, q1, [x1], #0x20", 0, 2, 0, 0),
    (AARCH64, "ld1 { v0.4s, v1.4s, v2.4s, v3.4s }, [x0], #64", 0, 4, 0, 0),
    (AARCH64, "ld1r { v5.4s }, [x3]", 0, 1, 0, 0),
    (AARCH64, "ldr q3, [sp, #0x30]", 0, 1, 1, 0),
    (AARCH64, "stp q3, q4, [sp, #-0x20]!", 0, 0, 1, 0),
    (AARCH64, "mov v3.16b, v4.16b", 0, 0, 0, 1),
    (AARCH64, "mov x3, #0x10", 0, 0, 0, 0),
    (AARCH64, "prfm pldl1keep, [x1, #0x400]", 0, 0, 0, 0),
    (NEON, "vfma.f32 q8, q9, q10", 1, 0, 0, 0),
    (NEON, "vld1.32 {d16, d17, d18, d19}, [r0]!", 0, 2, 0, 0),
    (NEON, "vldmia sp, {d16, d17}", 0, 1, 1, 0),
    (NEON, "vstr d16, [sp, #0x8]", 0, 0, 1, 0),
    (NEON, "vorr q8, q9, q9", 0, 0, 0, 1),
    (NEON, "pld [r1, #0x40]", 0, 0, 0, 0),
    (VFP, "vfma.f32 s0, s1, s2", 1, 0, 0, 0),
    (VFP, "vldmia r0!, {s0, s1, s2, s3}", 0, 4, 0, 0),
    (VFP, "vmov.f32 s0, s1", 0, 0, 0, 1),
    (VFP, "ldrd r2, r3, [sp, #0x8]", 0, 2, 1, 0),
    (RISCV, "vfmacc.vf v8, fa0, v9", 1, 0, 0, 0),
    (RISCV, "vle32.v v8, (a0)", 0, 1, 0, 0),
    (RISCV, "vs1r.v v8, (sp)", 0, 0, 1, 0),
    (RISCV, "flw fa0, 0x4(a1)", 0, 1, 0, 0),
    (RISCV, "vmv1r.v v8, v9", 0, 0, 0, 1),
]

# machine, function, and of its loops: multiply-adds, instructions, accesses of the stack. The second one has an index where
# an address was, the third one leaves the loop in its middle, the last one computes the address of its stack memory.
LOOPS = [
    (X86, ["movq %rsp, %rbp", "vfmadd231ps -0x20(%rbp), %ymm2, %ymm3", "subq $0x1, %rax", "jne 0x4"], [(1, 3, 1)]),
    (X86, ["leaq 0x20(%rsp), %rcx", "xorl %ecx, %ecx", "vfmadd231ps (%rdi,%rcx), %ymm2, %ymm3", "addq $0x20, %rcx", "jne 0x8"],
     [(1, 3, 0)]),
    (X86, ["testq %rax, %rax", "jne 0x10", "vzeroupper", "retq", "vfmadd231ps (%rbp), %ymm2, %ymm3", "subq $0x1, %rax",
           "jne 0x0"], [(1, 5, 0)]),
    (X86, ["vfmadd231ps (%rax), %ymm2, %ymm3", "callq 0x100", "jne 0x0"], []),
    (AARCH64, ["fmla v0.4s, v1.4s, v2.4s", "subs x1, x1, #0x1", "b.ne 0x0", "cbnz x2, 0x0"], [(1, 3, 0)]),
    (RISCV, ["csrr a0, vlenb", "add a0, a0, sp", "vl1re32.v v8, (a0)", "vfmacc.vf v9, fa0, v8", "vle32.v v8, (a1)",
             "bnez a2, 0x0"], [(1, 6, 1)]),
]

# Blocks that ran of a function whose third instruction branches back to its second, and whose page ends after its fifth; and of the
# same with a block that the emulator cut before its branch, of which it is the second part that ran next.
TEXTS = ["mov x1, x0", "fmla v0.4s, v1.4s, v2.s[0]", "b.ne 0xff0", "nop", "nop", "ret"]
RAN = [(TEXTS, [0xFEC, 0xFF0, 0xFF8, 0x1000], [0xFEC, 0xFF0, 0xFF4, 0xFF0, 0xFF4, 0xFF8, 0xFFC, 0x1000]),
       (TEXTS, [0xFEC, 0xFF4, 0xFF8, 0x1000], [0xFEC, 0xFF0, 0xFF4, 0xFF8, 0xFFC, 0x1000])]

# A chain with its end, another begun, and what stands between: parts of a tile.
CHAINS = (["mov x1, x0", "ldur q1, [x0]", "fmul v0.4s, v1.4s, v2.s[0]", "add x0, x0, #16", "fmla v0.4s, v1.4s, v2.s[1]",
           "ldur q3, [x2]", "fadd v0.4s, v0.4s, v3.4s", "st1 {v0.4s, v1.4s}, [x2]", "b.ne 0x0", "ldur q1, [x0]",
           "fmul v0.4s, v1.4s, v2.s[0]", "ret"], "bcccceeebccb")

NAMES = [
    ("void attend::(anonymous namespace)::score_tile<attend::(anonymous namespace)::Avx2, signed char, 4, 2, 16>(int)", 32,
     "score_tile int8 4x2, 4 steps"),
    ("void attend::avx2::layers::(anonymous namespace)::linear_tile<attend::avx2::layers::(anonymous namespace)::Avx2, "
     "attend::avx2::layers::(anonymous namespace)::Half, 1, 2>(int)", 8, "linear_tile half 1x2, 4 steps"),
    ("void score_tile<Neon, 6>(float const*) (.constprop.0)", 6, "score_tile 6x1, 1 step"),
    ("void value_tile<Neon, float, 6, 4>(float const*, ValueRows<float> const&)", 20, "value_tile 6x4, 1 step, 5 rows"),
    ("void output_panel<Neon, Half, true>(float const*, Half const*)", 32, "output_panel half prefetch, 32 fmas"),
    ("void attend::avx2::linear_attention::(anonymous namespace)::update_columns<attend::avx2::linear_attention::(anonymous "
     "namespace)::Avx2, (attend::LinearRule)3, (attend::Decay)1, 1, 4, true, true>(int)", 24, "update_columns 4 3 1 1 reads, 2 steps"),
    ("void read_columns<Neon, (attend::Decay)0, 2, true>(StateColumns const&)", 2, "read_columns 2 0, 1 step"),
    ("attend::(anonymous namespace)::Vfp::widen(attend::(anonymous namespace)::Half const*, int, float*)", 0, "widen half, 3 loads"),
]


def check():
    """What is counted wrong, a line each."""
    wrong = []
    for machine, text, *expected in INSTRUCTIONS:
        one = disassembly.Instruction(0, text)
        found = [machine.is_multiply_add(one), machine.loads(one), measure.touches(machine, one, {machine.stack_pointer}),
                 machine.is_move(one)]
        if [int(figure) for figure in found] != expected:
            wrong.append("%s: %s instead of %s" % (text, [int(figure) for figure in found], expected))
    for machine, texts, expected in LOOPS:
        found = [(loop.multiply_adds, loop.instructions, loop.stack) for loop in measure.loops_of(machine, code(*texts))]
        if found != expected:
            wrong.append("%s: %s instead of %s" % ("; ".join(texts), found, expected))
    for texts, blocks, expected in RAN:
        ran = whole_tile.instructions_that_ran(AARCH64, [code(*texts, first=blocks[0])], blocks)
        if [instruction.address for instruction in ran] != expected:
            wrong.append("blocks that ran: %s" % ran)
    texts, expected = CHAINS
    found = parts.of_chains(AARCH64, code(*texts).instructions, "c", "e")
    if "".join("b" if part == parts.BETWEEN else part for part in found) != expected:
        wrong.append("parts of chains: %s" % found)
    for demangled, multiply_adds, expected in NAMES:
        found = names.Name(demangled).loop(multiply_adds, 3)
        if found != expected:
            wrong.append("%s: %s instead of %s" % (demangled, found, expected))
    return wrong
