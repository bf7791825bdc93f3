// What host and device of the component alibi share.
#pragma once

namespace alibi {

struct Parameters {
  const float* slopes;  ///< [heads]
};

}  // namespace alibi
