#include "linker/route/fit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace pipelink::transfer {
namespace {

/// Linear equations over GF(2), one by one: the sum of some unknowns is a number (all its bits at once).
class Equations {
 public:
  bool add(std::uint32_t unknowns, std::int32_t number) {
    while (unknowns != 0) {
      const auto lead = static_cast<std::size_t>(std::bit_width(unknowns) - 1);
      if (rows_[lead].unknowns == 0) {
        rows_[lead] = {unknowns, number};
        return true;
      }
      unknowns ^= rows_[lead].unknowns;
      number ^= rows_[lead].number;
    }
    return number == 0;
  }

  /// Unknown i; those that no equation fixes are 0.
  std::int32_t solution(std::size_t i) {
    std::int32_t number = rows_[i].number;
    for (std::size_t j = 0; j < i; ++j)
      if ((rows_[i].unknowns >> j & 1) != 0) number ^= solved_[j];
    return solved_[i] = number;
  }

 private:
  struct Row {
    std::uint32_t unknowns = 0;
    std::int32_t number = 0;
  };
  std::array<Row, 32> rows_;
  std::array<std::int32_t, 32> solved_{};
};

ThreadValue xor_form(const Affine& affine) {
  std::map<int, std::uint32_t> masks;  // by shift
  for (std::size_t i = 0; i < affine.basis.size(); ++i)
    for (int j = 0; j < 31; ++j)
      if ((affine.basis[i] >> j & 1) != 0) masks[j - static_cast<int>(i)] |= std::uint32_t{1} << i;
  ThreadValue value;
  value.constant = affine.constant;
  for (const auto& [left, mask] : masks) value.xors.push_back({mask, left});
  return value;
}

/// Whether numbers[block * m * step + i * step] - numbers[block * m * step] is i times one number.
bool runs_of(std::span<const std::int32_t> numbers, std::size_t m, std::size_t step) {
  const std::int64_t slope = std::int64_t{numbers[step]} - numbers[0];
  for (std::size_t begin = 0; begin < numbers.size(); begin += m * step)
    for (std::size_t i = 1; i < m; ++i)
      if (numbers[begin + i * step] - std::int64_t{numbers[begin]} != static_cast<std::int64_t>(i) * slope)
        return false;
  return true;
}

std::optional<ThreadValue> sum_form(std::span<const std::int32_t> numbers) {
  if (std::find(numbers.begin(), numbers.end(), kAny) != numbers.end()) return std::nullopt;
  ThreadValue value;
  value.form = ThreadValue::Form::kSum;
  value.constant = numbers.front();
  std::size_t step = 1;
  while (step < numbers.size()) {
    const std::size_t rest = numbers.size() / step;
    std::size_t run = 0;
    for (std::size_t m = rest; m >= 2 && run == 0; --m)
      if (rest % m == 0 && runs_of(numbers, m, step)) run = m;
    if (run == 0) return std::nullopt;
    const std::int32_t slope = numbers[step] - numbers[0];
    if (slope != 0)
      value.sums.push_back({static_cast<std::int32_t>(step), static_cast<std::int32_t>(run), slope});
    step *= run;
  }
  return value;
}

/// A conjunction of bits: those in which all wanted threads agree, less what is not needed.
std::optional<ThreadCondition> masked_form(std::span<const std::int8_t> wanted) {
  std::uint32_t ones = ~std::uint32_t{0}, zeros = ~std::uint32_t{0};
  for (std::size_t t = 0; t < wanted.size(); ++t)
    if (wanted[t] == 1) {
      ones &= static_cast<std::uint32_t>(t);
      zeros &= ~static_cast<std::uint32_t>(t);
    }
  const int bits = std::bit_width(static_cast<unsigned>(wanted.size() - 1));
  std::uint32_t mask = (ones | zeros) & ((std::uint32_t{1} << bits) - 1);
  const auto serves = [&](std::uint32_t candidate) {
    for (std::size_t t = 0; t < wanted.size(); ++t)
      if (wanted[t] == 0 && (static_cast<std::uint32_t>(t) & candidate) == (ones & candidate)) return false;
    return true;
  };
  if (!serves(mask)) return std::nullopt;
  for (int i = bits - 1; i >= 0; --i) {
    const std::uint32_t without = mask & ~(std::uint32_t{1} << i);
    if (without != mask && serves(without)) mask = without;
  }
  ThreadCondition condition;
  condition.mask = mask;
  condition.equal = ones & mask;
  return condition;
}

std::optional<ThreadCondition> parity_form(std::span<const std::int8_t> wanted) {
  std::vector<std::int32_t> numbers;
  for (const std::int8_t w : wanted) numbers.push_back(w < 0 ? kAny : w);
  const std::optional<Affine> affine = fit_affine(numbers);
  if (!affine) return std::nullopt;
  ThreadCondition condition;
  condition.form = ThreadCondition::Form::kParity;
  for (std::size_t i = 0; i < affine->basis.size(); ++i)
    if (affine->basis[i] != 0) condition.mask |= std::uint32_t{1} << i;
  condition.equal = affine->constant == 0 ? 1 : 0;
  return condition;
}

}  // namespace

