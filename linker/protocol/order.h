// Whether the waits of all roles are met, by the steps that contracts state (PIPELINK_STEPS).
//
// The roles and their protocols are a marked graph: a role does its steps one after another and its loop
// without end; a wait needs the arrival of the same number, less those that the protocol begins with (a
// ring's stages are empty at first). Such a graph is live just if each role can do one round of its loop,
// where a round is as many iterations as balance all waits and arrivals; so the steps up to there, and those
// that they need, are unrolled, and a wait that is never met is a cycle among them.
#pragma once

#include <string>
#include <vector>

#include "linker/bind/bindings.h"

namespace pipelink {

struct UncheckedProtocol {
  std::string name;  ///< "gemm.operands"
  std::string why;
};

struct ProtocolFault {
  Diagnostic diagnostic;       ///< L-DEADLOCK, L-RATE, L-COUNT, L-OVERRUN
  std::vector<PortRef> rings;  ///< owners of the rings whose depth has a part in it
  std::string barrier;         ///< the named barrier at which too few threads arrive; else empty
};

struct ProtocolOrder {
  std::vector<std::string> checked;          ///< sorted
  std::vector<UncheckedProtocol> unchecked;  ///< too
  std::vector<ProtocolFault> faults;
};

/// `stages` has the depth of every ring, by owner. Protocols of components that state no steps are not
/// checked, nor those that a step with `?` uses.
ProtocolOrder protocol_order(const Composition& composition, const Bindings& bindings,
                             const RingStages& stages);

}  // namespace pipelink
