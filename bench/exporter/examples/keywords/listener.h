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

// The exported model.
struct Exported {
  attend::Status append(const float (&frames)[seen_frames * bands], Likelihoods& logits) {
    return keywords::append(frames, logits);
  }
  void clear() { keywords::clear(); }
};

template <class Model>
class ListenerOf : Model {
 public:
  // Before the first sound, and before each that has nothing to do with the one before.
  void begin() {
    Model::clear();
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
    const attend::Status status = Model::append(input, now);
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
  int16_t sound_[span - hop + chunk] = {};
  Frame frames_[seen_frames] = {};
  Likelihoods tokens_[smoothed_tokens] = {};
  int token_ = 0;
};
using Listener = ListenerOf<Exported>;

// The likeliest keyword, or -1 where none is likelier than not.
inline int keyword_of(const Likelihoods& likelihoods) {
  int best = 0;
  for (int kind = 1; kind < kinds - 1; ++kind) best = likelihoods[kind] > likelihoods[best] ? kind : best;
  return likelihoods[best] > 0.5f ? best : -1;
}

// Held-out voices: clips of 1.3 seconds, of each voice every keyword three times and six other words.
constexpr int voices = 5, clips = 42, clip_tokens = 32, clip_frames = clip_tokens * new_frames;
inline int kind_of(int clip) { return clip < 3 * (kinds - 1) ? clip % (kinds - 1) : kinds - 1; }

// What a listener takes the next clip for: the keyword that was likeliest at any time. see(likelihoods) is called after each
// token.
template <class Model, class See>
int heard_in(ListenerOf<Model>& listener, const Frame* frames, See see) {
  float most = 0;
  int found = kinds - 1;
  for (int token = 0; token < clip_tokens; ++token) {
    Likelihoods likelihoods;
    if (listener.look(*reinterpret_cast<const Frame(*)[new_frames]>(frames + token * new_frames), likelihoods) !=
        attend::Status::ok)
      return kinds - 1;
    see(likelihoods);
    const int kind = token + 1 < smoothed_tokens ? -1 : keyword_of(likelihoods);
    if (kind >= 0 && likelihoods[kind] > most) {
      most = likelihoods[kind];
      found = kind;
    }
  }
  return found;
}

}  // namespace keywords
