#include "linker/route/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace pipelink::transfer {
namespace {

constexpr int kTiles = 2;
constexpr int kLanes = 32;

/// A unit of an element of a tile; negative: nothing was ever written.
using Symbol = std::int32_t;
constexpr Symbol kPoison = -1;

bool vector_of(int bytes, std::size_t registers) {
  if (bytes == 8) return registers == 2;
  if (bytes == 16) return registers == 4;
  return (bytes == 1 || bytes == 2 || bytes == 4) && registers == 1;
}

/// What one side has: a register file for its threads.
struct File {
  int threads = 0;
  std::vector<Symbol> units;   ///< [(register * threads + thread) * k + unit]
  std::vector<char> set;       ///< registers that were written, in all threads
  std::set<Register> pending;  ///< results of tensor loads that were not waited for
};

class Interpreter {
 public:
  Interpreter(const Request& request, const Transfer& transfer)
      : request_(request), transfer_(transfer), bytes_(request.to.map.element_bytes) {
    unit_ = std::min(bytes_, 4);
    k_ = 4 / unit_;
    parts_ = std::max(bytes_ / 4, 1);
  }

  std::string run();

  // One overload for each step.
  void operator()(const Permute& s);
  void operator()(const Select& s);
  void operator()(const Shuffle& s);
  void operator()(const Store& s);
  void operator()(const Load& s);
  void operator()(const StoreMatrix& s);
  void operator()(const LoadMatrix& s);
  void operator()(const WarpBarrier&) {}
  void operator()(const NamedBarrier&) {}
  void operator()(const AsyncFence&) {}
  void operator()(const TensorLoad& s);
  void operator()(const TensorWait&) { file_->pending.clear(); }

 private:
  void fail(std::string why) {
    if (fault_.empty()) fault_ = fmt::format("tile {}: {}", tile_, why);
  }
  std::string symbol_text(Symbol symbol) const;
  Symbol symbol_of(std::int32_t element, int part) const {
    return (tile_ * elements_ + element) * parts_ + part;
  }
  bool of_this_tile(Symbol symbol) const { return symbol >= 0 && symbol / (elements_ * parts_) == tile_; }
  Symbol* at(Register r, int thread) {
    return &file_->units[(static_cast<std::size_t>(r) * static_cast<std::size_t>(file_->threads) +
                          static_cast<std::size_t>(thread)) *
                         static_cast<std::size_t>(k_)];
  }
  bool readable(Register r);
  bool writable(Register r);
  bool value_index(int index);
  bool condition_index(int index);
  std::vector<Symbol>* buffer(const Address& address, bool writes);
  std::optional<std::size_t> place(const std::vector<Symbol>& memory, const Address& address, int thread,
                                   std::int64_t offset, std::int64_t bytes, std::int64_t align);
  void write(std::vector<Symbol>& memory, std::size_t where, Symbol symbol, int thread);
  Symbol read(const std::vector<Symbol>& memory, std::size_t where, int thread);
  bool matrix_rows(const Address& rows, std::size_t count, std::size_t registers, bool writes,
                   std::vector<Symbol>*& memory);
  void run_steps(const std::vector<Step>& steps);
  void start_file(File& file, int threads, int inputs);
  void start_tile();
  void check_outputs();
  void check_memory();
  std::string shape_fault() const;

