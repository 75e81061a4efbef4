#include "tokenizer.h"

#include <queue>
#include <utility>

#include "characters.h"

namespace app {
namespace {

constexpr std::size_t none = std::size_t(-1);

// Two neighbours that would become one. Outdated once either has changed, which the length tells.
struct Pair {
  float order;
  std::size_t left, right, length;
  int token;

  // The largest is joined first.
  bool operator<(const Pair& other) const { return order != other.order ? order < other.order : left > other.left; }
};

std::uint64_t merge_key(int left, int right) { return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right); }

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  for (int& token : byte_tokens_) token = vocabulary_.unknown;
  for (int token = 0; token < vocab_size(); ++token) {
    const Piece& piece = vocabulary_.pieces[static_cast<std::size_t>(token)];
    const bool is_text = piece.kind == PieceKind::text;
    if (piece.kind == PieceKind::byte || (vocabulary_.has_merges && is_text && piece.text.size() == 1)) {
      byte_tokens_[static_cast<unsigned char>(piece.text[0])] = token;
    }
    if (is_text) tokens_.emplace(piece.text, token);
    if (piece.kind == PieceKind::whole && !piece.text.empty()) whole_.push_back(token);
  }
  float order = 0;
  for (const Merge& merge : vocabulary_.merges) {
    merges_.emplace(merge_key(merge.left, merge.right), Joined{order, merge.joined});
    order -= 1;  // exact: there are fewer than 2^24
  }
}

const int* Tokenizer::find(std::string_view text) const {
  const auto found = tokens_.find(std::string(text));
  return found == tokens_.end() ? nullptr : &found->second;
}

int Tokenizer::marker_at(std::string_view text) const {
  int longest = -1;
  for (const int token : whole_) {
    const std::string& marker = piece(token).text;
    if (text.substr(0, marker.size()) != marker) continue;
    if (longest < 0 || marker.size() > piece(longest).text.size()) longest = token;
  }
  return longest;
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  const std::string spaced = (text.empty() || !vocabulary_.adds_space ? "" : " ") + std::string(text);
  std::vector<Symbol> symbols = symbols_of(spaced);
  join_neighbours(spaced, symbols);
  std::vector<int> tokens;
  if (vocabulary_.adds_begin) tokens.push_back(vocabulary_.begin);
  for (const Symbol& symbol : symbols) {
    if (symbol.length > 0 && symbol.token >= 0) tokens.push_back(symbol.token);
  }
  if (tokens.empty()) tokens.push_back(vocabulary_.begin);
  return tokens;
}

// One symbol for each marker, and those of the text between.
std::vector<Tokenizer::Symbol> Tokenizer::symbols_of(std::string_view all) const {
  std::vector<Symbol> symbols;
  const auto add = [&](std::size_t begin, std::size_t end) {
    vocabulary_.has_merges ? add_words(all, begin, end, symbols) : add_text(all, begin, end, symbols);
  };
  std::size_t begin = 0;
  for (std::size_t at = 0; at < all.size();) {
    const int marker = marker_at(all.substr(at));
    if (marker < 0) {
      at += first_character(all.substr(at)).length;
      continue;
    }
    add(begin, at);
    symbols.push_back({at, piece(marker).text.size(), none, none, marker, -1});
    at += piece(marker).text.size();
    begin = at;
  }
  add(begin, all.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    symbols[i].previous = i == 0 ? none : i - 1;
    symbols[i].next = i + 1 == symbols.size() ? none : i + 1;
  }
  return symbols;
}

// One symbol for each character that is a piece, and for each byte of any other.
void Tokenizer::add_text(std::string_view all, std::size_t begin, std::size_t end, std::vector<Symbol>& symbols) const {
  while (begin < end) {
    const std::size_t length = first_character(all.substr(begin, end - begin)).length;
    if (const int* token = find(all.substr(begin, length))) {
      symbols.push_back({begin, length, none, none, *token, 0});
    } else {
      for (std::size_t i = begin; i < begin + length; ++i) {
        symbols.push_back({i, 1, none, none, byte_tokens_[static_cast<unsigned char>(all[i])], -1});
      }
    }
    begin += length;
  }
}

// One symbol for each byte of a word, or for all of it.
void Tokenizer::add_words(std::string_view all, std::size_t begin, std::size_t end, std::vector<Symbol>& symbols) const {
  int word = 0;
  for (const std::size_t length : word_lengths(all.substr(begin, end - begin), vocabulary_.words)) {
    const int* const whole = vocabulary_.keeps_words ? find(all.substr(begin, length)) : nullptr;
    if (whole != nullptr) symbols.push_back({begin, length, none, none, *whole, -1});
    for (std::size_t i = begin; whole == nullptr && i < begin + length; ++i) {
      symbols.push_back({i, 1, none, none, byte_tokens_[static_cast<unsigned char>(all[i])], word});
    }
    begin += length;
    ++word;
  }
}

// What two neighbours of a word become, if anything.
std::optional<Tokenizer::Joined> Tokenizer::joined(std::string_view all, const Symbol& left, const Symbol& right) const {
  if (vocabulary_.has_merges) {
    const auto found = merges_.find(merge_key(left.token, right.token));
    return found == merges_.end() ? std::nullopt : std::optional<Joined>(found->second);
  }
  const int* const token = find(all.substr(left.begin, left.length + right.length));
  return token == nullptr ? std::nullopt : std::optional<Joined>({piece(*token).score, *token});
}

void Tokenizer::join_neighbours(std::string_view all, std::vector<Symbol>& symbols) const {
  // A heap, so that a long text takes n log n steps.
  std::priority_queue<Pair> pairs;
  const auto consider = [&](std::size_t left) {
    if (left == none || symbols[left].next == none) return;
    const Symbol& first = symbols[left];
    const Symbol& second = symbols[first.next];
    if (first.word < 0 || first.word != second.word) return;
    if (const auto both = joined(all, first, second)) {
      pairs.push({both->order, left, first.next, first.length + second.length, both->token});
    }
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) consider(i);
  while (!pairs.empty()) {
    const Pair pair = pairs.top();
    pairs.pop();
    Symbol& left = symbols[pair.left];
    Symbol& right = symbols[pair.right];
    if (left.length == 0 || left.next != pair.right || left.length + right.length != pair.length) continue;
    left.length = pair.length;
    left.token = pair.token;
    left.next = right.next;
    right.length = 0;
    if (left.next != none) symbols[left.next].previous = pair.left;
    consider(left.previous);
    consider(pair.left);
  }
}

std::string_view Tokenizer::decode(int previous, int token) const {
  if (piece(token).kind == PieceKind::control) return {};
  std::string_view text = piece(token).text;
  if (vocabulary_.adds_space && previous == vocabulary_.begin && !text.empty() && text[0] == ' ') text.remove_prefix(1);
  return text;
}

}  // namespace app
