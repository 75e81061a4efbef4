// Saved states (include/attend/core/saved.h).
#include "../../include/attend/core/saved.h"

#include "../../include/attend/core/version.h"
#include "saved_words.h"

namespace attend::core {
namespace {

constexpr int head_words = sizeof(SavedHead) / 4;
static_assert(head_words == 20, "SavedHead has no padding");

ptrdiff_t rows_of(const SavedHead& head) { return ptrdiff_t(head.batch) * head.queries * head.query_heads; }
bool is_open(const SavedHead& head) { return head.next_key % segment_keys != 0; }

// Words of rows, as RowState::save goes over them.
class Writer {
  static constexpr uint32_t one_nan = 0x7fc00000u;

 public:
  explicit Writer(uint8_t* at) : at_(at) {}
  void word(uint32_t word) { put_word(at_, word), at_ += 4; }

  void begin(const int32_t*, int) {}
  void begin(const float* denominators, int count) {
    is_nan_ = false;
    for (int i = 0; i < count; ++i) is_nan_ = is_nan_ || magnitude(denominators[i]) > 0x7f800000u;
  }
  template <class Number>
  void numbers(const Number* from, int count) {
    for (int i = 0; i < count; ++i) number(from[i]);
  }
  void end(int32_t last) { number(last); }
  void end(float last) {
    if (is_nan_) last = lowest_max;
    is_nan_ = false;
    number(last);
  }

 private:
  void number(int32_t number) { word(uint32_t(number)); }
  void number(float number) {
    const uint32_t size = magnitude(number);
    word(is_nan_ || size > 0x7f800000u ? one_nan : size == 0 ? 0 : bits_to<uint32_t>(number));
  }

  uint8_t* at_;
  bool is_nan_ = false;  // all numbers are
};

class Reader {
 public:
  explicit Reader(const uint8_t* at) : at_(at) {}
  uint32_t word() { return at_ += 4, word_at(at_ - 4); }
  template <class Number>
  void begin(Number*, int) {}
  template <class Number>
  void numbers(Number* to, int count) {
    for (int i = 0; i < count; ++i) to[i] = bits_to<Number>(word());
  }
  template <class Number>
  void end(Number& last) {
    numbers(&last, 1);
  }