  const Request& request_;
  const Transfer& transfer_;
  int bytes_, unit_ = 4, k_ = 1, parts_ = 1;
  int tile_ = 0;
  std::int32_t elements_ = 0;
  std::string fault_;
  File producer_, consumer_;
  File* file_ = nullptr;
  std::vector<Symbol> shared_, source_;
  std::vector<char> allowed_;  ///< units of the shared buffer that may be written
};

std::string Interpreter::symbol_text(Symbol symbol) const {
  if (symbol < 0) return "nothing";
  const std::int32_t tile = symbol / (elements_ * parts_), element = symbol / parts_ % elements_;
  std::string text = fmt::format("element {} of tile {}", element, tile);
  if (parts_ > 1) text += symbol % parts_ == 0 ? " (low half)" : " (high half)";
  return text;
}

bool Interpreter::readable(Register r) {
  if (r < 0 || static_cast<std::size_t>(r) >= file_->set.size()) {
    fail(fmt::format("register {} does not exist", r));
  } else if (file_->set[static_cast<std::size_t>(r)] == 0) {
    fail(fmt::format("register {} is used before it is set", r));
  } else if (file_->pending.contains(r)) {
    fail(fmt::format("register {} is used before the load from tensor memory was waited for", r));
  } else {
    return true;
  }
  return false;
}

bool Interpreter::writable(Register r) {
  if (r < 0 || static_cast<std::size_t>(r) >= file_->set.size()) {
    fail(fmt::format("register {} does not exist", r));
    return false;
  }
  if (file_->set[static_cast<std::size_t>(r)] != 0) {
    fail(fmt::format("register {} is set twice", r));
    return false;
  }
  file_->set[static_cast<std::size_t>(r)] = 1;
  return true;
}

bool Interpreter::value_index(int index) {
  if (index >= 0 && static_cast<std::size_t>(index) < transfer_.values.size()) return true;
  fail(fmt::format("value {} does not exist", index));
  return false;
}

bool Interpreter::condition_index(int index) {
  if (index >= 0 && static_cast<std::size_t>(index) < transfer_.conditions.size()) return true;
  fail(fmt::format("condition {} does not exist", index));
  return false;
}

void Interpreter::operator()(const Permute& s) {
  if (!readable(s.low) || !readable(s.high) || !writable(s.result)) return;
  if (s.selector_value >= 0 && !value_index(s.selector_value)) return;
  for (int t = 0; t < file_->threads; ++t) {
    const auto selector =
        s.selector_value < 0
            ? s.selector
            : static_cast<std::uint32_t>(transfer_.values[static_cast<std::size_t>(s.selector_value)](t));
    for (int u = 0; u < k_; ++u) {
      const int first = static_cast<int>(selector >> (4 * u * unit_) & 15);
      bool whole = first < 8 && first % unit_ == 0;
      for (int b = 1; b < unit_; ++b)
        whole = whole && static_cast<int>(selector >> (4 * (u * unit_ + b)) & 15) == first + b;
      if (!whole) {
        fail(fmt::format("thread {}: selector {:#06x} splits an element", t, selector));
        return;
      }
      at(s.result, t)[u] = at(first < 4 ? s.low : s.high, t)[first % 4 / unit_];
    }
  }
}

void Interpreter::operator()(const Select& s) {
  if (!readable(s.yes) || !readable(s.no) || !writable(s.result) || !condition_index(s.condition)) return;
  const ThreadCondition& condition = transfer_.conditions[static_cast<std::size_t>(s.condition)];
  for (int t = 0; t < file_->threads; ++t)
    std::copy_n(at(condition(t) ? s.yes : s.no, t), k_, at(s.result, t));
}

void Interpreter::operator()(const Shuffle& s) {
  if (!readable(s.source) || !writable(s.result) || !value_index(s.lane)) return;
  if (file_->threads % kLanes != 0) return fail("a shuffle in a part of a warp");
  for (int t = 0; t < file_->threads; ++t) {
    const std::int32_t lane = transfer_.values[static_cast<std::size_t>(s.lane)](t);
    if (lane < 0 || lane >= kLanes) return fail(fmt::format("thread {} reads lane {}", t, lane));
    std::copy_n(at(s.source, t / kLanes * kLanes + lane), k_, at(s.result, t));
  }
}

std::vector<Symbol>* Interpreter::buffer(const Address& address, bool writes) {
  if (!value_index(address.value)) return nullptr;
  if (address.buffer == Address::Buffer::kTransfer) return &shared_;
  if (writes || request_.from.space != Space::kShared) {
    fail(writes ? "a store into the producer's tile" : "the producer's tile is not in shared memory");
    return nullptr;
  }
  return &source_;
}

/// The unit at which an access of `bytes` begins.
std::optional<std::size_t> Interpreter::place(const std::vector<Symbol>& memory, const Address& address,
                                              int thread, std::int64_t offset, std::int64_t bytes,
                                              std::int64_t align) {
  const std::int64_t base = transfer_.values[static_cast<std::size_t>(address.value)](thread);
  const std::int64_t byte = (base ^ address.flip) + address.plus + offset;
  const auto size = static_cast<std::int64_t>(memory.size()) * unit_;
  if (byte < 0 || byte + bytes > size) {
    fail(
        fmt::format("thread {} accesses bytes {} to {} of a buffer of {}", thread, byte, byte + bytes, size));
    return std::nullopt;
  }
  if (byte % align != 0) {
    fail(fmt::format("thread {} accesses {} bytes at {}, which is not aligned", thread, align, byte));
    return std::nullopt;
  }
  return static_cast<std::size_t>(byte / unit_);
}

void Interpreter::write(std::vector<Symbol>& memory, std::size_t where, Symbol symbol, int thread) {
  if (!of_this_tile(symbol))
    return fail(fmt::format("thread {} stores {} at byte {}", thread, symbol_text(symbol),
                            where * static_cast<std::size_t>(unit_)));
  if (allowed_[where] == 0)
    return fail(fmt::format("thread {} stores at byte {}, where no element belongs", thread,
                            where * static_cast<std::size_t>(unit_)));
  if (of_this_tile(memory[where]) && memory[where] != symbol)
    return fail(
        fmt::format("thread {} stores {} over {}", thread, symbol_text(symbol), symbol_text(memory[where])));
  memory[where] = symbol;
}

Symbol Interpreter::read(const std::vector<Symbol>& memory, std::size_t where, int thread) {
  const Symbol symbol = memory[where];
  if (!of_this_tile(symbol))
    fail(fmt::format("thread {} reads {} at byte {}", thread, symbol_text(symbol),
                     where * static_cast<std::size_t>(unit_)));
  return symbol;
}

void Interpreter::operator()(const Store& s) {
  std::vector<Symbol>* memory = buffer(s.address, true);
  if (memory == nullptr) return;
  if (!vector_of(s.bytes, s.sources.size()) || s.bytes < unit_)
    return fail(fmt::format("a store of {} bytes from {} registers", s.bytes, s.sources.size()));
  for (const Register r : s.sources)
    if (!readable(r)) return;
  if (s.condition != kAlways && !condition_index(s.condition)) return;
  const int units = s.bytes / unit_;
  for (int t = 0; t < file_->threads && fault_.empty(); ++t) {
    if (s.condition != kAlways && !transfer_.conditions[static_cast<std::size_t>(s.condition)](t)) continue;
    const auto where = place(*memory, s.address, t, 0, s.bytes, s.bytes);
    if (!where) return;
    for (int u = 0; u < units; ++u)
      write(*memory, *where + static_cast<std::size_t>(u),
            at(s.sources[static_cast<std::size_t>(u / k_)], t)[u % k_], t);
  }
}

void Interpreter::operator()(const Load& s) {
  std::vector<Symbol>* memory = buffer(s.address, false);
  if (memory == nullptr) return;
  if (!vector_of(s.bytes, s.results.size()) || s.bytes < unit_)
    return fail(fmt::format("a load of {} bytes into {} registers", s.bytes, s.results.size()));
  for (const Register r : s.results)
    if (!writable(r)) return;
  const int units = s.bytes / unit_;
  for (int t = 0; t < file_->threads && fault_.empty(); ++t) {
    const auto where = place(*memory, s.address, t, 0, s.bytes, s.bytes);
    if (!where) return;
    for (int u = 0; u < units; ++u)
      at(s.results[static_cast<std::size_t>(u / k_)], t)[u % k_] =
          read(*memory, *where + static_cast<std::size_t>(u), t);
  }
}

bool Interpreter::matrix_rows(const Address& rows, std::size_t count, std::size_t registers, bool writes,
                              std::vector<Symbol>*& memory) {
  memory = buffer(rows, writes);
  if (memory == nullptr) return false;
  if (unit_ > 2 || file_->threads % kLanes != 0 || (registers != 1 && registers != 2 && registers != 4)) {
    fail(fmt::format("{} matrices of elements of {} bytes for {} threads", count, bytes_, file_->threads));
    return false;
  }
  return true;
}

// Lane 4i + j holds row i, columns 2j and 2j + 1 of a matrix of 8 x 8 halves; transposed, column i, rows 2j
// and 2j + 1.
/// Row and column, within an 8 x 8 matrix, of half word `h` of a lane's register.
static std::pair<int, int> in_matrix(int lane, int h, bool transposed) {
  const int line = lane / 4, across = lane % 4 * 2 + h;
  return transposed ? std::pair{across, line} : std::pair{line, across};
}

void Interpreter::operator()(const StoreMatrix& s) {
  std::vector<Symbol>* memory = nullptr;
  if (!matrix_rows(s.rows, s.sources.size(), s.sources.size(), true, memory)) return;
  for (const Register r : s.sources)
    if (!readable(r)) return;
  const int halves = 2 / unit_;  // units of a half word
  for (int t = 0; t < file_->threads && fault_.empty(); ++t)
    for (std::size_t m = 0; m < s.sources.size(); ++m)
      for (int h = 0; h < 2; ++h) {
        const int lane = t % kLanes;
        const auto [row, column] = in_matrix(lane, h, s.transposed);
        const int pointer = t - lane + static_cast<int>(m) * 8 + row;
        const auto begin = place(*memory, s.rows, pointer, 0, 16, 16);
        if (!begin) return;
        for (int u = 0; u < halves; ++u)
          write(*memory, *begin + flat(column, halves, u), at(s.sources[m], t)[h * halves + u], t);
      }
}

void Interpreter::operator()(const LoadMatrix& s) {
  std::vector<Symbol>* memory = nullptr;
  if (!matrix_rows(s.rows, s.results.size(), s.results.size(), false, memory)) return;
  for (const Register r : s.results)
    if (!writable(r)) return;
  const int halves = 2 / unit_;
  for (int t = 0; t < file_->threads && fault_.empty(); ++t)
    for (std::size_t m = 0; m < s.results.size(); ++m)
      for (int h = 0; h < 2; ++h) {
        const int lane = t % kLanes;
        const auto [row, column] = in_matrix(lane, h, s.transposed);
        const int pointer = t - lane + static_cast<int>(m) * 8 + row;
        const auto begin = place(*memory, s.rows, pointer, 0, 16, 16);
        if (!begin) return;
        for (int u = 0; u < halves; ++u)
          at(s.results[m], t)[h * halves + u] = read(*memory, *begin + flat(column, halves, u), t);
      }
}

void Interpreter::operator()(const TensorLoad& s) {
  if (request_.from.space != Space::kTensorMemory) return fail("the producer's tile is not in tensor memory");
  if (file_->threads % kLanes != 0) return fail("a load from tensor memory in a part of a warp");
  const TileMap& map = request_.from.map;
  const int count = static_cast<int>(s.results.size());
  const int atom = s.shape == TensorShape::k16x256b ? 4 : s.shape == TensorShape::k16x128b ? 2 : 1;
  const int repeats = count / atom;
  if (count % atom != 0 || repeats < 1 || repeats > 128 / atom || (repeats & (repeats - 1)) != 0)
    return fail(fmt::format("tcgen05.ld.{} into {} registers", name_of(s.shape), count));
  const bool half = s.shape != TensorShape::k32x32b;
  if (s.lane != 0 && !(half && s.lane == 16)) return fail(fmt::format("tcgen05.ld from lane {}", s.lane));
  for (const Register r : s.results)
    if (!writable(r)) return;
  const int columns = word_count(map.values, map.element_bytes);
  for (int t = 0; t < file_->threads; ++t)
    for (int r = 0; r < count; ++r) {
      const int lane = t % kLanes;
      int row = lane, column = r;
      if (s.shape == TensorShape::k16x64b) {
        row = lane / 4 + lane % 2 * 8;
        column = lane / 2 % 2 + 2 * r;
      } else if (s.shape == TensorShape::k16x128b) {
        row = lane / 4 + r % 2 * 8;
        column = lane % 4 + r / 2 * 4;
      } else if (s.shape == TensorShape::k16x256b) {
        row = lane / 4 + r / 2 % 2 * 8;
        column = r % 2 + lane % 4 * 2 + r / 4 * 8;
      }
      row += t / kLanes % 4 * kLanes + s.lane;
      column += s.column;
      if (row >= map.threads || column < 0 || column >= columns)
        return fail(fmt::format("thread {} loads lane {} column {} of {} lanes and {} columns", t, row,
                                column, map.threads, columns));
      for (int u = 0; u < k_; ++u) {
        const int unit = column * k_ + u;
        const std::int32_t element = unit / parts_ < map.values ? map(row, unit / parts_) : kNothing;
        at(s.results[static_cast<std::size_t>(r)], t)[u] =
            element == kNothing ? kPoison : symbol_of(element, unit % parts_);
      }
    }
  file_->pending.insert(s.results.begin(), s.results.end());
}

void Interpreter::run_steps(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    std::visit(*this, step);
    if (!fault_.empty()) {
      fault_ += fmt::format("; step \"{}\"", text_of(transfer_, step));
      return;
    }
  }
}

