#include "heatmap.h"

#include <algorithm>
#include <cstdio>
#include <vector>

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

// Sizes of the image in pixels. Panels of a layer stand below each other where they are too wide to stand beside each other,
// and the columns of a very long sentence are narrower.
constexpr int widest = 1200, margin = 20, cell_size = 18, narrowest_cell = 7, font_size = 11, label_width = 118, header = 96;
constexpr int title_line = 22, top = 70, gap = 24, legend_height = 60, legend_steps = 11;
constexpr int around_cells = label_width + gap + 40;  // the last words lean over the last columns

struct Layout {
  explicit Layout(const AttentionMap& map)
      : columns(static_cast<int>(map.words.size())),
        cell_width(std::clamp((widest - margin - around_cells) / columns, narrowest_cell, cell_size)),
        panel_width(around_cells + columns * cell_width),
        panel_height(header + static_cast<int>(map.pieces.size()) * cell_size + gap),
        across(map.heads) {
    while (across > 1 && (map.heads % across != 0 || margin + across * panel_width > widest)) --across;
    width = margin + across * panel_width;
  }

  int columns, cell_width, panel_width, panel_height;
  int across;  // panels beside each other, a divisor of the heads
  int width;
};

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

std::string panel(const AttentionMap& map, const Layout& layout, int layer, int head, int left, int upper) {
  std::string svg = text_at(left, upper + 12, "font-weight=\"bold\"", format("layer %d, head %d", layer + 1, head + 1));
  const int x0 = left + label_width, y0 = upper + header, word_size = std::min(font_size, layout.cell_width * 5 / 6);
  for (std::size_t word = 0; word < map.words.size(); ++word) {
    const int x = x0 + static_cast<int>(word) * layout.cell_width + layout.cell_width / 2 + word_size / 3;
    svg += text_at(x, y0 - 5, format("font-size=\"%d\" transform=\"rotate(-60 %d %d)\"", word_size, x, y0 - 5).c_str(),
                   trimmed(map.words[word]));
  }
  for (std::size_t piece = 0; piece < map.pieces.size(); ++piece) {
    const int y = y0 + static_cast<int>(piece) * cell_size;
    svg += text_at(x0 - 6, y + 13, "text-anchor=\"end\"", trimmed(map.pieces[piece]));
    for (std::size_t word = 0; word < map.words.size(); ++word) {
      const float weight = map.row(layer, head, piece)[word];
      svg += format("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"><title>%.3f</title></rect>\n",
                    x0 + static_cast<int>(word) * layout.cell_width, y, layout.cell_width - 1, cell_size - 1,
                    fill_of(weight).c_str(), double(weight));
    }
  }
  return svg;
}

// Lines of a title, broken between words.
std::vector<std::string> broken(std::string_view title, int width) {
  const auto characters = static_cast<std::size_t>((width - 2 * margin) / 10);  // of the title's size, as wide as most are
  std::vector<std::string> lines;
  while (title.size() > characters && title.rfind(' ', characters) != std::string_view::npos) {
    const std::size_t end = title.rfind(' ', characters);
    lines.emplace_back(title.substr(0, end));
    title.remove_prefix(end + 1);
  }
  lines.emplace_back(title);
  return lines;
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
  const Layout layout(map);
  const std::vector<std::string> lines = broken(title, layout.width);
  const int below_title = top + (static_cast<int>(lines.size()) - 1) * title_line;
  const int height = below_title + map.layers * (map.heads / layout.across) * layout.panel_height + legend_height;
  std::string svg = format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" ",
                           layout.width, height, layout.width, height);
  svg += format("font-family=\"sans-serif\" font-size=\"%d\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                font_size);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    svg += text_at(margin, 26 + static_cast<int>(i) * title_line, "font-size=\"16\" font-weight=\"bold\"", lines[i]);
  }
  svg += text_at(margin, below_title - 22, "font-size=\"12\"", explanation);
  for (int number = 0; number < map.layers * map.heads; ++number) {
    const int left = margin + number % layout.across * layout.panel_width;
    const int upper = below_title + number / layout.across * layout.panel_height;
    svg += panel(map, layout, number / map.heads, number % map.heads, left, upper);
  }
  return svg + legend(margin, height - legend_height + 8) + "</svg>\n";
}

}  // namespace app
