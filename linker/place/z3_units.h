// What a Z3 query cost. Private to the files that see Z3: proof.cc and role_proof.cc.
#pragma once

#include <z3++.h>

#include <cstdint>

namespace pipelink::place {

inline std::uint64_t rlimit_of(const z3::stats& stats) {
  for (unsigned i = 0; i < stats.size(); ++i)
    if (stats.key(i) == "rlimit count")
      return stats.is_uint(i) ? stats.uint_value(i) : static_cast<std::uint64_t>(stats.double_value(i));
  return 0;
}

}  // namespace pipelink::place
