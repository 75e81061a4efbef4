// The peers of this build, where the Makefile defines a macro for each library it found, and those that are loaded now.
#include "peers.h"

namespace bench {
namespace {

const std::vector<const Peer*>& found() {
  static const std::vector<const Peer*> list = [] {
    std::vector<const Peer*> all = {
        &peer_naive,
#ifdef PEER_EIGEN
        &peer_eigen,
#endif
#ifdef PEER_OPENBLAS
        &peer_openblas,
#endif
    };
    const std::vector<const Peer*> ggml = ggml_peers();
    all.insert(all.end(), ggml.begin(), ggml.end());
    return all;
  }();
  return list;
}

}  // namespace

int peer_count() { return int(found().size()); }

const Peer& peer(int index) { return *found()[std::size_t(index)]; }

}  // namespace bench
