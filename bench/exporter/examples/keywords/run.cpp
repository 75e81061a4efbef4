// Listens for keywords by the exported model. With a WAV file it says which are spoken when, and draws the sound with what each
// decision rested on; without one, how often held-out voices are understood: run HELD_OUT.BIN PICTURE.SVG [FILE.WAV]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "listener.h"

namespace {

using keywords::bands;
using keywords::Frame;
using keywords::kinds;
using keywords::Likelihoods;
using keywords::Listener;

const char* const names[kinds] = {"yes", "no",   "up", "down",   "left",   "right",  "on",
                                  "off", "stop", "go", "louder", "softer", "another"};
constexpr double token_seconds = double(keywords::chunk) / keywords::sample_rate;
Listener listener;

std::vector<unsigned char> bytes_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<unsigned char> bytes;
  char part[4096];
  do {  // a folder opens, and then cannot be read
    file.read(part, sizeof part);
    bytes.insert(bytes.end(), part, part + file.gcount());
  } while (file);
  return bytes;
}

bool is_written(std::ofstream& picture, const char* path) {
  picture.close();
  if (!picture) std::fprintf(stderr, "keywords: %s cannot be written\n", path);
  return bool(picture);
}

// ---- Held-out voices.

int try_voices(const char* path, const char* picture) {
  const std::vector<unsigned char> bytes = bytes_of(path);
  using keywords::clips, keywords::voices;
  constexpr size_t frames = keywords::clip_frames;
  if (bytes.size() != voices * clips * frames * sizeof(Frame)) {
    std::fprintf(stderr, "keywords: %s is no file of held-out voices\n", path);
    return 1;
  }
  int confusion[kinds][kinds] = {}, all = 0;
  int understood = 0;  // voices
  for (int voice = 0; voice < voices; ++voice) {
    int right = 0;
    for (int clip = 0; clip < clips; ++clip) {
      listener.begin();
      const int found = heard_in(listener, reinterpret_cast<const Frame*>(bytes.data()) + size_t(voice * clips + clip) * frames,
                                 [](const Likelihoods&) {});
      ++confusion[keywords::kind_of(clip)][found];
      right += found == keywords::kind_of(clip);
    }
    std::printf("voice %d: %d of %d\n", voice + 1, right, clips);
    understood += right * 100 >= clips * 95;
    all += right;
  }
  std::printf("%d of %d words of voices that training never heard, in integers of 8 bits, with %zu bytes of memory\n", all,
              voices * clips, keywords::token_memory_bytes + sizeof keywords::caches + sizeof listener);
  constexpr int cell = 40, left = 80, top = 70;
  std::ofstream svg(picture);
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << left + kinds * cell + 30 << "\" height=\""
      << top + kinds * cell + 20
      << "\" font-family=\"sans-serif\" font-size=\"13\">\n<text x=\"10\" y=\"20\" font-size=\"15\">Words of held-out voices "
         "(rows) and what was heard: "
      << all << " of " << voices * clips << "</text>\n";
  for (int row = 0; row < kinds; ++row) {
    svg << "<text x=\"" << left - 6 << "\" y=\"" << top + row * cell + 25 << "\" text-anchor=\"end\">" << names[row]
        << "</text>\n<text x=\"" << left + row * cell + 20 << "\" y=\"" << top - 8
        << "\" text-anchor=\"middle\" font-size=\"11\">" << names[row] << "</text>\n";
    int total = 0;
    for (const int count : confusion[row]) total += count;
    for (int column = 0; column < kinds; ++column) {
      const int count = confusion[row][column], shade = 255 - (total > 0 ? 205 * count / total : 0);
      svg << "<rect x=\"" << left + column * cell << "\" y=\"" << top + row * cell << "\" width=\"" << cell << "\" height=\""
          << cell << "\" stroke=\"#ccc\" fill=\"rgb(" << shade << "," << shade << ",255)\"/>\n";
      if (count == 0) continue;
      svg << "<text x=\"" << left + column * cell + 20 << "\" y=\"" << top + row * cell + 25
          << "\" text-anchor=\"middle\" fill=\"" << (shade < 150 ? "white" : "black") << "\">" << count << "</text>\n";
    }
  }
  svg << "</svg>\n";
  return is_written(svg, picture) && understood >= 4 ? 0 : 1;
}

