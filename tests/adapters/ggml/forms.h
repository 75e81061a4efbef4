// The forms of each kind of operation.
#pragma once

#include "../../conformance/hash.h"
#include "nodes.h"

namespace forms {

using namespace attend_ggml;
using nodes::Extents;
using nodes::Room;
using nodes::Values;

// A number that is right, and how far another may be from it.
struct Number {
  double right, bound;
};
using Oracle = std::function<Number(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;

struct Forms {
  nodes::Runtime runtime;
  int count = 0, wrong = 0;
  std::uint64_t digest = attend_test::hash_begin;

  Forms(const char* ggml, const char* adapter) : runtime(ggml, adapter) {}

  void complain(const std::string& name, const std::string& what) {
    ++wrong;
    std::printf("WRONG %s: %s\n", name.c_str(), what.c_str());
  }

  // A node is taken, computed by 1, 2 and 3 threads alike, and within the bounds.
  void check(const std::string& name, const Room& room, Tensor* node, const Oracle& oracle) {
    ++count;
    if (!runtime.device()->supports_operation(runtime.device(), node)) return complain(name, "is not taken");
    Graph* const graph = runtime.call<Graph*>("ggml_new_graph", room.context());
    runtime.call<void>("ggml_build_forward_expand", graph, node);
    std::string first;
    for (int threads = 1; threads <= 3; ++threads) {
      runtime.set_threads(threads);
      if (runtime.call<int>("ggml_backend_graph_compute", runtime.backend(), graph) != 0) return complain(name, "fails");
      const std::string bytes(static_cast<const char*>(node->data),
                              runtime.call<std::size_t>("ggml_nbytes", static_cast<const Tensor*>(node)));
      if (threads == 1) first = bytes;
      if (bytes != first) return complain(name, "has other bits by " + std::to_string(threads) + " threads");
    }
    digest = attend_test::hash_bytes(digest, first.data(), first.size());
    compare(name, room, *node, oracle);
  }

  void compare(const std::string& name, const Room& room, const Tensor& node, const Oracle& oracle) {
    const Values values(room, node);
    for (std::int64_t l = 0; l < node.extents[3]; ++l) {
      for (std::int64_t k = 0; k < node.extents[2]; ++k) {
        for (std::int64_t j = 0; j < node.extents[1]; ++j) {
          for (std::int64_t i = 0; i < node.extents[0]; ++i) {
            const Number number = oracle(i, j, k, l);
            const double got = values(i, j, k, l);
            if (std::fabs(got - number.right) <= number.bound) continue;
            char text[200];
            std::snprintf(text, sizeof text, "[%d %d %d %d] is %.9g, not %.9g within %.3g", int(i), int(j), int(k), int(l), got,
                          number.right, number.bound);
            return complain(name, text);
          }
        }
      }
    }
  }

  void refuse(const std::string& name, const Tensor* node) {
    ++count;
    if (runtime.device()->supports_operation(runtime.device(), node)) complain(name, "is taken");
  }
};

inline const char* type_name(int type) {
  switch (type) {
    case type_float16:
      return "f16";
    case type_bfloat16:
      return "bf16";
    case type_q8_0:
      return "q8_0";
    case type_q4_0:
      return "q4_0";
    default:
      return "f32";
  }
}
constexpr int number_types[] = {type_float32, type_float16, type_bfloat16, type_q8_0, type_q4_0};

void products(Forms&);
void attention(Forms&);
void rows(Forms&);
void rotary(Forms&);
void functions(Forms&);
void copies(Forms&);
void refused(Forms&);

}  // namespace forms
