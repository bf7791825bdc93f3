// Faults that are planted into right transfers, one at a time: every step dropped, every field of every step,
// claim and table altered. The verifier has to object. A mutant may pass only if it is equivalent: its data
// still arrive on the test's own machine (a byte that nobody cares for was changed), or it waits where the
// original did not.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <random>

#include "machine.h"
#include "maps.h"

using namespace pipelink::transfer;
using namespace pipelink::transfer::test;

namespace {

struct Sample {
  std::string name;
  Request request;
  Transfer transfer;
};

Sample sample(std::string name, const Request& request, Kind kind) {
  Planned planned = plan_transfer(request);
  CAPTURE(name);
  REQUIRE(planned.transfer);
  REQUIRE(planned.transfer->kind == kind);
  return {std::move(name), request, std::move(*planned.transfer)};
}

Request between(Endpoint from, Endpoint to, bool two_roles = false) {
  Request request;
  request.from = std::move(from);
  request.to = std::move(to);
  request.two_roles = two_roles;
  return request;
}

/// Every kind of step and every way to order them, in small tiles.
std::vector<Sample> samples() {
  const Tile tile{16, 16};
  const auto mma = [&](int eb) {
    return in_registers(tile_map(tile, 32, 8, eb, [](int t, int v) {
      return At{t / 4 + v / 2 % 2 * 8, v / 4 * 8 + t % 4 * 2 + v % 2};
    }));
  };
  const auto rows = [&](int threads, int eb) { return in_registers(blocked(tile, threads, eb)); };
  const auto runs = [&](int threads, int eb) { return in_registers(striped(tile, threads, 1, eb)); };
  const auto columns = [&](int threads, int eb) { return in_registers(column_blocked(tile, threads, eb)); };
  const auto shared = [&](int threads, int eb, bool async = false) {
    return in_shared(row_major(tile, eb, 16), eb, threads, async, 16);
  };
  TileMap named = blocked(tile, 32, 4), halves = blocked(tile, 32, 2), replicated = blocked(tile, 64, 4);
  for (int t = 0; t < 32; ++t)
    for (int v = 0; v < 8; ++v) {
      named.element[static_cast<std::size_t>(t * 8 + v)] = t * 8 + (v + 3) % 8;
      halves.element[static_cast<std::size_t>(t * 8 + v)] = t * 8 + v * 3 % 8;
    }
  for (std::size_t i = 0; i < replicated.element.size(); ++i) replicated.element[i] %= 128;
  TileMap turned = blocked(tile, 32, 4);
  for (std::int32_t& e : turned.element) e = (e + 9) % 256;
  TileMap in_warps = blocked(tile, 64, 4);
  for (std::size_t i = 0; i < in_warps.element.size(); ++i)
    in_warps.element[i] = static_cast<std::int32_t>(i / 128 * 128 + i % 128 * 37 % 128);
  const Tile half{8, 16};
  const auto lanes = in_tensor_memory(map_of(128, 8, 4, [](int t, int v) { return t * 8 + v; }));
  const auto quads = map_of(128, 8, 4, [](int t, int v) {
    return (t / 32 * 32 + v / 4 * 16 + t % 32 / 4 + v / 2 % 2 * 8) * 8 + t % 4 * 2 + v % 2;
  });
  std::vector<Sample> out;
  out.push_back(sample("renamed", between(rows(32, 4), in_registers(named)), Kind::kRenamed));
  out.push_back(sample("permuted halves", between(rows(32, 2), in_registers(halves)), Kind::kPermuted));
  out.push_back(sample("exchanges", between(mma(4), rows(32, 4)), Kind::kShuffle));
  out.push_back(sample("exchanges of halves", between(mma(2), runs(32, 2)), Kind::kShuffle));
  out.push_back(sample("exchanges of bytes", between(rows(32, 1), runs(32, 1)), Kind::kShuffle));
  out.push_back(sample("rotations", between(rows(32, 4), in_registers(turned)), Kind::kShuffle));
  out.push_back(sample("staging", between(rows(64, 4), columns(64, 4)), Kind::kStaging));
  out.push_back(sample("staging of halves", between(rows(64, 2), columns(64, 2)), Kind::kStaging));
  out.push_back(sample("within warps", between(rows(64, 4), in_registers(in_warps)), Kind::kShuffle));
  TileMap scattered = blocked({16, 64}, 64, 4);  // within each warp, in no order
  std::mt19937 random(3);
  for (std::size_t i = 0; i < scattered.element.size(); ++i)
    std::swap(scattered.element[i], scattered.element[i - i % 512 + random() % (i % 512 + 1)]);
  out.push_back(sample("staging within warps",
                       between(in_registers(blocked({16, 64}, 64, 4)), in_registers(scattered)),
                       Kind::kStaging));
  out.push_back(sample("stored", between(mma(2), shared(32, 2, true)), Kind::kStore));
  out.push_back(sample("stored by all", between(rows(64, 4), shared(64, 4, true)), Kind::kStore));
  out.push_back(sample("stored by one of two",
                       between(in_registers(replicated), in_shared(row_major(half, 4), 4, 64)),
                       Kind::kStore));
  out.push_back(sample("two roles", between(rows(64, 4), columns(32, 4), true), Kind::kStaging));
  out.push_back(sample("two roles, stored", between(mma(2), shared(64, 2, true), true), Kind::kStore));
  out.push_back(sample("two roles, from shared", between(shared(64, 4), rows(32, 4), true), Kind::kStaging));
  out.push_back(sample("loaded", between(shared(64, 4), rows(64, 4)), Kind::kLoad));
  out.push_back(sample("loaded matrices", between(shared(32, 2), mma(2)), Kind::kLoad));
  out.push_back(
      sample("copied", between(shared(64, 4), in_shared(column_major(tile, 4), 4, 64, true)), Kind::kStore));
  out.push_back(sample("in place", between(shared(64, 4), shared(64, 4, true)), Kind::kInPlace));
  out.push_back(sample("tensor memory", between(lanes, in_registers(quads)), Kind::kTensorLoad));
  out.push_back(sample("tensor memory, staged", between(lanes, in_registers(striped({128, 8}, 128, 1, 4))),
                       Kind::kStaging));
  return out;
}

/// Runs the verifier on each mutant.
class Judge {
 public:
  explicit Judge(const Sample& original) : original_(original) {}

