// The axes of query, key and value in front of tokens and width, [..., heads, tokens, width], as the library counts them:
// heads, the batch, and what is before these.
#pragma once

#include <algorithm>
#include <vector>

#include "tensors.h"

namespace attend_pytorch {

// The leading axes that the three have in common, where one may have an axis of 1 or none. The last of them is that of heads,
// and the one before it the batch, if they are there; one axis alone is the batch, unless heads are grouped.
struct LeadingAxes {
  // name: of the operator, for its errors. grouped: several query heads share a head of keys and values.
  LeadingAxes(const char* name, bool grouped, const Tensor& query, const Tensor& key, const Tensor& value) {
    const int64_t least = grouped ? 3 : 2;
    TORCH_CHECK(query.dim() >= least && key.dim() >= least && value.dim() >= least, "attend::", name,
                ": grouped heads are the third axis from the end; expected at least three axes");
    const int64_t leading = std::max({query.dim(), key.dim(), value.dim()}) - 2;
    has_heads = leading >= 2 || (grouped && leading == 1);
    const int64_t batch_axes = leading - (has_heads ? 1 : 0);
    for (int64_t axis = 0; axis < batch_axes; ++axis) outer.push_back(broadcast(name, query, key, value, leading - axis + 2));
    if (has_heads) {
      const int64_t q = size_of(query, 3), k = size_of(key, 3), v = size_of(value, 3);
      if (grouped) {
        TORCH_CHECK(k == v && k > 0 && q % k == 0, "attend::", name, ": query has ", q, " heads, key ", k, " and value ", v,
                    "; expected as many of key and value, and a multiple of them of the query");
        query_heads = q;
        kv_heads = k;
      } else {
        query_heads = broadcast(name, query, key, value, 3);
        kv_heads = k == 1 && v == 1 ? 1 : query_heads;
      }
    }
    if (!outer.empty()) {
      batch = outer.back();
      has_batch = true;
      outer.pop_back();
    }
  }

  // Of a tensor of so many heads.
  std::vector<int64_t> shape_of(int64_t heads, int64_t rows, int64_t columns) const {
    std::vector<int64_t> shape = outer;
    if (has_batch) shape.push_back(batch);
    if (has_heads) shape.push_back(heads);
    shape.insert(shape.end(), {rows, columns});
    return shape;
  }

  // A tensor with all of these axes: where it has an axis of 1 or none, its stride is 0. Its rows are copied where their
  // numbers do not lie side by side.
  Tensor expanded(const Tensor& tensor, int64_t heads) const {
    const bool rows = tensor.size(-1) <= 1 || tensor.stride(-1) == 1;
    return (rows ? tensor : tensor.contiguous()).expand(shape_of(heads, tensor.size(-2), tensor.size(-1)));
  }

  std::vector<int64_t> outer;  // the axes before the batch
  int64_t batch = 1, query_heads = 1, kv_heads = 1;
  bool has_batch = false, has_heads = false;

 private:
  // The size of an axis counted from the end, 1 where the tensor does not have it.
  static int64_t size_of(const Tensor& tensor, int64_t from_end) {
    return tensor.dim() < from_end ? 1 : tensor.size(-from_end);
  }

  static int64_t broadcast(const char* name, const Tensor& query, const Tensor& key, const Tensor& value, int64_t from_end) {
    int64_t size = 1;
    for (const Tensor* tensor : {&query, &key, &value}) {
      const int64_t own = size_of(*tensor, from_end);
      TORCH_CHECK(own == 1 || size == 1 || own == size, "attend::", name, ": leading axes do not go together: query ",
                  query.sizes(), ", key ", key.sizes(), ", value ", value.sizes());
      if (own != 1) size = own;
    }
    return size;
  }
};

}  // namespace attend_pytorch