std::int32_t Affine::operator()(std::uint32_t argument) const {
  std::int32_t out = constant;
  for (; argument != 0; argument &= argument - 1)
    out ^= basis[static_cast<std::size_t>(std::countr_zero(argument))];
  return out;
}

std::optional<Affine> fit_affine(std::span<const std::int32_t> numbers) {
  const int bits = numbers.size() < 2 ? 0 : std::bit_width(static_cast<unsigned>(numbers.size() - 1));
  if (numbers.size() == std::size_t{1} << bits &&
      std::find(numbers.begin(), numbers.end(), kAny) == numbers.end()) {
    // All are known: each follows from one with a bit less.
    Affine out;
    out.constant = numbers[0];
    for (int i = 0; i < bits; ++i) out.basis.push_back(numbers[std::size_t{1} << i] ^ out.constant);
    for (std::size_t i = 1; i < numbers.size(); ++i)
      if (numbers[i] != (numbers[i & (i - 1)] ^ out.basis[static_cast<std::size_t>(std::countr_zero(i))]))
        return std::nullopt;
    return out;
  }
  // Unknown 0 is the constant, unknown i + 1 the basis of bit i.
  Equations equations;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != kAny && !equations.add(static_cast<std::uint32_t>(i << 1 | 1), numbers[i]))
      return std::nullopt;
  Affine out;
  out.constant = equations.solution(0);
  for (int i = 0; i < bits; ++i) out.basis.push_back(equations.solution(static_cast<std::size_t>(i) + 1));
  return out;
}

ThreadValue fit_value(std::span<const std::int32_t> numbers) {
  if (const std::optional<Affine> affine = fit_affine(numbers)) return xor_form(*affine);
  if (std::optional<ThreadValue> sum = sum_form(numbers)) return *sum;
  std::map<std::int32_t, int> count;
  for (const std::int32_t n : numbers)
    if (n != kAny) ++count[n];
  const auto most = std::max_element(count.begin(), count.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  ThreadValue value;
  value.form = ThreadValue::Form::kTable;
  for (const std::int32_t n : numbers) value.table.push_back(n == kAny ? most->first : n);
  return value;
}

ThreadCondition fit_condition(std::span<const std::int8_t> wanted) {
  if (const auto condition = masked_form(wanted)) return *condition;
  const auto first_no = std::find(wanted.begin(), wanted.end(), std::int8_t{0});
  if (std::find(first_no, wanted.end(), std::int8_t{1}) == wanted.end()) {
    ThreadCondition condition;
    condition.form = ThreadCondition::Form::kLess;
    condition.bound = static_cast<std::int32_t>(first_no - wanted.begin());
    return condition;
  }
  if (const auto condition = parity_form(wanted)) return *condition;
  ThreadCondition condition;
  condition.form = ThreadCondition::Form::kLanes;
  condition.lanes.resize((wanted.size() + 31) / 32);
  for (std::size_t t = 0; t < wanted.size(); ++t)
    if (wanted[t] == 1) condition.lanes[t / 32] |= std::uint32_t{1} << (t % 32);
  if (std::all_of(condition.lanes.begin(), condition.lanes.end(),
                  [&](std::uint32_t word) { return word == condition.lanes.front(); }))
    condition.lanes.resize(1);
  return condition;
}

}  // namespace pipelink::transfer
