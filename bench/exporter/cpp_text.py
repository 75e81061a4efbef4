"""Functions that programs in C++ hold where they call them."""
from .integer_steps import LIMITS, ROUND
from .numbers_in_c import number

WITH_OUTPUT = '''
template <class Shape, int queries, int keys>
struct WithOutput {
  attend::OptionWorkspace<Shape, queries, keys> work;
  attend::Output<Shape, queries> output;
};

'''
SOFTMAX = '''template <int width>
void softmax(const float (&x)[width], float (&y)[width]) {
  float most = x[0], total = 0;
  for (const float number : x) most = most < number || number != number ? number : most;
  for (float& number : y) number = -most;
  attend::add(x, y);  // a difference that no compiler fuses with the product before it
  attend::activate<attend::Activation::exp>(y);
  for (const float power : y) total += power;
  for (float& number : y) number /= total;
}

'''
LOG_SOFTMAX = '''template <int width>
void log_softmax(const float (&x)[width], float (&y)[width]) {
  float most = x[0], total = 0, log = 0, power[1];
  for (const float number : x) most = most < number || number != number ? number : most;
  for (float& number : y) number = -most;
  attend::add(x, y);
  for (const float number : y) {
    power[0] = number;
    attend::activate<attend::Activation::exp>(power);
    total += power[0];
  }
  for (int i = 0; i < 16; ++i) {  // Halley's method
    power[0] = log;
    attend::activate<attend::Activation::exp>(power);
    log += 2 * (total - power[0]) / (total + power[0]);
  }
  for (float& number : y) number -= log;
}

'''
CONVERSIONS = f'''// number = x / scale + zero, to the nearest, ties to even, clamped. The library's multiply-add rounds at the last digit before the
// point, whatever the compiler would make of a product and a sum.
template <int count, class Number>
void to_integers(const float (&x)[count], float factor, int zero, Number (&y)[count]) {{
  constexpr int lowest = sizeof(Number) == 1 ? {LIMITS["int8"][0]} : {LIMITS["int16"][0]}, most = -1 - lowest;
  constexpr float point = {number(ROUND)};
  for (int first = 0; first < count; first += 8) {{
    float given[8] = {{}}, moved[8];
    const int here = count - first < 8 ? count - first : 8;
    for (int i = 0; i < 8; ++i) moved[i] = point;
    for (int i = 0; i < here; ++i) given[i] = x[first + i];
    attend::add(given, moved, factor);
    for (int i = 0; i < here; ++i) {{
      const float low = point + float(lowest - zero), high = point + float(most - zero);
      const float number = moved[i] > low ? moved[i] < high ? moved[i] : high : low;
      y[first + i] = Number(int(number - point) + zero);
    }}
  }}
}}
template <int count, class Number>
void to_floats(const Number (&x)[count], int zero, float scale, float (&y)[count]) {{
  for (int i = 0; i < count; ++i) y[i] = float(x[i] - zero) * scale;
}}

'''
