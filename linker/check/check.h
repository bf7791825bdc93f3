// The clauses between contracts that are bound: what two sides say of one thing, and what each requires of
// all.
#pragma once

#include "linker/bind/bindings.h"

namespace pipelink {

/// Everything that can be judged before placement, all errors: L-SIGNATURE, L-RING, L-COUNTER, L-SCOPE,
/// L-CLUSTER, L-GRID, L-LAYOUT (element, tile, space and scope; maps are route's), P-LAYOUT of what reads
/// facts of others, L-REQUIRE, L-WARPS, L-ODR, P-VALUE and P-EXPRESSION for amounts, and L-DEADLOCK and
/// L-RATE with every ring as deep as it may be. A help line that says SET or BIND was tried: with it this
/// error is gone and no other comes.
Diagnostics check(const Composition& composition, const Bindings& bindings);

/// Whether check() has nothing to say.
bool holds(const Composition& composition, const Bindings& bindings);

/// What reads the placement: requirements and amounts with `RING.stages`, or with facts that depend on it;
/// L-DEADLOCK and L-RATE with the depths that were placed.
Diagnostics check_placed(const Composition& composition, const Bindings& bindings, const RingStages& stages);

/// The depth that each ring needs at least, by owner, so that the waits that PIPELINK_STEPS states are met
/// when all other rings are as deep as they may be. Of a composition that check() accepts.
RingStages least_depths(const Composition& composition, const Bindings& bindings);

}  // namespace pipelink
