// The instance that code runs as. Component and glue see this one definition.
#pragma once

namespace pipelink {

/// The first argument of every entry point. Pass it on; every handle takes it.
struct Self {
  unsigned instance;                ///< which use of the package this is: a constant once linked
  const unsigned char* parameters;  ///< the kernel's parameter block
};

}  // namespace pipelink
