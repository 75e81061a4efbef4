// What ONNX Runtime calls of this adapter: structs of functions, which the adapter fills in. They have the members of the
// versions in runtime.h. A member that is null is not there.
#pragma once

#include "runtime.h"

struct OrtKernelImpl {
  uint32_t version;
  uint32_t flags;  // 0
  OrtStatus* (*Compute)(OrtKernelImpl*, OrtKernelContext*);
  void (*Release)(OrtKernelImpl*);
  // A constant input. Once is_packed is set the runtime may free it, and Compute does not get it.
  OrtStatus* (*PrePackWeight)(OrtKernelImpl*, const OrtValue*, int input, OrtAllocator*, OrtSharedPrePackedWeightCache*,
                              bool* is_packed);
  OrtStatus* (*SetSharedPrePackedWeight)(OrtKernelImpl*, const void* const* buffers, const std::size_t* sizes,
                                         std::size_t count, int input);
};

struct OrtNodeFusionOptions {
  uint32_t version;
  bool drop_constant_initializers;  // the provider keeps what it needs of them
};

// A node that a provider has made of several.
struct OrtNodeComputeInfo {
  uint32_t version;
  OrtStatus* (*CreateState)(OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state);
  OrtStatus* (*Compute)(OrtNodeComputeInfo*, void* state, OrtKernelContext*);
  void (*ReleaseState)(OrtNodeComputeInfo*, void* state);
};

struct OrtEp {
  uint32_t version;
  const char* (*GetName)(const OrtEp*);
  OrtStatus* (*GetCapability)(OrtEp*, const OrtGraph*, OrtEpGraphSupportInfo*);
  OrtStatus* (*Compile)(OrtEp*, const OrtGraph** graphs, const OrtNode** nodes, std::size_t count, OrtNodeComputeInfo** made,
                        OrtNode** contexts);
  void (*ReleaseNodeComputeInfos)(OrtEp*, OrtNodeComputeInfo** made, std::size_t count);
  void* unused[8];  // layouts, dynamic options, begin and end of a run, memory, streams, compatibility
  OrtStatus* (*GetKernelRegistry)(OrtEp*, const OrtKernelRegistry**);
  OrtStatus* (*IsConcurrentRunSupported)(OrtEp*, bool*);
};

struct OrtEpFactory {
  uint32_t version;
  const char* (*GetName)(const OrtEpFactory*);
  const char* (*GetVendor)(const OrtEpFactory*);
  OrtStatus* (*GetSupportedDevices)(OrtEpFactory*, const OrtHardwareDevice* const*, std::size_t, OrtEpDevice**,
                                    std::size_t room, std::size_t* count);
  OrtStatus* (*CreateEp)(OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, std::size_t,
                         const OrtSessionOptions*, const OrtLogger*, OrtEp**);
  void (*ReleaseEp)(OrtEpFactory*, OrtEp*);
  uint32_t (*GetVendorId)(const OrtEpFactory*);
  const char* (*GetVersion)(const OrtEpFactory*);
  OrtStatus* (*ValidateCompiledModelCompatibilityInfo)(OrtEpFactory*, const OrtHardwareDevice* const*, std::size_t, const char*,
                                                       int* compatibility);
  OrtStatus* (*CreateAllocator)(OrtEpFactory*, const void* memory, const OrtKeyValuePairs*, OrtAllocator**);
  void (*ReleaseAllocator)(OrtEpFactory*, OrtAllocator*);
  OrtStatus* (*CreateDataTransfer)(OrtEpFactory*, void** transfer);
  bool (*IsStreamAware)(const OrtEpFactory*);
  void* unused[3];  // streams, details of devices, resources of others
  OrtStatus* (*GetNumCustomOpDomains)(OrtEpFactory*, std::size_t*);
  OrtStatus* (*GetCustomOpDomains)(OrtEpFactory*, OrtCustomOpDomain**, std::size_t);
};

struct OrtCustomOp {
  uint32_t version;
  void* CreateKernel;  // without a status; null, because CreateKernelV2 is there
  const char* (*GetName)(const OrtCustomOp*);
  const char* (*GetExecutionProviderType)(const OrtCustomOp*);
  int (*GetInputType)(const OrtCustomOp*, std::size_t);
  std::size_t (*GetInputTypeCount)(const OrtCustomOp*);
  int (*GetOutputType)(const OrtCustomOp*, std::size_t);
  std::size_t (*GetOutputTypeCount)(const OrtCustomOp*);
  void* KernelCompute;  // likewise
  void (*KernelDestroy)(void*);
  int (*GetInputCharacteristic)(const OrtCustomOp*, std::size_t);  // 0: required, 1: optional
  int (*GetOutputCharacteristic)(const OrtCustomOp*, std::size_t);
  int (*GetInputMemoryType)(const OrtCustomOp*, std::size_t);
  int (*variadic[4])(const OrtCustomOp*);
  OrtStatus* (*CreateKernelV2)(const OrtCustomOp*, const void* const* api, const OrtKernelInfo*, void** kernel);
  OrtStatus* (*KernelComputeV2)(void* kernel, OrtKernelContext*);
  OrtStatus* (*InferOutputShapeFn)(const OrtCustomOp*, void*);
  int (*GetStartVersion)(const OrtCustomOp*);
  int (*GetEndVersion)(const OrtCustomOp*);
};
