#include "weights.h"

#include <attend/layers/core_linear.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "operations.h"
#include "q8.h"

namespace attend_ggml {
namespace {

using namespace attend::core;
using attend::panel_keys;

constexpr std::size_t alignment = 64;
constexpr std::size_t large_page = 1 << 21;  // a token reads all weights, from a page after the other

// The matrices of a tensor, one after another: rows as files have them, and panels.
struct Matrices {
  int type, inputs, outputs;
  std::int64_t count;

  explicit Matrices(const Tensor& t)
      : type(t.type), inputs(int(t.extents[0])), outputs(int(t.extents[1])), count(t.extents[2] * t.extents[3]) {}

  std::size_t row() const { return row_bytes(type, inputs); }
  std::size_t rows() const { return row() * std::size_t(outputs); }
  std::size_t panels() const { return row() * std::size_t((outputs + panel_keys - 1) / panel_keys * panel_keys); }
};

template <class Each>
void each_panel(const Matrices& m, const Each& each) {
  for (int first = 0; first < m.outputs; first += panel_keys) {
    each(first, m.outputs - first < panel_keys ? m.outputs - first : panel_keys, m.row() * std::size_t(first));
  }
}

void pack(const Matrices& m, const char* rows, char* panels) {
  switch (m.type) {
    case type_float16:
      return pack_weights<Format::float16>(rows, m.inputs, m.outputs, m.inputs, panels);
    case type_bfloat16:
      return pack_weights<Format::bfloat16>(rows, m.inputs, m.outputs, m.inputs, panels);
    case type_q4_0:
      return pack_weights<Format::int4>(rows, m.inputs, m.outputs, m.inputs, panels);
    case type_q8_0: {
      const int groups = m.inputs / q8_numbers;
      return each_panel(m, [&](int, int outputs, std::size_t at) {
        pack_q8(reinterpret_cast<const Q8Block*>(rows + at), groups, outputs, groups, reinterpret_cast<Q8Panel*>(panels + at));
      });
    }
    default:
      return pack_weights<Format::float32>(rows, m.inputs, m.outputs, m.inputs, panels);
  }
}

// What was packed, as rows again.
void unpack(const Matrices& m, const char* panels, char* rows) {
  if (m.type == type_q8_0) {
    const int groups = m.inputs / q8_numbers;
    return each_panel(m, [&](int, int outputs, std::size_t at) {
      unpack_q8(reinterpret_cast<const Q8Panel*>(panels + at), outputs, groups, reinterpret_cast<Q8Block*>(rows + at), groups);
    });
  }
  if (m.type == type_q4_0) {
    return each_panel(m, [&](int, int outputs, std::size_t at) {
      const int groups = m.inputs / int4_group;
      const Int4Panel* const panel = reinterpret_cast<const Int4Panel*>(panels + at);
      Int4Group* const to = reinterpret_cast<Int4Group*>(rows + at);
      for (int o = 0; o < outputs; ++o) {
        for (int g = 0; g < groups; ++g) {
          Int4Group& group = to[o * groups + g];
          group.scale[0] = std::uint8_t(panel[g].scales[o] & 255), group.scale[1] = std::uint8_t(panel[g].scales[o] >> 8);
          for (int i = 0; i < int4_group / 2; ++i) group.numbers[i] = panel[g].numbers[i / 4][o][i % 4];
        }
      }
    });
  }
  const std::size_t bytes = bytes_of_type(m.type);
  each_panel(m, [&](int, int outputs, std::size_t at) {
    for (int o = 0; o < outputs; ++o) {
      for (int i = 0; i < m.inputs; ++i) {
        std::memcpy(rows + at + std::size_t(o) * m.row() + std::size_t(i) * bytes,
                    panels + at + (std::size_t(i) * panel_keys + std::size_t(o)) * bytes, bytes);
      }
    }
  });
}

// ---- Memory ----

void release(Buffer* buffer) { std::free(buffer->context); }
void* base(Buffer* buffer) { return buffer->context; }
int init_tensor(Buffer*, Tensor*) { return status_success; }

// A view is bytes of the tensor that it is a view of.
const Tensor& whole(const Tensor* tensor, std::size_t& offset) {
  if (tensor->view_of == nullptr) return *tensor;
  offset += tensor->view_offset;
  return *tensor->view_of;
}

// Calls change(rows of all matrices), and packs them again where it may have changed them.
template <class Change>
void with_rows(const Tensor& tensor, bool changes, const Change& change) {
  const Matrices m(tensor);
  std::vector<char> rows(m.rows() * std::size_t(m.count));
  char* const panels = static_cast<char*>(tensor.data);
  for (std::int64_t i = 0; i < m.count; ++i)
    unpack(m, panels + m.panels() * std::size_t(i), rows.data() + m.rows() * std::size_t(i));
  change(rows.data());
  for (std::int64_t i = 0; changes && i < m.count; ++i) {
    pack(m, rows.data() + m.rows() * std::size_t(i), panels + m.panels() * std::size_t(i));
  }
}

void set_tensor(Buffer*, Tensor* view, const void* data, std::size_t offset, std::size_t bytes) {
  const Tensor& tensor = whole(view, offset);
  const Matrices m(tensor);
  if (offset != 0 || bytes != m.rows() * std::size_t(m.count)) {
    return with_rows(tensor, true, [&](char* rows) { std::memcpy(rows + offset, data, bytes); });
  }
  for (std::int64_t i = 0; i < m.count; ++i) {
    pack(m, static_cast<const char*>(data) + m.rows() * std::size_t(i),
         static_cast<char*>(tensor.data) + m.panels() * std::size_t(i));
  }
}

void fill_tensor(Buffer*, Tensor* view, std::uint8_t value, std::size_t offset, std::size_t bytes) {
  with_rows(whole(view, offset), true, [&](char* rows) { std::memset(rows + offset, value, bytes); });
}

void get_tensor(Buffer*, const Tensor* view, void* data, std::size_t offset, std::size_t bytes) {
  with_rows(whole(view, offset), false, [&](const char* rows) { std::memcpy(data, rows + offset, bytes); });
}

void clear(Buffer* buffer, std::uint8_t value) { std::memset(buffer->context, value, buffer->bytes); }

const char* type_name(BufferType*) { return "Attend"; }
std::size_t type_alignment(BufferType*) { return alignment; }
bool type_is_host(BufferType*) { return false; }  // nothing else reads panels

std::size_t bytes_of(BufferType*, const Tensor* tensor) {
  if (!has_extents(tensor) || !is_weight_type(tensor->type)) return 0;
  const Matrices m(*tensor);
  return m.panels() * std::size_t(m.count);
}

Buffer* allocate(BufferType* type, std::size_t bytes) {
  const std::size_t aligned_to = bytes < large_page ? alignment : large_page,
                    rounded = (bytes + aligned_to - 1) / aligned_to * aligned_to;
  if (rounded < bytes) return nullptr;
  void* const memory = std::aligned_alloc(aligned_to, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) return nullptr;
#ifdef MADV_HUGEPAGE
  if (aligned_to == large_page) madvise(memory, rounded, MADV_HUGEPAGE);  // a wish: where there are none, pages are small
#endif
  Buffer* const buffer = library()->init_buffer(
      type, {release, base, init_tensor, fill_tensor, set_tensor, get_tensor, nullptr, nullptr, nullptr, clear, nullptr},
      memory, bytes);
  if (buffer == nullptr) std::free(memory);
  return buffer;
}

}  // namespace

bool is_weight_type(int type) {
  return type == type_float32 || type == type_float16 || type == type_bfloat16 || type == type_q8_0 || type == type_q4_0;
}

BufferType* packed_weights(Device* device) {
  static BufferType type = {type_name, allocate, type_alignment, nullptr, bytes_of, type_is_host, device, nullptr};
  return &type;
}

bool is_packed(const Tensor& tensor) { return tensor.buffer != nullptr && tensor.buffer->type == packed_weights(nullptr); }

std::size_t packed_matrix_bytes(const Tensor& weights) { return Matrices(weights).panels(); }

}  // namespace attend_ggml
