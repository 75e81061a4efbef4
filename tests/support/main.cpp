// Runs the tests. Most of them go through every backend; ATTEND_BACKEND says which one the others use.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "attend/backend.h"
#include "rounds.h"

namespace {

std::string program, backend;
bool runs_all = false;

// Begins each test case with the backend that was chosen, and says how a failure is repeated: its test case alone and, where
// problems have seeds of their own, its round alone. ATTEND_RUNNER is the emulator that the program was started by.
class Repeats : public doctest::IReporter {
 public:
  explicit Repeats(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData& test) override {
    case_ = test.m_name, name_ = test.m_name, said_ = -2;
    attend_test::round_now() = -1;
    attend::use_backend(backend.c_str());
    // Quotes would end the shell's, and commas separate patterns.
    for (char& letter : name_) letter = letter == '\'' || letter == ',' ? '?' : letter;
  }
  void log_assert(const doctest::AssertData& assertion) override {
    if (assertion.m_failed) say();
  }
  void log_message(const doctest::MessageData& message) override {
    if ((message.m_severity & doctest::assertType::is_warn) == 0) say();
  }
  void test_case_exception(const doctest::TestCaseException&) override { say(); }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  // ATTEND_CASES is a file to which the names of those that pass are added, for check_requirements.py.
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    const char* const path = stats.failure_flags == 0 ? std::getenv("ATTEND_CASES") : nullptr;
    std::FILE* const file = path != nullptr ? std::fopen(path, "a") : nullptr;
    if (file == nullptr) return;
    std::fprintf(file, "ok   %s\n", case_.c_str());
    std::fclose(file);
  }
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  // What needed.h leaves out; a filter leaves out what nobody asked for.
  void test_case_skipped(const doctest::TestCaseData& test) override {
    if (runs_all && test.m_skip) std::printf("skip %s: %s\n", test.m_name, test.m_description);
  }

 private:
  // Once for each round.
  void say() {
    const int round = attend_test::round_now();
    if (round == said_) return;
    said_ = round;
    std::string command = "repeat it:";
    if (round >= 0) command += " ATTEND_ROUND=" + std::to_string(round);
    for (const char* const variable : {"ATTEND_QUICK", "ATTEND_BACKEND"}) {
      if (const char* const value = std::getenv(variable)) command += std::string(" ") + variable + "=" + value;
    }
    if (const char* const runner = std::getenv("ATTEND_RUNNER")) command += std::string(" ") + runner;
    std::printf("%s %s --test-case='%s'\n", command.c_str(), program.c_str(), name_.c_str());
  }

  std::string case_, name_;
  int said_ = -2;
};
REGISTER_LISTENER("repeats", 1, Repeats);

}  // namespace

int main(int argc, char** argv) {
  program = argv[0], runs_all = argc == 1;
  const char* wanted = std::getenv("ATTEND_BACKEND");
  if (wanted != nullptr && *wanted != '\0' && !attend::use_backend(wanted)) {
    std::fprintf(stderr, "ATTEND_BACKEND=%s: no such backend here\n", wanted);
    return 1;
  }
  std::printf("backends:");
  for (int i = 0; i < attend::backend_count(); ++i) {
    std::printf(" %s%s", attend::backend_name(i), attend::backend_available(i) ? "" : " (not on this processor)");
  }
  backend = attend::active_backend();
  std::printf("; active: %s\n", backend.c_str());
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (!attend::backend_available(i))
      std::printf("skip calls of %s: this processor lacks the instruction set\n", attend::backend_name(i));
  }
  doctest::Context context(argc, argv);
  return context.run();
}