  /// What alters the transfer changes only the data's way: if it passes, the data must arrive all the same.
  void data(const std::string& what, const std::function<void(Transfer&)>& alter) {
    judge(what, alter, true);
  }
  /// What alters the order, or a claim: it may not pass.
  void order(const std::string& what, const std::function<void(Transfer&)>& alter) {
    judge(what, alter, false);
  }

  int mutants = 0, equivalent = 0;

 private:
  void judge(const std::string& what, const std::function<void(Transfer&)>& alter, bool may_be_equivalent) {
    Transfer mutant = original_.transfer;
    alter(mutant);
    ++mutants;
    if (!verify_transfer(original_.request, mutant).empty()) return;
    ++equivalent;
    CAPTURE(original_.name);
    CAPTURE(what);
    CAPTURE(text_of(mutant));
    CHECK(may_be_equivalent);
    CHECK(run_on_bytes(original_.request, mutant, 7) == "");
  }

  const Sample& original_;
};

using List = std::vector<Step> Transfer::*;
constexpr List kLists[] = {&Transfer::steps, &Transfer::after, &Transfer::receive, &Transfer::release};

/// Alters one field of one step.
template <typename S>
std::function<void(Transfer&)> at(List list, std::size_t i, const std::function<void(Transfer&, S&)>& alter) {
  return [=](Transfer& t) { alter(t, std::get<S>((t.*list)[i])); };
}

int other_register(const Transfer& t, Register r) {
  return r > 0 ? r - 1 : std::min(t.registers - 1, 1);
}

/// A copy of a value, altered, for one step alone.
int altered_value(Transfer& t, int index, std::int32_t flip) {
  ThreadValue value = t.values.at(static_cast<std::size_t>(index));
  if (value.form == ThreadValue::Form::kTable)
    for (std::int32_t& n : value.table) n ^= flip;
  else if (value.form == ThreadValue::Form::kXor)
    value.constant ^= flip;
  else
    value.constant += flip;
  t.values.push_back(value);
  return static_cast<int>(t.values.size()) - 1;
}

struct StepMutants {
  Judge& judge;
  const Sample& original;
  List list;
  std::size_t i;
  std::string what;

