#include "commands.h"

#include <algorithm>
#include <chrono>

#include "attend/core/options.h"
#include "integer_llama.h"

namespace app {
namespace {

// The weights of all layers and heads at the positions that choose a piece, key by key.
class Recorder {
 public:
  Recorder(const Sentence& sentence, const Config& config) : sentence_(sentence), config_(config) {}

  // Attention as the library computes it, with its weights as a second result.
  void run(int layer, const attend::core::Problem& problem) {
    const auto keys = static_cast<std::size_t>(problem.keys), heads = static_cast<std::size_t>(problem.query_heads);
    std::vector<float> weights(heads * keys);
    attend::core::Options options;
    options.scores = {weights.data(), 0, std::ptrdiff_t(keys)};
    options.score_keys = problem.keys;
    options.score_stage = attend::core::Scores::weights;
    attend::core::Floats::run(problem, options);
    if (keys < sentence_.tokens.size()) return;
    rows_.push_back({layer, std::move(weights)});
  }

  void finish(AttentionMap& map, std::vector<std::string> pieces) const {
    map.layers = config_.layers;
    map.heads = config_.heads;
    map.words = sentence_.words;
    map.words.insert(map.words.end(), pieces.begin(), pieces.end());
    map.pieces = std::move(pieces);
    map.pieces.push_back("end");
    map.weights.assign(static_cast<std::size_t>(map.layers * map.heads) * map.pieces.size() * map.words.size(), 0.0f);
    for (std::size_t i = 0; i < rows_.size(); ++i) add(map, rows_[i], i / static_cast<std::size_t>(map.layers));
  }

 private:
  struct Row {
    int layer;
    std::vector<float> weights;  // [heads][keys]
  };

  // The letters of a word share a column.
  void add(AttentionMap& map, const Row& row, std::size_t piece) const {
    if (piece >= map.pieces.size()) return;
    const std::size_t keys = row.weights.size() / static_cast<std::size_t>(map.heads);
    for (int head = 0; head < map.heads; ++head) {
      float* const to = map.row(row.layer, head, piece);
      for (std::size_t key = 0; key < keys; ++key) {
        const bool spoken = key < sentence_.tokens.size();
        const std::size_t word =
            spoken ? static_cast<std::size_t>(sentence_.word_of[key]) : sentence_.words.size() + key - sentence_.tokens.size();
        to[word] += row.weights[static_cast<std::size_t>(head) * keys + key];
      }
    }
  }

  const Sentence& sentence_;
  const Config& config_;
  std::vector<Row> rows_;
};

}  // namespace

Commands::Commands(const Household& household, Arithmetic arithmetic) : household_(household) {
  constexpr int capacity = static_cast<int>(longest_tokens) + longest_action;
  if (arithmetic == Arithmetic::integer) {
    model_ = std::make_unique<IntegerLlama>(household.checkpoint, household.scales, capacity);
  } else {
    auto llama = std::make_unique<Llama>(household.checkpoint, capacity);
    floats_ = llama.get();
    model_ = std::move(llama);
  }
}

// Among the pieces of actions and the end, which is the only mark among the answers of the training.
int Commands::likeliest_piece() {
  const std::vector<float>& logits = model_->logits();
  const auto best = std::max_element(logits.begin() + end_action, logits.begin() + household_.words.first_letter());
  return static_cast<int>(best - logits.begin());
}

Answer Commands::answer(std::string_view text, AttentionMap* map) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const Sentence sentence = household_.words.encode(text);
  Recorder recorder(sentence, household_.checkpoint.config);
  model_->restart();
  if (floats_ == nullptr) {
    map = nullptr;
  } else {
    floats_->attend_with(map == nullptr ? LayerAttention() : [&](int layer, const attend::core::Problem& problem) {
      recorder.run(layer, problem);
    });
  }
  for (const int token : sentence.tokens) model_->advance(token);
  std::vector<std::string> pieces;
  std::string action;
  for (int i = 0; i < longest_action; ++i) {
    const int token = likeliest_piece();
    if (token == end_action) break;
    pieces.push_back(household_.words.piece(token));
    action += pieces.back();
    model_->advance(token);
  }
  const int tokens = model_->length();
  if (map != nullptr) recorder.finish(*map, std::move(pieces));
  return {action, tokens, std::chrono::duration<double>(Clock::now() - start).count()};
}

}  // namespace app
