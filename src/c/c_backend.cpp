// Choosing a backend from C.
#include "surface.h"

#include "../../include/attend/backend.h"

extern "C" {

int attend_version(void) { return ATTEND_VERSION; }

int attend_bits_version(void) { return ATTEND_BITS_VERSION; }

int attend_backend_count(void) { return attend::backend_count(); }

const char* attend_backend_name(int index) {
  return index >= 0 && index < attend::backend_count() ? attend::backend_name(index) : nullptr;
}

const char* attend_backend_active(void) { return attend::active_backend(); }

attend_status attend_backend_use(const char* name) {
  attend::c_surface::Check check;
  check.require(name != nullptr, ATTEND_MISSING, ATTEND_ARG_NAME);
  if (check.failed() || attend::use_backend(name)) return check.status();
  for (int i = 0; i < attend::backend_count(); ++i) {
    const char *wanted = name, *known = attend::backend_name(i);
    while (*wanted != '\0' && *wanted == *known) ++wanted, ++known;
    check.require(*wanted != *known, ATTEND_UNAVAILABLE, ATTEND_ARG_NAME);
  }
  check.require(false, ATTEND_UNKNOWN, ATTEND_ARG_NAME);
  return check.status();
}

}  // extern "C"
