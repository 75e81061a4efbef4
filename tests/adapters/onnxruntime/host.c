// ONNX Runtime in a small program, for processors on which there is no Python: host LIBRARY PLUGIN|none JOBS
//
// JOBS is a file of lines:
//   model FILE THREADS        the session that follows runs this model on so many threads
//   input NAME FILE           a tensor of the next run: FILE begins with a line "TYPE RANK EXTENT…", TYPE being ONNX's number, and has its bytes
//   run OUTPUT [TIMES]        writes OUTPUT.0, OUTPUT.1, … in the same form; prints microseconds of each of TIMES runs
// For each run a line: "ok OUTPUT computed-by-the-plugin computed-by-others microseconds…", or "error OUTPUT sentence".
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The interface is a table of functions, OrtApi of version 24, of which those by these places are used. Objects are opaque.
enum Place {
  GetErrorMessage = 2, CreateEnv = 3, CreateSession = 7, Run = 9, CreateSessionOptions = 10, SetSessionLogSeverityLevel = 22,
  SetIntraOpNumThreads = 24, SessionGetOutputCount = 31, SessionGetOutputName = 37, CreateTensorWithDataAsOrtValue = 49, GetTensorMutableData = 51,
  GetTensorElementType = 60, GetDimensionsCount = 61, GetDimensions = 62, GetTensorTypeAndShape = 65, CreateCpuMemoryInfo = 69,
  GetAllocatorWithDefaultOptions = 78, ReleaseStatus = 93, ReleaseSession = 95, ReleaseValue = 96, ReleaseTensorTypeAndShapeInfo = 99,
  ReleaseSessionOptions = 100, AddSessionConfigEntry = 130, RegisterExecutionProviderLibrary = 301, GetEpDevices = 303,
  SessionOptionsAppendExecutionProvider_V2 = 304, EpDevice_EpName = 312, Session_GetEpGraphAssignmentInfo = 407, EpAssignedSubgraph_GetEpName = 408,
  EpAssignedSubgraph_GetNodes = 409
};
enum { api_version = 24, most_tensors = 64, longest = 512 };
typedef void (*Function)(void);
typedef struct {
  const void* (*get_api)(uint32_t version);
  const char* (*version)(void);
} Base;

static const Function* api;
static void *environment, *memory, *allocator, *session;
static const char provider[] = "AttendExecutionProvider";
static const void* device;  // of the plugin, null without one
static char sentence[2048];

// Calls a function that answers a status: 0, or -1 with its sentence.
#define CALL(place, types, ...) answered(((void* (*)types)api[place])(__VA_ARGS__))
static int answered(void* status) {
  if (status == NULL) return 0;
  snprintf(sentence, sizeof sentence, "%s", ((const char* (*)(const void*))api[GetErrorMessage])(status));
  for (char* c = sentence; *c; ++c) {
    if (*c == '\n') *c = ' ';
  }
  ((void (*)(void*))api[ReleaseStatus])(status);
  return -1;
}
static void release(enum Place place, void* value) {
  if (value != NULL) ((void (*)(void*))api[place])(value);
}

static int open_runtime(const char* library, const char* plugin) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return snprintf(sentence, sizeof sentence, "%s", dlerror()), -1;
  const Base* (*base)(void) = NULL;
  *(void**)&base = dlsym(handle, "OrtGetApiBase");
  if (base == NULL || (api = base()->get_api(api_version)) == NULL) return snprintf(sentence, sizeof sentence, "no interface of version 24"), -1;
  if (CALL(CreateEnv, (int, const char*, void**), 4, "host", &environment)) return -1;
  if (CALL(CreateCpuMemoryInfo, (int, int, void**), 0, 0, &memory)) return -1;
  if (CALL(GetAllocatorWithDefaultOptions, (void**), &allocator)) return -1;
  if (strcmp(plugin, "none") == 0) return 0;
  if (CALL(RegisterExecutionProviderLibrary, (void*, const char*, const char*), environment, "attend", plugin)) return -1;
  const void* const* devices = NULL;
  size_t count = 0;
  if (CALL(GetEpDevices, (void*, const void* const**, size_t*), environment, &devices, &count)) return -1;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(((const char* (*)(const void*))api[EpDevice_EpName])(devices[i]), provider) == 0) device = devices[i];
  }
  return device != NULL ? 0 : (snprintf(sentence, sizeof sentence, "the plugin offers no provider of that name"), -1);
}

