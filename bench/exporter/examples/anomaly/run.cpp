// Follows the vibration of two machines that training never saw, sample by sample, and draws how surprised the exported model is by each:
// run HELD_OUT.BIN PICTURE.SVG. In the file each machine is well in its first half; then a fault grows.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model/model.h"

namespace {

constexpr int machines = 2, patch = 16;
constexpr float unit = 1.0f / 32;  // a byte of 32 is the root mean square of a machine that is well

// The error of what the model expects, for each patch but the first, smoothed over some 32 of them.
std::vector<double> scores_of(const signed char* bytes, int patches) {
  static float now[patch], next[patch];
  std::vector<double> scores;
  double smooth = 0;
  anomaly::clear();
  for (int p = 0; p < patches; ++p) {
    double error = 0;
    for (int i = 0; i < patch; ++i) {
      now[i] = float(bytes[p * patch + i]) * unit;
      error += p == 0 ? 0 : double(now[i] - next[i]) * double(now[i] - next[i]);
    }
    if (p > 0) {
      smooth += (std::sqrt(error / patch) - smooth) / std::min<double>(p, 32);
      scores.push_back(smooth);
    }
    if (anomaly::append(now, next) != attend::Status::ok) return {};
  }
  return scores;
}

// How often a score of a machine with its whole fault is above one of the machine when it is well.
double separation(const std::vector<double>& scores) {
  const size_t quarter = scores.size() / 4;
  std::vector<double> well(scores.begin() + 64, scores.begin() + std::ptrdiff_t(2 * quarter));
  std::sort(well.begin(), well.end());
  double above = 0;
  for (size_t i = 3 * quarter; i < scores.size(); ++i) {
    above += double(std::lower_bound(well.begin(), well.end(), scores[i]) - well.begin()) / double(well.size());
  }
  return above / double(scores.size() - 3 * quarter);
}

std::string picture(const std::vector<double> (&scores)[machines], const double (&separations)[machines]) {
  constexpr int width = 760, height = 170, left = 50;
  const auto text = [](double x, double y, const std::string& words) {
    return "<text x=\"" + std::to_string(int(x)) + "\" y=\"" + std::to_string(int(y)) + "\">" + words + "</text>\n";
  };
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(left + width + 20) + "\" height=\"" +
                    std::to_string(machines * (height + 60) + 20) + "\" font-family=\"sans-serif\" font-size=\"13\">\n";
  for (int m = 0; m < machines; ++m) {
    const double top = m * (height + 60) + 40, most = *std::max_element(scores[m].begin(), scores[m].end());
    char title[120];
    std::snprintf(title, sizeof title, "Machine %d: well, and from the middle on a growing fault; separated %.1f %%", m + 1, 100 * separations[m]);
    svg += text(left, top - 12, title) + text(5, top + 10, "error") + text(left, top + height + 16, "time");
    svg += "<rect x=\"" + std::to_string(left) + "\" y=\"" + std::to_string(top) + "\" width=\"" + std::to_string(width) + "\" height=\"" +
           std::to_string(height) + "\" fill=\"none\" stroke=\"#999\"/>\n<rect x=\"" + std::to_string(left + width / 2) + "\" y=\"" +
           std::to_string(top) + "\" width=\"" + std::to_string(width / 2) + "\" height=\"" + std::to_string(height) +
           "\" fill=\"#f6d6d6\" fill-opacity=\"0.5\"/>\n<polyline fill=\"none\" stroke=\"#2244aa\" points=\"";
    for (size_t i = 0; i < scores[m].size(); i += 2) {
      svg += std::to_string(left + double(width) * double(i) / double(scores[m].size())) + "," +
             std::to_string(top + height - scores[m][i] / most * (height - 8)) + " ";
    }
    svg += "\"/>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "anomaly: expected HELD_OUT.BIN PICTURE.SVG\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
  const std::vector<signed char> bytes(read.begin(), read.end());
  const int patches = int(bytes.size() / (machines * patch));
  if (patches < 512) {
    std::fprintf(stderr, "anomaly: %s is no file of two machines\n", argv[1]);
    return 1;
  }
  std::vector<double> scores[machines];
  double separations[machines], least = 1;
  for (int m = 0; m < machines; ++m) {
    scores[m] = scores_of(bytes.data() + m * patches * patch, patches);
    if (scores[m].empty()) return 1;
    separations[m] = separation(scores[m]);
    least = std::min(least, separations[m]);
    std::printf("machine %d: the score of its fault is above that of the machine when it is well in %.1f %% of pairs\n", m + 1, 100 * separations[m]);
  }
  std::printf("in integers of 8 bits, with %zu bytes of memory\n", anomaly::token_memory_bytes + sizeof anomaly::caches);
  if (!(std::ofstream(argv[2]) << picture(scores, separations) << std::flush)) {
    std::fprintf(stderr, "anomaly: %s cannot be written\n", argv[2]);
    return 1;
  }
  return least >= 0.95 ? 0 : 1;
}
