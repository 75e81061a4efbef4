//! integer_key: attend: attention of an attend::IntegerQuery takes an attend::IntegerKey of its shape second
void call(attend::IntegerQuery<Shape, 4>& query, attend::Key<Shape, 4>& key, attend::IntegerValue<Shape, 4>& value,
          attend::IntegerOutput<Shape, 4>& output, attend::IntegerWorkspace<Shape, 4, 4>& work) {
  attend::attention(query, key, value, output, work, attend::Quantisation<Shape>(1, 1, 1, 1));
}
//! integer_output: attend: attention takes an attend::IntegerOutput or Int16Output, with as many tokens as the query, fourth
void call(attend::IntegerQuery<Shape, 4>& query, attend::IntegerKey<Shape, 4>& key, attend::IntegerValue<Shape, 4>& value,
          attend::Output<Shape, 4>& output, attend::IntegerWorkspace<Shape, 4, 4>& work) {
  attend::attention(query, key, value, output, work, attend::Quantisation<Shape>(1, 1, 1, 1));
}
//! integer_work: attend: attention needs an attend::IntegerWorkspace<Shape, query tokens, key tokens> fifth
void call(attend::IntegerQuery<Shape, 4>& query, attend::IntegerKey<Shape, 4>& key, attend::IntegerValue<Shape, 4>& value,
          attend::IntegerOutput<Shape, 4>& output, attend::IntegerWorkspace<Shape, 1, 4>& work) {
  attend::attention(query, key, value, output, work, attend::Quantisation<Shape>(1, 1, 1, 1));
}
//! integer_quantisation_heads: attend: a Quantisation is of 1 head, for all of them, or of the shape's query heads
attend::Quantisation<Shape, 3>* quantisation() {
  static attend::Quantisation<Shape, 3> three(1, 1, 1, 1);
  return &three;
}
//! integer_cache: attend: an attend::IntegerQuery goes with an attend::IntegerKvCache or IntegerRingCache of its shape
void call(attend::IntegerQuery<Shape>& query, attend::KvCache<Shape>& cache, attend::IntegerOutput<Shape>& output,
          attend::IntegerWorkspace<Shape, 1>& work) {
  attend::decode(query, cache, output, work, attend::Quantisation<Shape>(1, 1, 1, 1));
}
//! integer_no_quantisation: attend: decode of an attend::IntegerQuery takes an attend::Quantisation fifth
void call(attend::IntegerQuery<Shape>& query, attend::IntegerKvCache<Shape>& cache, attend::IntegerOutput<Shape>& output,
          attend::IntegerWorkspace<Shape, 1>& work) {
  attend::decode(query, cache, output, work);
}
//! integer_score_options: attend: after its attend::Quantisation an integer call takes attend::Options or attend::IntegerOptions<Shape>
void call(attend::IntegerQuery<Shape>& query, attend::IntegerKvCache<Shape>& cache, attend::IntegerOutput<Shape>& output,
          attend::IntegerWorkspace<Shape, 1>& work) {
  attend::decode(query, cache, output, work, attend::Quantisation<Shape>(1, 1, 1, 1), attend::ScoreOptions<Shape>());
}
//! integer_append: attend: append takes an attend::Key of the cache's own shape first; of an IntegerKvCache or IntegerRingCache an
void call(attend::IntegerKvCache<Shape>& cache, attend::Key<Shape>& key, attend::Value<Shape>& value) { cache.append(key, value); }
//! integer_projection_weights: attend: project of integers takes attend::IntegerWeights second
void call(attend::IntegerVectors<2, 4>& x, attend::Weights<4, 4, attend::int8>& weights, attend::IntegerVectors<2, 4>& y) {
  attend::project(x, weights, attend::ProjectionScales<>(1, 1, 1), y);
}
//! integer_projection_scales: attend: project of integers takes attend::ProjectionScales third, of 1 or of as many outputs as the weights have
void call(attend::IntegerVectors<2, 4>& x, attend::IntegerWeights<4, 4>& weights, attend::IntegerVectors<2, 4>& y) {
  const double steps[] = {1, 1, 1};
  attend::project(x, weights, attend::ProjectionScales<3>(1, steps, 1), y);
}
//! integer_projection_output: attend: project of integers writes attend::IntegerVectors or Int16Vectors, an IntegerQuery, IntegerKey or IntegerValue
void call(attend::IntegerVectors<2, 4>& x, attend::IntegerWeights<4, 4>& weights, attend::Vectors<2, 4>& y) {
  attend::project(x, weights, attend::ProjectionScales<>(1, 1, 1), y);
}
//! integer_projection_inputs: attend: project takes an input with as many numbers for each token as the weights have inputs
void call(attend::IntegerVectors<2, 5>& x, attend::IntegerWeights<4, 4>& weights, attend::IntegerVectors<2, 4>& y) {
  attend::project(x, weights, attend::ProjectionScales<>(1, 1, 1), y);
}
//! integer_projection_outputs: attend: the output of project has as many tokens as the input, and as many numbers for each as the weights have outputs
void call(attend::IntegerVectors<2, 4>& x, attend::IntegerWeights<4, 4>& weights, attend::IntegerQuery<Shape, 2>& y) {
  attend::project(x, weights, attend::ProjectionScales<>(1, 1, 1), y);
}
//! integer_projection_no_scales: attend: project of integers takes attend::IntegerWeights, attend::ProjectionScales and an output after its input
void call(attend::IntegerVectors<2, 4>& x, attend::IntegerWeights<4, 4>& weights, attend::IntegerVectors<2, 4>& y) {
  attend::project(x, weights, y);
}
//! integer_partials_of_other_ring: attend: over an attend::IntegerRingCache partials are attend::IntegerPartials<Shape, tokens, Sizes> with its Sizes
struct Window {
  static constexpr int window = 40, tokens_at_once = 1;
};
void call(attend::IntegerQuery<Shape>& query, attend::IntegerRingCache<Shape, Window>& cache, attend::IntegerPartials<Shape>& partials,
          attend::IntegerWorkspace<Shape, 1>& work) {
  (void)attend::accumulate(query, cache, partials, work, attend::Quantisation<Shape>(1, 1, 1, 1), attend::Part{0, 1});
}
//! integer_projection_one_scale: attend: ProjectionScales of several outputs take a double[outputs] second
attend::ProjectionScales<3> scales() { return attend::ProjectionScales<3>(1, 1, 1); }
//! integer_right: nothing
attend::Status right(attend::IntegerQuery<Shape>& of_one, attend::IntegerKvCache<Shape>& integers, attend::IntegerOutput<Shape>& result,
                     attend::IntegerWorkspace<Shape, 1>& memory);
attend::Status right(attend::IntegerQuery<Shape>& of_one, attend::IntegerKvCache<Shape>& integers, attend::IntegerOutput<Shape>& result,
                     attend::IntegerWorkspace<Shape, 1>& memory) {
  return attend::decode(of_one, integers, result, memory, attend::Quantisation<Shape>(1, 1, 1, 1),
                        attend::IntegerOptions<Shape>());
}