// ---- A file.

unsigned number_at(const std::vector<unsigned char>& bytes, size_t at, int count) {
  unsigned number = 0;
  for (int i = count - 1; i >= 0; --i) number = number * 256 + bytes[at + size_t(i)];
  return number;
}

// Samples of a WAV file; none where it is not what was expected.
std::vector<int16_t> samples_of(const char* path) {
  const std::vector<unsigned char> bytes = bytes_of(path);
  std::vector<int16_t> samples;
  const auto tag = [&](size_t at, const char* name) {
    return at + 8 <= bytes.size() && std::memcmp(bytes.data() + at, name, 4) == 0;
  };
  unsigned width = 0;
  for (size_t at = 12; tag(0, "RIFF") && at + 8 <= bytes.size();) {
    const size_t size = number_at(bytes, at + 4, 4), begin = at + 8, end = std::min(begin + size, bytes.size());
    if (tag(at, "fmt ") && end - begin >= 16 && number_at(bytes, begin, 2) == 1 && number_at(bytes, begin + 2, 2) == 1 &&
        number_at(bytes, begin + 4, 4) == unsigned(keywords::sample_rate)) {
      width = number_at(bytes, begin + 14, 2);
    }
    if (tag(at, "data") && (width == 8 || width == 16)) {
      for (size_t i = begin; i + width / 8 <= end; i += width / 8) {
        samples.push_back(width == 8 ? int16_t((int(bytes[i]) - 128) * 256) : int16_t(number_at(bytes, i, 2)));
      }
    }
    at = end + size % 2;
  }
  return samples;
}

struct Found {
  int token, kind;
  float likelihood;
};

// How much less likely a word is, at the token where it was found, when the frames of each of the tokens before it are silent.
std::vector<double> rests_on(const std::vector<std::vector<int8_t>>& frames, const Found& found) {
  constexpr int looks_back = 40;
  std::vector<double> parts;
  for (int without = looks_back - 1; without >= -1; --without) {
    listener.begin();
    Likelihoods likelihoods = {};
    for (int token = std::max(0, found.token - 63); token <= found.token; ++token) {
      Frame pair[keywords::new_frames];
      for (int i = 0; i < keywords::new_frames; ++i) {
        for (int band = 0; band < bands; ++band) {
          pair[i][band] =
              found.token - token == without ? int8_t(-64) : frames[size_t(token * keywords::new_frames + i)][size_t(band)];
        }
      }
      if (listener.look(pair, likelihoods) != attend::Status::ok) return {};
    }
    parts.push_back(double(likelihoods[found.kind]));
  }
  const double whole = parts.back();
  parts.pop_back();
  for (double& part : parts) part = std::max(0.0, whole - part);
  return parts;
}

