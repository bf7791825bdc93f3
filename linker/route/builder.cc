#include "linker/route/builder.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace pipelink::transfer {
namespace {

/// The register that all threads (that care) choose, if it is one.
std::optional<Register> common(std::span<const Register> choice) {
  Register only = kNoRegister;
  for (const Register r : choice) {
    if (r == kNoRegister || r == only) continue;
    if (only != kNoRegister) return std::nullopt;
    only = r;
  }
  return only;
}

/// The nibbles of a byte permute that puts unit `from` (of eight bytes, low register first) at unit `to`.
std::uint32_t nibbles(int from, int to, int unit_bytes) {
  std::uint32_t out = 0;
  for (int b = 0; b < unit_bytes; ++b)
    out |= static_cast<std::uint32_t>(from * unit_bytes + b) << (4 * (to * unit_bytes + b));
  return out;
}

}  // namespace

Builder::Builder(int threads, int inputs, int unit_bytes)
    : threads_(threads), unit_bytes_(unit_bytes), next_(inputs) {
  std::vector<Register> all(static_cast<std::size_t>(inputs));
  std::iota(all.begin(), all.end(), 0);
  bank(std::move(all));
}

void Builder::bank(std::vector<Register> members) {
  const int index = static_cast<int>(banks_.size());
  for (std::size_t label = 0; label < members.size(); ++label)
    if (members[label] != kNoRegister) places_[members[label]] = {index, static_cast<int>(label)};
  banks_.push_back(std::move(members));
}

int Builder::value(std::span<const std::int32_t> numbers) {
  const auto [at, fresh] = tables_.try_emplace(std::vector<std::int32_t>(numbers.begin(), numbers.end()), 0);
  if (fresh) at->second = value(fit_value(numbers));
  return at->second;
}

int Builder::value(ThreadValue value) {
  const auto at = std::find(values_.begin(), values_.end(), value);
  if (at != values_.end()) return static_cast<int>(at - values_.begin());
  values_.push_back(std::move(value));
  return static_cast<int>(values_.size()) - 1;
}

int Builder::condition(ThreadCondition condition) {
  const auto at = std::find(conditions_.begin(), conditions_.end(), condition);
  if (at != conditions_.end()) return static_cast<int>(at - conditions_.begin());
  conditions_.push_back(std::move(condition));
  return static_cast<int>(conditions_.size()) - 1;
}

int Builder::condition(std::span<const std::int8_t> wanted) {
  if (std::all_of(wanted.begin(), wanted.end(), [](std::int8_t w) { return w == 1; })) return kAlways;
  return condition(fit_condition(wanted));
}

Register Builder::select(int condition, Register yes, Register no) {
  if (yes == no) return yes;
  const auto [at, fresh] = selects_.try_emplace({condition, yes, no}, kNoRegister);
  if (fresh) {
    at->second = next_++;
    steps_.emplace_back(Select{at->second, condition, yes, no});
  }
  return at->second;
}

Register Builder::permute(Register low, Register high, std::span<const std::int32_t> selector) {
  Permute step{kNoRegister, low, high, 0, -1};
  // Threads that do not care get a selector that is the sum of others and of the one that changes nothing, so
  // that it too moves whole units.
  constexpr std::int32_t kSame = 0x3210;
  std::vector<std::int32_t> changes;
  changes.reserve(selector.size());
  for (const std::int32_t s : selector) changes.push_back(s == kAny ? kAny : s ^ kSame);
  ThreadValue fitted = fit_value(changes);
  if (fitted.form == ThreadValue::Form::kXor) {
    fitted.constant ^= kSame;
  } else {
    changes.clear();
    for (const std::int32_t s : selector) changes.push_back(s == kAny ? kSame : s);
    fitted = fit_value(changes);
  }
  if (fitted.form == ThreadValue::Form::kXor && fitted.xors.empty()) {
    step.selector = static_cast<std::uint32_t>(fitted.constant);
    if (step.selector == 0x3210) return low;
    if (step.selector == 0x7654) return high;
  } else {
    step.selector_value = value(fitted);
  }
  const auto [at, fresh] =
      permutes_.try_emplace({low, high, step.selector, step.selector_value}, kNoRegister);
  if (fresh) {
    step.result = at->second = next_++;
    steps_.emplace_back(step);
  }
  return at->second;
}

Register Builder::shuffle(Register source, std::span<const std::int32_t> lane) {
  const Register result = next_++;
  steps_.emplace_back(Shuffle{result, source, value(lane)});
  return result;
}

Register Builder::network(int bank, const std::vector<Factor>& factors, std::size_t stages,
                          std::int32_t label) {
  if (stages == 0) return banks_[static_cast<std::size_t>(bank)][static_cast<std::size_t>(label)];
  const Factor& factor = factors[stages - 1];
  const Register yes = network(bank, factors, stages - 1, label ^ factor.flip);
  const Register no = network(bank, factors, stages - 1, label);
  return select(factor.condition, yes, no);
}