  void address(const std::function<Address&(Transfer&)>& of, int bytes) const {
    for (const int by : {bytes, -bytes, 4, 1 << 20})
      judge.data(what + ": address plus " + std::to_string(by), [&](Transfer& t) { of(t).plus += by; });
    judge.data(what + ": address flipped", [&](Transfer& t) { of(t).flip ^= bytes; });
    judge.data(what + ": other buffer", [&](Transfer& t) {
      Address& a = of(t);
      a.buffer =
          a.buffer == Address::Buffer::kTransfer ? Address::Buffer::kProducer : Address::Buffer::kTransfer;
    });
    judge.data(what + ": value that does not exist", [&](Transfer& t) { of(t).value = 1000; });
  }
  void registers(const std::function<std::vector<Register>&(Transfer&)>& of, std::size_t count) const {
    for (std::size_t r = 0; r < count; ++r) {
      judge.data(what + ": other register", [&](Transfer& t) { of(t)[r] = other_register(t, of(t)[r]); });
      if (r > 0) judge.data(what + ": swapped", [&](Transfer& t) { std::swap(of(t)[r], of(t)[r - 1]); });
    }
    judge.data(what + ": a register less", [&](Transfer& t) { of(t).pop_back(); });
  }
  Step& step(Transfer& t) const { return (t.*list)[i]; }

