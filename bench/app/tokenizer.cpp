#include "tokenizer.h"

#include <queue>
#include <utility>

namespace app {
namespace {

// Bytes of the UTF-8 character at the front of a text that is not empty; 1 where there is no proper one.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  }
  return length;
}

constexpr std::size_t none = std::size_t(-1);

// A stretch of the text that is one token so far; a list, as joining takes out of the middle.
struct Symbol {
  std::size_t begin, length;  // bytes; length 0 once it was joined to the one before
  std::size_t previous, next;
  int token;
  bool joins;
};

// Two neighbours that would form a piece. Outdated once either has changed, which the length tells.
struct Pair {
  float score;
  std::size_t left, right, length;
  int token;

  // The largest is joined first.
  bool operator<(const Pair& other) const { return score != other.score ? score < other.score : left > other.left; }
};

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  for (int& token : byte_tokens_) token = vocabulary_.unknown;
  for (int token = 0; token < vocab_size(); ++token) {
    const Piece& piece = vocabulary_.pieces[static_cast<std::size_t>(token)];
    if (piece.kind == PieceKind::byte) byte_tokens_[static_cast<unsigned char>(piece.text[0])] = token;
    if (piece.kind == PieceKind::text) tokens_.emplace(piece.text, token);
    if (piece.kind == PieceKind::whole && !piece.text.empty()) whole_.push_back(token);
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
  const std::string_view all = spaced;

  // One symbol for each marker, for each character that is a piece, and for each byte of any other.
  std::vector<Symbol> symbols;
  const auto add = [&symbols](std::size_t begin, std::size_t length, int token, bool joins) {
    const std::size_t index = symbols.size();
    symbols.push_back({begin, length, index == 0 ? none : index - 1, index + 1, token, joins});
  };
  for (std::size_t at = 0; at < all.size();) {
    if (const int marker = marker_at(all.substr(at)); marker >= 0) {
      add(at, piece(marker).text.size(), marker, false);
      at += piece(marker).text.size();
      continue;
    }
    const std::size_t length = character_length(all.substr(at));
    if (const int* token = find(all.substr(at, length))) {
      add(at, length, *token, true);
    } else {
      for (std::size_t i = at; i < at + length; ++i) add(i, 1, byte_tokens_[static_cast<unsigned char>(all[i])], false);
    }
    at += length;
  }
  if (!symbols.empty()) symbols.back().next = none;

  // A heap, so that a long text takes n log n steps.
  std::priority_queue<Pair> pairs;
  const auto consider = [&](std::size_t left) {
    if (left == none || symbols[left].next == none) return;
    const Symbol& first = symbols[left];
    const Symbol& second = symbols[first.next];
    if (!first.joins || !second.joins) return;
    const std::size_t length = first.length + second.length;
    const int* token = find(all.substr(first.begin, length));
    if (token != nullptr) pairs.push({piece(*token).score, left, first.next, length, *token});
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

  std::vector<int> tokens;
  if (vocabulary_.adds_begin || symbols.empty()) tokens.push_back(vocabulary_.begin);
  for (std::size_t i = symbols.empty() ? none : 0; i != none; i = symbols[i].next) tokens.push_back(symbols[i].token);
  return tokens;
}

std::string_view Tokenizer::decode(int previous, int token) const {
  if (piece(token).kind == PieceKind::control) return {};
  std::string_view text = piece(token).text;
  if (vocabulary_.adds_space && previous == vocabulary_.begin && !text.empty() && text[0] == ' ') text.remove_prefix(1);
  return text;
}

}  // namespace app
