// Household commands by the same model as `attend export` wrote it (tests/exporter/household.py), beside
// household_int8_main.cpp.
#include "../app/input_file.h"
#include "household_answers.h"
#include "model.h"

namespace {

template <size_t count>
constexpr size_t count_of(attend::Status (*)(const int32_t (&)[1], float (&)[count])) {
  return count;
}
constexpr size_t pieces = count_of(household::append);

// A token is appended when the next one comes or its scores are asked for, because only then is it known whether anybody reads
// them.
class Exported : public app::LanguageModel {
 public:
  int length() const override { return household::caches.position + (waits_ ? 1 : 0); }
  void restart() override {
    household::clear();
    waits_ = false;
  }
  void advance(int token) override {
    if (waits_) check(household::append(token_));
    token_[0] = token;
    waits_ = true;
  }
  const std::vector<float>& logits() override {
    if (waits_) check(household::append(token_, *reinterpret_cast<float(*)[pieces]>(logits_.data())));
    waits_ = false;
    return logits_;
  }

 private:
  static void check(attend::Status status) {
    if (status != attend::Status::ok) throw app::Failure("the exported model refuses a token");
  }

  int32_t token_[1] = {};
  bool waits_ = false;
  std::vector<float> logits_ = std::vector<float>(pieces);
};

// A file of the first letter, the number of pieces, and the pieces as text.
app::Household load(const std::string& path) {
  app::InputFile file(path, "words");
  const int first_letter = file.read_int32(), count = file.read_int32();
  std::vector<std::string> texts;
  texts.reserve(size_t(count));
  for (int i = 0; i < count; ++i) {
    std::string piece;
    for (unsigned char letter; (letter = *file.bytes(1)) != 0;) piece += char(letter);
    texts.push_back(piece);
  }
  return {app::Words(std::move(texts), first_letter), {}};
}

void answer(const app::Household& household, const std::string& sentence) {
  firmware::answer_and_count(app::Commands(household, std::make_unique<Exported>()), household, sentence, [] {
    household::clear();
    return Exported();
  });
}

}  // namespace

int firmware::run() { return run_household(answer, load); }
