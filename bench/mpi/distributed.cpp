// Attention over a long sequence whose tokens are divided over the ranks:
//   distributed decode TOKENS [STEPS]
//   distributed prefill TOKENS [PIECE]
//   distributed costs TOKENS [PIECE]
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runs.h"

int main(int argc, char** argv) {
  const distributed::Session session(argc, argv);
  const char* const what = argc > 1 ? argv[1] : "";
  const bool is_decode = std::strcmp(what, "decode") == 0, is_prefill = std::strcmp(what, "prefill") == 0;
  const bool is_costs = std::strcmp(what, "costs") == 0;
  const int tokens = argc > 2 ? std::atoi(argv[2]) : 0, number = argc > 3 ? std::atoi(argv[3]) : is_decode ? 20 : 256;
  if (!(is_decode || is_prefill || is_costs) || tokens < 1 || tokens > ATTEND_MAX_TOKENS || number < 1) {
    if (session.rank == 0) {
      std::fprintf(stderr,
                   "distributed decode TOKENS [STEPS], or prefill or costs TOKENS [PIECE]: 1 ... %d tokens, 1 step or more, "
                   "pieces of 1 query or more\n",
                   ATTEND_MAX_TOKENS);
    }
    return 2;
  }
  if (is_costs) return !run_costs(session, tokens, number);
  return is_prefill ? !run_prefill(session, tokens, number) : !run_decode(session, tokens, number);
}