  void operator()(const Permute&) const {
    for (int nibble = 0; nibble < 4; ++nibble)
      for (const int by : {1, 2, 4})
        judge.data(what + ": selector", [&](Transfer& t) {
          auto& s = std::get<Permute>(step(t));
          if (s.selector_value >= 0)
            s.selector_value = altered_value(t, s.selector_value, by << (4 * nibble));
          else
            s.selector ^= static_cast<std::uint32_t>(by) << (4 * nibble);
        });
    judge.data(what + ": sources swapped",
               at<Permute>(list, i, [](Transfer&, Permute& s) { std::swap(s.low, s.high); }));
    judge.data(what + ": low",
               at<Permute>(list, i, [](Transfer& t, Permute& s) { s.low = other_register(t, s.low); }));
    judge.data(what + ": high",
               at<Permute>(list, i, [](Transfer& t, Permute& s) { s.high = other_register(t, s.high); }));
  }
  void operator()(const Select&) const {
    judge.data(what + ": swapped", at<Select>(list, i, [](Transfer&, Select& s) { std::swap(s.yes, s.no); }));
    judge.data(what + ": yes",
               at<Select>(list, i, [](Transfer& t, Select& s) { s.yes = other_register(t, s.yes); }));
    judge.data(what + ": no",
               at<Select>(list, i, [](Transfer& t, Select& s) { s.no = other_register(t, s.no); }));
    for (std::size_t c = 0; c < original.transfer.conditions.size(); ++c)
      judge.data(what + ": condition", at<Select>(list, i, [c](Transfer&, Select& s) {
                   s.condition =
                       s.condition == static_cast<int>(c) ? static_cast<int>(c) + 1 : static_cast<int>(c);
                 }));
  }
  void operator()(const Shuffle&) const {
    for (const int by : {1, 2, 4, 8, 16, 32})
      judge.data(what + ": lane", at<Shuffle>(list, i, [by](Transfer& t, Shuffle& s) {
                   s.lane = altered_value(t, s.lane, by);
                 }));
    judge.data(what + ": source",
               at<Shuffle>(list, i, [](Transfer& t, Shuffle& s) { s.source = other_register(t, s.source); }));
  }
  void operator()(const Store& s) const {
    address([&](Transfer& t) -> Address& { return std::get<Store>(step(t)).address; }, s.bytes);
    registers([&](Transfer& t) -> std::vector<Register>& { return std::get<Store>(step(t)).sources; },
              s.sources.size());
    judge.data(what + ": half as wide", at<Store>(list, i, [](Transfer&, Store& x) { x.bytes /= 2; }));
    if (s.condition != kAlways) {
      judge.order(what + ": by all threads",
                  at<Store>(list, i, [](Transfer&, Store& x) { x.condition = kAlways; }));
    } else {
      judge.data(what + ": by one thread", at<Store>(list, i, [](Transfer& t, Store& x) {
                   ThreadCondition one;
                   one.mask = 31;
                   t.conditions.push_back(one);
                   x.condition = static_cast<int>(t.conditions.size()) - 1;
                 }));
    }
  }
  void operator()(const Load& s) const {
    address([&](Transfer& t) -> Address& { return std::get<Load>(step(t)).address; }, s.bytes);
    registers([&](Transfer& t) -> std::vector<Register>& { return std::get<Load>(step(t)).results; },
              s.results.size());
    judge.data(what + ": half as wide", at<Load>(list, i, [](Transfer&, Load& x) { x.bytes /= 2; }));
  }
  void operator()(const StoreMatrix& s) const {
    address([&](Transfer& t) -> Address& { return std::get<StoreMatrix>(step(t)).rows; }, 16);
    registers([&](Transfer& t) -> std::vector<Register>& { return std::get<StoreMatrix>(step(t)).sources; },
              s.sources.size());
    judge.data(what + ": transposed",
               at<StoreMatrix>(list, i, [](Transfer&, StoreMatrix& x) { x.transposed = !x.transposed; }));
  }
  void operator()(const LoadMatrix& s) const {
    address([&](Transfer& t) -> Address& { return std::get<LoadMatrix>(step(t)).rows; }, 16);
    registers([&](Transfer& t) -> std::vector<Register>& { return std::get<LoadMatrix>(step(t)).results; },
              s.results.size());
    judge.data(what + ": transposed",
               at<LoadMatrix>(list, i, [](Transfer&, LoadMatrix& x) { x.transposed = !x.transposed; }));
  }
  void operator()(const WarpBarrier&) const {}
  void operator()(const NamedBarrier& s) const {
    for (const int by : {-32, 32, 1})
      judge.order(what + ": threads",
                  at<NamedBarrier>(list, i, [by](Transfer&, NamedBarrier& x) { x.threads += by; }));
    for (int b = 0; b <= static_cast<int>(original.transfer.barriers.size()); ++b)
      if (b != s.barrier)
        judge.order(what + ": other barrier", at<NamedBarrier>(list, i, [b](Transfer& t, NamedBarrier& x) {
                      x.barrier = b;
                      if (b < static_cast<int>(t.barriers.size()))
                        x.threads = t.barriers[static_cast<std::size_t>(b)].threads;
                    }));
    if (s.waits)
      judge.order(what + ": does not wait",
                  at<NamedBarrier>(list, i, [](Transfer&, NamedBarrier& x) { x.waits = false; }));
    else  // waits for no more than it has to in any case: may be right
      judge.data(what + ": waits too",
                 at<NamedBarrier>(list, i, [](Transfer&, NamedBarrier& x) { x.waits = true; }));
    judge.order(what + ": for a warp only", [&](Transfer& t) { step(t) = WarpBarrier{}; });
  }
  void operator()(const AsyncFence&) const {}
  void operator()(const TensorLoad& s) const {
    judge.data(what + ": lane", at<TensorLoad>(list, i, [](Transfer&, TensorLoad& x) { x.lane ^= 16; }));
    for (const int by : {1, -1, 2, 8})
      judge.data(what + ": column",
                 at<TensorLoad>(list, i, [by](Transfer&, TensorLoad& x) { x.column += by; }));
    for (const TensorShape shape :
         {TensorShape::k32x32b, TensorShape::k16x64b, TensorShape::k16x128b, TensorShape::k16x256b})
      if (shape != s.shape)
        judge.data(what + ": shape",
                   at<TensorLoad>(list, i, [shape](Transfer&, TensorLoad& x) { x.shape = shape; }));
    registers([&](Transfer& t) -> std::vector<Register>& { return std::get<TensorLoad>(step(t)).results; },
              s.results.size());
  }
  void operator()(const TensorWait&) const {}
};

bool orders(const Step& step) {
  return std::holds_alternative<WarpBarrier>(step) || std::holds_alternative<NamedBarrier>(step) ||
         std::holds_alternative<AsyncFence>(step) || std::holds_alternative<TensorWait>(step);
}

void mutate_steps(const Sample& original, Judge& judge) {
  for (const List list : kLists) {
    const std::vector<Step>& steps = original.transfer.*list;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string what = text_of(original.transfer, steps[i]);
      const auto drop = [&](Transfer& t) {
        (t.*list).erase((t.*list).begin() + static_cast<std::ptrdiff_t>(i));
      };
      if (orders(steps[i]))
        judge.order(what + ": dropped", drop);
      else
        judge.data(what + ": dropped", drop);
      // Before the step before it, or after the step behind it.
      if (i > 0 && orders(steps[i]) != orders(steps[i - 1]))
        judge.order(what + ": before \"" + text_of(original.transfer, steps[i - 1]) + "\"",
                    [&](Transfer& t) { std::swap((t.*list)[i], (t.*list)[i - 1]); });
      if (i > 0 && std::holds_alternative<AsyncFence>(steps[i - 1]))
        judge.order(what + ": before the fence",
                    [&](Transfer& t) { std::swap((t.*list)[i], (t.*list)[i - 1]); });
      std::visit(StepMutants{judge, original, list, i, what}, steps[i]);
    }
  }
}

