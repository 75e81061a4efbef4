// What example.c calls of ONNX Runtime's own header, which npm's package does not have: functions of OrtApi at their places, and opaque objects.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct OrtStatus OrtStatus;
typedef struct OrtEnv OrtEnv;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtEpDevice OrtEpDevice;
typedef struct OrtEpAssignedSubgraph OrtEpAssignedSubgraph;
typedef struct OrtEpAssignedNode OrtEpAssignedNode;
typedef enum { ORT_LOGGING_LEVEL_WARNING = 2 } OrtLoggingLevel;

typedef struct {
  void* before_2[2];
  const char* (*GetErrorMessage)(const OrtStatus*);
  OrtStatus* (*CreateEnv)(OrtLoggingLevel, const char*, OrtEnv**);
  void* before_7[3];
  OrtStatus* (*CreateSession)(const OrtEnv*, const char*, const OrtSessionOptions*, OrtSession**);
  void* before_10[2];
  OrtStatus* (*CreateSessionOptions)(OrtSessionOptions**);
  void* before_92[81];
  void (*ReleaseEnv)(OrtEnv*);
  void* before_95[2];
  void (*ReleaseSession)(OrtSession*);
  void* before_100[4];
  void (*ReleaseSessionOptions)(OrtSessionOptions*);
  void* before_130[29];
  OrtStatus* (*AddSessionConfigEntry)(OrtSessionOptions*, const char*, const char*);
  void* before_301[170];
  OrtStatus* (*RegisterExecutionProviderLibrary)(OrtEnv*, const char*, const char*);
  void* before_303[1];
  OrtStatus* (*GetEpDevices)(const OrtEnv*, const OrtEpDevice* const**, size_t*);
  OrtStatus* (*SessionOptionsAppendExecutionProvider_V2)(OrtSessionOptions*, OrtEnv*, const OrtEpDevice* const*, size_t, const char* const*, const char* const*, size_t);
  void* before_312[7];
  const char* (*EpDevice_EpName)(const OrtEpDevice*);
  void* before_407[94];
  OrtStatus* (*Session_GetEpGraphAssignmentInfo)(const OrtSession*, const OrtEpAssignedSubgraph* const**, size_t*);
  OrtStatus* (*EpAssignedSubgraph_GetEpName)(const OrtEpAssignedSubgraph*, const char**);
  OrtStatus* (*EpAssignedSubgraph_GetNodes)(const OrtEpAssignedSubgraph*, const OrtEpAssignedNode* const**, size_t*);
  void* before_412[2];
  OrtStatus* (*EpAssignedNode_GetOperatorType)(const OrtEpAssignedNode*, const char**);
} OrtApi;

typedef struct {
  const OrtApi* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)(void);
} OrtApiBase;
const OrtApiBase* OrtGetApiBase(void);