bool draw(const char* path, const std::vector<std::vector<int8_t>>& frames, const std::vector<Found>& found) {
  constexpr int wide = 4, high = 9, left = 20, top = 70, shades = 12;
  const int width = int(frames.size()) * wide;
  std::ofstream svg(path);
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << left * 2 + width << "\" height=\"" << top + bands * high + 90
      << "\" font-family=\"sans-serif\" font-size=\"13\">\n<text x=\"" << left
      << "\" y=\"20\" font-size=\"15\">Sound in 24 bands, the words that were found, and below what each decision rested "
         "on</text>\n"
      << "<rect x=\"" << left << "\" y=\"" << top << "\" width=\"" << width << "\" height=\"" << bands * high
      << "\" fill=\"rgb(255,255,255)\"/>\n";
  for (int shade = 1; shade < shades; ++shade) {
    svg << "<path fill=\"rgb(" << 255 - 20 * shade << "," << 255 - 20 * shade << "," << 255 - 10 * shade << ")\" d=\"";
    for (size_t frame = 0; frame < frames.size(); ++frame) {
      for (int band = 0; band < bands; ++band) {
        const int level = std::min(shades - 1, std::max(0, (frames[frame][size_t(band)] + 56) * shades / 96));
        if (level == shade) {
          svg << "M" << left + int(frame) * wide << " " << top + (bands - 1 - band) * high << "h" << wide << "v" << high << "h-"
              << wide << "z";
        }
      }
    }
    svg << "\"/>\n";
  }
  const int below = top + bands * high + 10;
  for (const Found& word : found) {
    const int x = left + (word.token + 1) * keywords::new_frames * wide;
    svg << "<line x1=\"" << x << "\" x2=\"" << x << "\" y1=\"" << top - 6 << "\" y2=\"" << below + 40
        << "\" stroke=\"#b03030\"/>\n<text x=\"" << x << "\" y=\"" << top - 12 << "\" text-anchor=\"middle\" fill=\"#b03030\">"
        << names[word.kind] << "</text>\n";
    const std::vector<double> parts = rests_on(frames, word);
    if (parts.empty()) return false;
    const double most = std::max(1e-9, *std::max_element(parts.begin(), parts.end()));
    for (size_t i = 0; i < parts.size(); ++i) {
      const double tall = 40 * parts[i] / most;
      const int from = x - int(parts.size() - i) * keywords::new_frames * wide;
      if (tall >= 1 && from >= left) {
        svg << "<rect x=\"" << from << "\" y=\"" << below + 40 - int(tall) << "\" width=\"" << keywords::new_frames * wide
            << "\" height=\"" << int(tall) << "\" fill=\"#b03030\" fill-opacity=\"0.6\"/>\n";
      }
    }
  }
  for (size_t second = 0; double(second) * keywords::sample_rate / keywords::hop < double(frames.size()); ++second) {
    svg << "<text x=\"" << left + int(second) * wide * keywords::sample_rate / keywords::hop << "\" y=\"" << below + 62
        << "\" font-size=\"11\">" << second << " s</text>\n";
  }
  svg << "</svg>\n";
  return is_written(svg, path);
}

int listen_to(const char* path, const char* picture) {
  const std::vector<int16_t> samples = samples_of(path);
  if (samples.size() < size_t(keywords::chunk)) {
    std::fprintf(stderr,
                 "keywords: %s is no WAV file of 16,000 samples a second in one channel, of 8 or 16 bits: sox FILE -r 16000 -c "
                 "1 -b 16 OUT.wav\n",
                 path);
    return 1;
  }
  std::vector<std::vector<int8_t>> frames;
  std::vector<Found> found;
  int last = -1;
  listener.begin();
  for (size_t at = 0; at + size_t(keywords::chunk) <= samples.size(); at += size_t(keywords::chunk)) {
    Likelihoods likelihoods;
    if (listener.hear(*reinterpret_cast<const int16_t(*)[keywords::chunk]>(samples.data() + at), likelihoods) !=
        attend::Status::ok)
      return 1;
    for (int i = keywords::seen_frames - keywords::new_frames; i < keywords::seen_frames; ++i) {
      frames.emplace_back(listener.frame(i), listener.frame(i) + bands);
    }
    const int kind = keywords::keyword_of(likelihoods), token = int(at / size_t(keywords::chunk));
    if (kind >= 0 && kind != last) found.push_back({token, kind, likelihoods[kind]});
    last = kind;
  }
  for (const Found& word : found)
    std::printf("%6.2f s  %-8s %3.0f %%\n", (word.token + 1) * token_seconds, names[word.kind], 100 * double(word.likelihood));
  std::printf("%zu keywords in %.1f seconds\n", found.size(), double(samples.size()) / keywords::sample_rate);
  return draw(picture, frames, found) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "keywords: expected HELD_OUT.BIN PICTURE.SVG [FILE.WAV]\n");
    return 2;
  }
  return argc == 4 ? listen_to(argv[3], argv[2]) : try_voices(argv[1], argv[2]);
}