/// As a network, if all choices are of one bank and their labels an affine function of the thread.
Register Builder::choose_affine(std::span<const Register> choice) {
  int bank = -1;
  std::vector<std::int32_t> labels(choice.size(), kAny);
  for (std::size_t t = 0; t < choice.size(); ++t) {
    if (choice[t] == kNoRegister) continue;
    const auto place = places_.find(choice[t]);
    if (place == places_.end() || (bank >= 0 && place->second.bank != bank)) return kNoRegister;
    bank = place->second.bank;
    labels[t] = place->second.label;
  }
  const std::optional<Affine> affine = fit_affine(labels);
  if (!affine) return kNoRegister;

  // labels = constant ^ sum of flip_i where parity(thread & functional_i): the functionals are the reduced
  // rows of the matrix, so that they depend on it alone, and choices that differ in the constant share
  // stages.
  std::vector<std::uint32_t> rows;
  for (int bit = 0; bit < 31; ++bit) {
    std::uint32_t row = 0;
    for (std::size_t i = 0; i < affine->basis.size(); ++i)
      row |= static_cast<std::uint32_t>(affine->basis[i] >> bit & 1) << i;
    for (const std::uint32_t r : rows)
      if ((row >> std::countr_zero(r) & 1) != 0) row ^= r;
    if (row == 0) continue;
    for (std::uint32_t& r : rows)
      if ((r >> std::countr_zero(row) & 1) != 0) r ^= row;
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  const std::vector<Register>& members = banks_[static_cast<std::size_t>(bank)];
  std::vector<std::int32_t> reached{affine->constant};
  std::vector<std::int32_t> flips;
  for (const std::uint32_t row : rows) {
    const std::int32_t flip = affine->basis[static_cast<std::size_t>(std::countr_zero(row))];
    flips.push_back(flip);
    const std::size_t size = reached.size();
    for (std::size_t i = 0; i < size; ++i) reached.push_back(reached[i] ^ flip);
  }
  for (const std::int32_t label : reached)
    if (label >= static_cast<std::int32_t>(members.size()) ||
        members[static_cast<std::size_t>(label)] == kNoRegister)
      return kNoRegister;
  std::vector<Factor> factors;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ThreadCondition condition;
    if (std::has_single_bit(rows[i])) {
      condition.mask = condition.equal = rows[i];
    } else {
      condition.form = ThreadCondition::Form::kParity;
      condition.mask = rows[i];
      condition.equal = 1;
    }
    factors.push_back({this->condition(condition), flips[i]});
  }
  return network(bank, factors, factors.size(), affine->constant);
}

/// One select for each further register, the most frequent one first.
Register Builder::choose_chain(std::span<const Register> choice) {
  std::map<Register, int> count;
  for (const Register r : choice)
    if (r != kNoRegister) ++count[r];
  std::vector<std::pair<int, Register>> order;
  for (const auto& [r, n] : count) order.emplace_back(-n, r);
  std::sort(order.begin(), order.end());
  Register out = order.front().second;
  std::vector<std::int8_t> wanted(choice.size());
  std::set<Register> done{out};
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Register next = order[i].second;
    // Threads that a later select serves do not care.
    for (std::size_t t = 0; t < choice.size(); ++t)
      wanted[t] = choice[t] == next                                       ? std::int8_t{1}
                  : choice[t] == kNoRegister || !done.contains(choice[t]) ? std::int8_t{-1}
                                                                          : std::int8_t{0};
    out = select(condition(fit_condition(wanted)), next, out);
    done.insert(next);
  }
  return out;
}

Register Builder::choose(std::span<const Register> choice) {
  if (const std::optional<Register> only = common(choice)) return *only;
  const auto [at, fresh] =
      choices_.try_emplace(std::vector<Register>(choice.begin(), choice.end()), kNoRegister);
  if (fresh) {
    Register out = choose_affine(choice);
    if (out == kNoRegister) out = choose_chain(choice);
    at->second = out;
  }
  return at->second;
}

/// The units at `positions` by one permute of two registers, each the same or chosen by thread; kNoRegister
/// if a thread needs three, or none.
Register Builder::compose_pair(std::span<const Unit> word, std::span<const int> positions) {
  const auto k = static_cast<std::size_t>(units());
  const auto threads = static_cast<std::size_t>(threads_);
  std::vector<Register> low(threads, kNoRegister), high(threads, kNoRegister);
  std::vector<bool> in_low(k, false);
  // A position goes with the first one while no thread objects.
  for (const int p : positions) {
    bool fits = true;
    for (std::size_t t = 0; t < threads && fits; ++t) {
      const Register r = word[t * k + static_cast<std::size_t>(p)].reg;
      fits = r == kNoRegister || low[t] == kNoRegister || low[t] == r;
    }
    in_low[static_cast<std::size_t>(p)] = fits;
    for (std::size_t t = 0; t < threads; ++t) {
      const Register r = word[t * k + static_cast<std::size_t>(p)].reg;
      if (r == kNoRegister) continue;
      Register& side = fits ? low[t] : high[t];
      if (side != kNoRegister && side != r) return kNoRegister;
      side = r;
    }
  }
  if (std::all_of(low.begin(), low.end(), [](Register r) { return r == kNoRegister; })) return kNoRegister;
  const bool one = std::all_of(high.begin(), high.end(), [](Register r) { return r == kNoRegister; });
  std::vector<std::int32_t> selector(threads, kAny);
  for (std::size_t t = 0; t < threads; ++t) {
    std::uint32_t bits = 0;
    bool cares = false;
    for (std::size_t p = 0; p < k; ++p) {
      const bool wanted =
          std::find(positions.begin(), positions.end(), static_cast<int>(p)) != positions.end();
      const Unit& unit = word[t * k + p];
      if (wanted && unit.reg != kNoRegister) {
        cares = true;
        const int from = unit.index + (in_low[p] ? 0 : units());
        bits |= nibbles(from, static_cast<int>(p), unit_bytes_);
      } else {
        bits |= nibbles(static_cast<int>(p), static_cast<int>(p), unit_bytes_);
      }
    }
    if (cares) selector[t] = static_cast<std::int32_t>(bits);
  }
  const Register a = choose(low);
  const Register b = one ? a : choose(high);
  return permute(a, b, selector);
}

