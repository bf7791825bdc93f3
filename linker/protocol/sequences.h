// The steps of all roles, calls spliced in: what the check of their order is made from.
#pragma once

#include <string>
#include <vector>

#include "linker/protocol/order.h"

namespace pipelink::protocol {

enum class Kind { kRing, kMbarriers, kNamedBarrier, kCounter, kHandover };

struct Protocol {
  Kind kind = Kind::kRing;
  PortRef owner;  ///< instance, and index into its contract's list of the kind; of a hand-over, the import
                  ///< that takes
  std::string name;
  SourceSpan where;
  std::int64_t amount = 0;  ///< stages, or threads of a named barrier
  std::string unchecked;    ///< why; else empty
};

/// What one waits at: a ring has two, its full and its empty barriers; so has the staging of a hand-over.
struct Place {
  std::size_t protocol = 0;
  std::int64_t credits = 0;   ///< waits that pass before anybody arrives
  std::int64_t arrivals = 0;  ///< that an mbarrier there waits for; 0: not stated, or no mbarrier
};

/// A step as its author wrote it.
struct StepText {
  std::size_t instance = 0;
  std::string text;  ///< "wait operands"
  SourceSpan where;
};

struct Operation {
  std::size_t place = 0;
  bool wait = false;
  std::size_t text = 0;  ///< into Sequences::texts
};

struct Sequence {
  std::size_t instance = 0;
  std::string name;  ///< "gemm.mma"
  SourceSpan where;
  std::int64_t threads = 0;
  std::vector<Operation> once, loop;
};

struct Sequences {
  std::vector<Protocol> protocols;
  std::vector<Place> places;
  std::vector<StepText> texts;
  std::vector<Sequence> roles;
  bool repeats = false;  ///< some role has a part with `*` that is not its loop
  bool partial = false;  ///< steps are left out, since nobody knows when or how often they are done
};

/// Operations of all protocols, also of unchecked ones. A step with `*` is done `repeats` times.
Sequences sequences_of(const Composition& composition, const Bindings& bindings, const RingStages& stages,
                       std::int64_t repeats);

/// What one role does at one place, in its order: positions in `once`, and in `loop`.
struct Use {
  std::size_t role = 0;
  std::vector<std::size_t> once, loop;
};

struct PlaceUses {
  std::vector<Use> waiters, arrivers;
};

/// For every place, the operations of checked protocols.
std::vector<PlaceUses> uses_of(const Sequences& sequences);

/// The waits that the numbers of arrivals alone show to be unmet (L-DEADLOCK, L-COUNT); such protocols are
/// then unchecked, as are those of whose arrivals it cannot be told which wait they are for.
std::vector<ProtocolFault> missing_arrivals(const Composition& composition, Sequences& sequences);

struct Rounds {
  std::vector<std::int64_t> iterations;  ///< of each role's loop in one round; 0: no loop
  std::vector<ProtocolFault> faults;     ///< L-RATE
};

/// The fewest iterations of each role in which all waits and arrivals balance.
Rounds rounds_of(const Composition& composition, Sequences& sequences);

/// L-DEADLOCK for each group of roles that wait for each other; if there is none, L-OVERRUN for each place at
/// which an arrival may come before an earlier wait is done.
std::vector<ProtocolFault> cycles_of(const Composition& composition, Sequences& sequences,
                                     const std::vector<std::int64_t>& iterations);

// ---- words

std::string ordinal(std::int64_t number);                                 ///< "1st"
std::string times(std::size_t count);                                     ///< "1 time", "2 times"
std::string barrier_text(const Sequences& sequences, std::size_t place);  ///< "`gemm.operands`"
/// "`wait operands` of gemm.mma", or "`sync all` of swiglu in gemm.mma"
std::string step_text(const Composition& composition, const Sequences& sequences, std::size_t role,
                      const Operation& operation);

}  // namespace pipelink::protocol
