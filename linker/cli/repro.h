// What a link needs, in one archive, so that it can be done again elsewhere.
#pragma once

#include <string>

#include "packager/base/outcome.h"

namespace pipelink::cli {

struct Repro {
  std::string name;   ///< NAME.ARCH.repro.tar
  std::string bytes;  ///< an ustar archive: NAME.ARCH.repro/{README,composition/FILE,packages/N/FILE}
};

/// The composition file keeps its name and its lines, packages keep their file names and the order in which
/// they are read, so that a link of the copy says and makes the same. Packages are copied as they are,
/// damaged ones too. I-FILE (something is missing, or has a name that the archive cannot hold), I-JSON,
/// I-FORMAT, I-COMPOSITION.
Outcome<Repro> reproduction(const std::string& composition);

}  // namespace pipelink::cli
