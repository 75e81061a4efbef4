// What TFLite Micro's operators are compiled against, declared from its documentation: the part of its interface that the
// adapter uses. Its headers are where a firmware has them; the tests have these, under the same names (check.sh).
#pragma once

#include <cstddef>
#include <cstdint>

enum TfLiteStatus { kTfLiteOk = 0, kTfLiteError = 1 };

enum TfLiteType {
  kTfLiteNoType = 0,
  kTfLiteFloat32 = 1,
  kTfLiteInt32 = 2,
  kTfLiteUInt8 = 3,
  kTfLiteInt64 = 4,
  kTfLiteBool = 6,
  kTfLiteInt16 = 7,
  kTfLiteInt8 = 9
};

// Numbers behind their count.
struct TfLiteIntArray {
  int size;
  int data[4];  // as many as there are
};
struct TfLiteFloatArray {
  int size;
  float data[4];
};

enum TfLiteQuantizationType { kTfLiteNoQuantization = 0, kTfLiteAffineQuantization = 1 };
struct TfLiteAffineQuantization {
  TfLiteFloatArray* scale;
  TfLiteIntArray* zero_point;
  std::int32_t quantized_dimension;
};
struct TfLiteQuantization {
  TfLiteQuantizationType type;
  void* params;  // a TfLiteAffineQuantization
};

union TfLitePtrUnion {
  void* data;
  char* raw;
  std::int8_t* int8;
};

// A tensor while nodes are prepared, and what is left of it for calls.
struct TfLiteTensor {
  TfLiteQuantization quantization;
  TfLitePtrUnion data;
  TfLiteIntArray* dims;
  std::size_t bytes;
  TfLiteType type;
};
struct TfLiteEvalTensor {
  TfLitePtrUnion data;
  TfLiteIntArray* dims;
  TfLiteType type;
};

struct TfLiteNode {
  TfLiteIntArray* inputs;  // numbers of tensors; -1: none
  TfLiteIntArray* outputs;
  void* user_data;  // what init has returned
};

struct TfLiteContext {
  void* impl_;  // the MicroContext
  void (*ReportError)(TfLiteContext* context, const char* format, ...);
};

struct TFLMRegistration {
  void* (*init)(TfLiteContext* context, const char* buffer, std::size_t length);  // buffer: a custom operator's options
  void (*free)(TfLiteContext* context, void* buffer);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  void (*reset)(TfLiteContext* context, void* buffer);
  std::int32_t builtin_code;
  const char* custom_name;
};

namespace tflite {

class MicroContext {
 public:
  // Memory of the arena that lasts as long as the interpreter, while nodes are made and prepared. Null where there is not
  // enough.
  virtual void* AllocatePersistentBuffer(std::size_t bytes) = 0;
  // Memory of the arena during a call: asked for while a node is prepared, and had by its number in the call.
  virtual TfLiteStatus RequestScratchBufferInArena(std::size_t bytes, int* number) = 0;
  virtual void* GetScratchBuffer(int number) = 0;
  // A node's tensors while it is prepared, to be given back in the opposite order; null for those that it has not.
  virtual TfLiteTensor* AllocateTempInputTensor(const TfLiteNode* node, int index) = 0;
  virtual TfLiteTensor* AllocateTempOutputTensor(const TfLiteNode* node, int index) = 0;
  virtual void DeallocateTempTfLiteTensor(TfLiteTensor* tensor) = 0;
  virtual TfLiteEvalTensor* GetEvalTensor(int tensor) = 0;

 protected:
  ~MicroContext() = default;
};

inline MicroContext* GetMicroContext(const TfLiteContext* context) { return static_cast<MicroContext*>(context->impl_); }

}  // namespace tflite
