// The nodes of a graph, and who makes and reads each tensor.
#pragma once

#include <tensorflow/lite/c/common.h>

#include <vector>

namespace attend_tflite {

class Graph {
 public:
  // False where the runtime does not tell.
  bool read(TfLiteContext* context);

  struct Node {
    TfLiteNode* node;
    TfLiteRegistration* registration;
  };
  TfLiteContext* context() const { return context_; }
  const std::vector<int>& plan() const { return plan_; }
  const Node& node(int index) const { return nodes_[std::size_t(index)]; }
  int maker(int tensor) const { return tensor < 0 ? -1 : makers_[std::size_t(tensor)]; }
  // The only node that reads a tensor, which reads it once; -1 where there are several, or none.
  int reader(int tensor) const {
    return tensor < 0 || readers_[std::size_t(tensor)].size() != 1 ? -1 : readers_[std::size_t(tensor)][0];
  }

 private:
  TfLiteContext* context_ = nullptr;
  std::vector<int> plan_;
  std::vector<Node> nodes_;
  std::vector<int> makers_;
  std::vector<std::vector<int>> readers_;
};

}  // namespace attend_tflite
