// Shades of a terminal for shares of attention, as colours or as block characters.
#pragma once

namespace app {

// A colour of the 256-colour palette, and whether black or white is readable on it.
struct Shade {
  float least;  // weight
  const char* block;
  int background;
  int foreground;
};

inline constexpr Shade shades[] = {
    {0.80f, "█", 17, 231}, {0.60f, "█", 18, 231}, {0.45f, "▓", 19, 231}, {0.30f, "▓", 26, 231}, {0.20f, "▒", 68, 231},
    {0.10f, "▒", 110, 16}, {0.05f, "░", 153, 16}, {0.02f, "░", 189, 16}, {0.00f, " ", 255, 16},
};

// Of a weight within 0 … 1; of NaN that of 0.
constexpr const Shade& shade_of(float weight) {
  for (const Shade& shade : shades) {
    if (weight >= shade.least) return shade;
  }
  return shades[sizeof shades / sizeof *shades - 1];
}

// What the block characters stand for; colours speak for themselves.
inline constexpr const char* block_legend = "░ from 0.02   ▒ from 0.10   ▓ from 0.30   █ from 0.60";

}  // namespace app
