// The keys that a query sees by ranges and documents (core/ranges.h).

namespace attend::ATTEND_ISA {
namespace {

// Keys, or tokens, first ... end - 1.
struct KeyRange {
  int first;
  int end;
};

// The document of a query: the first document that ends behind it; without documents, all keys.
inline KeyRange document_of(const core::Ranges& ranges, int token, int keys) {
  if (ranges.boundaries == nullptr) return {0, keys};
  int low = 0, high = ranges.documents - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (ranges.boundaries[middle + 1] <= ranges.token + token) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {ranges.boundaries[low], ranges.boundaries[low + 1]};
}

// What a query's range leaves of the keys of its document.
inline KeyRange range_of(const core::Ranges& ranges, int token, const KeyRange& document) {
  KeyRange range = document;
  if (ranges.first != nullptr) range.first = at_least(range.first, ranges.first[ranges.token + token]);
  if (ranges.end != nullptr) range.end = at_most(range.end, ranges.end[ranges.token + token]);
  return range;
}

// How many keys a query sees by position. (In documents too, positions count from the call's first token.)
template <class Problem, class Options>
int keys_seen(const Problem& problem, const Options& options, int token) {
  const Visibility visibility = visibility_of(problem, options, token);
  return visibility.end - visibility.first + visibility.sink_tokens;
}
template <class Problem, class Options>
int keys_seen(const Problem& problem, const core::Ranged<Options>& options, int token) {
  const Visibility visibility = visibility_of(problem, options, token);
  const KeyRange range = range_of(options.ranges, token, document_of(options.ranges, token, problem.keys));
  const int seen = at_most(visibility.end, range.end) - at_least(visibility.first, range.first);
  return at_least(seen, 0) + visibility.sink_tokens;
}

}  // namespace
}  // namespace attend::ATTEND_ISA
