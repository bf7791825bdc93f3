// The text form of a placement problem (.pl), one line per item, # starts a comment:
//
//   inst NAME
//   target smem= regs= warps= smwarps= bars= tmem= blocks=
//   loop                                   the phases repeat
//   phase NAME predecessors…
//   order A B [previous]                   B comes after A (of the previous iteration)
//   ring NAME depth=min:max tier= weight=
//   buf NAME size=BYTES | stage=BYTES ring=R, align=, live=p,q | p..q | always
//   bar NAME live=
//   tmem NAME cols= live=
//   role NAME warps= wg=0|1 | align=1|2|4, regs=min:max
//
// `p..q` is every phase from p to q in the order of one iteration. The owner is the part of a name before its
// last dot.
#pragma once

#include <string>
#include <string_view>

#include "linker/place/problem.h"

namespace pipelink::place {

/// `file` is the name for messages. All errors are reported, as I-INSTANCE, each with its line.
Outcome<Problem> parse_instance(std::string_view text, const std::string& file);

/// The same form, canonical: lists sorted by name. parse_instance(write_instance(p)) is p, sorted.
std::string write_instance(const Problem& problem);

}  // namespace pipelink::place