void mutate_tables(const Sample& original, Judge& judge) {
  const Transfer& right = original.transfer;
  for (std::size_t v = 0; v < right.values.size(); ++v) {
    judge.data("value: constant", [&](Transfer& t) { t.values[v].constant += 4; });
    for (std::size_t x = 0; x < right.values[v].xors.size(); ++x) {
      judge.data("value: mask",
                 [&](Transfer& t) { t.values[v].xors[x].mask &= t.values[v].xors[x].mask - 1; });
      judge.data("value: shift", [&](Transfer& t) { t.values[v].xors[x].left += 1; });
    }
    for (std::size_t x = 0; x < right.values[v].sums.size(); ++x)
      judge.data("value: factor", [&](Transfer& t) { t.values[v].sums[x].multiply += 4; });
    for (std::size_t x = 0; x < right.values[v].table.size(); ++x)
      judge.data("value: entry", [&](Transfer& t) { t.values[v].table[x] ^= 1; });
  }
  for (std::size_t c = 0; c < right.conditions.size(); ++c) {
    judge.data("condition: equal", [&](Transfer& t) { t.conditions[c].equal ^= 1U << 1 | 1U; });
    judge.data("condition: mask", [&](Transfer& t) { t.conditions[c].mask ^= 3; });
    judge.data("condition: bound", [&](Transfer& t) { t.conditions[c].bound -= 1; });
    for (std::size_t w = 0; w < right.conditions[c].lanes.size(); ++w)
      for (int bit = 0; bit < 32; bit += 5)
        judge.data("condition: lanes", [&](Transfer& t) { t.conditions[c].lanes[w] ^= 1U << bit; });
  }
  for (std::size_t o = 0; o < right.outputs.size(); ++o) {
    judge.data("output: other", [&](Transfer& t) { t.outputs[o] = other_register(t, t.outputs[o]); });
    judge.data("output: none", [&](Transfer& t) { t.outputs[o] = kNoRegister; });
    if (o > 0) judge.data("output: swapped", [&](Transfer& t) { std::swap(t.outputs[o], t.outputs[o - 1]); });
  }
  for (std::size_t v = 1; v < right.renamed.size(); ++v)
    judge.data("renamed: swapped", [&](Transfer& t) { std::swap(t.renamed[v], t.renamed[v - 1]); });
}

