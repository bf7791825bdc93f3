#pragma once

namespace fill {

struct Parameters {
  float* out;  // 128 elements for each block
};

}  // namespace fill
