// What this adapter calls of ONNX Runtime, declared from its documentation (onnxruntime_c_api.h and onnxruntime_ep_c_api.h,
// version 24 of the interface). callbacks.h has what ONNX Runtime calls of it.
//
// The runtime hands out tables of functions. Functions keep their places for ever, new ones follow behind, so each is declared
// here by its place in the table.
#pragma once

#include <cstddef>
#include <cstdint>

// Types of the runtime, of which only addresses are known here. They have the runtime's own names, as its errors and pages call
// them.
struct OrtStatus;
struct OrtLogger;
struct OrtValue;
struct OrtTypeInfo;
struct OrtTensorTypeAndShapeInfo;
struct OrtKernelInfo;
struct OrtKernelContext;
struct OrtSessionOptions;
struct OrtCustomOpDomain;
struct OrtAllocator;
struct OrtKeyValuePairs;
struct OrtGraph;
struct OrtNode;
struct OrtValueInfo;
struct OrtOpAttr;
struct OrtHardwareDevice;
struct OrtEpDevice;
struct OrtEpGraphSupportInfo;
struct OrtKernelRegistry;
struct OrtKernelDefBuilder;
struct OrtKernelDef;
struct OrtDataType;
struct OrtSharedPrePackedWeightCache;
struct OrtCustomOp;
struct OrtNodeComputeContext;
struct OrtNodeComputeInfo;
struct OrtNodeFusionOptions;
struct OrtEp;
struct OrtEpFactory;
struct OrtKernelImpl;

struct OrtApiBase {
  const void* const* (*GetApi)(uint32_t version);  // null where the runtime is older
  const char* (*GetVersionString)();
};

