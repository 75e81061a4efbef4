#include "listing.h"

#include <vector>

namespace app {
namespace {

constexpr std::size_t column_width = 16, columns = 5, name_width = 9;  // five of the longest, "light.brighten", fit into 80

// Texts in columns; what comes after a key that differs from the one before begins a new line.
template <class Key>
std::string in_columns(const std::vector<std::string>& texts, const Key& key) {
  std::string result;
  std::size_t column = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool begins = i == 0 || column == columns || key(texts[i]) != key(texts[i - 1]);
    if (begins) column = 0;
    const std::size_t gap = begins ? 2 : column_width - texts[i - 1].size();
    result += (begins && i > 0 ? "\n" : "") + std::string(gap, ' ') + texts[i];
    ++column;
  }
  return result + "\n";
}

struct Parameter {
  std::string name;
  std::vector<std::string> values;  // none where it is a number
};

std::string joined(const Parameter& parameter) {
  if (parameter.values.empty()) return parameter.name == "time" ? "of 24 hours, such as 6:30 or 18:30" : "a number";
  std::string text;
  for (const std::string& value : parameter.values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

}  // namespace

std::string listing(const Words& words) {
  std::vector<std::string> actions, rooms;
  std::vector<Parameter> parameters;
  for (int token = 0; token < words.first_letter(); ++token) {
    const std::string& piece = words.piece(token);
    if (piece[0] != ' ') {
      if (piece.find('.') != std::string::npos) actions.push_back(piece);
      continue;
    }
    const std::size_t equals = piece.find('=');
    const std::string name = piece.substr(1, equals - 1), value = piece.substr(equals + 1);
    if (name == "room") {
      if (value != "all") rooms.push_back(value);
      continue;
    }
    if (parameters.empty() || parameters.back().name != name) parameters.push_back({name, {}});
    if (!value.empty()) parameters.back().values.push_back(value);
  }
  std::string text = std::to_string(actions.size()) + " actions, and \"unknown\" for everything else\n";
  text += in_columns(actions, [](const std::string& action) { return action.substr(0, action.find('.')); });
  text += "\n" + std::to_string(rooms.size()) + " rooms, as room=attic; room=all for the whole house\n";
  text += in_columns(rooms, [](const std::string&) { return 0; }) + "\nother parameters\n";
  for (const Parameter& parameter : parameters) {
    text += "  " + parameter.name + "=" + std::string(name_width - parameter.name.size(), ' ') + joined(parameter) + "\n";
  }
  return text;
}

}  // namespace app
