// Log-mel spectrogram of sound in 16-bit samples, in integers alone: the same bytes on every processor, and no floating-point
// unit. 16,000 samples a second; a frame of 24 bands every 320 samples (20 ms) from the latest 512 (32 ms) under a Hann window.
// A byte is a step of 0.75 dB: four times the binary logarithm of a band's energy, from -64 to 64.
#pragma once

#include <stdint.h>

namespace keywords {

constexpr int sample_rate = 16000, hop = 320, span = 512, bands = 24;

namespace front_end {

constexpr int points = span / 2;  // of the complex transform: even samples are real parts, odd ones imaginary

// Edges of the bands in steps of 31.25 Hz: equal steps of the mel scale, 2595 log10(1 + f / 700), from 90 Hz to 7,500 Hz.
constexpr int edges[bands + 2] = {3,  5,  8,  11, 14,  18,  22,  26,  31,  36,  42,  48,  55,
                                  63, 71, 81, 91, 102, 114, 127, 142, 158, 176, 195, 217, 240};

// By its series, so that the table needs no library: x from -pi to pi.
constexpr double sine(double x) {
  double term = x, sum = x;
  for (int n = 1; n < 14; ++n) {
    term *= -x * x / ((2 * n) * (2 * n + 1));
    sum += term;
  }
  return sum;
}
constexpr int16_t rounded(double x) { return int16_t(x < 0 ? x - 0.5 : x + 0.5); }

struct Tables {
  int16_t window[span / 2];  // its first half, of 2^15
  int16_t sines[span];       // of k / 512 of a turn, of 2^15
  constexpr Tables() : window(), sines() {
    constexpr double pi = 3.14159265358979323846;
    for (int k = 0; k < span; ++k) sines[k] = rounded(32767 * sine(2 * pi * (k < points ? k : k - span) / span));
    for (int k = 0; k < span / 2; ++k) window[k] = rounded(32767 * (0.5 - 0.5 * sine(pi / 2 - 2 * pi * k / span)));
  }
};
inline constexpr Tables tables;

struct Number {
  int32_t real, imaginary;
};
inline int32_t scaled(int32_t a, int32_t of_2_15) { return int32_t((int64_t(a) * of_2_15 + (1 << 14)) >> 15); }
// Turned back by k / 512 of a turn.
inline Number turned(Number a, int k) {
  const int32_t cosine = tables.sines[(k + span / 4) % span], sine = tables.sines[k];
  return {scaled(a.real, cosine) + scaled(a.imaginary, sine), scaled(a.imaginary, cosine) - scaled(a.real, sine)};
}

// The discrete Fourier transform in place, by halves (Cooley and Tukey); numbers grow by at most 256 times.
inline void transform(Number (&x)[points]) {
  for (int i = 1, j = 0; i < points; ++i) {
    int bit = points / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) {
      const Number kept = x[i];
      x[i] = x[j];
      x[j] = kept;
    }
  }
  for (int half = 1; half < points; half *= 2) {
    for (int first = 0; first < half; ++first) {
      for (int i = first; i < points; i += 2 * half) {
        const Number a = x[i], b = turned(x[i + half], first * (span / (2 * half)));
        x[i] = {a.real + b.real, a.imaginary + b.imaginary};
        x[i + half] = {a.real - b.real, a.imaginary - b.imaginary};
      }
    }
  }
}

// Four times the binary logarithm, rounded.
inline int four_logarithms(uint64_t energy) {
  int whole = 0;
  for (int step = 32; step > 0; step /= 2) {
    if (energy >> (whole + step) != 0) whole += step;
  }
  const int mantissa = int((whole < 8 ? energy << (8 - whole) : energy >> (whole - 8)));  // 256 to 511, or nothing
  return 4 * whole + (mantissa >= 279) + (mantissa >= 332) + (mantissa >= 395) +
         (mantissa >= 470);  // 256 times 2 to the 1, 3, 5, 7 eighths
}

}  // namespace front_end

// One frame from its samples. It takes some 2.2 KB of stack.
inline void log_mel(const int16_t (&samples)[span], int8_t (&frame)[bands]) {
  using namespace front_end;
  Number x[points];
  for (int i = 0; i < points; ++i) {
    const auto windowed = [&](int k) { return scaled(samples[k], tables.window[k < span / 2 ? k : span - 1 - k]); };
    x[i] = {windowed(2 * i), windowed(2 * i + 1)};
  }
  transform(x);
  uint64_t energies[bands] = {};
  for (int k = edges[0] + 1, band = 0; k < edges[bands + 1]; ++k) {
    // What the even and the odd samples have at this frequency, put together.
    const Number a = x[k], b = x[points - k];
    const Number odd = turned({a.imaginary + b.imaginary, b.real - a.real}, k);
    const int64_t real = int64_t(a.real) + b.real + odd.real, imaginary = int64_t(a.imaginary) - b.imaginary + odd.imaginary;
    const uint64_t energy = uint64_t(real * real) + uint64_t(imaginary * imaginary);
    // Bands are triangles: band b rises from its edge to the next one and falls to the one after.
    while (k >= edges[band + 1]) ++band;
    const uint64_t rise = uint64_t(256 * (k - edges[band]) / (edges[band + 1] - edges[band]));
    if (band < bands) energies[band] += energy * rise;
    if (band > 0) energies[band - 1] += energy * (256 - rise);
  }
  for (int band = 0; band < bands; ++band) {
    const int level = four_logarithms(energies[band] >> 8) - 124;
    frame[band] = int8_t(level < -64 ? -64 : level > 64 ? 64 : level);
  }
}

}  // namespace keywords