namespace attend_adapter::onnx {

// Versions of the interface: kernels of a provider came with 24, threads for kernels with 17.
inline constexpr uint32_t provider_version = 24, custom_version = 17;

enum Code : int { fail = 1, invalid_argument = 2, not_implemented = 9 };

// Types of tensor elements.
enum Type : int {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  int32 = 6,
  int64 = 7,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  bfloat16 = 16
};

// The tables of the runtime that has loaded the adapter: a process has one runtime.
inline const void* const* api = nullptr;
inline const void* const* provider_api = nullptr;

template <const void* const*& table, std::size_t place, class Signature>
struct Entry;
template <const void* const*& table, std::size_t place, class Result, class... Arguments>
struct Entry<table, place, Result(Arguments...)> {
  Result operator()(Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(const_cast<void*>(table[place]))(arguments...);
  }
};
template <std::size_t place, class Signature>
using ApiEntry = Entry<api, place, Signature>;
template <std::size_t place, class Signature>
using ProviderEntry = Entry<provider_api, place, Signature>;

// A status that is null says that all went well.
inline constexpr ApiEntry<0, OrtStatus*(int code, const char* message)> CreateStatus;
inline constexpr ApiEntry<93, void(OrtStatus*)> ReleaseStatus;

inline constexpr ApiEntry<26, OrtStatus*(const char* domain, OrtCustomOpDomain**)> CreateCustomOpDomain;
inline constexpr ApiEntry<27, OrtStatus*(OrtCustomOpDomain*, const OrtCustomOp*)> CustomOpDomain_Add;
inline constexpr ApiEntry<28, OrtStatus*(OrtSessionOptions*, OrtCustomOpDomain*)> AddCustomOpDomain;
inline constexpr ApiEntry<101, void(OrtCustomOpDomain*)> ReleaseCustomOpDomain;

inline constexpr ApiEntry<50, OrtStatus*(const OrtValue*, int* is)> IsTensor;
inline constexpr ApiEntry<51, OrtStatus*(OrtValue*, void** data)> GetTensorMutableData;
inline constexpr ApiEntry<60, OrtStatus*(const OrtTensorTypeAndShapeInfo*, int* type)> GetTensorElementType;
inline constexpr ApiEntry<61, OrtStatus*(const OrtTensorTypeAndShapeInfo*, std::size_t* rank)> GetDimensionsCount;
inline constexpr ApiEntry<62, OrtStatus*(const OrtTensorTypeAndShapeInfo*, int64_t* extents, std::size_t rank)> GetDimensions;
inline constexpr ApiEntry<65, OrtStatus*(const OrtValue*, OrtTensorTypeAndShapeInfo**)> GetTensorTypeAndShape;
inline constexpr ApiEntry<99, void(OrtTensorTypeAndShapeInfo*)> ReleaseTensorTypeAndShapeInfo;
inline constexpr ApiEntry<96, void(OrtValue*)> ReleaseValue;

inline constexpr ApiEntry<85, OrtStatus*(const OrtKernelInfo*, const char* name, float*)> KernelInfoGetAttribute_float;
inline constexpr ApiEntry<86, OrtStatus*(const OrtKernelInfo*, const char* name, int64_t*)> KernelInfoGetAttribute_int64;
inline constexpr ApiEntry<87, OrtStatus*(const OrtKernelInfo*, const char* name, char* text, std::size_t* size)>
    KernelInfoGetAttribute_string;
inline constexpr ApiEntry<162, OrtStatus*(const OrtKernelInfo*, const char* name, float*, std::size_t* count)>
    KernelInfoGetAttributeArray_float;
inline constexpr ApiEntry<163, OrtStatus*(const OrtKernelInfo*, const char* name, int64_t*, std::size_t* count)>
    KernelInfoGetAttributeArray_int64;
inline constexpr ApiEntry<230, OrtStatus*(const OrtKernelInfo*, std::size_t*)> KernelInfo_GetInputCount;
inline constexpr ApiEntry<231, OrtStatus*(const OrtKernelInfo*, std::size_t*)> KernelInfo_GetOutputCount;
inline constexpr ApiEntry<249, OrtStatus*(const OrtKernelInfo*, std::size_t input, int* is_constant, const OrtValue**)>
    KernelInfoGetConstantInput_tensor;

inline constexpr ApiEntry<88, OrtStatus*(const OrtKernelContext*, std::size_t*)> KernelContext_GetInputCount;
inline constexpr ApiEntry<89, OrtStatus*(const OrtKernelContext*, std::size_t*)> KernelContext_GetOutputCount;
inline constexpr ApiEntry<90, OrtStatus*(const OrtKernelContext*, std::size_t input, const OrtValue**)> KernelContext_GetInput;
inline constexpr ApiEntry<91, OrtStatus*(OrtKernelContext*, std::size_t output, const int64_t* extents, std::size_t rank,
                                         OrtValue**)>
    KernelContext_GetOutput;
// Calls work(context, i) for 0 <= i < total, divided into so many batches; 0: as many as there are threads.
inline constexpr ApiEntry<274, OrtStatus*(const OrtKernelContext*, void (*work)(void*, std::size_t), std::size_t total,
                                          std::size_t batches, void* context)>
    KernelContext_ParallelFor;

inline constexpr ApiEntry<55, OrtStatus*(const OrtTypeInfo*, const OrtTensorTypeAndShapeInfo**)> CastTypeInfoToTensorInfo;
inline constexpr ApiEntry<289, OrtStatus*(const OrtValueInfo*, const char**)> GetValueInfoName;
inline constexpr ApiEntry<290, OrtStatus*(const OrtValueInfo*, const OrtTypeInfo**)> GetValueInfoTypeInfo;
inline constexpr ApiEntry<307, int(const OrtHardwareDevice*)> HardwareDevice_Type;  // 0: a processor
inline constexpr ApiEntry<317, const void* const*()> GetEpApi;
inline constexpr ApiEntry<326, OrtStatus*(const OrtValueInfo*, const OrtValue**)> ValueInfo_GetInitializerValue;
inline constexpr ApiEntry<330, OrtStatus*(const OrtValueInfo*, bool*)> ValueInfo_IsGraphOutput;
inline constexpr ApiEntry<331, OrtStatus*(const OrtValueInfo*, bool*)> ValueInfo_IsConstantInitializer;
inline constexpr ApiEntry<344, OrtStatus*(const OrtGraph*, std::size_t*)> Graph_GetNumNodes;
inline constexpr ApiEntry<345, OrtStatus*(const OrtGraph*, const OrtNode**, std::size_t)> Graph_GetNodes;
inline constexpr ApiEntry<350, OrtStatus*(const OrtNode*, const char**)> Node_GetOperatorType;
inline constexpr ApiEntry<351, OrtStatus*(const OrtNode*, const char**)> Node_GetDomain;
inline constexpr ApiEntry<352, OrtStatus*(const OrtNode*, int*)> Node_GetSinceVersion;
inline constexpr ApiEntry<353, OrtStatus*(const OrtNode*, std::size_t*)> Node_GetNumInputs;
inline constexpr ApiEntry<354, OrtStatus*(const OrtNode*, const OrtValueInfo**, std::size_t)>
    Node_GetInputs;  // null: an input that is left out
inline constexpr ApiEntry<355, OrtStatus*(const OrtNode*, std::size_t*)> Node_GetNumOutputs;
inline constexpr ApiEntry<356, OrtStatus*(const OrtNode*, const OrtValueInfo**, std::size_t)> Node_GetOutputs;
inline constexpr ApiEntry<357, OrtStatus*(const OrtNode*, std::size_t*)> Node_GetNumImplicitInputs;  // of its subgraphs
inline constexpr ApiEntry<358, OrtStatus*(const OrtNode*, const OrtValueInfo**, std::size_t)> Node_GetImplicitInputs;
inline constexpr ApiEntry<359, OrtStatus*(const OrtNode*, std::size_t*)> Node_GetNumAttributes;
inline constexpr ApiEntry<360, OrtStatus*(const OrtNode*, const OrtOpAttr**, std::size_t)> Node_GetAttributes;
inline constexpr ApiEntry<361, OrtStatus*(const OrtNode*, const char* name, const OrtOpAttr**)> Node_GetAttributeByName;
inline constexpr ApiEntry<364, OrtStatus*(const OrtOpAttr*, const char**)> OpAttr_GetName;
inline constexpr ApiEntry<272, OrtStatus*(const OrtOpAttr*, int type, void* data, std::size_t size, std::size_t* used)>
    ReadOpAttr;

inline constexpr ProviderEntry<0, OrtStatus*(OrtEpFactory*, const OrtHardwareDevice*, const OrtKeyValuePairs*,
                                             const OrtKeyValuePairs*, OrtEpDevice**)>
    CreateEpDevice;
inline constexpr ProviderEntry<2, OrtStatus*(OrtEpGraphSupportInfo*, const OrtNode* const*, std::size_t,
                                             const OrtNodeFusionOptions*)>
    EpGraphSupportInfo_AddNodesToFuse;
inline constexpr ProviderEntry<3, OrtStatus*(OrtEpGraphSupportInfo*, const OrtNode*)> EpGraphSupportInfo_AddSingleNode;
inline constexpr ProviderEntry<18, OrtStatus*(OrtKernelRegistry**)> CreateKernelRegistry;
inline constexpr ProviderEntry<19, void(OrtKernelRegistry*)> ReleaseKernelRegistry;
using CreateKernel = OrtStatus*(void* state, const OrtKernelInfo*, OrtKernelImpl**);
inline constexpr ProviderEntry<20, OrtStatus*(OrtKernelRegistry*, const OrtKernelDef*, CreateKernel*, void* state)>
    KernelRegistry_AddKernel;
inline constexpr ProviderEntry<21, OrtStatus*(OrtKernelDefBuilder**)> CreateKernelDefBuilder;
inline constexpr ProviderEntry<22, void(OrtKernelDefBuilder*)> ReleaseKernelDefBuilder;
inline constexpr ProviderEntry<23, OrtStatus*(OrtKernelDefBuilder*, const char*)> KernelDefBuilder_SetOperatorType;
inline constexpr ProviderEntry<24, OrtStatus*(OrtKernelDefBuilder*, const char*)> KernelDefBuilder_SetDomain;
inline constexpr ProviderEntry<25, OrtStatus*(OrtKernelDefBuilder*, int first, int last)> KernelDefBuilder_SetSinceVersion;
inline constexpr ProviderEntry<26, OrtStatus*(OrtKernelDefBuilder*, const char*)> KernelDefBuilder_SetExecutionProvider;
inline constexpr ProviderEntry<29, OrtStatus*(OrtKernelDefBuilder*, const char* name, const OrtDataType* const*, std::size_t)>
    KernelDefBuilder_AddTypeConstraint;
inline constexpr ProviderEntry<32, OrtStatus*(OrtKernelDefBuilder*, OrtKernelDef**)> KernelDefBuilder_Build;
inline constexpr ProviderEntry<33, void(OrtKernelDef*)> ReleaseKernelDef;
inline constexpr ProviderEntry<40, OrtStatus*(int type, const OrtDataType**)> GetTensorDataType;
inline constexpr ProviderEntry<41, OrtStatus*(OrtEpGraphSupportInfo*, const OrtNode*, const OrtKernelDef**)>
    EpGraphSupportInfo_LookUpKernel;  // null: none

}  // namespace attend_adapter::onnx
