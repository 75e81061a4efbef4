#include "heatmap.h"

#include <algorithm>
#include <cstdio>

#include "shades.h"

namespace app {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

constexpr const char* explanation =
    "Rows: the piece of the action that was chosen. Columns: the words that the head looked at then.";

std::string trimmed(const std::string& piece) { return piece.substr(piece.find_first_not_of(' ') == 1 ? 1 : 0); }

// Characters that a terminal shows for UTF-8.
std::size_t shown_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

std::string cell(float weight, std::size_t width, bool colour) {
  const Shade& shade = shade_of(weight);
  if (colour) return format("\x1b[48;5;%dm%*s\x1b[0m", shade.background, static_cast<int>(width), "");
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += shade.block;
  return text;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char character : text) {
    result += character == '<' ? "&lt;" : character == '>' ? "&gt;" : character == '&' ? "&amp;" : std::string(1, character);
  }
  return result;
}

// Sizes of the image in pixels.
constexpr int cell_size = 18, label_width = 118, header = 96, top = 70, gap = 24, legend_height = 60, legend_steps = 11;

// From white to dark blue.
std::string fill_of(float weight) {
  const float share = std::clamp(weight, 0.0f, 1.0f);
  const auto between = [share](int light, int dark) {
    return light + static_cast<int>(share * static_cast<float>(dark - light));
  };
  return format("rgb(%d,%d,%d)", between(250, 8), between(250, 48), between(252, 107));
}

std::string text_at(int x, int y, const char* more, const std::string& text) {
  return format("<text x=\"%d\" y=\"%d\" %s>", x, y, more) + escaped(text) + "</text>\n";
}

std::string panel(const AttentionMap& map, int layer, int head, int left, int upper) {
  std::string svg = text_at(left, upper + 12, "font-weight=\"bold\"", format("layer %d, head %d", layer + 1, head + 1));
  const int x0 = left + label_width, y0 = upper + header;
  for (std::size_t word = 0; word < map.words.size(); ++word) {
    const int x = x0 + static_cast<int>(word) * cell_size + 13;
    svg += text_at(x, y0 - 5, format("transform=\"rotate(-60 %d %d)\"", x, y0 - 5).c_str(), trimmed(map.words[word]));
  }
  for (std::size_t piece = 0; piece < map.pieces.size(); ++piece) {
    const int y = y0 + static_cast<int>(piece) * cell_size;
    svg += text_at(x0 - 6, y + 13, "text-anchor=\"end\"", trimmed(map.pieces[piece]));
    for (std::size_t word = 0; word < map.words.size(); ++word) {
      const float weight = map.row(layer, head, piece)[word];
      svg += format("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"><title>%.3f</title></rect>\n",
                    x0 + static_cast<int>(word) * cell_size, y, cell_size - 1, cell_size - 1, fill_of(weight).c_str(),
                    double(weight));
    }
  }
  return svg;
}

std::string legend(int x, int y) {
  std::string svg = text_at(x, y + 13, "", "share of attention");
  for (int step = 0; step < legend_steps; ++step) {
    const float weight = static_cast<float>(step) / (legend_steps - 1);
    const int left = x + label_width + step * 2 * cell_size;
    svg += format("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" stroke=\"#bbb\" fill=\"%s\"/>\n", left, y, 2 * cell_size,
                  cell_size, fill_of(weight).c_str());
    svg += text_at(left + cell_size, y + cell_size + 14, "text-anchor=\"middle\"", format("%.1f", double(weight)));
  }
  return svg;
}

}  // namespace

std::string heatmap_text(const AttentionMap& map, bool colour) {
  std::size_t label = 0;
  for (const std::string& piece : map.pieces) label = std::max(label, shown_width(trimmed(piece)));
  std::string words(label, ' '), text = std::string("\n") + explanation + "\n";
  for (const std::string& word : map.words) words += " " + trimmed(word);
  for (int layer = 0; layer < map.layers; ++layer) {
    for (int head = 0; head < map.heads; ++head) {
      text += format("\nlayer %d, head %d\n", layer + 1, head + 1) + words + "\n";
      for (std::size_t piece = 0; piece < map.pieces.size(); ++piece) {
        const std::string name = trimmed(map.pieces[piece]);
        text += name + std::string(label - shown_width(name), ' ');
        for (std::size_t word = 0; word < map.words.size(); ++word) {
          text += " " + cell(map.row(layer, head, piece)[word], shown_width(trimmed(map.words[word])), colour);
        }
        text += "\n";
      }
    }
  }
  if (!colour) text += std::string("\n") + block_legend + "\n";
  return text;
}

std::string heatmap_svg(const AttentionMap& map, std::string_view title) {
  const int columns = static_cast<int>(map.words.size()), rows = static_cast<int>(map.pieces.size());
  const int width = label_width + columns * cell_size + gap + 40, height = header + rows * cell_size + gap;
  const int full_width = 20 + map.heads * width, full_height = top + map.layers * height + legend_height;
  std::string svg = format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" ",
                           full_width, full_height, full_width, full_height);
  svg += "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  svg += text_at(20, 26, "font-size=\"16\" font-weight=\"bold\"", std::string(title));
  svg += text_at(20, 48, "font-size=\"12\"", explanation);
  for (int layer = 0; layer < map.layers; ++layer) {
    for (int head = 0; head < map.heads; ++head) svg += panel(map, layer, head, 20 + head * width, top + layer * height);
  }
  return svg + legend(20, full_height - legend_height + 8) + "</svg>\n";
}

}  // namespace app
