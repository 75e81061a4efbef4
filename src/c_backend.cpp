// Choosing a backend from C.
#include "c_api/surface.h"

#include "../include/attend/backend.h"

extern "C" {

int attend_backend_count(void) { return attend::backend_count(); }

const char* attend_backend_name(int index) {
  return index >= 0 && index < attend::backend_count() ? attend::backend_name(index) : nullptr;
}

const char* attend_backend_active(void) { return attend::active_backend(); }

attend_status attend_backend_use(const char* name) {
  if (name == nullptr) return ATTEND_NO_BACKEND_NAME;
  if (attend::use_backend(name)) return ATTEND_OK;
  for (int i = 0; i < attend::backend_count(); ++i) {
    const char *wanted = name, *known = attend::backend_name(i);
    while (*wanted != '\0' && *wanted == *known) ++wanted, ++known;
    if (*wanted == *known) return ATTEND_UNAVAILABLE_BACKEND;
  }
  return ATTEND_UNKNOWN_BACKEND;
}

}  // extern "C"
