// Recognises the held-out gestures by the exported model, prints how often which is taken for which, and draws it: run HELD_OUT.BIN PICTURE.SVG
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model/model.h"

namespace {

constexpr int kinds = 8, channels = 6, samples = 128;
const char* const names[kinds] = {"circle", "circle back", "swipe left", "swipe right", "lift", "push", "shake", "double tap"};

using Confusion = int[kinds][kinds];  // [gesture][what it was taken for]

std::string picture(const Confusion& confusion, int right, int count) {
  constexpr int cell = 48, left = 110, top = 90, size = kinds * cell;
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(left + size + 80) + "\" height=\"" +
                    std::to_string(top + size + 40) + "\" font-family=\"sans-serif\" font-size=\"13\">\n";
  const auto text = [&](int x, int y, const std::string& words, const char* more) {
    svg += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" " + more + ">" + words + "</text>\n";
  };
  text(10, 22, "Held-out gestures (rows) and what they were taken for: " + std::to_string(right) + " of " + std::to_string(count), "font-size=\"15\"");
  for (int row = 0; row < kinds; ++row) {
    text(left - 8, top + row * cell + 29, names[row], "text-anchor=\"end\"");
    const int x = left + row * cell + 24;
    text(x, top - 8, names[row], ("transform=\"rotate(-30 " + std::to_string(x) + " " + std::to_string(top - 8) + ")\"").c_str());
    int total = 0;
    for (const int found : confusion[row]) total += found;
    for (int column = 0; column < kinds; ++column) {
      const int found = confusion[row][column], shade = 255 - (total > 0 ? 205 * found / total : 0);
      svg += "<rect x=\"" + std::to_string(left + column * cell) + "\" y=\"" + std::to_string(top + row * cell) +
             "\" width=\"48\" height=\"48\" stroke=\"#ccc\" fill=\"rgb(" + std::to_string(shade) + "," + std::to_string(shade) + ",255)\"/>\n";
      if (found > 0) text(left + column * cell + 24, top + row * cell + 29, std::to_string(found),
                          shade < 150 ? "text-anchor=\"middle\" fill=\"white\"" : "text-anchor=\"middle\"");
    }
  }
  return svg + "</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "gestures: expected HELD_OUT.BIN PICTURE.SVG\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  constexpr size_t one = channels * samples;
  if (bytes.empty() || bytes.size() % one != 0) {
    std::fprintf(stderr, "gestures: %s is no file of recordings\n", argv[1]);
    return 1;
  }
  static float motion[channels][samples];
  float logits[kinds];
  Confusion confusion = {};
  int right = 0;
  const int count = int(bytes.size() / one);
  for (int recording = 0; recording < count; ++recording) {
    for (size_t i = 0; i < one; ++i) motion[i / samples][i % samples] = float(static_cast<signed char>(bytes[size_t(recording) * one + i])) / 127.0f;
    if (gestures::run(motion, logits) != attend::Status::ok) return 1;
    int found = 0;
    for (int i = 1; i < kinds; ++i) found = logits[i] > logits[found] ? i : found;
    ++confusion[recording % kinds][found];
    right += found == recording % kinds;
  }
  std::printf("%-12s taken for\n", "");
  for (int row = 0; row < kinds; ++row) {
    std::printf("%-12s", names[row]);
    for (int column = 0; column < kinds; ++column) std::printf(" %3d", confusion[row][column]);
    std::printf("\n");
  }
  std::printf("%d of %d held-out gestures, in integers of 8 bits, with %zu bytes of memory\n", right, count, gestures::memory_bytes);
  if (!(std::ofstream(argv[2]) << picture(confusion, right, count) << std::flush)) {
    std::fprintf(stderr, "gestures: %s cannot be written\n", argv[2]);
    return 1;
  }
  return right * 100 >= count * 95 ? 0 : 1;
}
