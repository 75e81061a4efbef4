// Why a node, a tensor or a number is refused: what it is about, and a sentence.
#pragma once

#include <attend/attend_c.h>

namespace attend_tflite {

struct Refusal {
  const char* what = nullptr;  // null: nothing is refused
  const char* why = nullptr;
  explicit operator bool() const { return what != nullptr; }
};

// Of a call of the library.
inline Refusal refusal_of(attend_status status) {
  if (status == ATTEND_OK) return {};
  return {attend_argument_name(status), attend_error_text(status)};
}

// To whoever looks after the runtime's errors. Context: TfLiteContext of either runtime.
template <class Context>
void report(Context* context, const char* name, const Refusal& refusal) {
  context->ReportError(context, "attend: %s: %s: %s", name, refusal.what, refusal.why);
}

}  // namespace attend_tflite
