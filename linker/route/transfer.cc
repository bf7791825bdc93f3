#include "linker/route/transfer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

namespace pipelink::transfer {
namespace {

std::uint32_t shifted(std::uint32_t bits, int left) {
  return left >= 0 ? bits << left : bits >> -left;
}

/// Indices may point nowhere: faults are told with text too.
template <typename T>
std::string text_at(const std::vector<T>& list, int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= list.size()) return fmt::format("?{}", index);
  return text_of(list[static_cast<std::size_t>(index)]);
}

std::string text_of(const Transfer& transfer, const Address& address) {
  std::string at = text_at(transfer.values, address.value);
  if (address.flip != 0) at = fmt::format("({}) ^ {}", at, address.flip);
  if (address.plus != 0) at += fmt::format(" + {}", address.plus);
  return fmt::format("{}[{}]", address.buffer == Address::Buffer::kProducer ? "producer" : "shared", at);
}

std::string name(Register r) {
  return r == kNoRegister ? "-" : fmt::format("r{}", r);
}

std::string names(const std::vector<Register>& registers) {
  std::vector<std::string> out;
  for (const Register r : registers) out.push_back(name(r));
  return fmt::format("{{{}}}", fmt::join(out, ", "));
}

/// Overloads of one step each.
struct Text {
  const Transfer& transfer;

  std::string condition(int index) const {
    return index == kAlways ? std::string() : fmt::format(" if {}", text_at(transfer.conditions, index));
  }

  std::string operator()(const Permute& s) const {
    return fmt::format("{} = permute({}, {}, {})", name(s.result), name(s.low), name(s.high),
                       s.selector_value < 0 ? fmt::format("{:#06x}", s.selector)
                                            : text_at(transfer.values, s.selector_value));
  }
  std::string operator()(const Select& s) const {
    return fmt::format("{} = {} ? {} : {}", name(s.result), text_at(transfer.conditions, s.condition),
                       name(s.yes), name(s.no));
  }
  std::string operator()(const Shuffle& s) const {
    const bool known = s.lane >= 0 && static_cast<std::size_t>(s.lane) < transfer.values.size();
    const std::optional<int> flip =
        known ? xor_lane(transfer.values[static_cast<std::size_t>(s.lane)]) : std::nullopt;
    return fmt::format("{} = shuffle({}, {})", name(s.result), name(s.source),
                       flip ? fmt::format("lane ^ {}", *flip) : text_at(transfer.values, s.lane));
  }
  std::string operator()(const Store& s) const {
    return fmt::format("{} = {} ({} bytes){}", text_of(transfer, s.address), names(s.sources), s.bytes,
                       condition(s.condition));
  }
  std::string operator()(const Load& s) const {
    return fmt::format("{} = {} ({} bytes)", names(s.results), text_of(transfer, s.address), s.bytes);
  }
  std::string operator()(const StoreMatrix& s) const {
    return fmt::format("stmatrix.x{}{} {} = {}", s.sources.size(), s.transposed ? ".trans" : "",
                       text_of(transfer, s.rows), names(s.sources));
  }
  std::string operator()(const LoadMatrix& s) const {
    return fmt::format("{} = ldmatrix.x{}{} {}", names(s.results), s.results.size(),
                       s.transposed ? ".trans" : "", text_of(transfer, s.rows));
  }
  std::string operator()(const WarpBarrier&) const { return "warp barrier"; }
  std::string operator()(const NamedBarrier& s) const {
    return fmt::format("{} {} ({} threads)", s.waits ? "sync" : "arrive",
                       s.barrier >= 0 && static_cast<std::size_t>(s.barrier) < transfer.barriers.size()
                           ? transfer.barriers[static_cast<std::size_t>(s.barrier)].name
                           : fmt::format("?{}", s.barrier),
                       s.threads);
  }
  std::string operator()(const AsyncFence&) const { return "fence.proxy.async"; }
  std::string operator()(const TensorLoad& s) const {
    return fmt::format("{} = tcgen05.ld.{} lane {} column {}", names(s.results), name_of(s.shape), s.lane,
                       s.column);
  }
  std::string operator()(const TensorWait&) const { return "tcgen05.wait::ld"; }
};

}  // namespace

std::int32_t ThreadValue::operator()(int thread) const {
  switch (form) {
    case Form::kXor: {
      std::uint32_t out = static_cast<std::uint32_t>(constant);
      for (const XorTerm& term : xors)
        out ^= shifted(static_cast<std::uint32_t>(thread) & term.mask, term.left);
      return static_cast<std::int32_t>(out);
    }
    case Form::kSum: {
      std::int32_t out = constant;
      for (const SumTerm& term : sums) out += thread / term.divide % term.modulo * term.multiply;
      return out;
    }
    case Form::kTable:
      break;
  }
  return table.at(static_cast<std::size_t>(thread));
}

bool ThreadCondition::operator()(int thread) const {
  const auto bits = static_cast<std::uint32_t>(thread);
  switch (form) {
    case Form::kMasked:
      return (bits & mask) == equal;
    case Form::kParity:
      return static_cast<std::uint32_t>(std::popcount(bits & mask)) % 2 == equal;
    case Form::kLess:
      return thread < bound;
    case Form::kLanes:
      break;
  }
  return (lanes.at(lanes.size() == 1 ? 0 : bits / 32) >> (bits % 32) & 1) != 0;
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kSame:
      return "registers";
    case Kind::kRenamed:
      return "registers, renamed";
    case Kind::kPermuted:
      return "registers, permuted";
    case Kind::kInPlace:
      return "in place";
    case Kind::kTensorLoad:
      return "tensor memory load";
    case Kind::kShuffle:
      return "shuffle";
    case Kind::kStaging:
      return "staging";
    case Kind::kStore:
      return "store";
    case Kind::kLoad:
      break;
  }
  return "load";
}

