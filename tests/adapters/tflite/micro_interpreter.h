// An interpreter of one operator, with the arena of TFLite Micro: persistent buffers from its end, scratch buffers and the
// tensors that nobody gave memory from its beginning.
#pragma once

#include <cstdarg>
#include <cstring>

#include "micro_shim.h"

namespace attend_test {

struct Step {
  float scale;
  int zero;
};

class MicroInterpreter final : public tflite::MicroContext {
 public:
  static constexpr int most = 6;

  MicroInterpreter(void* arena, std::size_t size, void (*say)(const char* text))
      : arena_(static_cast<char*>(arena)), size_(size), say_(say) {
    context_.impl_ = static_cast<tflite::MicroContext*>(this);
    context_.ReportError = report;
  }

  // Returns the tensor's number. data is null of what the interpreter is to give memory; rank is at most 4.
  int tensor(TfLiteType type, int rank, const int* dims, void* data = nullptr, const Step* step = nullptr) {
    Tensor& it = tensors_[count_];
    it.dims.size = rank;
    it.full.bytes = type == kTfLiteFloat32 || type == kTfLiteInt32 ? 4 : type == kTfLiteInt64 ? 8 : 1;
    for (int axis = 0; axis < rank && axis < 4; ++axis) {
      it.dims.data[axis] = dims[axis];
      it.full.bytes *= std::size_t(dims[axis]);
    }
    it.full.type = it.eval.type = type;
    it.full.dims = it.eval.dims = &it.dims;
    it.full.data.data = it.eval.data.data = data;
    if (step != nullptr) {
      it.scale = {1, {step->scale}};
      it.zero = {1, {step->zero}};
      it.affine = {&it.scale, &it.zero, 0};
      it.full.quantization = {kTfLiteAffineQuantization, &it.affine};
    }
    return count_++;
  }
  void input(int number) { inputs_.data[inputs_.size++] = number; }
  void output(int number) { outputs_.data[outputs_.size++] = number; }

  // Makes and prepares the node, and lays out the arena. False where something is refused.
  bool prepare(const TFLMRegistration* registration, const void* options, std::size_t bytes) {
    registration_ = registration;
    node_ = {&inputs_, &outputs_, nullptr};
    node_.user_data = registration->init(&context_, static_cast<const char*>(options), bytes);
    if (registration->prepare(&context_, &node_) != kTfLiteOk) return false;
    if (lent_ != 0) say_("tensors were not given back ");
    for (int i = 0; i < count_; ++i) {
      Tensor& it = tensors_[i];
      if (it.eval.data.data == nullptr && it.full.bytes > 0) it.eval.data.data = from_beginning(it.full.bytes);
    }
    for (int i = 0; i < scratch_count_; ++i) scratch_[i].at = from_beginning(scratch_[i].bytes);
    return lent_ == 0 && persistent_ + beginning_ <= size_;
  }
  bool invoke() { return registration_->invoke(&context_, &node_) == kTfLiteOk; }
  void reset() {
    if (registration_->reset != nullptr) registration_->reset(&context_, node_.user_data);
  }
  void* data(int number) { return tensors_[number].eval.data.data; }
  std::size_t tensor_bytes(int number) const { return tensors_[number].full.bytes; }

  std::size_t persistent_bytes() const { return persistent_; }
  std::size_t scratch_bytes() const {
    std::size_t sum = 0;
    for (int i = 0; i < scratch_count_; ++i) sum += rounded(scratch_[i].bytes);
    return sum;
  }

  void* AllocatePersistentBuffer(std::size_t bytes) override {
    if (bytes > size_ || persistent_ + rounded(bytes) > size_ - beginning_) return nullptr;
    persistent_ += rounded(bytes);
    char* const at = arena_ + (size_ - persistent_) / 16 * 16;
    return std::memset(at, 0xa5, bytes);
  }
  TfLiteStatus RequestScratchBufferInArena(std::size_t bytes, int* number) override {
    if (scratch_count_ == most) return kTfLiteError;
    *number = scratch_count_;
    scratch_[scratch_count_++].bytes = bytes;
    return kTfLiteOk;
  }
  void* GetScratchBuffer(int number) override { return scratch_[number].at; }
  TfLiteTensor* AllocateTempInputTensor(const TfLiteNode* node, int index) override { return lend(*node->inputs, index); }
  TfLiteTensor* AllocateTempOutputTensor(const TfLiteNode* node, int index) override { return lend(*node->outputs, index); }
  void DeallocateTempTfLiteTensor(TfLiteTensor*) override { --lent_; }
  TfLiteEvalTensor* GetEvalTensor(int number) override { return &tensors_[number].eval; }

 private:
  struct Tensor {
    TfLiteIntArray dims, zero;
    TfLiteFloatArray scale;
    TfLiteAffineQuantization affine;
    TfLiteTensor full;
    TfLiteEvalTensor eval;
  };
  struct Scratch {
    std::size_t bytes;
    void* at;
  };

  // A format of %s alone.
  static void report(TfLiteContext* context, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const MicroInterpreter& self = *static_cast<const MicroInterpreter*>(static_cast<tflite::MicroContext*>(context->impl_));
    for (const char* at = format; *at != '\0'; ++at) {
      const char one[2] = {*at, '\0'};
      const bool text = at[0] == '%' && at[1] == 's';
      self.say_(text ? va_arg(arguments, const char*) : one);
      at += text;
    }
    va_end(arguments);
  }

  static std::size_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
  void* from_beginning(std::size_t bytes) {
    char* const at = arena_ + beginning_;
    beginning_ += rounded(bytes);
    return at;
  }
  TfLiteTensor* lend(const TfLiteIntArray& numbers, int index) {
    if (index >= numbers.size || numbers.data[index] < 0) return nullptr;
    ++lent_;
    return &tensors_[numbers.data[index]].full;
  }

  char* arena_;
  std::size_t size_;
  void (*say_)(const char* text);
  TfLiteContext context_{};
  TfLiteNode node_{};
  const TFLMRegistration* registration_ = nullptr;
  Tensor tensors_[most] = {};
  TfLiteIntArray inputs_{}, outputs_{};
  Scratch scratch_[most] = {};
  int count_ = 0, scratch_count_ = 0, lent_ = 0;
  std::size_t persistent_ = 0, beginning_ = 0;
};

}  // namespace attend_test