void Interpreter::start_file(File& file, int threads, int inputs) {
  const auto registers = static_cast<std::size_t>(transfer_.registers);
  file.threads = threads;
  file.units.assign(registers * static_cast<std::size_t>(threads) * static_cast<std::size_t>(k_), kPoison);
  file.set.assign(registers, 0);
  std::fill_n(file.set.begin(), inputs, char{1});
  file.pending.clear();
}

/// Registers hold nothing but the producer's values; memory keeps what the last tile left.
void Interpreter::start_tile() {
  start_file(producer_, transfer_.threads, transfer_.inputs);
  if (request_.two_roles) start_file(consumer_, transfer_.consumer_threads, 0);
  const TileMap& map = request_.from.map;
  if (request_.from.space == Space::kRegisters) {
    file_ = &producer_;
    for (int t = 0; t < map.threads; ++t)
      for (int i = 0; i < map.values * parts_; ++i) {
        const std::int32_t element = map(t, i / parts_);
        if (element != kNothing) at(i / k_, t)[i % k_] = symbol_of(element, i % parts_);
      }
  }
  if (request_.from.space == Space::kShared)
    for (std::size_t e = 0; e < request_.from.address.offset.size(); ++e)
      for (int p = 0; p < parts_; ++p)
        source_[flat(request_.from.address.offset[e], parts_, p)] =
            symbol_of(static_cast<std::int32_t>(e), p);
}