 private:
  const uint8_t* at_;
};

template <class Sum, class Number>
void save_states(SavedHead& head, Number* states, int room, uint8_t* bytes) {
  const size_t apart = Sum::state_numbers(head.value_dim, room);
  const ptrdiff_t rows = rows_of(head);
  const bool integers = bits_to<uint32_t>(Number(1)) == 1;
  const StateNodes<Sum> nodes = RowState<Sum>(states, head.value_dim).nodes();
  head.magic = saved_magic, head.bits_version = ATTEND_BITS_VERSION, head.arithmetic = integers;
  head.nodes = rows == 0 ? 0 : nodes.count();
  head.words = uint32_t(saved_words(integers, rows, head.value_dim, head.nodes, is_open(head)));
  Writer to(bytes + 4 * head_words);
  for (int n = 0; n < head.nodes; ++n) to.word(uint32_t(nodes.number(n)));
  for (ptrdiff_t r = 0; r < rows; ++r)
    RowState<Sum>(states + size_t(r) * apart, head.value_dim).save(head.nodes, is_open(head), to);
  uint32_t words[head_words];
  for (int pass = 0; pass < 2; ++pass) {
    ATTEND_MEMCPY(words, &head, sizeof head);
    for (int i = 0; i < head_words; ++i) put_word(bytes + 4 * i, words[i]);
    head.check = check_of(bytes, head.words, saved_magic);
  }
}

template <class Sum, class Number>
void load_states(const SavedHead& head, const uint8_t* bytes, Number* states, int room) {
  const size_t apart = Sum::state_numbers(head.value_dim, room);
  Reader from(bytes + 4 * (head_words + head.nodes));
  for (ptrdiff_t r = 0; r < rows_of(head); ++r) {
    const RowState<Sum> row(states + size_t(r) * apart, head.value_dim);
    row.begin();
    row.save(head.nodes, is_open(head), from);
    row.nodes().set_count(head.nodes);
    for (int n = 0; n < head.nodes; ++n) row.nodes().set_number(n, int(word_at(bytes + 4 * (head_words + n))));
  }
}

}  // namespace

void save(SavedHead& head, const float* states, int room, uint8_t* bytes) {
  in_float_environment(
      [&]() ATTEND_NOINLINE { save_states<SumInFloats<Scalar>>(head, const_cast<float*>(states), room, bytes); });  // only read
}
void save_integers(SavedHead& head, const void* states, int room, uint8_t* bytes) {
  save_states<SumInIntegers>(head, static_cast<int32_t*>(const_cast<void*>(states)), room, bytes);
}

namespace {

// The last two words of sums. Of floats, the last is a maximum: a whole number. Of integers, an exponent that states can have,
// so that the difference of any two can be taken, and a denominator that can be divided by.
bool is_reference(bool integers, const uint8_t* at) {
  const int32_t power = int32_t(word_at(at));
  if (integers) return power >= lowest_exponent && power <= -lowest_exponent && word_at(at + 4) >> 31 == 0;
  const uint32_t size = word_at(at + 4) & 0x7fffffffu, exponent = size >> 23;
  const bool is_whole = size == 0 || exponent >= 150 || (exponent >= 127 && (size << (exponent - 118)) == 0);
  return is_whole && size < 0x7f800000u;
}

// Whether extents belong together, and nodes can be a state's: bytes that somebody made up may have a right sum. Nothing
// overflows, since head.words is below 2^32.
bool is_sound(const SavedHead& head, const uint8_t* bytes) {
  constexpr int last_key = INT32_MAX / segment_keys * segment_keys;  // positions never overflow an int
  if (head.batch < 0 || head.queries < 0 || head.query_heads < 1 || head.value_dim < 1 || head.nodes < 0) return false;
  if (head.next_key < 0 || head.next_key > last_key) return false;
  const uint64_t words = head.words, tokens = uint64_t(head.batch) * uint64_t(head.queries);  // both below 2^31
  if (head.arithmetic > 1 || uint64_t(head.nodes) > words) return false;
  // Whether rows have words: rows of states that saw no key have none, however many rows there are.
  const bool integers = head.arithmetic == 1, any = tokens > 0 && (head.nodes > 0 || is_open(head));
  if (any && (tokens > words || tokens * uint64_t(head.query_heads) > words || uint64_t(head.value_dim) > words)) return false;
  const uint64_t node_words = uint64_t(head.nodes) * saved_node_words(any ? head.value_dim : 1);
  if (any && node_words > words) return false;
  const ptrdiff_t rows = any ? rows_of(head) : 0;
  const uint64_t row_words = node_words + (is_open(head) ? saved_open_words(integers, any ? head.value_dim : 1) : 0);
  if (head_words + uint64_t(head.nodes) + uint64_t(rows) * row_words != words) return false;
  int end = 0, before = 0;  // two nodes that could be joined are none
  for (int n = 0; n < head.nodes; ++n) {
    const int number = int(word_at(bytes + 4 * (head_words + n)));
    if (number < 1 || node_of(number).first < end) return false;
    end = node_of(number).first + node_of(number).size;
    if (end > head.next_key / segment_keys || partner_of(number) == before) return false;
    before = number;
  }
  const uint8_t* at = bytes + 4 * (head_words + size_t(head.nodes));
  for (ptrdiff_t r = 0; r < rows; ++r) {
    for (int n = 0; n < head.nodes + is_open(head); ++n) {
      at += 4 * (n < head.nodes ? saved_node_words(head.value_dim) : saved_open_words(integers, head.value_dim));
      if (!is_reference(integers, at - 8)) return false;
    }
  }
  return true;
}

}  // namespace

Loaded read_head(const uint8_t* bytes, size_t size, SavedHead& head) {
  if (size < sizeof head) return Loaded::damaged;
  uint32_t words[head_words];
  for (int i = 0; i < head_words; ++i) words[i] = word_at(bytes + 4 * i);
  ATTEND_MEMCPY(&head, words, sizeof head);
  if (head.magic != saved_magic) return Loaded::damaged;
  if (head.bits_version != ATTEND_BITS_VERSION) return Loaded::other_bits;
  if (head.words < uint32_t(head_words) || head.words > size / 4 || head.check != check_of(bytes, head.words, saved_magic))
    return Loaded::damaged;
  return is_sound(head, bytes) ? Loaded::ok : Loaded::damaged;
}

void load(const SavedHead& head, const uint8_t* bytes, float* states, int room) {
  in_float_environment([&]() ATTEND_NOINLINE { load_states<SumInFloats<Scalar>>(head, bytes, states, room); });
}
void load_integers(const SavedHead& head, const uint8_t* bytes, void* states, int room) {
  load_states<SumInIntegers>(head, bytes, static_cast<int32_t*>(states), room);
}

}  // namespace attend::core
