// What the application says to a person: answers, refusals, heat maps.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "../../bench/app/conversation.h"
#include "../../bench/app/heatmap.h"
#include "../../bench/app/household.h"
#include "../../bench/app/listing.h"
#include "../support/app_checks.h"
#include "../support/model_files.h"

using namespace attend_test;

namespace {

// The answers; notes goes to where it is wanted.
std::string said(const app::CommandLine& line, const char* typed = nullptr, std::string* notes = nullptr) {
  std::istringstream stream(typed == nullptr ? "" : typed);
  std::string text, noted;
  app::converse(line, {typed == nullptr ? nullptr : &stream, [&](std::string_view more) { text += more; },
                       [&](std::string_view more) { noted += more; }, false});
  if (notes != nullptr) *notes = noted;
  return text;
}

std::string content(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// The number behind a text; -1: there is none.
int number_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + before.size());
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("app: commands are answered, and what is none is refused without ending the conversation") {
  app::CommandLine line;
  const std::string examples = said(line);
  CHECK(contains(examples, "\n  light.dim room=bedroom level=30\n"));
  CHECK(contains(examples, "\n  alarm.set time=6:30\n"));
  CHECK(contains(examples, "\n  unknown\n"));

  const std::string long_line(10000, 'a');
  const std::string typed =
      said(line, ("turn on the lamp\n...\n" + long_line + "\n\xFF\nopen the blinds\n\nturn off the tv\n").c_str());
  CHECK(contains(typed, "> light.on\n") == false);
  CHECK(contains(typed, "  light.on\n> "));
  CHECK(contains(typed, "expected at least one word, found none"));
  CHECK(contains(typed, "expected at most 400 bytes, found 10000"));
  CHECK(contains(typed, "expected UTF-8"));
  CHECK(contains(typed, "  blind.open\n> "));
  CHECK(!contains(typed, "tv.off"));  // an empty line has ended it
  CHECK(contains(said(line, "turn off the tv"), "  tv.off\n> "));

  line.sentence = "Turn on the lamp, please!";
  CHECK(said(line) == "light.on\n");
  line.sentence = "";
  CHECK(contains(failure_of([&] { said(line); }), "at least one word"));
  line.household = "/nowhere";
  CHECK(contains(failure_of([&] { said(line); }), "/nowhere: expected a model of household commands, found no such file"));
}

TEST_CASE("app: what the model can answer with is listed in columns of a terminal") {
  const std::string text = app::listing(app::load_household("bench/app/model/household.bin").words);
  CHECK(contains(text, "48 actions, and"));
  CHECK(contains(text, "\n  alarm.set       alarm.stop\n  blind.close     blind.open      blind.set\n"));
  CHECK(contains(text, "\n14 rooms, "));
  CHECK(contains(text, "\n  attic           balcony         basement        bathroom        bedroom\n  dining_room "));
  CHECK(contains(text, "\n  door=     back, cellar, front, patio\n"));
  CHECK(contains(text, "\n  level=    a number\n"));
  CHECK(contains(text, "\n  time=     of 24 hours, such as 6:30 or 18:30\n"));
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    CHECK(text.find('\n', begin) - begin <= 80);
  }
}

TEST_CASE("app: heat maps are shown and written, with all heads and labels") {
  const Folder folder;
  app::CommandLine line;
  line.sentence = "turn off the heating <in> the hall & office";
  line.heatmap = folder.path() + "/deeper/maps";
  std::string notes;
  const std::string text = said(line, nullptr, &notes);
  CHECK(contains(notes, line.heatmap + "/heatmap-1.svg\n"));
  CHECK(contains(notes, " ms, backend "));
  CHECK(count(text, "layer ") == 12);
  CHECK(count(text, "<begin> turn off the heating in the hall office =>") == 12);
  CHECK(contains(text, "█"));
  const std::string svg = content(line.heatmap + "/heatmap-1.svg");
  CHECK(svg.compare(0, 5, "<svg ") == 0);
  CHECK(contains(svg, "</svg>\n"));
  CHECK(count(svg, ">layer ") == 12);
  CHECK(count(svg, ">heating<") == 12);
  CHECK(count(svg, ">=&gt;<") == 12);
  CHECK(count(svg, ">&lt;begin&gt;<") == 12);
  CHECK(contains(svg, "share of attention"));
  CHECK(!contains(svg, "\x1b"));

  line.sentence.reset();
  said(line);
  for (const char* name : {"/heatmap-1.svg", "/heatmap-2.svg", "/heatmap-3.svg"})
    CHECK(std::filesystem::exists(line.heatmap + name));
  line.heatmap = folder.write("file", "content");
  CHECK(contains(failure_of([&] { said(line); }), "cannot be written"));
}

TEST_CASE("app: a heat map is at most 1200 pixels wide, and its panels do not overlap") {
  for (const std::size_t words : {3u, 9u, 19u, 34u, 60u, 116u}) {
    CAPTURE(words);
    app::AttentionMap map;
    map.layers = 3;
    map.heads = 4;
    map.words.assign(words, "word");
    map.pieces.assign(6, "piece");
    map.weights.assign(std::size_t(map.layers * map.heads) * map.pieces.size() * words, 0.5f);
    std::string title;
    for (std::size_t i = 0; i < words; ++i) title += "word ";
    const std::string svg = app::heatmap_svg(map, title + "end");
    const int width = number_after(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
    CHECK(width <= 1200);
    CHECK(count(svg, "<title>0.500</title>") == int(12 * 6 * words));
    // Each cell of all panels has a place of its own, inside the image.
    std::set<std::string> places;
    for (std::size_t at = 0; (at = svg.find("<rect x=\"", at)) != std::string::npos; ++at) {
      places.insert(svg.substr(at, svg.find(" width", at) - at));
      CHECK(std::atoi(svg.c_str() + at + 9) < width);
    }
    CHECK(places.size() == 12 * 6 * words + 11);
    // No line of the title is longer than the image.
    const std::string heading = "font-weight=\"bold\">word";
    for (std::size_t at = 0; (at = svg.find(heading, at)) != std::string::npos; ++at) {
      CHECK(int(svg.find('<', at) - at - heading.size() + 4) * 9 < width);
    }
    CHECK(contains(svg, "word end</text>"));
  }
}