static int open_model(const char* file, int threads) {
  release(ReleaseSession, session);
  session = NULL;
  void* options = NULL;
  if (CALL(CreateSessionOptions, (void**), &options)) return -1;
  int failed = CALL(SetSessionLogSeverityLevel, (void*, int), options, 4) || CALL(SetIntraOpNumThreads, (void*, int), options, threads) ||
               CALL(AddSessionConfigEntry, (void*, const char*, const char*), options, "session.record_ep_graph_assignment_info", "1") ||
               CALL(AddSessionConfigEntry, (void*, const char*, const char*), options, "session.intra_op.allow_spinning", "0");
  if (!failed && device != NULL) {
    failed = CALL(SessionOptionsAppendExecutionProvider_V2, (void*, void*, const void* const*, size_t, const char* const*, const char* const*, size_t),
                  options, environment, &device, (size_t)1, NULL, NULL, (size_t)0);
  }
  failed = failed || CALL(CreateSession, (void*, const char*, void*, void**), environment, file, options, &session);
  release(ReleaseSessionOptions, options);
  return failed ? -1 : 0;
}

// Nodes that the plugin computes, and others.
static int count_nodes(size_t* ours, size_t* others) {
  const void* const* parts = NULL;
  size_t count = 0;
  *ours = *others = 0;
  if (CALL(Session_GetEpGraphAssignmentInfo, (void*, const void* const**, size_t*), session, &parts, &count)) return -1;
  for (size_t i = 0; i < count; ++i) {
    const char* name = NULL;
    const void* const* nodes = NULL;
    size_t number = 0;
    if (CALL(EpAssignedSubgraph_GetEpName, (const void*, const char**), parts[i], &name)) return -1;
    if (CALL(EpAssignedSubgraph_GetNodes, (const void*, const void* const**, size_t*), parts[i], &nodes, &number)) return -1;
    *(strcmp(name, provider) == 0 ? ours : others) += number;
  }
  return 0;
}

typedef struct {
  char name[longest];
  void *value, *bytes;
} Input;

static int read_input(const char* file, Input* input) {
  int64_t extents[16];
  int kind = 0, rank = 0;
  FILE* const in = fopen(file, "rb");
  if (in == NULL) return snprintf(sentence, sizeof sentence, "%s cannot be read", file), -1;
  int right = fscanf(in, "%d %d", &kind, &rank) == 2 && rank >= 0 && rank <= 16;
  for (int i = 0; right && i < rank; ++i) right = fscanf(in, "%" SCNd64, &extents[i]) == 1;
  right = right && fgetc(in) == '\n';
  const long begin = ftell(in);
  fseek(in, 0, SEEK_END);
  const size_t size = (size_t)(ftell(in) - begin);
  fseek(in, begin, SEEK_SET);
  input->bytes = malloc(size + 1);
  right = right && input->bytes != NULL && fread(input->bytes, 1, size, in) == size;
  fclose(in);
  if (!right) return snprintf(sentence, sizeof sentence, "%s is damaged", file), -1;
  return CALL(CreateTensorWithDataAsOrtValue, (void*, void*, size_t, const int64_t*, size_t, int, void**), memory, input->bytes, size, extents,
              (size_t)rank, kind, &input->value);
}

// Bytes of a number of each of ONNX's types.
static size_t size_of(int kind) {
  static const size_t sizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8};
  return kind >= 0 && (size_t)kind < sizeof sizes / sizeof *sizes ? sizes[kind] : 0;
}

