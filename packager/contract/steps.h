// The order in which a role, or the body of an export, waits at protocols and arrives at them, as
// PIPELINK_STEPS states it.
//
//   steps := step (';' step)*
//   step  := (WORD NAME | '(' steps ')') ['?'] ['*'] ['x' AMOUNT]
//
// WORD NAME is a call of a handle: `acquire R`, `arrive R` of a ring's producer, `wait R`, `release R` of its
// consumer; `wait M`, `arrive M` of mbarriers and of a counter; `sync B`, `arrive B` of a named barrier;
// `call F` of an import. `x` repeats a step, `*` says that it is repeated any number of times, at least once,
// and `?` that it happens in some iterations only. Between them may stand any white space.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packager/contract/model.h"

namespace pipelink::contract {

struct Step {
  std::string word, name;  ///< both empty for steps in brackets
  std::vector<Step> inner;
  bool sometimes = false;  ///< '?'
  bool any = false;        ///< '*'
  Amount count{1, {}};
};

struct ParsedSteps {
  std::optional<std::vector<Step>> value;
  std::string error;  ///< "column 6: expected a name, found ';'", of several lines "line 2, column 6: …"
  explicit operator bool() const { return value.has_value(); }
};

/// At most 4096 characters, nested at most 16 deep.
ParsedSteps parse_steps(std::string_view text);

/// What a step's name stands for in a contract, and what the step does there.
struct StepTarget {
  enum class Kind { kRing, kMbarriers, kNamedBarrier, kCounter, kCallable };
  Kind kind = Kind::kRing;
  std::size_t index = 0;  ///< into the contract's list of the kind
  bool waits = false;     ///< both for `sync`, neither for `call`
  bool arrives = false;
};

/// Nothing, with the reason in `error`, if the component has no such handle or the handle no such word.
std::optional<StepTarget> step_target(const Contract& contract, const Step& step, std::string& error);

}  // namespace pipelink::contract