void mutate_claims(const Sample& original, Judge& judge) {
  const Transfer& right = original.transfer;
  for (std::size_t b = 0; b < right.barriers.size(); ++b) {
    for (const int by : {-32, 32, 8})
      judge.order("claim: threads", [&](Transfer& t) { t.barriers[b].threads += by; });
    for (const int by : {-32, 32})  // and in all steps: consistent, and still wrong
      judge.order("claim and steps: threads", [&](Transfer& t) {
        t.barriers[b].threads += by;
        for (const List list : kLists)
          for (Step& step : t.*list)
            if (auto* named = std::get_if<NamedBarrier>(&step))
              if (named->barrier == static_cast<int>(b)) named->threads += by;
      });
  }
  if (right.barriers.size() > 1)
    judge.order("one barrier for all", [&](Transfer& t) {
      for (const List list : kLists)
        for (Step& step : t.*list)
          if (auto* named = std::get_if<NamedBarrier>(&step)) {
            named->barrier = 0;
            named->threads = t.barriers[0].threads;
          }
      for (int& barrier : t.prearrive) barrier = 0;
      t.barriers.resize(1);
    });
  if (!right.prearrive.empty()) {
    judge.order("no arrival before the first tile", [](Transfer& t) { t.prearrive.clear(); });
    judge.order("two arrivals before the first tile",
                [](Transfer& t) { t.prearrive.push_back(t.prearrive.front()); });
    judge.order("arrival at the other barrier", [](Transfer& t) { t.prearrive.front() ^= 1; });
  }
  if (right.buffer_bytes > 0) {
    judge.order("claim: half of the bytes", [](Transfer& t) { t.buffer_bytes /= 2; });
    judge.data("claim: 16 bytes less", [](Transfer& t) { t.buffer_bytes -= 16; });
    judge.data("claim: alignment", [](Transfer& t) { t.buffer_align = 2; });
  }
  judge.order("threads", [](Transfer& t) { t.threads += 32; });
  judge.order("consumer's threads", [](Transfer& t) { t.consumer_threads += 32; });
  judge.order("inputs", [](Transfer& t) { t.inputs += 1; });
}

}  // namespace

TEST_SUITE_BEGIN("planted faults");

TEST_CASE("every step dropped, every field altered") {
  int mutants = 0, equivalent = 0;
  std::map<std::string, int> steps;
  for (const Sample& original : samples()) {
    REQUIRE(verify_transfer(original.request, original.transfer) == "");
    Judge judge(original);
    mutate_steps(original, judge);
    mutate_tables(original, judge);
    mutate_claims(original, judge);
    mutants += judge.mutants;
    equivalent += judge.equivalent;
    for (const List list : kLists)
      for (const Step& step : original.transfer.*list) ++steps[std::to_string(step.index())];
  }
  CHECK(steps.size() == std::variant_size_v<Step>);  // each kind of step is among the samples
  MESSAGE(mutants << " mutants, " << equivalent << " of them equivalent");
}

TEST_SUITE_END();