Register Builder::compose(std::span<const Unit> word) {
  const auto k = static_cast<std::size_t>(units());
  if (k == 1) {
    std::vector<Register> choice;
    choice.reserve(word.size());
    for (const Unit& unit : word) choice.push_back(unit.reg);
    return choose(choice);
  }
  if (std::all_of(word.begin(), word.end(), [](const Unit& unit) { return unit.reg == kNoRegister; }))
    return kNoRegister;
  std::vector<int> all(k);
  std::iota(all.begin(), all.end(), 0);
  Register out = compose_pair(word, all);
  if (out != kNoRegister || k == 2) return out;
  const int halves[2][2] = {{0, 1}, {2, 3}};
  const Register low = compose_pair(word, halves[0]);
  const Register high = compose_pair(word, halves[1]);
  if (low == kNoRegister || high == kNoRegister) return low == kNoRegister ? high : low;
  const std::vector<std::int32_t> selector(static_cast<std::size_t>(threads_), 0x7610);
  return permute(low, high, selector);
}

Register Builder::compose_same(std::span<const Unit> units) {
  const auto k = static_cast<std::size_t>(this->units());
  std::vector<Unit> word(static_cast<std::size_t>(threads_) * k);
  for (std::size_t t = 0; t < static_cast<std::size_t>(threads_); ++t)
    for (std::size_t i = 0; i < std::min(k, units.size()); ++i) word[t * k + i] = units[i];
  return compose(word);
}

Address Builder::address(std::span<const std::int32_t> bytes, Address::Buffer buffer) {
  Address out;
  out.buffer = buffer;
  const auto first = std::find_if(bytes.begin(), bytes.end(), [](std::int32_t b) { return b != kAny; });
  if (first == bytes.end()) {
    out.value = value(bytes);
    return out;
  }
  const auto at = static_cast<int>(first - bytes.begin());
  // An address that is a known one plus, or with bits flipped by, a constant.
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const std::int32_t base = values_[i](at);
    const std::int32_t plus = *first - base, flip = *first ^ base;
    bool sum = plus >= 0, exclusive = true;
    for (std::size_t t = static_cast<std::size_t>(at); t < bytes.size() && (sum || exclusive); ++t) {
      if (bytes[t] == kAny) continue;
      const std::int32_t known = values_[i](static_cast<int>(t));
      sum = sum && known + plus == bytes[t];
      exclusive = exclusive && (known ^ flip) == bytes[t];
    }
    if (sum || exclusive) {
      out.value = static_cast<int>(i);
      (sum ? out.plus : out.flip) = sum ? plus : flip;
      return out;
    }
  }
  // A base without a constant can serve more of those to come.
  std::vector<std::int32_t> numbers(bytes.begin(), bytes.end());
  const std::optional<Affine> affine = fit_affine(numbers);
  std::int32_t less = 0;
  if (affine) {
    std::int32_t reach = 0;
    for (const std::int32_t b : affine->basis) reach |= b;
    less = affine->constant & ~reach;
  } else {
    less = std::numeric_limits<std::int32_t>::max();
    for (const std::int32_t n : numbers)
      if (n != kAny) less = std::min(less, n);
  }
  for (std::int32_t& n : numbers)
    if (n != kAny) n -= less;
  out.plus = less;
  out.value = value(numbers);
  return out;
}

void Builder::finish(Transfer& transfer) && {
  transfer.registers = next_;
  // A table is as long as the larger role.
  const auto most = static_cast<std::size_t>(std::max(transfer.threads, transfer.consumer_threads));
  for (ThreadValue& value : values_)
    if (value.form == ThreadValue::Form::kTable && value.table.size() < most)
      value.table.resize(most, value.table.back());
  transfer.values = std::move(values_);
  transfer.conditions = std::move(conditions_);
  transfer.cost.permutes = static_cast<int>(permutes_.size());
  transfer.cost.selects = static_cast<int>(selects_.size());
}

}  // namespace pipelink::transfer
