#include "calibrate.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include "quantise.h"

namespace app {
namespace {

// Of the sizes that fit: the few beyond are clamped.
constexpr double calibrated_share = 0.9999;

void for_each_line(const std::string& path, const std::function<void(const std::string&, const std::string&)>& take) {
  std::ifstream file(path);
  if (!file) throw Failure(path + ": no such file");
  bool any = false;
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (line.empty() || line[0] == '#' || tab == std::string::npos) continue;
    take(line.substr(0, tab), line.substr(tab + 1));
    any = true;
  }
  if (file.bad()) throw Failure(path + ": cannot be read");
  if (!any) throw Failure(path + ": expected lines of a sentence, a tab and an action, found none");
}

// All numbers of the arrays that get a scale of their own in one layer.
struct LayerNumbers {
  std::vector<float> input, attended;
  std::vector<std::vector<float>> query, key, value;
};

void append(std::vector<float>& to, const float* from, int count) { to.insert(to.end(), from, from + count); }

void append_heads(std::vector<std::vector<float>>& to, const float* from, int head_dim) {
  for (std::size_t head = 0; head < to.size(); ++head) append(to[head], from + head * std::size_t(head_dim), head_dim);
}

std::vector<LayerNumbers> layer_numbers(const Household& household, const std::string& sentences) {
  const Config& config = household.checkpoint.config;
  const auto heads = std::size_t(config.heads), kv_heads = std::size_t(config.kv_heads);
  std::vector<LayerNumbers> layers(std::size_t(config.layers));
  for (LayerNumbers& layer : layers) layer.query.resize(heads), layer.key.resize(kv_heads), layer.value.resize(kv_heads);
  Llama llama(household.checkpoint, static_cast<int>(longest_tokens));
  llama.observe_with([&](int index, const LayerActivations& of) {
    LayerNumbers& layer = layers[std::size_t(index)];
    append(layer.input, of.input, config.dim);
    append(layer.attended, of.attended, config.dim);
    append_heads(layer.query, of.query, config.head_dim());
    append_heads(layer.key, of.key, config.head_dim());
    append_heads(layer.value, of.value, config.head_dim());
  });
  for_each_line(sentences, [&](const std::string& sentence, const std::string&) {
    llama.restart();
    for (const int token : household.words.encode(sentence).tokens) llama.advance(token);
  });
  return layers;
}

float scale_for(const std::vector<float>& numbers, double share) {
  std::vector<float> sizes = numbers;
  for (float& size : sizes) size = std::fabs(size);
  return scale_of(percentile_size(std::move(sizes), share));
}

std::vector<float> scales_for(const std::vector<std::vector<float>>& heads, double share) {
  std::vector<float> scales;
  for (const std::vector<float>& head : heads) scales.push_back(scale_for(head, share));
  return scales;
}

IntegerScales scales_of(const std::vector<LayerNumbers>& layers, double share) {
  IntegerScales scales;
  for (const LayerNumbers& layer : layers) {
    scales.push_back({scale_for(layer.input, share), scale_for(layer.attended, share), scales_for(layer.query, share),
                      scales_for(layer.key, share), scales_for(layer.value, share)});
  }
  return scales;
}

// The RMS error of 8 bits as a share of the numbers' RMS, in percent.
double lost_percent(const std::vector<float>& numbers, float scale) {
  std::vector<std::int8_t> bits(numbers.size());
  quantise(numbers.data(), int(numbers.size()), scale, bits.data());
  double square = 0;
  for (const float number : numbers) square += double(number) * double(number);
  const double mean = square / double(numbers.size());
  return 100 * std::sqrt(mean_square_error(numbers.data(), bits.data(), int(numbers.size()), scale) / mean);
}

double most_lost(const std::vector<std::vector<float>>& heads, const std::vector<float>& scales) {
  double most = 0;
  for (std::size_t head = 0; head < heads.size(); ++head) most = std::max(most, lost_percent(heads[head], scales[head]));
  return most;
}

std::string accuracy_line(const char* name, const Understood& of) {
  char text[160];
  std::snprintf(text, sizeof text, "%s: %.2f %% of %d commands understood, %.2f %% of %d other sentences unknown\n", name,
                100.0 * of.right / of.all, of.all, 100.0 * of.unknown / of.others, of.others);
  return text;
}

}  // namespace

IntegerScales calibrated_scales(const Household& household, const std::string& sentences, double share) {
  return scales_of(layer_numbers(household, sentences), share);
}

Understood understood(const Household& household, const std::string& sentences, Arithmetic arithmetic) {
  Commands commands(household, arithmetic);
  Understood result;
  for_each_line(sentences, [&](const std::string& sentence, const std::string& action) {
    const bool right = commands.answer(sentence).action == action;
    ++(action == "unknown" ? result.others : result.all);
    (action == "unknown" ? result.unknown : result.right) += right;
  });
  return result;
}

std::string quantise_household(const std::string& path, const std::string& sentences, const std::string& held_out) {
  Household household = load_household(path);
  const std::vector<LayerNumbers> layers = layer_numbers(household, sentences);
  household.scales = scales_of(layers, calibrated_share);
  std::string report;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerScales& scales = household.scales[i];
    char text[200];
    std::snprintf(text, sizeof text,
                  "layer %d, RMS error: input %.2f %%, queries %.2f %%, keys %.2f %%, values %.2f %%, attention %.2f %%\n",
                  int(i), lost_percent(layers[i].input, scales.input), most_lost(layers[i].query, scales.query),
                  most_lost(layers[i].key, scales.key), most_lost(layers[i].value, scales.value),
                  lost_percent(layers[i].attended, scales.attended));
    report += text;
  }
  report += accuracy_line("float32", understood(household, held_out, Arithmetic::float32));
  report += accuracy_line("int8", understood(household, held_out, Arithmetic::integer));
  const std::string bytes = with_scales(path, household.scales), written = path + ".new";
  std::ofstream file(written, std::ios::binary);
  file.write(bytes.data(), std::streamsize(bytes.size()));
  file.close();
  std::error_code error;  // where the disk is full, the model stays as it was
  if (file) std::filesystem::rename(written, path, error);
  if (file && !error) return report;
  std::filesystem::remove(written, error);
  throw Failure(path + ": cannot be written");
}

}  // namespace app
