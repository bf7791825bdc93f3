// Damaged inputs: never a crash, never accepted in silence where a digest guards, always a clear error.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "packager/base/catalog.h"
#include "packager/base/render.h"
#include "packager/capture/object.h"
#include "packager/capture/ptx.h"
#include "packager/package/package.h"
#include "tests/unit/packager/fixture.h"

namespace pipelink {
namespace {

/// A small deterministic generator; its quality does not matter here.
struct Random {
  std::uint64_t state = 42;
  std::size_t below(std::size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % n;
  }
};

void refused(const Diagnostics& found) {
  REQUIRE(!found.empty());
  for (const Diagnostic& diagnostic : found) {
    REQUIRE(find_clause(diagnostic.clause) != nullptr);
    REQUIRE(!diagnostic.title.empty());
  }
}

std::string flipped(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

}  // namespace

TEST_SUITE_BEGIN("damage");

TEST_CASE("every truncation of a package is refused") {
  const std::string bytes = *package_bytes(test::sample_contract(), {"code"});
  REQUIRE(parse_package(bytes, "x"));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const Outcome<Package> read = parse_package(std::string_view(bytes).substr(0, n), "x");
    if (read)
      FAIL_CHECK("accepted with " << n << " bytes");
    else
      refused(read.diagnostics);
  }
}

TEST_CASE("every single flipped bit of a package is refused") {
  const std::string bytes = *package_bytes(test::sample_contract(), {"code"});
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 5) {
    const Outcome<Package> read = parse_package(flipped(bytes, bit), "x");
    if (read)
      FAIL_CHECK("accepted with bit " << bit << " flipped");
    else
      refused(read.diagnostics);
  }
}

TEST_CASE("objects: truncations and flipped bits") {
  const contract::Contract sample = test::sample_contract();
  const std::string plain = test::fatbin({{1, test::twin_of(sample).substr(0, 1500)}, {8, test::ltoir()}});
  for (const std::string& bytes : {plain, test::elf(plain)}) {
    REQUIRE(parse_object(bytes, "x"));
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      const Outcome<std::vector<FatbinEntry>> read = parse_object(std::string_view(bytes).substr(0, n), "x");
      if (read)
        FAIL_CHECK("accepted with " << n << " bytes");
      else
        refused(read.diagnostics);
    }
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const Outcome<std::vector<FatbinEntry>> read = parse_object(flipped(bytes, bit), "x");
      if (!read) refused(read.diagnostics);
    }
  }
}

TEST_CASE("PTX: cut, mixed up, overwritten") {
  const std::string text = test::twin_of(
      test::sample_contract(),
      ".global .u32 v;\n.visible .func f() {\nmov.u64 %rd1, v;\nst.global.u32 [%rd1], %r1;\n}\n");
  for (std::size_t n = 0; n < text.size(); n += 97) parse_ptx(std::string_view(text).substr(0, n), "x");
  Random random;
  const char alphabet[] = "{}()[];\"./*@:= \n\0,0aZ%$";
  for (int i = 0; i < 300; ++i) {
    std::string damaged = text;
    for (int n = 0; n < 8; ++n)
      damaged[random.below(damaged.size())] = alphabet[random.below(sizeof alphabet - 1)];
    const Outcome<PtxFacts> read = parse_ptx(damaged, "x");
    if (!read) refused(read.diagnostics);
  }
}

TEST_SUITE_END();

}  // namespace pipelink
