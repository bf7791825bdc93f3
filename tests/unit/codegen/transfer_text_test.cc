#include "linker/codegen/transfer_text.h"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace pipelink;
using transfer::ThreadCondition;

/// A select by the condition, as code.
std::string selected_by(const ThreadCondition& condition) {
  transfer::Transfer t;
  t.kind = transfer::Kind::kShuffle;
  t.threads = t.consumer_threads = 128;
  t.inputs = 2;
  t.registers = 3;
  t.conditions = {condition};
  t.steps = {transfer::Select{2, 0, 0, 1}};
  t.outputs = {2};
  const contract::Type two{"const float (&)[2]", 8, 4}, one{"const float (&)[1]", 4, 4};
  std::string out;
  for (const std::string& line :
       transfer_text(t, {"t0_", 0, {}, false}, {"a0", "From", &two}, {"", "To", &one}, false).before)
    if (line.find("t0_c0 =") != std::string::npos) out = line;
  return out;
}

}  // namespace

TEST_CASE("conditions on the thread are written as they are meant") {
  ThreadCondition c;
  c.form = ThreadCondition::Form::kMasked;
  c.mask = 12;
  c.equal = 4;
  CHECK(selected_by(c) == "const bool t0_c0 = (t0_thread & 12u) == 4u;");
  c.form = ThreadCondition::Form::kParity;
  c.equal = 0;
  CHECK(selected_by(c) == "const bool t0_c0 = (__popc(t0_thread & 12u) & 1) == 0;");
  c.equal = 1;
  CHECK(selected_by(c) == "const bool t0_c0 = (__popc(t0_thread & 12u) & 1) == 1;");
  c.form = ThreadCondition::Form::kLess;
  c.bound = 5;
  CHECK(selected_by(c) == "const bool t0_c0 = t0_thread < 5u;");
  c.form = ThreadCondition::Form::kLanes;
  c.lanes = {3, 1};
  CHECK(selected_by(c) ==
        "const bool t0_c0 = ((t0_thread / 32 == 0u ? 0x3u : 0x1u) >> (t0_thread % 32) & 1u) != 0;");
}
