// Puts back what pack.py took away: restore FROM TO, folders. Each @b 120 32@ of FROM/model.cpp.in and FROM/self_test.cpp.in
// becomes 32 pairs of braces with the next 120 numbers of FROM/arrays.bin in each. The letters are those of Python's struct,
// little-endian. There need not be a self_test.cpp.in.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) std::fprintf(stderr, "restore: %s cannot be read\n", path.c_str()), std::exit(1);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Arrays {
 public:
  explicit Arrays(const std::string& path) : bytes_(content_of(path)) {}

  std::string next(char letter) {
    char text[40];
    if (letter == 'f') {
      std::snprintf(text, sizeof text, "%.9g", double(number<float, std::uint32_t>()));
    } else if (letter == 'd') {
      std::snprintf(text, sizeof text, "%.17g", number<double, std::uint64_t>());
    } else if (letter == 'Q') {
      std::snprintf(text, sizeof text, "0x%016llxu", static_cast<unsigned long long>(number<std::uint64_t, std::uint64_t>()));
    } else {
      const int whole = letter == 'b'   ? number<std::int8_t, std::uint8_t>()
                        : letter == 'h' ? number<std::int16_t, std::uint16_t>()
                                        : number<std::int32_t, std::uint32_t>();
      std::snprintf(text, sizeof text, "%d", whole);
    }
    const bool is_real = letter == 'f' || letter == 'd';
    return text + std::string(is_real && std::strpbrk(text, ".e") == nullptr ? ".0" : "") + (letter == 'f' ? "f" : "");
  }
  bool is_read() const { return at_ == bytes_.size(); }

 private:
  template <class Number, class Bits>
  Number number() {
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof bits && at_ < bytes_.size(); ++i)
      bits = Bits(bits | Bits(std::uint8_t(bytes_[at_++])) << 8 * i);
    Number made;
    std::memcpy(&made, &bits, sizeof made);
    return made;
  }
  std::string bytes_;
  std::size_t at_ = 0;
};

void restore(const std::string& from, Arrays& arrays, const std::string& to) {
  const std::string text = content_of(from);
  std::ofstream file(to, std::ios::binary);
  std::size_t done = 0;
  for (std::size_t mark; (mark = text.find('@', done)) != std::string::npos;) {
    char letter = 0;
    int numbers = 0, rows = 0;
    std::sscanf(text.c_str() + mark, "@%c %d %d@", &letter, &numbers, &rows);
    file << text.substr(done, mark - done);
    for (int row = 0; row < rows; ++row) {
      file << (row == 0 ? "{" : ",\n{");
      for (int i = 0; i < numbers; ++i) file << (i == 0 ? "" : i % 16 == 0 ? ",\n " : ", ") << arrays.next(letter);
      file << "}";
    }
    done = text.find('@', mark + 1) + 1;
  }
  file << text.substr(done);
  if (!file.flush()) std::fprintf(stderr, "restore: %s cannot be written\n", to.c_str()), std::exit(1);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return std::fprintf(stderr, "restore: restore FROM TO\n"), 1;
  const std::string from = std::string(arguments[1]) + "/", to = std::string(arguments[2]) + "/";
  Arrays arrays(from + "arrays.bin");
  restore(from + "model.cpp.in", arrays, to + "model.cpp");
  if (std::ifstream(from + "self_test.cpp.in")) restore(from + "self_test.cpp.in", arrays, to + "self_test.cpp");
  std::ofstream(to + "model.h", std::ios::binary) << content_of(from + "model.h");
  if (!arrays.is_read()) return std::fprintf(stderr, "restore: %sarrays.bin is longer than what is packed\n", from.c_str()), 1;
  return 0;
}
