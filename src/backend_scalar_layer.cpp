// The scalar backend's functions around attention: any target, and the reference for the others.
#include "backend/alone.h"

#include "simd/scalar.h"
using Isa = attend::Scalar;
using Backend = attend::core::ScalarBackend;
#include "backend/layer.h"
