#include "characters.h"

#include <algorithm>
#include <iterator>

#include "character_ranges.h"

namespace app {

CharacterClass class_of(std::uint32_t code) {
  if (code > 0x10FFFF) return CharacterClass::other;
  const std::uint32_t* const behind = std::upper_bound(std::begin(character_ranges), std::end(character_ranges), code * 8 + 7);
  return CharacterClass(behind[-1] % 8);
}

Character first_character(std::string_view text) {
  constexpr Character improper = {0xFFFD, 1};
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (length == 1 || length > text.size()) return improper;
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // what fewer bytes have no room for
  std::uint32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return improper;
    code = code << 6 | (byte & 0x3Fu);
  }
  const bool half_of_a_pair = code >= 0xD800 && code <= 0xDFFF;  // of UTF-16
  return code < least[length] || code > 0x10FFFF || half_of_a_pair ? improper : Character{code, length};
}

}  // namespace app
