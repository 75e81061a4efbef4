// Two boards share one sequence. Each holds keys and values of its own part and nothing of the other's: the sums of the first
// one travel as a saved state, here in a file that the emulator opens (semihosting.cpp), on devices over a UART, SPI or CAN.
// The second one merges them with its own, and its output has the bits of one board that holds all. Arguments: first, second or
// alone; floats or integers; the file, which "first" writes and "second" reads.
//
// Of 1,900 tokens the first board has 1,024 and the second 876. In bytes, in floats | integers:
//
//   keys and values   128 | 32 a token: 131,072 | 32,768 and 112,128 | 28,032; alone 243,200 | 60,800
//   states            1,488 | 1,056, of which the second board has two
//   saved states      at most 1,496 | 952 (attend_saved_size); those of the first board 388 | 372
//   work memory       6,208 | 480; alone 6,784 | 768
#include "../../bench/boards/platform.h"
#include "../conformance/hash.h"
#include "../support/random.h"
#include "attend/c/integer.h"

namespace {

constexpr int heads = 4, dim = 16, keys = 1900, cut = 2 * ATTEND_SEGMENT_KEYS;  // parts begin with a segment
constexpr int nodes = 2;                                                        // segments 0 and 1 are one, and 2

// Tokens of the board's own part, from the first places on: a board that shares the sequence needs no more than these.
template <class Number>
struct Numbers {
  Number key[keys][dim], value[keys][dim], query[heads][dim], output[heads][dim];
};
template <class Number>
Numbers<Number> own;

constexpr size_t state_bytes = 64 + 4 * heads * (19 + 2 * dim + nodes * (dim + 3));
alignas(float) uint8_t states[state_bytes], received[state_bytes];
uint8_t saved[4 * (20 + nodes + heads * (nodes * (dim + 3) + 2 * dim + 18))];
alignas(ATTEND_ALIGNMENT) uint8_t work[6784];

// What sensors, and the layers in front of attention, would give: by position, so that a board makes only its own tokens.
void draw(attend_test::Random& random, float (&numbers)[dim]) { random.fill(numbers, dim, 2.0f); }
void draw(attend_test::Random& random, int8_t (&numbers)[dim]) { attend_test::fill_bytes(numbers, random); }
template <class Number>
void listen(int begin, int end) {
  attend_test::Random of_query(keys);
  for (auto& head : own<Number>.query) draw(of_query, head);
  for (int position = begin; position < end; ++position) {
    attend_test::Random of_token{uint64_t(position)};
    draw(of_token, own<Number>.key[position - begin]);
    draw(of_token, own<Number>.value[position - begin]);
  }
}

bool is_done(attend_status status) {
  if (status == ATTEND_OK) return true;
  firmware::print(attend_argument_name(status));
  firmware::print(": ");
  firmware::print(attend_error_text(status));
  firmware::print("\n");
  return false;
}

bool begin_problem(attend_problem& p, const float*) { return is_done(attend_problem_init(&p, sizeof p)); }
bool begin_problem(attend_problem& p, const int8_t*) {
  // Made elsewhere: attend_integer_prepare for scales 0.02, 0.03, 0.01 and 0.005 of query, key, value and output.
  static constexpr attend_integer_constants constants = {58091, 1, 0, 34658, 16384, 13, 0, 0, 0, 0, 0.005f};
  const bool is_begun = is_done(attend_integer_problem_init(&p, sizeof p));
  p.constants = &constants;
  return is_begun;
}

// One query over the keys begin ... end - 1, which are what the board has.
template <class Number>
bool make_problem(int begin, int end, attend_problem& p) {
  listen<Number>(begin, end);
  if (!begin_problem(p, own<Number>.key[0])) return false;
  p.queries = 1, p.query_heads = heads, p.kv_heads = 1, p.head_dim = p.value_dim = dim;
  p.query.data = own<Number>.query, p.key.data = own<Number>.key, p.value.data = own<Number>.value;
  p.output.data = own<Number>.output;
  p.keys = end, p.origin = p.first_key = begin;  // what the call takes, and where the arrays begin
  return true;
}

template <class Number>
bool take_keys(int begin, int end, attend_problem& p) {
  if (!make_problem<Number>(begin, end, p)) return false;
  p.states = states, p.state_nodes = nodes;
  return attend_state_size(&p) <= sizeof states && is_done(attend_begin(&p)) && is_done(attend_run(&p, work, sizeof work));
}

template <class Number>
bool be_first(const char* file) {
  attend_problem p;
  size_t size = 0;
  if (!take_keys<Number>(0, cut, p) || !is_done(attend_save(&p, saved, sizeof saved, &size))) return false;
  firmware::print_number(size);
  firmware::print(" bytes saved\n");
  return firmware::write_file(file, saved, size);
}

template <class Number>
bool be_second(const char* file) {
  attend_problem p;
  if (!take_keys<Number>(cut, keys, p)) return false;
  attend_problem first = p;
  first.states = received;
  const size_t size = firmware::read_file(file, saved, sizeof saved);
  return is_done(attend_load(&first, saved, size)) && is_done(attend_merge(&p, received)) && is_done(attend_finish(&p));
}

template <class Number>
bool be_alone() {
  attend_problem p;
  return make_problem<Number>(0, keys, p) && is_done(attend_run(&p, work, sizeof work));
}

template <class Number>
void print_digest() {
  uint64_t hash = attend_test::hash_begin;
  for (const auto& head : own<Number>.output) {
    for (const Number& number : head) {
      uint32_t bits = 0;
      __builtin_memcpy(&bits, &number, sizeof number);
      hash = attend_test::hash_number(hash, bits, sizeof number);
    }
  }
  firmware::print("the output's digest is 0x");
  firmware::print_number(hash, 16, 16);
  firmware::print("\n");
}

template <class Number>
int run_as(const char* role, const char* file) {
  const bool is_first = role[0] == 'f';
  if (!(is_first ? be_first<Number>(file) : role[0] == 's' ? be_second<Number>(file) : be_alone<Number>())) return 1;
  if (!is_first) print_digest<Number>();
  return 0;
}

}  // namespace

int firmware::run() {
  static char text[1024];
  const char* words[3] = {"", "", ""};
  if (!read_arguments(text, sizeof text)) return 1;
  int count = 0;
  for (char* at = text; *at != '\0' && count < 3; ++count) {
    for (words[count] = at; *at != '\0' && *at != ' ';) ++at;
    if (*at == ' ') *at++ = '\0';
  }
  return words[1][0] == 'i' ? run_as<int8_t>(words[0], words[2]) : run_as<float>(words[0], words[2]);
}
