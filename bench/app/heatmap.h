// Heat maps of what each attention head looked at while an action was written.
#pragma once

#include <string>
#include <string_view>

#include "commands.h"

namespace app {

// For a terminal: one panel for each head, one line for each piece of the action, shades under the words of the sentence.
// colour: shades are 256-colour backgrounds, otherwise block characters.
std::string heatmap_text(const AttentionMap& map, bool colour);

// The same as an SVG image with a title of its own.
std::string heatmap_svg(const AttentionMap& map, std::string_view title);

}  // namespace app
