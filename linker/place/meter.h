// Work, counted in deterministic units: one unit of Z3's rlimit, or 64 steps of our own searches.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pipelink::place {

class Meter {
 public:
  explicit Meter(std::uint64_t limit_units) : limit_(limit_units) {}

  void steps(std::uint64_t n) { steps_ += n; }
  void units(std::uint64_t n) { units_ += n; }
  std::uint64_t used() const { return units_ + steps_ / kStepsPerUnit; }
  std::uint64_t limit() const { return limit_; }
  std::uint64_t left() const { return limit_ - std::min(limit_, used()); }
  bool exhausted() const { return used() >= limit_; }

  static constexpr std::uint64_t kStepsPerUnit = 64;

 private:
  std::uint64_t limit_;
  std::uint64_t steps_ = 0;
  std::uint64_t units_ = 0;
};

/// A part of what a meter has left, for one stage.
class Allowance {
 public:
  Allowance(Meter& meter, std::uint64_t units)
      : meter_(&meter), stop_(meter.used() + std::min(units, meter.left())) {}
  Meter& meter() { return *meter_; }
  bool exhausted() const { return meter_->used() >= stop_; }
  std::uint64_t left() const { return stop_ - std::min(stop_, meter_->used()); }

 private:
  Meter* meter_;
  std::uint64_t stop_;
};

}  // namespace pipelink::place
