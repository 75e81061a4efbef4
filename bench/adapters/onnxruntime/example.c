/* A model with Attend in C: opens it, and says who computes which nodes. cc -I<ONNX Runtime>/include example.c -lonnxruntime */
/* begin */
#include <onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const OrtApi* ort;
static void check(OrtStatus* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
  exit(1);
}

int main(int count, char** words) { /* model.onnx /absolute/path/libattend_onnxruntime.so */
  if (count != 3 || (ort = OrtGetApiBase()->GetApi(24)) == NULL) return 2; /* 24 or later */
  OrtEnv* environment;
  OrtSessionOptions* options;
  OrtSession* session;
  const OrtEpDevice *const *devices, *attend = NULL;
  const OrtEpAssignedSubgraph* const* parts;
  const OrtEpAssignedNode* const* nodes;
  const char* text;
  size_t number, part, node;
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "example", &environment));
  check(ort->RegisterExecutionProviderLibrary(environment, "Attend", words[2]));
  check(ort->GetEpDevices(environment, &devices, &number));
  while (number-- > 0) {
    if (strcmp(ort->EpDevice_EpName(devices[number]), "AttendExecutionProvider") == 0) attend = devices[number];
  }
  check(ort->CreateSessionOptions(&options));
  check(ort->AddSessionConfigEntry(options, "session.record_ep_graph_assignment_info", "1"));
  check(ort->SessionOptionsAppendExecutionProvider_V2(options, environment, &attend, 1, NULL, NULL, 0));
  check(ort->CreateSession(environment, words[1], options, &session));
  /* The session runs as any other. Nodes of one line are computed as one. */
  check(ort->Session_GetEpGraphAssignmentInfo(session, &parts, &number));
  for (part = 0; part < number; ++part) {
    size_t size;
    check(ort->EpAssignedSubgraph_GetEpName(parts[part], &text));
    printf("%s:", text);
    check(ort->EpAssignedSubgraph_GetNodes(parts[part], &nodes, &size));
    for (node = 0; node < size; ++node) {
      check(ort->EpAssignedNode_GetOperatorType(nodes[node], &text));
      printf(" %s", text);
    }
    printf("\n");
  }
  ort->ReleaseSession(session);
  ort->ReleaseSessionOptions(options);
  ort->ReleaseEnv(environment);
  return 0;
}
/* end */
