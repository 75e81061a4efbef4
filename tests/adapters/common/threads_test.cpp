// Threads of an adapter's own: each part is done once, by sets that grow and shrink, from several callers at once, and from
// within.
#include "../../../bench/adapters/common/threads.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

using attend_adapter::Parallel;
using attend_adapter::Threads;

namespace {

int failures = 0;

// why: what is said of a failure.
void check(bool passed, const char* what, const char* why = nullptr) {
  std::printf("%s threads: %s%s%s\n", passed ? "ok  " : "FAIL", what, why == nullptr ? "" : ": ", why == nullptr ? "" : why);
  failures += !passed;
}

// Ends a program that hangs in a wait that has no limit of its own, such as a join, with a failure that says so.
void end_of_patience(int) {
  static const char sentence[] = "FAIL threads: the program has not ended within 100 seconds: a call or a join hangs\n";
  const ssize_t written = write(STDOUT_FILENO, sentence, sizeof sentence - 1);
  _exit(written > 0 ? 1 : 2);
}

// Whether each of the parts is done once, and is done when the call returns.
bool does_each_part(const Parallel& parallel, int parts) {
  std::vector<std::atomic<int>> done(static_cast<std::size_t>(parts));
  parallel.each(parts, [&](int part) { done[static_cast<std::size_t>(part)].fetch_add(1, std::memory_order_relaxed); });
  for (const std::atomic<int>& count : done) {
    if (count.load(std::memory_order_relaxed) != 1) return false;
  }
  return true;
}

// Whether two threads are in a call at the same time. The first waits for the second, five seconds at most.
bool is_done_by_two(const Parallel& parallel) {
  std::atomic<int> inside{0};
  std::atomic<bool> are_two{false};
  parallel.each(2, [&](int) {
    if (inside.fetch_add(1) == 1) are_two = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!are_two && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    inside.fetch_sub(1);
  });
  return are_two;
}

// Of a child: it is the parent that says that it has not ended.
void limit_child() {
  std::signal(SIGALRM, SIG_DFL);
  alarm(20);
}

// A child that ends as programs do, after a call of its own, with a set that is one's own and the shared one. One that hangs
// ends after 20 seconds.
[[maybe_unused]] bool child_computes(Threads& own) {
  const pid_t child = fork();
  if (child == 0) {
    limit_child();
    const bool each = does_each_part(own.parallel(), 4) && does_each_part(Threads::shared().parallel(4), 4);
    own.resize(2);
    std::exit(each && does_each_part(own.parallel(), 4) ? 0 : 1);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// A fork while another thread is inside of a call on the shared set, which its helpers are in too: the child takes the set
// over, on more than one thread, and ends; the call of the parent goes on. Answers what went wrong, or null.
[[maybe_unused]] const char* child_computes_beside_a_call() {
  std::atomic<int> inside{0};
  std::atomic<bool> has_forked{false};
  bool each = false;
  std::thread caller([&] {
    std::atomic<int> done{0};
    Threads::shared().parallel(3).each(3, [&](int) {
      inside.fetch_add(1);
      while (!has_forked.load()) std::this_thread::sleep_for(std::chrono::microseconds(100));
      done.fetch_add(1);
    });
    each = done.load() == 3;
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (inside.load() < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  if (inside.load() < 2) {
    has_forked = true;
    caller.join();
    return "no second thread came into the call within 20 seconds";
  }
  const pid_t child = fork();
  if (child == 0) {
    limit_child();
    std::exit(is_done_by_two(Threads::shared().parallel(3)) && does_each_part(Threads::shared().parallel(3), 8) ? 0 : 1);
  }
  int status = 1;
  const bool has_ended = child > 0 && waitpid(child, &status, 0) == child && status == 0;
  has_forked = true;
  caller.join();
  return !has_ended ? "the child did not end well within 20 seconds" : !each ? "the parent's call left out a part" : nullptr;
}

[[maybe_unused]] void forks() {
  Threads own;
  own.resize(3);
  const auto call = [&] { return does_each_part(own.parallel(), 4) && does_each_part(Threads::shared().parallel(4), 4); };
  bool each = true;
  for (int round = 0; round < 10; ++round) each = call() && child_computes(own) && each;
  check(each, "the child of a fork, whose threads are new, just after a call");
  each = call();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until they sleep
  check(each && child_computes(own) && call(), "the child of a fork while threads sleep");
  const char* wrong = nullptr;
  for (int round = 0; round < 10 && wrong == nullptr; ++round) wrong = child_computes_beside_a_call();
  if (wrong == nullptr && !call()) wrong = "a call after that left out a part";
  check(wrong == nullptr, "the child of a fork while a call of the parent computes", wrong);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // a child would write what is left in a buffer once more
  std::signal(SIGALRM, end_of_patience);
  alarm(100);
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifndef __SANITIZE_THREAD__  // which follows no threads into a fork
  forks();
#endif
  {
    Threads own;
    bool each = true;
    int most = 0;
    for (int round = 0; round < 300; ++round) {
      if (round % 30 == 0) own.resize(round / 30 * 7 % 9);
      most = own.parallel().threads > most ? own.parallel().threads : most;
      each = does_each_part(own.parallel(), round % 11) && each;
      if (round % 50 == 49) std::this_thread::sleep_for(std::chrono::milliseconds(3));  // until they sleep
    }
    check(each && most == 8, "a set of one's own, which grows and shrinks");
    own.resize(2);
    check(is_done_by_two(own.parallel()), "two parts at a time");
  }
  {
    std::atomic<bool> each{true};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; ++caller) {
      callers.emplace_back([&each, caller] {
        for (int round = 0; round < 3000; ++round) {
          if (!does_each_part(Threads::shared().parallel(1 + (round + caller) % 5), 1 + round % 7)) each = false;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    check(each, "a shared set, called from several threads at once");
  }
  bool each = true;
  Threads::shared().parallel(3).each(3, [&](int part) {
    const bool inner = does_each_part(Threads::shared().parallel(2), 4);
    if (part == 0) each = inner;
  });
  check(each, "a call from within another");
  return failures == 0 ? 0 : 1;
}
