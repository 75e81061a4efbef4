// Rows of a block: (token, query head within the group) pairs, token-major.

// A row of a block as (token, query head within the group).
struct Row {
  int token;
  int head;  // of the query heads that share a key/value head
};

// Which rows: `count` of them from a row on, all of one key/value head.
struct Rows {
  int kv_head;
  Row first;
  int count;
  void clear() { kv_head = first.token = first.head = count = 0; }  // not by a list, for which compilers call memset
};

// The row so many rows further on.
inline Row row_after(Row at, int rows, int group) {
  for (at.head += rows; at.head >= group; at.head -= group) ++at.token;  // embedded processors have no division
  return at;
}

// Calls with each row, and its token and query head, of all of them.
template <class Call>
ATTEND_ALWAYS_INLINE void for_each_row(const Rows& rows, int group, Call call) {
  int token = rows.first.token, head = rows.first.head;
  for (int r = 0; r < rows.count; ++r) {
    call(r, token, rows.kv_head * group + head);
    if (++head == group) {
      head = 0;
      ++token;
    }
  }
}

// Query heads that share a key/value head. Counted: the smallest microcontrollers divide in software.
inline int group_of(const core::Problem& problem) {
  int group = 0;
  for (int heads = 0; heads < problem.query_heads; heads += problem.kv_heads) ++group;
  return group;
}

// Goes on to the next block of a problem's rows, at most row_block of them; whether there is one. The first follows no rows.
inline bool next_block(Rows& rows, const core::Problem& problem, int group, int row_block) {
  rows.first = row_after(rows.first, rows.count, group);
  if (rows.first.token == problem.queries) {
    ++rows.kv_head;
    rows.first = {0, 0};
  }
  rows.count = at_most((problem.queries - rows.first.token) * group - rows.first.head, row_block);
  return rows.kv_head < problem.kv_heads && problem.queries > 0;
}
