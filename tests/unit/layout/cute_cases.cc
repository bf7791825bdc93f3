// Writes random cases for cute_test.cc, one macro call a line: CuTe inverts and composes layouts that are
// types, so the cases must be source. Only cases that CuTe's own preconditions admit; it refuses others when
// it is compiled.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "packager/layout/algebra.h"
#include "packager/layout/text.h"
#include "tests/unit/layout/support.h"

namespace pipelink::layout {
namespace {

std::string numbers(const Mode& mode, const char* tuple, std::int64_t Mode::*number) {
  if (mode.leaf()) return fmt::format("Int<{}>", mode.*number);
  std::string out;
  for (const Mode& inner : mode.modes) out += (out.empty() ? "" : ",") + numbers(inner, tuple, number);
  return fmt::format("{}<{}>", tuple, out);
}

/// "Layout<Shape<Int<4>,Int<8>>,Stride<Int<8>,Int<1>>>"
std::string type_of(const Layout& layout) {
  return fmt::format("Layout<{},{}>", numbers(layout.map(), "Shape", &Mode::shape),
                     numbers(layout.map(), "Stride", &Mode::stride));
}

std::string type_of(const Swizzle& s) {
  return fmt::format("Swizzle<{},{},{}>", s.bits, s.base, s.shift);
}

void write(const char* what, const Layout& a, const std::string& more = {}) {
  fmt::print("{}(\"{}\", ({}){})\n", what, to_text(a), type_of(Layout(a.map())), more);
}

/// The divisibility that CuTe asserts when it composes, and the one that it does not: an extent of `a` in
/// which a longer extent of `b` ends is a multiple of its stride. Else CuTe 4.2 rounds, and gives
/// (4,5,8):(2,32,12) after 4:12 another value at 2.
bool admitted(const Layout& a, const Layout& b) {
  const std::vector<Mode> first = leaves(coalesce(a).map());
  for (const Mode& extent : leaves(b.map())) {
    if (extent.stride == 0 || first.size() == 1) continue;
    std::int64_t shape = extent.shape, stride = extent.stride;
    for (std::size_t i = 0; i + 1 < first.size(); ++i) {
      if (stride % first[i].shape != 0 && stride >= first[i].shape) return false;
      const std::int64_t steps = (first[i].shape + stride - 1) / stride;
      const bool rounds = first[i].shape % stride != 0;
      stride = (stride + first[i].shape - 1) / first[i].shape;
      if (steps == 1 || shape == 1) continue;
      if (rounds && shape > steps) return false;
      if (shape % std::min(steps, shape) != 0) return false;
      shape /= std::min(steps, shape);
    }
  }
  return true;
}

/// And when it finds a left inverse.
bool admitted(const Layout& a) {
  std::vector<Mode> all = leaves(coalesce(a).map());
  std::sort(all.begin(), all.end(), [](const Mode& x, const Mode& y) { return x.stride < y.stride; });
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (all[i].stride == all[i + 1].stride) return false;
  return all.front().stride != 0;
}

/// The swizzle that a successful inverse has keeps all bits.
bool whole(const Layout& a, const Result<Layout>& inverse) {
  return inverse && inverse->swizzle().bits == a.swizzle().bits;
}

void plain_cases(Generator& draw) {
  int coalesced = 0, composed = 0, right = 0, left = 0;
  while (coalesced < 40 || composed < 110 || right < 40 || left < 40) {
    const bool compact = draw.below(2) == 0;
    const Layout a = compact ? draw.compact(static_cast<std::size_t>(2 + draw.below(3)), draw.below(2) == 0)
                             : draw.any(false);
    if (leaves(a.map()).size() > 6 || a.size() < 2) continue;
    if (coalesced < 40 && !compact) {
      ++coalesced;
      write("COALESCE", a);
    }
    const Layout b = draw.any(false);
    if (composed < 110 && b.size() > 1 && leaves(b.map()).size() <= 4 && composition(a, b) &&
        admitted(a, b)) {
      ++composed;
      write("COMPOSE", a, fmt::format(", \"{}\", ({})", to_text(b), type_of(b)));
    }
    if (right < 40 && admitted(a)) {
      ++right;
      write("RIGHT_INVERSE", a);
    }
    if (left < 40 && admitted(a) && left_inverse(a)) {
      ++left;
      write("LEFT_INVERSE", a);
    }
  }
}

void swizzled_cases(Generator& draw) {
  int evaluated = 0, composed = 0, right = 0, left = 0;
  while (evaluated < 20 || composed < 30 || right < 20 || left < 20) {
    const Layout plain = draw.compact(static_cast<std::size_t>(1 + draw.below(3)), true);
    const Layout a(plain.map(), draw.swizzle());
    if (a.swizzle().trivial() || a.size() < 8) continue;
    const std::string swizzle = fmt::format(", ({})", type_of(a.swizzle()));
    if (evaluated < 20) {
      ++evaluated;
      write("SWIZZLED", a, swizzle);
    }
    const Layout b = draw.any(false);
    if (composed < 30 && b.size() > 1 && leaves(b.map()).size() <= 4 && composition(a, b) &&
        admitted(plain, b)) {
      ++composed;
      write("SWIZZLED_COMPOSE", a, fmt::format("{}, \"{}\", ({})", swizzle, to_text(b), type_of(b)));
    }
    if (right < 20 && whole(a, right_inverse(a))) {
      ++right;
      write("SWIZZLED_RIGHT_INVERSE", a, swizzle);
    }
    if (left < 20 && whole(a, left_inverse(a))) {
      ++left;
      write("SWIZZLED_LEFT_INVERSE", a, swizzle);
    }
  }
}

}  // namespace
}  // namespace pipelink::layout

int main() {
  pipelink::layout::Generator draw(20);
  pipelink::layout::plain_cases(draw);
  pipelink::layout::swizzled_cases(draw);
}
