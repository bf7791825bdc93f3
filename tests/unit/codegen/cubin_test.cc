// The cubin reader on what is whole, and on every kind of damage: an answer or I-CUBIN, never a crash.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "linker/backend/gate.h"
#include "sample_cubin.h"

namespace pipelink::test {
namespace {

/// Reads and judges; what comes out is a value or an error with its clause.
bool survives(const std::string& bytes) {
  const Outcome<CubinFacts> facts = read_cubin(bytes, "fused");
  if (!facts) {
    CHECK(facts.diagnostics.size() == 1);
    CHECK(facts.diagnostics[0].clause == "I-CUBIN");
    CHECK_FALSE(facts.diagnostics[0].reason.empty());
    return false;
  }
  GatePlan plan;
  plan.kernel = "fused";
  plan.threads = 384;
  const Outcome<GateReport> report = gate(plan, *facts, "");
  CHECK((report || !report.diagnostics.empty()));
  return true;
}

}  // namespace

TEST_CASE("a cubin's facts") {
  const Outcome<CubinFacts> facts = read_cubin(cubin_bytes(), "fused");
  REQUIRE(facts);
  CHECK(facts->has_kernel);
  CHECK(facts->functions == std::vector<std::string>{"fused"});
  CHECK(facts->registers == 168);
  CHECK(facts->barriers == 3);
  CHECK(facts->max_threads == 384);
  CHECK(facts->sets_registers);
  CHECK(facts->stack_bytes == 0);
  CHECK(facts->shared_bytes == 4096);
  CHECK(facts->shared_align == 1024);
  CHECK(facts->parameter_bytes == 64);
  CHECK(facts->text == std::string(64, '\x5a'));
  CHECK(facts->toolkit == "13.0");
}

TEST_CASE("another kernel's cubin") {
  const Outcome<CubinFacts> facts = read_cubin(cubin_bytes(), "other");
  REQUIRE(facts);
  CHECK_FALSE(facts->has_kernel);
  CHECK(facts->text.empty());
}

TEST_CASE("what is no cubin") {
  for (const std::string& bytes : {std::string(), std::string("x"), std::string(4096, '\0'),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string("!<arch>\n"), std::string("#!/bin/sh\n")})
    CHECK_FALSE(survives(bytes));
}

TEST_CASE("every truncation of a cubin") {
  const std::string whole = cubin_bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) survives(whole.substr(0, size));
}

TEST_CASE("every single-bit damage of a cubin") {
  const std::string whole = cubin_bytes();
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    survives(damaged);
  }
}

TEST_CASE("runs of random bytes in a cubin") {
  const std::string whole = cubin_bytes();
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    const std::size_t at = random() % whole.size(), length = 1 + random() % 16;
    for (std::size_t i = at; i < std::min(at + length, whole.size()); ++i)
      damaged[i] = static_cast<char>(random() % 3 ? 0xff : random());
    survives(damaged);
  }
}

TEST_CASE("a malformed attribute section is named") {
  std::string bytes = cubin_bytes();
  const std::string wanted = std::string("\x04\x2f\x08\x00", 4);
  const std::size_t at = bytes.find(wanted);
  REQUIRE(at != std::string::npos);
  bytes[at + 2] = '\x7f';  // longer than its section
  const Outcome<CubinFacts> facts = read_cubin(bytes, "fused");
  REQUIRE_FALSE(facts);
  CHECK(facts.diagnostics[0].reason == "section .nv.info is malformed");
}

}  // namespace pipelink::test
