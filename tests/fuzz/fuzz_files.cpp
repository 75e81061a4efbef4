// For libFuzzer and for many.cpp: bytes are a file of the application, by the reader that ATTEND_FUZZ_READER names. Whatever
// they are, the file is refused by the application's own error, or it is a model: all of its numbers are there, and it
// computes.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "../../bench/app/gguf_model.h"
#include "../../bench/app/household.h"
#include "../../bench/app/llama.h"

namespace app {

static FileBytes given;

FileBytes file_bytes(const std::string&, const std::string& kind) {
  if (given.size == 0) fail_on_file("file", kind, "an empty file");
  return given;
}

}  // namespace app

namespace {

struct Counts {
  long models = 0, refused = 0, computed = 0;
  ~Counts() { std::printf("fuzz: %ld models, %ld of them computed, %ld refused\n", models, computed, refused); }
} counts;

// Most models are not computed, which takes the time of many readings.
bool is_computed(double numbers) { return ++counts.models % 64 == 1 && numbers < 1e5; }

void compute(const app::StoryModel& model) {
  const auto config = [](const auto& of) { return double(of.config.dim + of.config.hidden_dim) * of.config.vocab_size; };
  if (!is_computed(std::visit(config, model.checkpoint))) return;
  const app::StoryModel in_panels = app::packed(model);
  app::language_model(in_panels, 1)->advance(1);
  ++counts.computed;
}

void compute(const app::Household& model) {
  const app::Config& c = model.checkpoint.config;
  if (!is_computed(double(c.dim + c.hidden_dim) * c.vocab_size * c.layers)) return;
  const app::Household in_panels = app::packed(model);
  app::Llama(in_panels.checkpoint, 1).advance(1);
  ++counts.computed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  app::given = {data, size, nullptr};
  try {
    compute(app::ATTEND_FUZZ_READER("file"));
  } catch (const app::Failure&) {
    ++counts.refused;
  }
  return 0;
}
