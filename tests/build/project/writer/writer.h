#pragma once

namespace writer {

struct Parameters {
  float* out;
};

struct Arguments {
  float* out;
};

}  // namespace writer
