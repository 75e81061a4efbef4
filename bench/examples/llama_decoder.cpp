// A Llama decoder layer on several threads, each of which computes its part of every call. The bits are those of one thread.
#include <attend/layers.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using attend::into;
using attend::Status;

struct Llama {  // 8 query heads share 2 key/value heads
  static constexpr int query_heads = 8, kv_heads = 2, head_dim = 16, max_tokens = 32;
};
constexpr int width = Llama::query_heads * Llama::head_dim, kv_width = Llama::kv_heads * Llama::head_dim, hidden = 344;

struct Layer {
  float attention_gain[1][width], mlp_gain[1][width];
  attend::Weights<width, width> wq, wo;  // [output][input]; attend::pack makes PackedWeights of them, which are faster
  attend::Weights<kv_width, width> wk, wv;
  attend::Weights<hidden, width> gate, up;
  attend::Weights<width, hidden> down;
  attend::Rotary<Llama::head_dim> rotary;
};

// [threads]
// No thread leaves wait() before all have come. C++20 has std::barrier.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads), missing_(threads) {}
  void wait() {
    const unsigned round = round_;
    if (--missing_ == 0) {
      missing_ = threads_;
      ++round_;  // lets the others go, and comes last
    } else {
      while (round_ == round) std::this_thread::yield();
    }
  }

 private:
  const int threads_;
  std::atomic<int> missing_;
  std::atomic<unsigned> round_{0};
};

struct Shared {  // what all threads write to, each another piece
  attend::KvCache<Llama> cache;
  attend::Query<Llama> query;
  attend::Key<Llama> key;
  attend::Value<Llama> value;
  attend::Output<Llama> output;
  float gate[hidden], up[hidden], y[width];
};

struct Worker {  // what each thread has for itself
  attend::Part part;
  Barrier& barrier;
  Status status = Status::ok;

  // A call that is refused has written nothing. The thread goes on all the same: the others wait for it at the barrier.
  void note(Status of_call) {
    if (status == Status::ok) status = of_call;
  }
};
// [/threads]

// [layer]
// x is the thread's own copy of the token. Norms and sums take less time than a barrier, so every thread computes all of them.
void run_layer(const Layer& layer, float (&x)[width], Shared& to, Worker& worker) {
  const attend::Part part = worker.part;
  float normal[width], gated[hidden];
  worker.note(attend::rms_norm(x, layer.attention_gain[0], normal));
  worker.note(attend::project(normal, into(layer.wq, to.query), into(layer.wk, to.key), into(layer.wv, to.value), part));
  worker.barrier.wait();
  if (part.index == 0) {  // little work, and a cache has one writer
    const int position = to.cache.length();
    worker.note(layer.rotary.rotate<attend::RotaryPairs::halves>(to.query, position));
    worker.note(layer.rotary.rotate<attend::RotaryPairs::halves>(to.key, position));
    worker.note(to.cache.append(to.key, to.value));  // the cache may be full
  }
  worker.barrier.wait();
  worker.note(attend::decode(to.query, to.cache, to.output, part));
  worker.barrier.wait();
  worker.note(attend::project(to.output, layer.wo, to.y, part));
  worker.barrier.wait();
  attend::add(to.y, x);

  worker.note(attend::rms_norm(x, layer.mlp_gain[0], normal));
  worker.note(attend::project(normal, into(layer.gate, to.gate), into(layer.up, to.up), part));
  worker.barrier.wait();
  attend::activate<attend::Activation::silu>(to.gate, to.up, gated);
  worker.note(attend::project(gated, layer.down, to.y, part));
  worker.barrier.wait();
  attend::add(to.y, x);
}
// [/layer]

using Stream = attend::Vectors<20, width>;

// [run]
// Every token of the stream becomes what the layer makes of it and of the tokens before it.
Status run_stream(int threads, const Layer& layer, Stream& stream) {
  static Shared shared;
  shared.cache.clear();
  Barrier barrier(threads);
  std::vector<Worker> workers;
  for (int i = 0; i < threads; ++i) workers.push_back({{i, threads}, barrier});

  const auto work = [&](Worker& worker) {
    for (auto& token : stream.data) {
      float x[width];
      std::memcpy(x, token, sizeof x);
      run_layer(layer, x, shared, worker);
      if (worker.part.index == 0) std::memcpy(token, x, sizeof x);
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back([&, i] { work(workers[size_t(i)]); });
  work(workers[0]);
  for (std::thread& helper : helpers) helper.join();
  for (const Worker& worker : workers) {
    if (worker.status != Status::ok) return worker.status;
  }
  return Status::ok;
}
// [/run]

// Uniform numbers in the place of a checkpoint, the same on every machine.
template <int rows, int columns>
void fill(float (&array)[rows][columns], float scale) {
  static std::uint32_t seed = 1;
  for (auto& row : array) {
    for (float& number : row) {
      seed = seed * 1664525u + 1013904223u;
      number = float(int(seed >> 16) - 32768) / 32768.0f * scale;
    }
  }
}

}  // namespace

int main() {
  static Layer layer;
  fill(layer.attention_gain, 1.0f), fill(layer.mlp_gain, 1.0f);
  fill(layer.wq.data, 0.3f), fill(layer.wk.data, 0.3f), fill(layer.wv.data, 0.3f), fill(layer.wo.data, 0.2f);
  fill(layer.gate.data, 0.2f), fill(layer.up.data, 0.2f), fill(layer.down.data, 0.1f);
  static Stream input, expected;
  fill(input.data, 1.0f);

  Status status = layer.rotary.init(10000.0f);
  bool same = true;
  for (int threads = 1; threads <= 4 && status == Status::ok && same; ++threads) {
    Stream stream = input;
    status = run_stream(threads, layer, stream);
    if (threads == 1) expected = stream;
    same = std::memcmp(&stream, &expected, sizeof stream) == 0;
    const auto& last = stream[19];
    std::printf("threads: %d, the last token: %.6f %.6f, %s\n", threads, double(last[0]), double(last[1]),
                same ? "the bits of one thread" : "OTHER BITS");
  }
  if (status != Status::ok) std::fprintf(stderr, "llama_decoder: %s\n", attend::status_text(status));
  return status == Status::ok && same ? 0 : 1;
}
