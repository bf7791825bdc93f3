// What host and device of the component attention_core share.
#pragma once

namespace attention_core {

/// Filled by the caller.
struct Parameters {
  float scale;  ///< of the scores before the softmax, above 0; usually head_dim^-0.5
};

}  // namespace attention_core
