// The peers of this build; the Makefile defines a macro for each library it found.
#include "peers.h"

namespace bench {
namespace {

const Peer* const found[] = {
    &peer_naive,
#ifdef PEER_EIGEN
    &peer_eigen,
#endif
#ifdef PEER_OPENBLAS
    &peer_openblas,
#endif
};

}  // namespace

int peer_count() { return int(sizeof found / sizeof found[0]); }

const Peer& peer(int index) { return *found[index]; }

}  // namespace bench
