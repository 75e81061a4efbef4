// A call that is made while another one uses the same work memory, as by an interrupt or another thread: in the step of a
// layer, or of every other call. misuse NAME; what is right ends with 0. For tests/scripts/check_checked.sh.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef OWN_HOOK
[[noreturn]] static void stop_with(const char* sentence) {
  std::printf("own hook: %s\n", sentence);
  std::exit(3);
}
#define ATTEND_MISUSE(sentence) stop_with(sentence)
#endif

#include "attend/layers.h"
#include "attend/states.h"

namespace {

struct Shape {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 4, max_tokens = 8;
};
attend::Weights<8, 8> wq, wo;
attend::Weights<4, 8> wk, wv;
attend::Vectors<2, 8> x, y;
attend::KvCache<Shape> cache;
attend::LayerWorkspace<Shape, 2> work, other_work;
attend::Query<Shape, 2> query;
attend::Output<Shape, 2> output;
attend::Query<Shape> one_query;
attend::Output<Shape> one_output;
attend::OptionWorkspace<Shape, 2, 2> memory;
attend::Key<Shape, 2> key;
attend::Value<Shape, 2> value;
attend::State<Shape, 2> state;
attend::Workspace<attend::AdditiveShape<8, 8>, 2, 2> additive;
attend::Workspace<attend::Projections> projections;
const char* name = "";

struct Interrupted {
  static attend::Status check(int, int) { return attend::Status::ok; }
  template <class Query>
  static void prepare_query(Query&, int) {
    const bool of_layer = std::strcmp(name, "layer") == 0, of_attention = std::strcmp(name, "attention") == 0;
    if (of_layer) {
      const auto layer = attend::multi_head<Shape>(wq, wk, wv, wo);
      (void)attend::cross_attention(x, layer, cache, y, work);
    } else {
      (void)attend::prefill(query, cache, output, of_attention ? work : other_work);
    }
  }
  template <class Key>
  static void prepare_key(Key&, int) {}
};

template <class Work, class Call>
void twice(const char* of, Work& used, Call call) {
  if (std::strcmp(name, of) != 0) return;
  const attend::detail::InUse use(used);
  (void)call();
}

}  // namespace

int main(int, char** arguments) {
  name = arguments[1];
  const auto layer = attend::multi_head<Shape>(wq, wk, wv, wo, Interrupted());
  for (int call = 0; call < 3; ++call) {  // one after another
    if (attend::self_attention(x, layer, cache, y, work) != attend::Status::ok) return 1;
  }
  twice("arrays", memory, [] { return attend::attention(query, key, value, output, memory); });
  twice("decode", memory, [] { return attend::decode(one_query, cache, one_output, memory); });
  twice("accumulate", memory, [] { return attend::accumulate(query, cache, state, 1, memory); });
  twice("memory", work, [&] { return attend::project_memory(x, layer, cache, work); });
  twice("additive", additive, [] { return attend::additive_attention(x, x, x[0], x, y, additive); });
  twice("projection", projections, [] { return attend::project(x, wq, y, projections); });
  return 0;
}
