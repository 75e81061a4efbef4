// The choice of a backend. Every backend gives the same bits, so this matters for speed and for tests only.
#pragma once

namespace attend {

// Backends compiled in, fastest first. An index must lie within 0 … backend_count() - 1.
int backend_count();
const char* backend_name(int index);

// Whether this processor can run it.
bool backend_available(int index);

// The backend in use for floats: the fastest available unless use_backend chose another. "scalar" is plain C++; its integers
// may still have loops of their own, as on a Cortex-M4 without a floating-point unit.
const char* active_backend();

// Makes every later call use the named backend ("avx2", "scalar", …). Returns false and changes nothing when there is none of
// that name or the processor cannot run it; name must not be null. May be called from any thread; calls that are under way
// finish with the one they began with.
bool use_backend(const char* name);

}  // namespace attend
