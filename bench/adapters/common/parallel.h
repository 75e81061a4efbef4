// Threads that a runtime lends to the library.
#pragma once

namespace attend_adapter {

// Calls work(context, part) for each part, on whatever threads the runtime has, and returns when all are done.
struct Parallel {
  using Work = void (*)(void* context, int part);
  void (*run)(void* runtime, int parts, Work work, void* context);  // null: the caller's thread does it all
  void* runtime;                                                    // of the runtime, for `run`
  int threads;                                                      // >= 1: how many parts are worth making

  // work(part), 0 <= part < parts.
  template <class Function>
  void each(int parts, const Function& work) const {
    if (run == nullptr || parts <= 1) {
      for (int part = 0; part < parts; ++part) work(part);
      return;
    }
    run(
        runtime, parts, [](void* context, int part) { (*static_cast<const Function*>(context))(part); },
        const_cast<Function*>(&work));
  }
};

}  // namespace attend_adapter