/// The registers that the consumer is called with.
void Interpreter::check_outputs() {
  const TileMap& map = request_.to.map;
  if (transfer_.kind != Kind::kInPlace)
    for (int i = 0; i < map.values * parts_ && fault_.empty(); ++i) {
      const Register r = transfer_.outputs[static_cast<std::size_t>(i / k_)];
      bool demanded = false;
      for (int t = 0; t < map.threads && !demanded; ++t) demanded = map(t, i / parts_) != kNothing;
      if (!demanded) continue;
      if (!readable(r)) return;
      for (int t = 0; t < map.threads; ++t) {
        const std::int32_t element = map(t, i / parts_);
        if (element == kNothing) continue;
        const Symbol want = symbol_of(element, i % parts_), have = at(r, t)[i % k_];
        if (want != have)
          return fail(fmt::format("thread {} value {} is {}, not {}", t, i / parts_, symbol_text(have),
                                  symbol_text(want)));
      }
    }
  if (transfer_.renamed.empty()) return;
  // What is said in short must be the same.
  for (int v = 0; v < map.values; ++v)
    for (int t = 0; t < map.threads; ++t) {
      if (map(t, v) == kNothing) continue;
      const std::int32_t name = transfer_.renamed[static_cast<std::size_t>(v)];
      if (name < 0 || name >= request_.from.map.values || request_.from.map(t, name) != map(t, v))
        return fail(fmt::format("value {} is not the thread's value {} in thread {}", v, name, t));
    }
}

