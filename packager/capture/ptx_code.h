// The instructions of PTX that contracts speak of, with where their operands come from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "packager/base/diagnostic.h"

namespace pipelink {

/// What a value can be made of, over all paths through one function. Nothing of it is lost; a loop's counter
/// is made of constants.
struct PtxOrigin {
  bool constants = false;  ///< numbers in the code
  bool unknown = false;    ///< parameters, loads, special registers
  std::set<std::string, std::less<>>
      from;                           ///< functions whose results, and variables whose addresses, it is of
  std::optional<std::int64_t> value;  ///< if it is one number, unchanged
  std::string thread;  ///< "%tid.x", "%ntid.x": if it is that, also moved, divided, or handed round a warp;
                       ///< of the latter, also multiplied
  bool whole_thread = false;  ///< it is that and nothing else

  bool only_constants() const { return constants && !unknown && from.empty(); }
};

struct PtxOperand {
  std::string text;  ///< "%r1", "128", "[%r1+8]", "{%f1, %f2}"
  PtxOrigin origin;  ///< of an address in brackets: of its base
};

struct PtxInstruction {
  std::string function;  ///< the symbol of the function that holds it
  std::string opcode;    ///< "barrier.sync"
  std::vector<PtxOperand> operands;
  SourceSpan where;  ///< if the object was compiled with -lineinfo

  std::string text() const;  ///< "barrier.sync 3, 128"
};

/// The instructions of a body in order: those on barriers, mbarriers, shared and tensor memory, clusters,
/// asynchronous copies, matrix units, registers, waits on global memory, and those that compare the thread's
/// number in the block with a number or step by the number of threads. `files` are those that `.loc` counts.
std::vector<PtxInstruction> ptx_code(std::string_view function, std::string_view body,
                                     const std::map<int, std::string>& files = {});

}  // namespace pipelink
