// Sound in, the likelihood of each keyword out: the front end, the exported model a token at a time, and a mean over some
// tokens. It takes neither heap nor floating-point library, so it runs on boards as it stands.
#pragma once

#include "front_end.h"
#include "model/model.h"

namespace keywords {

constexpr int kinds = 13;  // the last: another word, or none
constexpr int new_frames = 2, seen_frames = 6, chunk = new_frames * hop, smoothed_tokens = 4;

using Frame = int8_t[bands];
using Likelihoods = float[kinds];

class Listener {
 public:
  Listener() { begin(); }

  void begin() {
    clear();
    for (int16_t& sample : sound_) sample = 0;
    for (Frame& frame : frames_) {
      for (int8_t& level : frame) level = -64;
    }
    for (Likelihoods& token : tokens_) {
      for (float& part : token) part = 0;
    }
    token_ = 0;
  }

  // The next 40 ms of sound, 640 samples.
  attend::Status hear(const int16_t (&samples)[chunk], Likelihoods& likelihoods) {
    constexpr int kept = span - hop;
    for (int i = 0; i < kept; ++i) sound_[i] = sound_[chunk + i];
    for (int i = 0; i < chunk; ++i) sound_[kept + i] = samples[i];
    Frame frames[new_frames];
    for (int frame = 0; frame < new_frames; ++frame)
      log_mel(*reinterpret_cast<const int16_t(*)[span]>(sound_ + frame * hop), frames[frame]);
    return look(frames, likelihoods);
  }

  // The same from frames.
  attend::Status look(const Frame (&frames)[new_frames], Likelihoods& likelihoods) {
    for (int frame = 0; frame < seen_frames; ++frame) {
      const Frame& from =
          frame + new_frames < seen_frames ? frames_[frame + new_frames] : frames[frame + new_frames - seen_frames];
      for (int band = 0; band < bands; ++band) frames_[frame][band] = from[band];
    }
    float input[seen_frames * bands];
    for (int i = 0; i < seen_frames * bands; ++i) input[i] = float(frames_[i / bands][i % bands]) / 32.0f;
    Likelihoods& now = tokens_[token_++ % smoothed_tokens];
    const attend::Status status = append(input, now);
    float most = now[0], total = 0;
    for (const float logit : now) most = logit > most ? logit : most;
    for (float& logit : now) logit -= most;
    attend::activate<attend::Activation::exp>(now);
    for (const float part : now) total += part;
    for (float& part : now) part /= total;
    for (int kind = 0; kind < kinds; ++kind) {
      likelihoods[kind] = 0;
      for (const Likelihoods& token : tokens_) likelihoods[kind] += token[kind] / float(smoothed_tokens);
    }
    return status;
  }

  // The latest frames that the model has seen.
  const Frame& frame(int which) const { return frames_[which]; }

 private:
  int16_t sound_[span - hop + chunk];
  Frame frames_[seen_frames];
  Likelihoods tokens_[smoothed_tokens];
  int token_;
};

// The likeliest keyword, or -1 where none is likelier than not.
inline int keyword_of(const Likelihoods& likelihoods) {
  int best = 0;
  for (int kind = 1; kind < kinds - 1; ++kind) best = likelihoods[kind] > likelihoods[best] ? kind : best;
  return likelihoods[best] > 0.5f ? best : -1;
}

}  // namespace keywords
