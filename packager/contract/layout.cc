#include "packager/contract/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace pipelink::contract {
namespace {

constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxLeaves = 64;
constexpr std::size_t kMaxText = 4096;
constexpr std::int64_t kMaxStride = std::int64_t{1} << 40;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// An integer, or a tuple of them, nested.
struct Tree {
  bool leaf = false;
  std::int64_t number = 0;
  std::size_t column = 0;
  std::vector<Tree> children;
};

struct Parser {
  std::string_view text;
  std::size_t at = 0;
  std::size_t leaves = 0;
  std::string fault;

  bool fail(std::size_t where, std::string_view why) {
    if (fault.empty()) fault = fmt::format("column {}: {}", where + 1, why);
    return false;
  }

  void skip() {
    while (at < text.size() && text[at] == ' ') ++at;
  }

  bool accept(char c) {
    skip();
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }

  bool expect(char c) { return accept(c) || fail(at, fmt::format("expected '{}'", c)); }

  bool number(std::int64_t& value) {
    accept('_');
    skip();
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == begin) return fail(at, "expected a number");
    const auto parsed = std::from_chars(text.data() + begin, text.data() + at, value);
    if (parsed.ec != std::errc{} || value > kMaxStride) return fail(begin, "the number is too large");
    return true;
  }

  bool tree(Tree& out, int depth) {
    if (depth > kMaxDepth) return fail(at, "nested too deep");
    skip();
    out.column = at;
    if (!accept('(')) {
      out.leaf = true;
      if (++leaves > 2 * kMaxLeaves) return fail(at, fmt::format("more than {} extents", kMaxLeaves));
      return number(out.number);
    }
    do {
      out.children.emplace_back();
      if (!tree(out.children.back(), depth + 1)) return false;
    } while (accept(','));
    return expect(')');
  }

  bool swizzle(Swizzle& out) {
    skip();
    if (!text.substr(at).starts_with("Sw<")) return true;
    const std::size_t begin = at;
    at += 3;
    std::int64_t bits = 0, base = 0, shift = 0;
    if (!number(bits) || !expect(',') || !number(base) || !expect(',') || !number(shift) || !expect('>'))
      return false;
    if (bits > 16 || base > 24 || shift > 24 || shift < bits)
      return fail(begin, "the swizzle is out of range");
    out = {static_cast<int>(bits), static_cast<int>(base), static_cast<int>(shift)};
    return expect('o');
  }
};

bool flatten(Parser& parser, const Tree& shape, const Tree& stride, std::vector<LayoutLeaf>& mode) {
  if (shape.leaf != stride.leaf || shape.children.size() != stride.children.size())
    return parser.fail(stride.column, "the strides are not nested as the shape is");
  if (shape.leaf) {
    if (shape.number < 1) return parser.fail(shape.column, "an extent is at least 1");
    mode.push_back({shape.number, stride.number});
    return true;
  }
  for (std::size_t i = 0; i < shape.children.size(); ++i)
    if (!flatten(parser, shape.children[i], stride.children[i], mode)) return false;
  return true;
}

bool build(Parser& parser, Layout& layout) {
  if (!parser.swizzle(layout.swizzle)) return false;
  Tree shape, stride;
  if (!parser.tree(shape, 0) || !parser.expect(':') || !parser.tree(stride, 0)) return false;
  parser.skip();
  if (parser.at < parser.text.size()) return parser.fail(parser.at, "expected the end");
  if (shape.leaf || shape.children.size() == 1) {
    layout.modes.resize(1);
    if (!flatten(parser, shape, stride, layout.modes[0])) return false;
  } else {
    if (shape.children.size() != 2) return parser.fail(shape.column, "expected two modes, (thread, value)");
    if (stride.leaf || stride.children.size() != 2)
      return parser.fail(stride.column, "the strides are not nested as the shape is");
    layout.modes.resize(2);
    for (std::size_t i = 0; i < 2; ++i)
      if (!flatten(parser, shape.children[i], stride.children[i], layout.modes[i])) return false;
  }
  std::int64_t size = 1;
  for (const auto& mode : layout.modes)
    for (const LayoutLeaf& leaf : mode) {
      if (leaf.shape > kMaxLayoutSize / size)
        return parser.fail(shape.column, fmt::format("more than {} elements", kMaxLayoutSize));
      size *= leaf.shape;
    }
  return true;
}

/// The offsets of a mode's coordinates 0, 1, …, before the swizzle.
std::vector<std::int64_t> offsets(const std::vector<LayoutLeaf>& mode) {
  std::vector<std::int64_t> out{0};
  for (const LayoutLeaf& leaf : mode) {
    const std::size_t block = out.size();
    out.reserve(block * static_cast<std::size_t>(leaf.shape));
    for (std::int64_t i = 1; i < leaf.shape; ++i)
      for (std::size_t j = 0; j < block; ++j) out.push_back(out[j] + i * leaf.stride);
  }
  return out;
}

