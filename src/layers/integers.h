// The entry points of projections and sums in integers on a host.
namespace attend::ATTEND_ISA {

void Backend::run_integer_linear(const core::IntegerLinear& linear, int output_bytes, bool packed) {
  project_integers<IntegerIsa>(linear, output_bytes, packed);
}

void Backend::run_integer_sum(const core::IntegerSum& sum, int types) {
#define ATTEND_INTEGER_SUM_CASE(A, B, Output) \
  case integer_sum_types<A, B, Output>():     \
    return add_integers<A, B, Output>(sum);
  switch (types) { ATTEND_EACH_INTEGER_SUM(ATTEND_INTEGER_SUM_CASE) }  // calls that a bound of the stack can be computed of
#undef ATTEND_INTEGER_SUM_CASE
}

}  // namespace attend::ATTEND_ISA
