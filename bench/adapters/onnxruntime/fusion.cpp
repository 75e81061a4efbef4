#include "fusion.h"

#include "patterns.h"

namespace attend_adapter::onnx {

std::vector<Fused> find_fused(const Graph& graph) {
  const Pattern find(graph);
  std::vector<Fused> found;
  std::vector<bool> taken(graph.nodes().size(), false);
  for (const auto pattern : {&Pattern::attention, &Pattern::dynamic_products, &Pattern::projection, &Pattern::sum_norm}) {
    for (int node = 0; node < int(taken.size()); ++node) {
      Fused fused;
      if (taken[std::size_t(node)] || !(find.*pattern)(node, fused)) continue;
      bool free = true;
      for (const int each : fused.nodes)
        free = free && !taken[std::size_t(each)] && graph.nodes()[std::size_t(each)].unread().empty();
      if (!free) continue;
      for (const int each : fused.nodes) taken[std::size_t(each)] = true;
      found.push_back(std::move(fused));
    }
  }
  return found;
}

}  // namespace attend_adapter::onnx