/// The consumer's tile in shared memory.
void Interpreter::check_memory() {
  const std::vector<Symbol>& memory = transfer_.kind == Kind::kInPlace ? source_ : shared_;
  const AddressMap& address = request_.to.address;
  for (std::size_t e = 0; e < address.offset.size(); ++e)
    for (int p = 0; p < parts_; ++p) {
      const auto unit = flat(address.offset[e], parts_, p);
      const Symbol want = symbol_of(static_cast<std::int32_t>(e), p);
      if (unit >= memory.size() || memory[unit] != want)
        return fail(fmt::format("offset {} of the consumer's tile is {}, not {}", address.offset[e],
                                unit >= memory.size() ? "nothing" : symbol_text(memory[unit]),
                                symbol_text(want)));
    }
}

std::string Interpreter::shape_fault() const {
  const Endpoint &from = request_.from, &to = request_.to;
  if (from.map.element_bytes != to.map.element_bytes) return "the two sides have elements of different sizes";
  if (transfer_.threads != from.threads || transfer_.consumer_threads != to.threads)
    return fmt::format("the transfer is between {} and {} threads, the tile between {} and {}",
                       transfer_.threads, transfer_.consumer_threads, from.threads, to.threads);
  if (!request_.two_roles && from.threads != to.threads)
    return "one call cannot be of two numbers of threads";
  const int inputs =
      from.space == Space::kRegisters ? word_count(from.map.values, from.map.element_bytes) : 0;
  if (transfer_.inputs != inputs || transfer_.registers < inputs)
    return fmt::format("{} input registers of {}, the producer has {} words", transfer_.inputs,
                       transfer_.registers, inputs);
  if (transfer_.registers > 1 << 16) return fmt::format("{} registers", transfer_.registers);
  if (to.space == Space::kRegisters &&
      transfer_.outputs.size() != static_cast<std::size_t>(word_count(to.map.values, to.map.element_bytes)))
    return fmt::format("{} outputs", transfer_.outputs.size());
  if (!transfer_.renamed.empty() && (to.space != Space::kRegisters || from.space != Space::kRegisters ||
                                     transfer_.renamed.size() != static_cast<std::size_t>(to.map.values)))
    return fmt::format("{} values are renamed", transfer_.renamed.size());
  if (transfer_.buffer_bytes < 0 || transfer_.buffer_bytes > std::int64_t{1} << 24 ||
      transfer_.buffer_bytes % unit_ != 0)
    return fmt::format("a buffer of {} bytes", transfer_.buffer_bytes);
  const int align = transfer_.buffer_align;
  if (align < 1 || (align & (align - 1)) != 0) return fmt::format("a buffer aligned to {}", align);
  for (const std::vector<Step>* steps :
       {&transfer_.steps, &transfer_.after, &transfer_.receive, &transfer_.release})
    for (const Step& step : *steps) {
      int bytes = 1;
      const Address* address = nullptr;
      if (const auto* store = std::get_if<Store>(&step)) bytes = store->bytes, address = &store->address;
      if (const auto* load = std::get_if<Load>(&step)) bytes = load->bytes, address = &load->address;
      if (const auto* store = std::get_if<StoreMatrix>(&step)) bytes = 16, address = &store->rows;
      if (const auto* load = std::get_if<LoadMatrix>(&step)) bytes = 16, address = &load->rows;
      if (address == nullptr) continue;
      const int given = address->buffer == Address::Buffer::kTransfer ? align : from.align;
      if (bytes > given) return fmt::format("accesses of {} bytes in a buffer aligned to {}", bytes, given);
    }
  for (const ThreadValue& value : transfer_.values)
    if (value.form == ThreadValue::Form::kTable &&
        value.table.size() < static_cast<std::size_t>(std::max(from.threads, to.threads)))
      return fmt::format("a table of {} entries", value.table.size());
  for (const ThreadCondition& condition : transfer_.conditions)
    if (condition.form == ThreadCondition::Form::kLanes && condition.lanes.size() != 1 &&
        condition.lanes.size() * kLanes < static_cast<std::size_t>(std::max(from.threads, to.threads)))
      return fmt::format("a condition for {} warps", condition.lanes.size());
  if (transfer_.kind == Kind::kInPlace && from.space != to.space) return "in place, yet in two spaces";
  if (transfer_.kind == Kind::kInPlace && from.space == Space::kTensorMemory && from.map != to.map)
    return "the two sides disagree about tensor memory";
  if (transfer_.kind == Kind::kInPlace && from.space == Space::kRegisters) return "registers are not a place";
  return {};
}

