// The keyword model on recorded tokens: INPUTS RECEIPTS, files. Writes the receipt of each token, 8 bytes, for `python3 -m
// attend replay`; with ATTEND_COUNT it tells the instructions of a token instead, also of a model that makes none.
#include "model.h"
#include "platform.h"
#ifdef ATTEND_COUNT
#include "instructions.h"
#endif

namespace {

constexpr size_t numbers = 144;  // of a token
float logits[13];

}  // namespace

int firmware::run() {
  static char names[512];
  const Memory memory = free_memory();
  size_t end = 0;
  if (!read_arguments(names, sizeof names)) return 2;
  while (names[end] != ' ' && names[end] != '\0') ++end;
  if (names[end] == ' ') names[end++] = '\0';
  // A quarter of the memory is enough for the receipts, which come after the inputs.
  const size_t read = read_file(names, memory.floats, memory.count / 4 * 3 * sizeof(float));
  const size_t tokens = read / sizeof(float) / numbers;
  if (tokens == 0 || read != tokens * numbers * sizeof(float)) {
    print("receipts: expected INPUTS RECEIPTS: a file of tokens of 144 floats, and one to write\n");
    return 2;
  }
#ifdef ATTEND_COUNT
  if (!start_counting()) return 1;
  uint64_t instructions = 0;
#endif
  [[maybe_unused]] unsigned char* const receipts = reinterpret_cast<unsigned char*>(memory.floats + tokens * numbers);
  for (size_t token = 0; token < tokens; ++token) {
    const auto& input = *reinterpret_cast<const float(*)[numbers]>(memory.floats + token * numbers);
    attend::Status status = attend::Status::ok;
#ifdef ATTEND_COUNT
    instructions += count_instructions([&] { status = keywords::append(input, logits); });
#else
    status = keywords::append(input, logits);
    for (int i = 0; i < 8; ++i) receipts[8 * token + size_t(i)] = static_cast<unsigned char>(keywords::receipt() >> (8 * i));
#endif
    if (status != attend::Status::ok) return 1;
  }
#ifdef ATTEND_COUNT
  print_number(instructions / tokens);
  print(" instructions for a token\n");
  return 0;
#else
  return write_file(names + end, receipts, 8 * tokens) ? 0 : 2;
#endif
}