std::string_view name_of(TensorShape shape) {
  switch (shape) {
    case TensorShape::k32x32b:
      return "32x32b";
    case TensorShape::k16x64b:
      return "16x64b";
    case TensorShape::k16x128b:
      return "16x128b";
    case TensorShape::k16x256b:
      break;
  }
  return "16x256b";
}

std::optional<int> xor_lane(const ThreadValue& value) {
  if (value.form != ThreadValue::Form::kXor || value.xors.size() != 1) return std::nullopt;
  const ThreadValue::XorTerm& term = value.xors.front();
  if (term.left != 0 || term.mask != 31 || value.constant < 0 || value.constant > 31) return std::nullopt;
  return value.constant;
}

std::vector<ThreadGroup> groups(const ThreadValue& value, int threads) {
  std::map<std::int32_t, std::vector<std::uint32_t>> masks;
  const auto words = static_cast<std::size_t>((threads + 31) / 32);
  for (int t = 0; t < threads; ++t) {
    std::vector<std::uint32_t>& mask = masks[value(t)];
    mask.resize(words);
    mask[static_cast<std::size_t>(t) / 32] |= std::uint32_t{1} << (t % 32);
  }
  struct Entry {
    ThreadGroup group;
    int count = 0;
  };
  std::vector<Entry> entries;
  for (auto& [number, mask] : masks) {
    Entry entry;
    entry.group.number = number;
    for (const std::uint32_t word : mask) entry.count += std::popcount(word);
    if (std::adjacent_find(mask.begin(), mask.end(), std::not_equal_to<>()) == mask.end()) mask.resize(1);
    entry.group.condition.form = ThreadCondition::Form::kLanes;
    entry.group.condition.lanes = std::move(mask);
    entries.push_back(std::move(entry));
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.count < b.count; });
  std::vector<ThreadGroup> out;
  out.reserve(entries.size());
  for (Entry& entry : entries) out.push_back(std::move(entry.group));
  return out;
}

std::string text_of(const ThreadValue& value) {
  std::string out;
  switch (value.form) {
    case ThreadValue::Form::kXor:
      for (const ThreadValue::XorTerm& term : value.xors) {
        if (!out.empty()) out += " ^ ";
        out += fmt::format("(thread & {})", term.mask);
        if (term.left > 0) out += fmt::format(" << {}", term.left);
        if (term.left < 0) out += fmt::format(" >> {}", -term.left);
      }
      if (value.constant != 0 || out.empty())
        out += fmt::format("{}{}", out.empty() ? "" : " ^ ", value.constant);
      return out;
    case ThreadValue::Form::kSum:
      for (const ThreadValue::SumTerm& term : value.sums)
        out += fmt::format("{}thread / {} % {} * {}", out.empty() ? "" : " + ", term.divide, term.modulo,
                           term.multiply);
      if (value.constant != 0 || out.empty())
        out += fmt::format("{}{}", out.empty() ? "" : " + ", value.constant);
      return out;
    case ThreadValue::Form::kTable:
      break;
  }
  return fmt::format("table({})", fmt::join(value.table, ","));
}

std::string text_of(const ThreadCondition& condition) {
  switch (condition.form) {
    case ThreadCondition::Form::kMasked:
      return fmt::format("(thread & {}) == {}", condition.mask, condition.equal);
    case ThreadCondition::Form::kParity:
      return fmt::format("parity(thread & {}) == {}", condition.mask, condition.equal);
    case ThreadCondition::Form::kLess:
      return fmt::format("thread < {}", condition.bound);
    case ThreadCondition::Form::kLanes:
      break;
  }
  std::vector<std::string> words;
  for (const std::uint32_t word : condition.lanes) words.push_back(fmt::format("{:#010x}", word));
  return fmt::format("lanes({})", fmt::join(words, ","));
}

std::string text_of(const Transfer& transfer, const Step& step) {
  return std::visit(Text{transfer}, step);
}

std::string text_of(const Transfer& transfer) {
  std::string out = fmt::format("{}{}{}: {} threads", name_of(transfer.kind),
                                transfer.method.empty() ? "" : ", ", transfer.method, transfer.threads);
  if (transfer.consumer_threads != transfer.threads)
    out += fmt::format(", {} consume", transfer.consumer_threads);
  if (transfer.groups > 1) out += fmt::format(", {} groups", transfer.groups);
  out += '\n';
  if (transfer.buffer_bytes > 0)
    out += fmt::format("buffer of {} bytes, aligned to {}\n", transfer.buffer_bytes, transfer.buffer_align);
  for (const BarrierClaim& barrier : transfer.barriers)
    out += fmt::format("barrier {} of {} threads\n", barrier.name, barrier.threads);
  const std::pair<std::string_view, const std::vector<Step>*> lists[] = {{"steps", &transfer.steps},
                                                                         {"after", &transfer.after},
                                                                         {"receive", &transfer.receive},
                                                                         {"release", &transfer.release}};
  for (const auto& [title, steps] : lists) {
    if (steps->empty()) continue;
    out += fmt::format("{}:\n", title);
    for (const Step& step : *steps) out += fmt::format("  {}\n", text_of(transfer, step));
  }
  if (!transfer.outputs.empty()) out += fmt::format("outputs: {}\n", names(transfer.outputs));
  return out;
}

}  // namespace pipelink::transfer
