// Functions of numbers, copies, and what is refused.
#include "forms.h"

namespace forms {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

struct Function {
  const char* name;
  double (*of)(double);
};
const Function functions_of_numbers[] = {
    {"silu", [](double x) { return x * logistic(x); }},
    {"gelu", [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
    {"gelu_erf", [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }},
    {"gelu_quick", [](double x) { return x * logistic(1.702 * x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sigmoid", logistic},
    {"exp", [](double x) { return std::exp(x); }},
    {"relu", [](double x) { return x > 0 ? x : 0; }},
    {"neg", [](double x) { return -x; }},
    {"abs", [](double x) { return std::fabs(x); }},
    {"sqr", [](double x) { return x * x; }},
};

}  // namespace

void functions(Forms& all) {
  for (const Extents& extents : {Extents{5}, Extents{300, 3}, Extents{9000}, Extents{33, 2, 3, 2}}) {
    for (const Function& f : functions_of_numbers) {
      Room room(all.runtime);
      Tensor* const from = room.random(type_float32, extents, 5);
      const Values x(room, *from);
      all.check(f.name, room, all.runtime.call<Tensor*>((std::string("ggml_") + f.name).c_str(), room.context(), from),
                [&](auto i, auto j, auto k, auto l) {
                  const double right = f.of(x(i, j, k, l));
                  return Number{right, 2e-6 * std::fmax(1, std::fabs(right))};
                });
    }
  }
  const Function gates[] = {{"swiglu", functions_of_numbers[0].of},
                            {"geglu", functions_of_numbers[1].of},
                            {"geglu_erf", functions_of_numbers[2].of},
                            {"geglu_quick", functions_of_numbers[3].of},
                            {"reglu", functions_of_numbers[7].of}};
  for (const Function& f : gates) {
    for (int form = 0; form < 3; ++form) {  // the halves of a row, the same swapped, two tensors
      Room room(all.runtime);
      Tensor* const from = room.random(type_float32, {form == 2 ? 40 : 80, 3, 2}, 4);
      Tensor* const by = form == 2 ? room.random(type_float32, {40, 3, 2}) : nullptr;
      const char* const ends[] = {"", "_swapped", "_split"};
      const std::string name = std::string("ggml_") + f.name + ends[form];
      Tensor* const node = form == 2 ? all.runtime.call<Tensor*>(name.c_str(), room.context(), from, by)
                                     : all.runtime.call<Tensor*>(name.c_str(), room.context(), from);
      const Values x(room, *from), y(room, by == nullptr ? *from : *by);
      all.check(name, room, node, [&](auto i, auto j, auto k, auto l) {
        const double gate = x(form == 1 ? i + 40 : i, j, k, l),
                     other = form == 2 ? y(i, j, k, l) : x(form == 1 ? i : i + 40, j, k, l);
        return Number{f.of(gate) * other, 1e-5};
      });
    }
  }
  for (const Extents& second : {Extents{24, 3, 4}, Extents{24}, Extents{1, 3, 4}, Extents{24, 1, 4}}) {
    for (const char* const name : {"ggml_add", "ggml_sub", "ggml_mul", "ggml_div"}) {
      Room room(all.runtime);
      Tensor *const a = room.random(type_float32, {24, 3, 4}), *const b = room.random(type_float32, second);
      const Values x(room, *a), y(room, *b);
      all.check(name, room, all.runtime.call<Tensor*>(name, room.context(), a, b), [&](auto i, auto j, auto k, auto l) {
        const double p = x(i, j, k, l), q = y(i, j, k, l);
        const double right = name[5] == 'a' ? p + q : name[5] == 's' ? p - q : name[5] == 'm' ? p * q : p / q;
        return Number{right, 1e-7 * std::fabs(right) + 1e-12};
      });
    }
  }
  for (const float added : {0.0f, 0.75f}) {
    Room room(all.runtime);
    Tensor* const from = room.random(type_float32, {100, 5});
    const Values x(room, *from);
    all.check("ggml_scale_bias", room, all.runtime.call<Tensor*>("ggml_scale_bias", room.context(), from, 1.5f, added),
              [&](auto i, auto j, auto k, auto l) {
                return Number{1.5 * x(i, j, k, l) + double(added), 2e-7};
              });
  }
}

void copies(Forms& all) {
  for (const int type : number_types) {
    Room room(all.runtime);
    Tensor *const table = room.random(type, {64, 9, 2}), *const indices = room.empty(type_int32, {5, 2});
    const std::int32_t at[] = {8, 0, 3, 3, 1, 7, 2, 0, 5, 6};
    std::memcpy(indices->data, at, sizeof at);
    const Values x(room, *table);
    all.check(std::string("GET_ROWS ") + type_name(type), room,
              all.runtime.call<Tensor*>("ggml_get_rows", room.context(), table, indices), [&](auto i, auto j, auto k, auto) {
                return Number{x(i, at[k * 5 + j], k), 0};
              });
    // An index that is none is an error of the runtime, and nothing is read.
    static_cast<std::int32_t*>(indices->data)[4] = 9;
    Graph* const graph = all.runtime.call<Graph*>("ggml_new_graph", room.context());
    all.runtime.call<void>("ggml_build_forward_expand", graph,
                           all.runtime.call<Tensor*>("ggml_get_rows", room.context(), table, indices));
    if (all.runtime.call<int>("ggml_backend_graph_compute", all.runtime.backend(), graph) == 0)
      all.complain("GET_ROWS", "takes a row that is none");
  }
  for (const int type : {type_float32, type_float16, type_bfloat16, type_q8_0}) {
    for (const int index_type : {type_int32, type_int64}) {
      Room room(all.runtime);
      Tensor *const cache = room.random(type, {64, 12}), *const from = room.random(type_float32, {64, 3}),
                    *const indices = room.empty(index_type, {3});
      const Values before(room, *cache), x(room, *from);
      const int at[] = {11, 0, 5};
      for (int i = 0; i < 3; ++i) {
        if (index_type == type_int32) static_cast<std::int32_t*>(indices->data)[i] = at[i];
        if (index_type == type_int64) static_cast<std::int64_t*>(indices->data)[i] = at[i];
      }
      const double step = type == type_float32 ? 0 : type == type_float16 ? 5e-4 : type == type_bfloat16 ? 4e-3 : 5e-3;
      all.check(std::string("SET_ROWS ") + type_name(type), room,
                all.runtime.call<Tensor*>("ggml_set_rows", room.context(), cache, from, indices),
                [&](auto i, auto j, auto, auto) {
                  for (int n = 0; n < 3; ++n) {
                    if (at[n] == j) return Number{x(i, n), step};
                  }
                  return Number{before(i, j), 0};
                });
    }
  }
  for (const int from_type : {type_float32, type_float16, type_bfloat16}) {
    for (const int to_type : {type_float32, type_float16, type_bfloat16}) {
      Room room(all.runtime);
      Tensor *const from = room.random(from_type, {40, 6, 3}), *const to = room.empty(to_type, {40, 6, 3});
      const Values x(room, *from);
      const double step = to_type == type_float32 ? 0 : to_type == type_float16 ? 5e-4 : 4e-3;
      all.check(std::string("CPY ") + type_name(from_type) + " to " + type_name(to_type), room,
                all.runtime.call<Tensor*>("ggml_cpy", room.context(), from, to), [&](auto i, auto j, auto k, auto l) {
                  return Number{x(i, j, k, l), from_type == to_type ? 0 : step};
                });
    }
    // Of a transposed view; and to other extents.
    Room room(all.runtime);
    Tensor* const from = room.random(from_type, {17, 6, 3});
    const Values x(room, *from);
    Tensor* const turned = all.runtime.call<Tensor*>("ggml_permute", room.context(), from, 1, 0, 2, 3);
    all.check(std::string("CONT ") + type_name(from_type), room, all.runtime.call<Tensor*>("ggml_cont", room.context(), turned),
              [&](auto i, auto j, auto k, auto l) {
                return Number{x(j, i, k, l), 0};
              });
    Tensor* const flat = room.empty(type_float32, {17 * 18});
    all.check(std::string("CPY ") + type_name(from_type) + " to one row", room,
              all.runtime.call<Tensor*>("ggml_cpy", room.context(), turned, flat), [&](auto i, auto, auto, auto) {
                return Number{x(i / 6 % 17, i % 6, i / 102), 0};
              });
  }
}

// Nodes in forms that are not taken, among them such as no runtime makes.
void refused(Forms& all) {
  Room room(all.runtime);
  all.refuse("no node", nullptr);
  Tensor *const weights = room.random(type_float32, {32, 4}), *const input = room.random(type_float32, {32, 3});
  const auto with = [&](const char* what, const auto& change) {
    Tensor* const node = all.runtime.call<Tensor*>("ggml_mul_mat", room.context(), weights, input);
    Tensor w = *weights, x = *input;
    node->sources[0] = &w, node->sources[1] = &x;
    change(*node, w, x);
    all.refuse(what, node);
  };
  with("without weights", [](Tensor& node, Tensor&, Tensor&) { node.sources[0] = nullptr; });
  with("without an input", [](Tensor& node, Tensor&, Tensor&) { node.sources[1] = nullptr; });
  with("an operation that is none", [](Tensor& node, Tensor&, Tensor&) { node.operation = -1; });
  with("an operation of a later version", [](Tensor& node, Tensor&, Tensor&) { node.operation = 1 << 20; });
  with("weights of Q5_0", [](Tensor&, Tensor& w, Tensor&) { w.type = 6; });
  with("a type that is none", [](Tensor&, Tensor& w, Tensor&) { w.type = 12345; });
  with("an input of float16", [](Tensor&, Tensor&, Tensor& x) { x.type = type_float16; });
  with("other inputs", [](Tensor&, Tensor& w, Tensor&) { w.extents[0] = 31; });
  with("a negative extent", [](Tensor&, Tensor& w, Tensor&) { w.extents[1] = -4; });
  with("extents that overflow",
       [](Tensor& node, Tensor& w, Tensor&) { w.extents[1] = node.extents[0] = std::int64_t(1) << 40; });
  with("a stride of half a number", [](Tensor&, Tensor&, Tensor& x) { x.strides[1] = 130; });
  with("rows that are not side by side", [](Tensor&, Tensor& w, Tensor&) { w.strides[0] = 8; });
  with("an output of other extents", [](Tensor& node, Tensor&, Tensor&) { node.extents[1] = 2; });

  Tensor *const q = room.random(type_float32, {32, 3, 2}), *const k = room.random(type_float16, {32, 5, 2});
  const auto attend = [&](const char* what, const auto& change) {
    Tensor* const mask = room.random(type_float16, {5, 3});
    Tensor* const node = all.runtime.call<Tensor*>("ggml_flash_attn_ext", room.context(), q, k, k, mask, 1.0f, 0.0f, 0.0f);
    change(*node, *mask);
    all.refuse(what, node);
  };
  attend("a scale that is none", [](Tensor& node, Tensor&) { node.parameters[0] = 0x7fc00000; });
  attend("a mask of float32", [](Tensor&, Tensor& mask) { mask.type = type_float32; });
  attend("a mask of fewer cells", [](Tensor&, Tensor& mask) { mask.extents[0] = 4; });
  attend("a parameter of a later version", [](Tensor& node, Tensor&) { node.parameters[9] = 1; });
  attend("without values", [](Tensor& node, Tensor&) { node.sources[2] = nullptr; });
  attend("a negative cap", [](Tensor& node, Tensor&) { node.parameters[2] = int(0xc0000000u); });

  // Computed all the same, or without memory: an error, and nothing else.
  Tensor* const node = all.runtime.call<Tensor*>("ggml_mul_mat", room.context(), weights, input);
  Graph* const graph = all.runtime.call<Graph*>("ggml_new_graph", room.context());
  all.runtime.call<void>("ggml_build_forward_expand", graph, node);
  const auto fails = [&](const char* what) {
    ++all.count;
    if (all.runtime.call<int>("ggml_backend_graph_compute", all.runtime.backend(), graph) == 0)
      all.complain(what, "is computed");
  };
  void* const data = node->data;
  node->data = nullptr;
  fails("a node without memory");
  node->data = data;
  void* const of_input = input->data;
  input->data = nullptr;
  fails("an input without memory");
  input->data = of_input;
  node->operation = 31;  // OUT_PROD
  fails("a node that is not taken");
}

}  // namespace forms
