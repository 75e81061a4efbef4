// What is needed of ggml, the library of tensors under llama.cpp and whisper.cpp: how tensors and backends lie in memory, and
// its functions by their names, which are found in the process that loads the adapter. Declared from its documentation; nothing
// is included from it.
//
// Numbers of operations change from version to version. They are looked up by name (operations.h); the layout of structs is
// that of version 2 of its interface for backends, and is checked where the library says it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attend_ggml {

struct Buffer;
struct Graph;
struct Device;
struct Registry;
struct Event;

// Formats of numbers, by the values that files have.
enum Type : int {
  type_float32 = 0,
  type_float16 = 1,
  type_q4_0 = 2,
  type_q8_0 = 8,
  type_int32 = 26,
  type_int64 = 27,
  type_bfloat16 = 30
};

constexpr int largest_source_count = 10;

// Extents and strides count from the innermost axis; strides are bytes.
struct Tensor {
  int type;
  Buffer* buffer;  // null until there is memory
  std::int64_t extents[4];
  std::size_t strides[4];
  int operation;
  std::int32_t parameters[16];  // of the operation: whole numbers and the bits of floats
  std::int32_t flags;
  Tensor* sources[largest_source_count];
  Tensor* view_of;
  std::size_t view_offset;
  void* data;
  char name[64];
  void* extra;
  char padding[8];
};
constexpr std::int32_t flag_compute = 16;  // of nodes that are to be computed, where a graph has alternatives

// What a graph's computation returns.
enum Status : int { status_no_memory = -2, status_failed = -1, status_success = 0 };

// A kind of memory.
struct BufferType {
  const char* (*name)(BufferType*);
  Buffer* (*allocate)(BufferType*, std::size_t bytes);
  std::size_t (*alignment)(BufferType*);
  std::size_t (*largest)(BufferType*);  // may be null
  std::size_t (*bytes_of)(BufferType*, const Tensor*);
  bool (*is_host)(BufferType*);
  Device* device;
  void* context;
};

// What can be done with memory of a kind.
struct BufferFunctions {
  void (*release)(Buffer*);
  void* (*base)(Buffer*);
  int (*init_tensor)(Buffer*, Tensor*);
  void (*fill_tensor)(Buffer*, Tensor*, std::uint8_t value, std::size_t offset, std::size_t bytes);
  void (*set_tensor)(Buffer*, Tensor*, const void* data, std::size_t offset, std::size_t bytes);
  void (*get_tensor)(Buffer*, const Tensor*, void* data, std::size_t offset, std::size_t bytes);
  void* set_tensor_2d;  // null: row by row
  void* get_tensor_2d;
  bool (*copy_tensor)(Buffer*, const Tensor* from, Tensor* to);
  void (*clear)(Buffer*, std::uint8_t value);
  void (*reset)(Buffer*);
};
struct Buffer {
  BufferFunctions functions;
  BufferType* type;
  void* context;
  std::size_t bytes;
  int usage;
};

// Something that computes graphs.
struct Backend {
  const std::uint8_t (*identity)[16];
  const char* (*name)(Backend*);
  void (*release)(Backend*);
  void* asynchronous[5];  // copies; null: none
  void (*synchronize)(Backend*);
  void* plans[4];  // null: none
  int (*compute)(Backend*, Graph*);
  void* events[2];  // null: none
  void* optimize;   // null: graphs are computed as they are
  Device* device;
  void* context;
};

enum DeviceType : int { device_cpu = 0 };

struct DeviceProperties {
  const char* name;
  const char* description;
  std::size_t free_memory;
  std::size_t memory;
  int type;
  const char* id;
  bool asynchronous, host_memory, memory_of_host, events;
};

// What graphs can be computed on.
struct Device {
  const char* (*name)(Device*);
  const char* (*description)(Device*);
  void (*memory)(Device*, std::size_t* available, std::size_t* total);
  int (*type)(Device*);
  void (*properties)(Device*, DeviceProperties*);
  Backend* (*init)(Device*, const char* parameters);
  BufferType* (*buffer_type)(Device*);
  BufferType* (*host_buffer_type)(Device*);                             // null: none
  Buffer* (*memory_of_host)(Device*, void*, std::size_t, std::size_t);  // null: none
  bool (*supports_operation)(Device*, const Tensor*);
  bool (*supports_buffer_type)(Device*, BufferType*);
  bool (*offloads)(Device*, const Tensor*);  // null: none
  void* events[3];                           // null: none
  Registry* registry;
  void* context;
};

constexpr int interface_version = 2;

// What a library of backends offers.
struct Registry {
  int version;
  const char* (*name)(Registry*);
  std::size_t (*device_count)(Registry*);
  Device* (*device)(Registry*, std::size_t index);
  void* (*function)(Registry*, const char* name);
  void* context;
};

// Functions of the library.
struct Library {
  const char* (*operation_name)(int);
  const char* (*unary_name)(int);
  const char* (*glu_name)(int);
  std::size_t (*tensor_overhead)();  // bytes of a tensor and of what a context keeps beside it
  int (*graph_size)(Graph*);
  Tensor* (*graph_node)(Graph*, int);
  BufferType* (*cpu_buffer_type)();
  bool (*is_host)(BufferType*);
  Buffer* (*init_buffer)(BufferType*, BufferFunctions, void* context, std::size_t bytes);
  bool has_alternatives;  // nodes without flag_compute are left out
};

// The library of the process, or null where it is not there or lays out tensors in another way, which is said on standard
// error.
const Library* library();

// Whether the process has registries of backends of another version of the interface, which is said on standard error. Where
// it has none yet, the runtime itself compares versions when it has loaded the adapter.
bool has_other_interface();

}  // namespace attend_ggml
