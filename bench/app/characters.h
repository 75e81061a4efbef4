// Characters of UTF-8, and what Unicode says they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace app {

enum class CharacterClass : unsigned char { other, letter, number, punctuation, space };

CharacterClass class_of(std::uint32_t code);

struct Character {
  std::uint32_t code;
  std::size_t length;  // bytes
};

// The character at the front of a text that is not empty; a byte that begins no proper one is U+FFFD.
Character first_character(std::string_view text);

}  // namespace app