/// A layout's indices, looked up without division.
struct Table {
  std::vector<std::int64_t> thread, value{0};
  Swizzle swizzle;
  explicit Table(const Layout& layout) : thread(offsets(layout.modes[0])), swizzle(layout.swizzle) {
    if (layout.modes.size() > 1) value = offsets(layout.modes[1]);
  }
  std::int64_t operator()(std::size_t t, std::size_t v) const { return swizzle(thread[t] + value[v]); }
};

}  // namespace

std::int64_t Swizzle::operator()(std::int64_t index) const {
  const std::int64_t mask = ((std::int64_t{1} << bits) - 1) << (base + shift);
  return index ^ ((index & mask) >> shift);
}

std::int64_t Layout::size(std::size_t mode) const {
  std::int64_t size = 1;
  for (const LayoutLeaf& leaf : modes[mode]) size *= leaf.shape;
  return size;
}

std::int64_t Layout::size() const {
  std::int64_t total = 1;
  for (std::size_t i = 0; i < modes.size(); ++i) total *= size(i);
  return total;
}

std::int64_t Layout::operator()(std::int64_t thread, std::int64_t value) const {
  std::int64_t index = 0;
  const std::int64_t coordinates[] = {thread, value};
  for (std::size_t i = 0; i < modes.size() && i < 2; ++i) {
    std::int64_t rest = coordinates[i];
    for (const LayoutLeaf& leaf : modes[i]) {
      index += rest % leaf.shape * leaf.stride;
      rest /= leaf.shape;
    }
  }
  return swizzle(index);
}

ParsedLayout parse_layout(std::string_view text) {
  Parser parser;
  parser.text = text;
  Layout layout;
  if (text.size() > kMaxText) parser.fail(0, fmt::format("longer than {} characters", kMaxText));
  ParsedLayout result;
  if (parser.fault.empty() && build(parser, layout)) result.value = std::move(layout);
  result.error = std::move(parser.fault);
  return result;
}

std::string cover_fault(const Layout& layout, std::int64_t tile_size) {
  if (layout.size() != tile_size)
    return fmt::format("the layout has {} threads x {} values = {} elements, the tile has {}",
                       layout.threads(), layout.values(), layout.size(), tile_size);
  const Table table(layout);
  std::vector<std::int64_t> holder(static_cast<std::size_t>(tile_size), -1);
  const std::size_t values = table.value.size();
  for (std::size_t t = 0; t < table.thread.size(); ++t) {
    for (std::size_t v = 0; v < values; ++v) {
      const std::int64_t index = table(t, v);
      if (index < 0 || index >= tile_size)
        return fmt::format("thread {} value {} is element {}, the tile ends at {}", t, v, index,
                           tile_size - 1);
      std::int64_t& held = holder[static_cast<std::size_t>(index)];
      if (held >= 0) {
        const auto count = static_cast<std::int64_t>(values);
        return fmt::format("tile element {} is held twice, by thread {} value {} and thread {} value {}",
                           index, held / count, held % count, t, v);
      }
      held = static_cast<std::int64_t>(t * values + v);
    }
  }
  return {};
}

bool same_function(const Layout& a, const Layout& b) {
  if (a.threads() != b.threads() || a.values() != b.values()) return false;
  const Table left(a), right(b);
  for (std::size_t t = 0; t < left.thread.size(); ++t)
    for (std::size_t v = 0; v < left.value.size(); ++v)
      if (left(t, v) != right(t, v)) return false;
  return true;
}

std::optional<std::vector<std::int64_t>> value_permutation(const Layout& a, const Layout& b) {
  if (a.threads() != b.threads() || a.values() != b.values()) return std::nullopt;
  const Table left(a), right(b);
  const std::size_t values = left.value.size();
  std::vector<std::pair<std::int64_t, std::int64_t>> held(values);  // (index, value) of b's thread 0
  for (std::size_t v = 0; v < values; ++v) held[v] = {right(0, v), static_cast<std::int64_t>(v)};
  std::sort(held.begin(), held.end());
  for (std::size_t v = 1; v < values; ++v)
    if (held[v - 1].first == held[v].first) return std::nullopt;
  std::vector<std::int64_t> permutation(values);
  for (std::size_t v = 0; v < values; ++v) {
    const auto found = std::lower_bound(held.begin(), held.end(), std::pair{left(0, v), std::int64_t{0}});
    if (found == held.end() || found->first != left(0, v)) return std::nullopt;
    permutation[v] = found->second;
  }
  for (std::size_t t = 1; t < left.thread.size(); ++t)
    for (std::size_t v = 0; v < values; ++v)
      if (left(t, v) != right(t, static_cast<std::size_t>(permutation[v]))) return std::nullopt;
  return permutation;
}

}  // namespace pipelink::contract
