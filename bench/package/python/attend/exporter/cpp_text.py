"""Functions that written programs hold where they call them."""

WITH_OUTPUT = '''
template <class Shape, int queries, int keys>
struct WithOutput {
  attend::OptionWorkspace<Shape, queries, keys> work;
  attend::Output<Shape, queries> output;
};

'''
LARGER = '''// A NaN is larger than every number.
inline float larger(float a, float b) { return a < b || b != b ? b : a; }

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
ARG_MAX = '''template <int width>
int32_t place_of_largest(const float (&x)[width]) {
  int32_t place = 0;
  for (int32_t i = 1; i < width; ++i) {
    if (x[place] < x[i]) place = i;
  }
  return place;
}

'''
