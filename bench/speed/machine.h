// The machine's limits, measured: what the library's figures are fractions of.
#pragma once

#include <cstddef>

namespace bench {

// Fused multiply-adds at the rate of the best loop there is for a backend's instruction set, in float32 operations per second
// (two for each multiply-add). An average over `seconds`.
double fma_peak(const char* backend, double seconds);

// Bytes per second that a backend's loads can read from a buffer, over and over, in the order of its addresses.
double read_bandwidth(const char* backend, const float* buffer, std::size_t floats, double seconds);

// Bytes that the system can give without swapping or ending a process; infinity where it does not say.
double free_memory();

// Seconds that this thread has computed. What others do on the machine counts only by what they do to caches and clock.
double seconds_now();

}  // namespace bench