static int write_output(void* value, const char* file) {
  void *info = NULL, *data = NULL;
  int kind = 0;
  size_t rank = 0, count = 1;
  int64_t extents[16];
  int failed = CALL(GetTensorTypeAndShape, (void*, void**), value, &info) || CALL(GetTensorElementType, (void*, int*), info, &kind) ||
               CALL(GetDimensionsCount, (void*, size_t*), info, &rank) || rank > 16 || CALL(GetDimensions, (void*, int64_t*, size_t), info, extents, rank) ||
               CALL(GetTensorMutableData, (void*, void**), value, &data);
  release(ReleaseTensorTypeAndShapeInfo, info);
  FILE* const out = failed ? NULL : fopen(file, "wb");
  if (out == NULL) return -1;
  fprintf(out, "%d %zu", kind, rank);
  for (size_t i = 0; i < rank; ++i) {
    fprintf(out, " %" PRId64, extents[i]);
    count *= (size_t)extents[i];
  }
  fputc('\n', out);
  fwrite(data, size_of(kind), count, out);
  return fclose(out);
}

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int run(const char* output, int times, Input* inputs, size_t count) {
  size_t outputs = 0, ours = 0, others = 0;
  const char *names[most_tensors], *results[most_tensors];
  void *fed[most_tensors], *values[most_tensors] = {NULL};
  char file[longest + 16], taken[4096] = "";
  if (CALL(SessionGetOutputCount, (void*, size_t*), session, &outputs) || outputs > most_tensors || count_nodes(&ours, &others)) return -1;
  for (size_t i = 0; i < outputs; ++i) {
    if (CALL(SessionGetOutputName, (void*, size_t, void*, const char**), session, i, allocator, &results[i])) return -1;
  }
  for (size_t i = 0; i < count; ++i) names[i] = inputs[i].name, fed[i] = inputs[i].value;
  for (int t = 0; t < times; ++t) {
    for (size_t i = 0; i < outputs; ++i) release(ReleaseValue, values[i]), values[i] = NULL;
    const double begin = microseconds();
    if (CALL(Run, (void*, void*, const char* const*, void* const*, size_t, const char* const*, size_t, void**), session, NULL, names, fed, count, results,
             outputs, values)) {
      return -1;
    }
    const size_t used = strlen(taken);
    if (used + 32 < sizeof taken) snprintf(taken + used, sizeof taken - used, " %.0f", microseconds() - begin);
  }
  for (size_t i = 0; i < outputs; ++i) {
    snprintf(file, sizeof file, "%s.%zu", output, i);
    if (write_output(values[i], file)) return -1;
    release(ReleaseValue, values[i]);
  }
  printf("ok %s %zu %zu%s\n", output, ours, others, taken);
  return 0;
}

int main(int argc, char** argv) {
  static Input inputs[most_tensors];
  static char line[4 * longest], first[longest], second[longest];
  size_t count = 0;
  int usable = 0, number = 0;
  if (argc != 4) return fprintf(stderr, "usage: host LIBRARY PLUGIN|none JOBS\n"), 2;
  FILE* const jobs = fopen(argv[3], "r");
  if (jobs == NULL || open_runtime(argv[1], argv[2])) return fprintf(stderr, "host: %s\n", jobs == NULL ? argv[3] : sentence), 1;
  while (fgets(line, sizeof line, jobs) != NULL) {
    if (sscanf(line, "model %511s %d", first, &number) == 2) {
      usable = open_model(first, number) == 0;
    } else if (sscanf(line, "input %511s %511s", first, second) == 2 && count < most_tensors) {
      snprintf(inputs[count].name, sizeof inputs[count].name, "%s", first);
      if (read_input(second, &inputs[count])) usable = 0;
      ++count;
    } else if (sscanf(line, "run %511s", first) == 1) {
      if (sscanf(line, "run %*s %d", &number) != 1) number = 1;
      if (!usable || run(first, number, inputs, count)) printf("error %s %s\n", first, sentence);
      for (size_t i = 0; i < count; ++i) release(ReleaseValue, inputs[i].value), free(inputs[i].bytes), inputs[i].value = inputs[i].bytes = NULL;
      count = 0;
      fflush(stdout);
    }
  }
  return 0;
}
