// A random problem whose keys, and of prefill queries too, are divided over ranks, and what one call gives. Every rank makes
// the same one from its seeds.
#pragma once

#include <attend/c/integer.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../../bench/mpi/memory.h"
#include "../../bench/mpi/prefill.h"
#include "../../bench/mpi/ranges.h"
#include "../support/random.h"

namespace distributed {

enum class Kind { plain, grouped, windows, float16_cache, int8_cache, integers, integer_cache };
constexpr Kind all_kinds[] = {Kind::plain,      Kind::grouped,  Kind::windows,      Kind::float16_cache,
                              Kind::int8_cache, Kind::integers, Kind::integer_cache};
const char* name_of(Kind kind);

// Few queries on all ranks, and each rank has one range of keys; or many, and ranks have any number of ranges of both.
enum class Form { decode, prefill };

class World {
 public:
  // shape: of the extents; seed: of the numbers and of the way in which tokens are divided.
  World(Form form, Kind kind, std::uint64_t shape, std::uint64_t seed, int ranks);

  attend_problem p;

  // On all ranks what one call gives. Rank 0 computes it, and by 1, 2 and 3 threads too: whether these gave the same.
  bool run_whole(int rank);

  // New states that have taken a rank's keys, in two calls or one. Nothing of other keys is in its arrays.
  Memory took(int rank);
  Memory took_all() { return took(Range{0, keys_}); }
  Memory took_first() { return took(Range{0, keys_ < segment ? keys_ : segment}); }

  // What the states of all keys give is what one call gave.
  bool finishes_as_whole(Memory& states);

  // Prefill of this rank's queries. Its rows are those of one call, and no other row is written.
  bool prefills_as_whole(int rank, int piece);

  // What that runs, over outputs of this world; set_keys may be changed.
  Prefill prefill(int rank, int piece);

 private:
  std::size_t number_bytes() const { return integers_ ? 1 : sizeof(float); }
  std::size_t used_output() const { return output_.size() / sizeof(float) * number_bytes(); }
  Memory numbers(std::size_t count);
  void choose_extents();
  void choose_options();
  void divide_for_decode(int ranks);
  void divide_for_prefill(int ranks);
  void spoil_outputs();
  attend_problem given(int first, int end);
  void write_to(attend_problem& q);
  Memory cached(attend_problem& q, int first, int end);
  void append(attend_cache* cache, int tokens, std::size_t from);
  Memory took(const Range& keys);
  void run_threads(const attend_problem& q, int threads);
  void keep_rows(const Ranges& queries, const Memory& from, Memory& to, std::size_t token_bytes) const;

  Form form_;
  Kind kind_;
  attend_test::Random shape_, random_;
  bool integers_, has_cache_;
  int keys_ = 0;
  Division division_;
  attend_integer_constants constants_{};
  std::vector<std::ptrdiff_t> lengths_;
  std::map<int, Memory> caches_;  // by their first key
  Memory query_, key_, value_, output_, lse_, whole_output_, whole_lse_;
};

}  // namespace distributed
