// Writes the steps of a transfer. What was written before is not written again: equal steps with equal
// sources give the same register, so planners may ask for the same thing many times.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "linker/route/fit.h"
#include "linker/route/transfer.h"

namespace pipelink::transfer {

/// Where one unit (the smaller of an element and a word) is found in a thread.
struct Unit {
  Register reg = kNoRegister;  ///< kNoRegister: any content
  int index = 0;               ///< of the unit within the register
  bool operator==(const Unit&) const = default;
};

class Builder {
 public:
  /// `unit_bytes`: 1, 2 or 4. Registers 0 … inputs-1 are there; they are labelled so (see `bank`).
  Builder(int threads, int inputs, int unit_bytes);

  int threads() const { return threads_; }
  /// What follows is done by the consumer's role, of so many threads.
  void change_role(int threads) { threads_ = threads; }
  int unit_bytes() const { return unit_bytes_; }
  int units() const { return 4 / unit_bytes_; }

  /// Registers whose labels mean something: a choice that is an affine function from the thread to the label
  /// is written as a network of selects whose stages choices of one kind share. `members[label]` may be
  /// kNoRegister. Returns nothing; a register is in the last bank that named it.
  void bank(std::vector<Register> members);

  /// Indices into Transfer::values and Transfer::conditions.
  int value(std::span<const std::int32_t> numbers);
  int value(ThreadValue value);
  int condition(ThreadCondition condition);
  /// kAlways if all are 1.
  int condition(std::span<const std::int8_t> wanted);

  Register fresh() { return next_++; }
  void add(Step step) { steps_.push_back(std::move(step)); }

  Register permute(Register low, Register high, std::span<const std::int32_t> selector);
  Register shuffle(Register source, std::span<const std::int32_t> lane);
  /// In each thread one of several registers; kNoRegister: any.
  Register choose(std::span<const Register> choice);
  /// In each thread a word of units()'s; `word[thread * units() + i]` is unit i.
  Register compose(std::span<const Unit> word);

  /// A word that is put together in the same way in all threads.
  Register compose_same(std::span<const Unit> units);

  /// Base address plus an immediate: `bytes` per thread (kAny: free).
  Address address(std::span<const std::int32_t> bytes, Address::Buffer buffer = Address::Buffer::kTransfer);

  /// Moves what was written into `transfer`: registers, values, conditions, counts of permutes and selects.
  void finish(Transfer& transfer) &&;
  /// The steps since the last call.
  std::vector<Step> take_steps() { return std::exchange(steps_, {}); }

 private:
  struct Place {
    int bank = -1;
    int label = 0;
  };
  struct Factor {
    int condition = 0;
    std::int32_t flip = 0;
  };

  Register select(int condition, Register yes, Register no);
  Register network(int bank, const std::vector<Factor>& factors, std::size_t stages, std::int32_t label);
  Register choose_affine(std::span<const Register> choice);
  Register choose_chain(std::span<const Register> choice);
  Register compose_pair(std::span<const Unit> word, std::span<const int> positions);

  int threads_, unit_bytes_;
  Register next_;
  std::vector<Step> steps_;
  std::vector<ThreadValue> values_;
  std::vector<ThreadCondition> conditions_;
  std::vector<std::vector<Register>> banks_;
  std::map<Register, Place> places_;
  std::map<std::tuple<int, Register, Register>, Register> selects_;
  std::map<std::tuple<Register, Register, std::uint32_t, int>, Register> permutes_;
  std::map<std::vector<Register>, Register> choices_;
  std::map<std::vector<std::int32_t>, int> tables_;
};

}  // namespace pipelink::transfer
