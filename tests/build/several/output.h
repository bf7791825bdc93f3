// What host and device of both producers share.
#pragma once

namespace output {

struct Parameters {
  float* out;
};

}  // namespace output
