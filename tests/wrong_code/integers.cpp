//! integer_key: attend: attention of an attend::Int8Query takes an attend::Int8Key of its shape second
void call(attend::Int8Query<Shape, 4>& query, attend::Key<Shape, 4>& key, attend::Int8Value<Shape, 4>& value,
          attend::Int8Output<Shape, 4>& output, attend::Int8Workspace<Shape, 4, 4>& work) {
  attend::attention(query, key, value, output, work, attend::Quantisation<Shape>(1, 1, 1, 1));
}
//! integer_output: attend: attention takes an attend::Int8Output or Int16Output, with as many tokens as the query, fourth
void call(attend::Int8Query<Shape, 4>& query, attend::Int8Key<Shape, 4>& key, attend::Int8Value<Shape, 4>& value,
          attend::Output<Shape, 4>& output, attend::Int8Workspace<Shape, 4, 4>& work) {
  attend::attention(query, key, value, output, work, attend::Quantisation<Shape>(1, 1, 1, 1));
}
//! integer_work: attend: attention needs an attend::Int8Workspace<Shape, query tokens, key tokens> fifth
void call(attend::Int8Query<Shape, 4>& query, attend::Int8Key<Shape, 4>& key, attend::Int8Value<Shape, 4>& value,
          attend::Int8Output<Shape, 4>& output, attend::Int8Workspace<Shape, 1, 4>& work) {
  attend::attention(query, key, value, output, work, attend::Quantisation<Shape>(1, 1, 1, 1));
}
//! integer_quantisation_heads: attend: a Quantisation is of 1 head, for all of them, or of the shape's query heads
attend::Quantisation<Shape, 3>* quantisation() {
  static attend::Quantisation<Shape, 3> three(1, 1, 1, 1);
  return &three;
}
//! integer_cache: attend: an attend::Int8Query goes with an attend::Int8KvCache or Int8RingCache of its shape
void call(attend::Int8Query<Shape>& query, attend::KvCache<Shape>& cache, attend::Int8Output<Shape>& output,
          attend::Int8Workspace<Shape, 1>& work) {
  attend::decode(query, cache, output, work, attend::Quantisation<Shape>(1, 1, 1, 1));
}
//! integer_no_quantisation: attend: decode of an attend::Int8Query takes an attend::Quantisation fifth
void call(attend::Int8Query<Shape>& query, attend::Int8KvCache<Shape>& cache, attend::Int8Output<Shape>& output,
          attend::Int8Workspace<Shape, 1>& work) {
  attend::decode(query, cache, output, work);
}
//! integer_score_options: attend: after its attend::Quantisation an integer call takes attend::Options or attend::IntegerOptions<Shape>
void call(attend::Int8Query<Shape>& query, attend::Int8KvCache<Shape>& cache, attend::Int8Output<Shape>& output,
          attend::Int8Workspace<Shape, 1>& work) {
  attend::decode(query, cache, output, work, attend::Quantisation<Shape>(1, 1, 1, 1), attend::ScoreOptions<Shape>());
}
//! integer_append: attend: append takes an attend::Key of the cache's own shape first; of an Int8KvCache or Int8RingCache an
void call(attend::Int8KvCache<Shape>& cache, attend::Key<Shape>& key, attend::Value<Shape>& value) { cache.append(key, value); }
//! integer_projection_weights: attend: project of integers takes attend::IntegerWeights second
void call(attend::Int8Vectors<2, 4>& x, attend::Weights<4, 4, attend::int8>& weights, attend::Int8Vectors<2, 4>& y) {
  attend::project(x, weights, attend::ProjectionScales<>(1, 1, 1), y);
}
//! integer_projection_scales: attend: project of integers takes attend::ProjectionScales third, of 1 or of as many outputs as the weights have
void call(attend::Int8Vectors<2, 4>& x, attend::IntegerWeights<4, 4>& weights, attend::Int8Vectors<2, 4>& y) {
  const double steps[] = {1, 1, 1};
  attend::project(x, weights, attend::ProjectionScales<3>(1, steps, 1), y);
}
//! integer_projection_output: attend: project of integers writes attend::Int8Vectors or Int16Vectors, an Int8Query, Int8Key or Int8Value
void call(attend::Int8Vectors<2, 4>& x, attend::IntegerWeights<4, 4>& weights, attend::Vectors<2, 4>& y) {
  attend::project(x, weights, attend::ProjectionScales<>(1, 1, 1), y);
}
//! integer_projection_inputs: attend: project takes an input with as many numbers for each token as the weights have inputs
void call(attend::Int8Vectors<2, 5>& x, attend::IntegerWeights<4, 4>& weights, attend::Int8Vectors<2, 4>& y) {
  attend::project(x, weights, attend::ProjectionScales<>(1, 1, 1), y);
}
//! integer_projection_outputs: attend: the output of project has as many tokens as the input, and as many numbers for each as the weights have outputs
void call(attend::Int8Vectors<2, 4>& x, attend::IntegerWeights<4, 4>& weights, attend::Int8Query<Shape, 2>& y) {
  attend::project(x, weights, attend::ProjectionScales<>(1, 1, 1), y);
}
//! integer_projection_no_scales: attend: project of integers takes attend::IntegerWeights, attend::ProjectionScales and an output after its input
void call(attend::Int8Vectors<2, 4>& x, attend::IntegerWeights<4, 4>& weights, attend::Int8Vectors<2, 4>& y) {
  attend::project(x, weights, y);
}
//! integer_projection_one_scale: attend: ProjectionScales of several outputs take a double[outputs] second
attend::ProjectionScales<3> scales() { return attend::ProjectionScales<3>(1, 1, 1); }
//! integer_right: nothing
attend::Status right(attend::Int8Query<Shape>& of_one, attend::Int8KvCache<Shape>& integers, attend::Int8Output<Shape>& result,
                     attend::Int8Workspace<Shape, 1>& memory);
attend::Status right(attend::Int8Query<Shape>& of_one, attend::Int8KvCache<Shape>& integers, attend::Int8Output<Shape>& result,
                     attend::Int8Workspace<Shape, 1>& memory) {
  return attend::decode(of_one, integers, result, memory, attend::Quantisation<Shape>(1, 1, 1, 1),
                        attend::IntegerOptions<Shape>());
}
