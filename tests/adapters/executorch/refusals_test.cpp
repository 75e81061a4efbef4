// What the kernels refuse, with which sentence, and that nothing ends the program.
#include "checks.h"

namespace kernels {
namespace {

void refuses(const std::string& what, const std::string& sentence, Error error) {
  check(error == Error::InvalidArgument && stub::log().find(sentence) != std::string::npos, what + ": " + sentence,
        "error " + std::to_string(int(error)) + ", log " + stub::log());
}

}  // namespace

void refusals() {
  Random random{9};
  Sequence all(random, 1, 8, 2, 2, 16);
  Made<float> out(ScalarType::Float, {1, 8, 2, 16}, 7), small(ScalarType::Float, {1, 2, 2, 16}, 7),
      mask(ScalarType::Float, {8, 8}), narrow(ScalarType::Float, {8, 7});
  Made<float> flat(ScalarType::Float, {8, 16}), three(ScalarType::Float, {1, 8, 3, 16}), thin(ScalarType::Float, {1, 8, 2, 8}),
      two(ScalarType::Float, {2, 8, 2, 16});
  Made<int32_t> whole(ScalarType::Int, {1, 8, 2, 16});
  const std::vector<EValue> good = {all.query.value(), all.key.value(), all.value.value(), EValue(int64_t(0)), EValue(),
                                    EValue(0.0),       EValue(true),    EValue(),          out.value()};
  const auto with = [&](size_t index, const EValue& value) {
    std::vector<EValue> changed = good;
    changed[index] = value;
    return call("llama::custom_sdpa.out", changed);
  };
  refuses("too few arguments", "has fewer arguments than its schema", call("llama::custom_sdpa.out", {good[0], good[1]}));
  refuses("no query", "has a query that is not of 4 axes", with(0, EValue()));
  refuses("a number as a key", "has a key that is not of 4 axes", with(1, EValue(int64_t(3))));
  refuses("rank", "has a value that is not of 4 axes", with(2, flat.value()));
  refuses("type", "has a query that is not Float, Half or BFloat16", with(0, whole.value()));
  refuses("widths", "has query and key of different widths", with(1, thin.value()));
  refuses("batches", "of different batches", with(0, two.value()));
  refuses("heads", "no multiple of the key heads", with(0, three.value()));
  refuses("heads of key and value", "has key and value of different tokens or heads", with(2, three.value()));
  refuses("start_pos that is no number", "has a start_pos that is no whole number", with(3, EValue(1.5)));
  refuses("negative start_pos", "has a start_pos outside of the keys", with(3, EValue(int64_t(-1))));
  refuses("start_pos without keys", "has fewer keys than start_pos and the queries need", with(3, EValue(int64_t(1))));
  refuses("largest start_pos", "has a start_pos outside of the keys", with(3, EValue(INT64_MAX)));
  refuses("dropout", "has a dropout_p that is not 0", with(5, EValue(0.1)));
  refuses("mask and causal", "has both attn_mask and is_causal", with(4, mask.value()));
  refuses("scale", "the library refuses", with(7, EValue(double(NAN))));
  refuses("output", "has an output without room", with(8, small.value()));
  refuses("no output", "has an output that is no tensor", with(8, EValue()));
  refuses("type of the output", "has an output of another type or rank", with(8, whole.value()));
  std::vector<EValue> masked = good;
  masked[4] = narrow.value();
  masked[6] = EValue(false);
  refuses("shape of a mask", "has an attn_mask that is not [queries, keys]", call("llama::custom_sdpa.out", masked));
  Made<float> lost(ScalarType::Float, {1, 8, 2, 16}), negative(ScalarType::Float, {1, 8, 2, 16}),
      columns(ScalarType::Float, {1, 8, 2, 16});
  lost.impl->set_data(nullptr);
  negative.sizes[1] = -8;
  columns.strides[3] = 2;
  refuses("no memory", "has a tensor without memory", with(1, lost.value()));
  refuses("a negative size", "has a key that is not of 4 axes", with(1, negative.value()));
  refuses("columns", "has a tensor whose last axis is not contiguous", with(1, columns.value()));
  check(out.numbers == std::vector<float>(out.numbers.size(), 7), "a call that is refused writes nothing");
  const EValue place = out.value();
  refuses("cache of other heads", "has a value of another batch, heads or width than the cache",
          call("llama::update_cache.out", {three.value(), all.key.value(), EValue(int64_t(0)), place}));
  refuses("cache of another type", "has a value of another type than the cache",
          call("llama::update_cache.out", {whole.value(), all.key.value(), EValue(int64_t(0)), place}));
  refuses("full cache", "has a start_pos without room",
          call("llama::update_cache.out", {all.value.value(), all.key.value(), EValue(int64_t(1)), place}));
  refuses("negative position", "has a start_pos without room",
          call("llama::update_cache.out", {all.value.value(), all.key.value(), EValue(INT64_MIN), place}));
  Quantised q(random, {1, 8, 2, 16}), other(random, {1, 7, 2, 16});
  std::vector<EValue> quantised = {q.numbers.value(),
                                   q.numbers.value(),
                                   q.numbers.value(),
                                   EValue(int64_t(0)),
                                   EValue(),
                                   EValue(0.0),
                                   EValue(true),
                                   EValue(),
                                   q.zero_points.value(),
                                   q.scales.value(),
                                   q.zero_points.value(),
                                   q.scales.value(),
                                   q.zero_points.value(),
                                   other.scales.value(),
                                   EValue(false),
                                   place};
  refuses("scales of other sizes", "has zero points or scales of other sizes",
          call("llama::custom_quantized_sdpa.out", quantised));
  quantised[13] = EValue();
  refuses("no scales", "has no scales of 4 axes", call("llama::custom_quantized_sdpa.out", quantised));
  quantised[13] = q.zero_points.value();
  refuses("scales of int8", "has scales that are not Float", call("llama::custom_quantized_sdpa.out", quantised));
  Made<float> key_cache(ScalarType::Float, {1, 8, 2, 16}, 3), value_cache(ScalarType::Float, {1, 8, 2, 16}, 3);
  refuses("cache and output", "has an output without room",
          call("llama::sdpa_with_kv_cache.out",
               {all.query.value(), all.key.value(), all.value.value(), key_cache.value(), value_cache.value(),
                EValue(int64_t(0)), EValue(int64_t(8)), EValue(), EValue(0.0), EValue(true), EValue(), small.value()}));
  check(key_cache.numbers == std::vector<float>(key_cache.numbers.size(), 3), "nor does it change the caches");
}

// Any values in any order: nothing crashes, and no memory outside of tensors is touched, which AddressSanitizer would show.
void hostile(int count) {
  int taken = 0;
  for (int number = 0; number < count; ++number) {
    Random random{uint64_t(number) + 5000};
    std::deque<Made<int64_t>> tensors;  // memory is enough for every type
    const int a = random.below(3), b = random.below(4), c = 1 + random.below(2), d = random.below(9);
    const auto tensor = [&](bool likely) {
      static const ScalarType kinds[] = {ScalarType::Float, ScalarType::Char, ScalarType::Half,
                                         ScalarType::Bool,  ScalarType::Long, ScalarType::Double};
      std::vector<int32_t> sizes = {a, b, c, random.below(5) == 0 ? 1 : d};
      if (!likely) {
        sizes.clear();
        for (int axes = random.below(6); axes > 0; --axes) sizes.push_back(random.below(5));
      }
      const int first = random.below(2), second = random.below(2), any = random.below(6), fill = random.below(6);
      tensors.emplace_back(kinds[likely ? first * second : any], sizes, fill);
      return tensors.back().value();
    };
    const char* name = stub::kernels()[size_t(random.below(int(stub::kernels().size())))].name_;
    std::vector<EValue> values;
    for (int argument = random.below(4) == 0 ? random.below(17) : 16; argument > 0; --argument) {
      const int kind = random.below(14);
      values.push_back(kind < 9     ? tensor(kind < 8)
                       : kind == 9  ? EValue(int64_t(random.below(4)) - 1)
                       : kind == 10 ? EValue(random.below(2) == 1)
                       : kind == 11 ? EValue(0.0)
                                    : EValue());
    }
    if (random.below(2) == 1 && values.size() == 16) {  // as the schema of custom_sdpa has them
      for (size_t index : {0, 1, 2, 8}) {
        if (!values[index].isTensor() || random.below(8) != 0) values[index] = tensor(true);
      }
      values[3] = EValue(int64_t(random.below(2)));
      if (random.below(2) == 1) values[4] = EValue();
      values[5] = EValue(0.0);
      values[6] = EValue(random.below(2) == 1);
      values[7] = EValue();
      name = "llama::custom_sdpa.out";
    }
    if (call(name, values) == Error::Ok) ++taken;
  }
  check(taken > count / 100 && taken < count,
        std::to_string(count) + " calls with any values: some are taken, and none crashes",
        std::to_string(taken) + " are taken");
}

}  // namespace kernels
