// What host and device share: a layer of experts, of which each token has one. One block computes one expert.
#pragma once

namespace mixture {
constexpr unsigned kHidden = 32;  // elements of a token
constexpr unsigned kInner = 64;   // of an expert's inner layer
constexpr unsigned kRowBytes = kHidden * 4;
}  // namespace mixture

namespace dispatch {
struct Parameters {
  const float* tokens;    ///< [tokens, kHidden]
  const unsigned* order;  ///< [tokens]: tokens, sorted by their experts
  const unsigned* first;  ///< [experts + 1]: where in `order` an expert's tokens begin
  unsigned experts;
};
}  // namespace dispatch

namespace gate_up {
struct Parameters {
  const float* weights;  ///< [experts, 2 * kInner, kHidden]: gates, then ups
};
}  // namespace gate_up

namespace down {
struct Parameters {
  const float* weights;  ///< [experts, kHidden, kInner]
};
}  // namespace down

namespace combine {
struct Parameters {
  const float* scale;  ///< [tokens]: the router's weight
  float* out;          ///< [tokens, kHidden]
};
}  // namespace combine
