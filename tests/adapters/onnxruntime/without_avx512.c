// A library for LD_PRELOAD that hides AVX-512 and what came with it from a process on Linux: the processor lets a handler answer `cpuid` (its flag cpuid_fault).
#include <cpuid.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { set_cpuid = 0x1012 };  // of arch_prctl: whether the instruction is answered by the processor; of a thread and those that it starts
static int answered_by_processor(int yes) { return (int)syscall(SYS_arch_prctl, set_cpuid, yes); }

// AVX-512 in all parts, VNNI and its like, AMX: bits of leaf 7.
static const unsigned hidden_b = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31;
static const unsigned hidden_c = 1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14;
static const unsigned hidden_d = 1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25;
static const unsigned hidden_a1 = 1u << 4 | 1u << 5 | 1u << 21;

static void answer(int number, siginfo_t* info, void* context) {
  greg_t* const registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  static const unsigned char cpuid[] = {0x0f, 0xa2};
  (void)info;
  if (memcmp((const void*)registers[REG_RIP], cpuid, sizeof cpuid) != 0) {
    signal(number, SIG_DFL);  // the fault comes again
    return;
  }
  const unsigned leaf = (unsigned)registers[REG_RAX], part = (unsigned)registers[REG_RCX];
  unsigned a = 0, b = 0, c = 0, d = 0;
  answered_by_processor(1);
  __cpuid_count(leaf, part, a, b, c, d);
  answered_by_processor(0);
  if (leaf == 7 && part == 0) b &= ~hidden_b, c &= ~hidden_c, d &= ~hidden_d;
  if (leaf == 7 && part == 1) a &= ~hidden_a1, d = 0;
  registers[REG_RAX] = a, registers[REG_RBX] = b, registers[REG_RCX] = c, registers[REG_RDX] = d;
  registers[REG_RIP] += (greg_t)sizeof cpuid;
}

__attribute__((constructor)) static void hide(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSEGV, &action, NULL) == 0 && answered_by_processor(0) == 0) return;
  fprintf(stderr, "this processor or system does not let cpuid be answered\n");
  exit(3);
}
