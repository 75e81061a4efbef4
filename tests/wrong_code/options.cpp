//! bias_of_zero_queries: attend: extents of a bias must be at least 1
attend::Bias<0, 1, 8> bias;

//! bit_mask_of_zero_heads: attend: extents of a mask must be at least 1
attend::BitMask<1, 0, 8> mask;

//! lse_of_zero_tokens: attend: an array needs at least 1 token
attend::Lse<Shape, 0> lse;

//! mask_of_zero_keys: attend: extents of a mask must be at least 1
attend::Mask<1, 1, 0> mask;

//! options_bias_is_mask: attend: options.bias takes an attend::Bias
static attend::Mask<1, 1, keys> mask;
void wrong() { score_options.bias = mask; }

//! options_bias_of_other_heads: attend: options.bias takes a bias of 1 head, for all of them, or of the shape's query heads
static attend::Bias<1, 3, keys> bias;
void wrong() { score_options.bias = bias; }

//! options_lse_of_other_shape: attend: options.lse takes an attend::Lse of the options' shape
static attend::Lse<OtherShape, queries> lse;
void wrong() { score_options.lse = lse; }

//! options_lse_plain_array: attend: options.lse takes an attend::Lse of the options' shape
void wrong() { score_options.lse = floats; }

//! options_mask_is_bias: attend: options.mask takes an attend::Mask or an attend::BitMask
static attend::Bias<1, 1, keys> bias;
void wrong() { score_options.mask = bias; }

//! options_mask_of_other_heads: attend: options.mask takes a mask of 1 head, for all of them, or of the shape's query heads
static attend::BitMask<queries, 2, keys> mask;
void wrong() { score_options.mask = mask; }

//! options_mask_plain_array: attend: options.mask takes an attend::Mask or an attend::BitMask
void wrong() { score_options.mask = floats; }

//! options_relative_is_bias: attend: options.relative_bias takes an attend::RelativeBias
static attend::Bias<1, 1, keys> bias;
void wrong() { score_options.relative_bias = bias; }

//! options_relative_of_other_heads: attend: options.relative_bias takes a bias of 1 head, for all of them, or of the shape's query heads
static attend::RelativeBias<2, 8, 0> relative;
void wrong() { score_options.relative_bias = relative; }

//! options_scores_is_output: attend: options.scores takes attend::Scores of the options' shape
void wrong() { score_options.scores = output; }

//! options_scores_of_other_shape: attend: options.scores takes attend::Scores of the options' shape
static attend::Scores<OtherShape, queries, keys> scores;
void wrong() { score_options.scores = scores; }

//! options_sinks_pointer: attend: options.alibi_slopes and options.sink_logits take a float[] with as many numbers as the shape has query heads
static const float* sink_logits;
void wrong() { score_options.sink_logits = sink_logits; }

//! options_slopes_of_other_heads: attend: options.alibi_slopes and options.sink_logits take a float[] with as many numbers as the shape has query heads
static const float alibi_slopes[2] = {};
void wrong() { score_options.alibi_slopes = alibi_slopes; }

//! relative_bias_of_negative_distance: attend: distances of a relative bias must be at least 0
attend::RelativeBias<1, -1, 8> bias;

//! relative_bias_of_zero_heads: attend: heads of a relative bias must be at least 1
attend::RelativeBias<0, 1, 8> bias;

//! scores_of_zero_keys: attend: scores need at least 1 key
attend::Scores<Shape, 1, 0> scores;

//! options_slopes_of_vector: attend: options.alibi_slopes and options.sink_logits take a float[] with as many numbers as the shape has query heads, which outlives the call: no temporary, and no pointer, whose length is unknown
static const float* data();
void wrong() { score_options.alibi_slopes = data(); }

//! options_mask_temporary: attend: options.mask takes an attend::Mask or an attend::BitMask that outlives the call, not a temporary
void wrong() { score_options.mask = attend::Mask<1, 1, keys>{}; }

//! options_lse_temporary: attend: options.lse takes an attend::Lse of the options' shape that outlives the call, not a temporary
void wrong() { score_options.lse = attend::Lse<Shape, queries>{}; }

//! options_without_shape: attend: options are of a shape: write attend::ScoreOptions<Shape>, with the shape of the call's arrays
void wrong() {
  attend::ScoreOptions options;
  attend::attention(query, key, value, output, option_workspace, options);
}

//! options_without_shape_from_options: attend: options are of a shape: write attend::ScoreOptions<Shape>, with the shape of the call's arrays
void wrong() { attend::ScoreOptions options = attend::causal(); }

//! ranged_options_without_shape: attend: options are of a shape: write attend::ScoreOptions<Shape>, with the shape of the call's arrays
void wrong() { attend::RangedOptions options = attend::causal(); }

//! ranges_of_zero_tokens: attend: ranges are of at least 1 query token
attend::Ranges<0> ranges;

//! documents_without_room: attend: there is room for at least 1 document
attend::Documents<0> documents;

//! options_ranges_temporary: attend: options.ranges takes attend::Ranges<tokens>, FirstKeys<tokens> or EndKeys<tokens> that outlive the call, not a temporary
void wrong() { ranged_options.ranges = attend::Ranges<queries>{}; }

//! options_ranges_are_documents: attend: options.ranges takes attend::Ranges<tokens>, FirstKeys<tokens> or EndKeys<tokens> that outlive the call, not a temporary
static attend::Documents<3> documents;
void wrong() { ranged_options.ranges = documents; }

//! options_documents_are_lengths: attend: options.documents takes attend::Documents<most> that outlive the call, not a temporary
static int lengths[3];
void wrong() { ranged_options.documents = lengths; }

//! ranged_options_of_other_shape: attend: attend::ScoreOptions and an attend::Quantisation must be of the shape of the call's arrays
static attend::RangedOptions<OtherShape> options;
void wrong() { attend::attention(query, key, value, output, option_workspace, options); }

//! ranged_options_with_plain_workspace: attend: attention with ScoreOptions needs an attend::OptionWorkspace<Shape, query tokens>
void wrong() { attend::attention(query, key, value, output, workspace, ranged_options); }