std::string Interpreter::run() {
  if (std::string fault = shape_fault(); !fault.empty()) return fault;
  const Endpoint &from = request_.from, &to = request_.to;
  elements_ = 1;
  for (const Endpoint* side : {&from, &to})
    elements_ = std::max(elements_, side->space == Space::kShared
                                        ? static_cast<std::int32_t>(side->address.offset.size())
                                        : tile_size(side->map));
  shared_.assign(static_cast<std::size_t>(transfer_.buffer_bytes / unit_), kPoison);
  if (from.space == Space::kShared)
    source_.assign(static_cast<std::size_t>(from.address.bytes / unit_), kPoison);
  allowed_.assign(shared_.size(), to.space == Space::kShared ? char{0} : char{1});
  if (to.space == Space::kShared && transfer_.kind != Kind::kInPlace) {
    if (transfer_.buffer_bytes < to.address.bytes) return "the buffer is smaller than the consumer's tile";
    for (const std::int32_t offset : to.address.offset)
      for (int p = 0; p < parts_; ++p) allowed_[flat(offset, parts_, p)] = 1;
  }
  for (tile_ = 0; tile_ < kTiles && fault_.empty(); ++tile_) {
    start_tile();
    file_ = &producer_;
    run_steps(transfer_.steps);
    if (request_.two_roles && fault_.empty()) {
      if (!file_->pending.empty()) fail("a load from tensor memory was not waited for");
      file_ = &consumer_;
      run_steps(transfer_.receive);
    }
    if (!fault_.empty()) break;
    if (!file_->pending.empty()) fail("a load from tensor memory was not waited for");
    if (to.space == Space::kRegisters) check_outputs();
    if (to.space == Space::kShared) check_memory();
    if (fault_.empty()) run_steps(request_.two_roles ? transfer_.release : transfer_.after);
  }
  return fault_;
}

}  // namespace

std::string delivery_fault(const Request& request, const Transfer& transfer) {
  return Interpreter(request, transfer).run();
}

}  // namespace pipelink::transfer
