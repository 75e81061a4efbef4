// A sensor's next reading, predicted from what it has read so far: attention over a ring of the last readings.
//
// The two readings before the next one are a point. Each earlier point remembers which reading came after it, as a key and its
// value, and the prediction is a mean of these values with weights exp(-distance^2 / (2 width^2)): a kernel regression, which is
// softmax attention whose scores are q . k with q = (x, y, 1) / width^2 and k = (x, y, -(x^2 + y^2) / 2). Whatever repeats itself
// is predicted; what is far from its prediction is new.
//
// The ring keeps the last 64 readings whatever happens, in memory that is known when this compiles. Works in GNU C++11.
#include <Attend.h>

const int sensor_pin = 0;
const int readings_kept = 64;
const long most_readings = 1000000;  // a day of them; then the ring begins anew
const float width = 0.02f;  // of readings within 0 ... 1

struct Point {
  float x, y, square;
};

alignas(ATTEND_ALIGNMENT) static unsigned char ring_memory[4096];
alignas(ATTEND_ALIGNMENT) static unsigned char work_memory[3072];  // attend_workspace_size says how much of it is needed
static attend_cache* ring;
static attend_problem problem;
static Point query;
static float prediction, last_readings[2];
static long readings;
static bool ready;

// Prints why, when a call was refused.
bool succeeded(attend_status status) {
  if (status == ATTEND_OK) return true;
  Serial.print(attend_argument_name(status));
  Serial.print(": ");
  Serial.println(attend_error_text(status));
  ready = false;
  return false;
}

bool make_ring() {
  attend_cache_shape shape;
  attend_cache_shape_init(&shape, sizeof shape);
  shape.kv_heads = 1;
  shape.head_dim = 3;
  shape.value_dim = 1;
  shape.max_tokens = most_readings;
  shape.window_keys = readings_kept;
  return succeeded(attend_cache_init(&shape, ring_memory, sizeof ring_memory, &ring));
}

void describe_problem() {
  attend_problem_init(&problem, sizeof problem);
  problem.query_heads = problem.kv_heads = 1;
  problem.head_dim = 3;
  problem.value_dim = 1;
  problem.queries = 1;
  problem.scale = 1 / (width * width);
  problem.window_left = readings_kept - 1;
  problem.query.data = &query;
  problem.output.data = &prediction;
  problem.cache = ring;
}

// Remembers what came after the last two readings, and predicts what will come after the last one and this.
bool predict(float reading) {
  const Point before = {last_readings[0], last_readings[1],
                        -(last_readings[0] * last_readings[0] + last_readings[1] * last_readings[1]) / 2};
  last_readings[0] = last_readings[1];
  last_readings[1] = reading;
  if (++readings <= 2) return false;  // there is no point yet
  attend_input key = {&before, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
  attend_input value = {&reading, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
  attend_status status = attend_cache_append(ring, 1, &key, &value);
  if (status % 256 == ATTEND_FULL) {
    attend_cache_truncate(ring, 0);
    status = attend_cache_append(ring, 1, &key, &value);
  }
  if (!succeeded(status)) return false;
  query.x = last_readings[0];
  query.y = last_readings[1];
  query.square = 1;
  return succeeded(attend_run(&problem, work_memory, sizeof work_memory));
}

void setup() {
  Serial.begin(115200);
  ready = make_ring();
  if (ready) describe_problem();
}

void loop() {
  if (!ready) return;
  const float reading = analogRead(sensor_pin) / 1024.0f;
  const long error = long((reading - prediction) * 1000);
  Serial.print("reading ");
  Serial.print(long(reading * 1000));
  Serial.print(" of 1000, predicted ");
  Serial.print(long(prediction * 1000));
  Serial.println(readings > readings_kept && (error > 150 || error < -150) ? ": new" : "");
  predict(reading);
  delay(100);
}
