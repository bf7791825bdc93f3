// The steps that take a tile from its producer to its consumer, as data: enough to write them as
// straight-line CUDA, to run them on symbolic elements (interpret.h), to find races (order.h) and to draw
// them.
//
// Registers are numbered and each is set once. Registers are 32-bit words. A thread's array of values is
// packed as it would lie in memory, little-endian, and cut into words: word w of 4-byte elements is value w,
// word w of 2-byte elements is values 2w (low half) and 2w+1, value v of 8-byte elements is words 2v (low)
// and 2v+1. Registers 0 … inputs-1 are the words of the producer's array; Transfer::outputs names the
// registers that are the words of the consumer's array.
//
// "thread" below is the number of a thread among those that hold a tile: the thread's number in its role
// (counted from the role's first warp), modulo the threads of the tile. Everything that depends on the thread
// is in Transfer::values and Transfer::conditions, so that each is computed once; steps name them by index.
// Steps are done by all threads in order, without branches (a condition of a store is a predicate).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "linker/route/tile_map.h"

namespace pipelink::transfer {

using Register = int;
inline constexpr Register kNoRegister = -1;
inline constexpr int kAlways = -1;  ///< index of no condition: done by every thread

/// A number that depends on the thread.
struct ThreadValue {
  enum class Form {
    kXor,    ///< constant ^ (thread & mask) << left ^ …: linear over GF(2), the usual form
    kSum,    ///< constant + thread / divide % modulo * multiply + …
    kTable,  ///< any: one number for each thread; written as a chain of selects over `groups()`
  };
  struct XorTerm {
    std::uint32_t mask = 0;
    int left = 0;  ///< bits to the left; negative: to the right
    bool operator==(const XorTerm&) const = default;
  };
  struct SumTerm {
    std::int32_t divide = 1, modulo = 1, multiply = 1;
    bool operator==(const SumTerm&) const = default;
  };

  Form form = Form::kXor;
  std::int32_t constant = 0;
  std::vector<XorTerm> xors;
  std::vector<SumTerm> sums;
  std::vector<std::int32_t> table;

  std::int32_t operator()(int thread) const;
  bool operator==(const ThreadValue&) const = default;
};

/// A question about the thread's number.
struct ThreadCondition {
  enum class Form {
    kMasked,  ///< (thread & mask) == equal
    kParity,  ///< popc(thread & mask) % 2 == equal
    kLess,    ///< thread < bound
    kLanes,   ///< bit (thread % 32) of lanes[0], or of lanes[thread / 32] if there is more than one word
  };
  Form form = Form::kMasked;
  std::uint32_t mask = 0, equal = 0;
  std::int32_t bound = 0;
  std::vector<std::uint32_t> lanes;

  bool operator()(int thread) const;
  bool operator==(const ThreadCondition&) const = default;
};

/// Bytes from the start of a buffer: (values[value](thread) ^ flip) + plus. Most steps share a value and
/// differ in `plus`, which is an immediate of the instruction.
struct Address {
  enum class Buffer {
    kTransfer,  ///< what the transfer claims: its staging buffer, or the consumer's tile
    kProducer,  ///< the producer's tile in shared memory
  };
  Buffer buffer = Buffer::kTransfer;
  int value = 0;
  std::int32_t flip = 0, plus = 0;
  bool operator==(const Address&) const = default;
};

/// result = prmt.b32(low, high, selector): nibble i of the selector picks byte i of the result, 0…3 from
/// `low`, 4…7 from `high`. No sign replication.
struct Permute {
  Register result = kNoRegister, low = kNoRegister, high = kNoRegister;
  std::uint32_t selector = 0;  ///< used if selector_value is none
  int selector_value = -1;     ///< index into Transfer::values: the selector depends on the thread
  bool operator==(const Permute&) const = default;
};

/// result = condition ? yes : no.
struct Select {
  Register result = kNoRegister;
  int condition = kAlways;  ///< index into Transfer::conditions, never kAlways
  Register yes = kNoRegister, no = kNoRegister;
  bool operator==(const Select&) const = default;
};

/// result = shfl.sync.idx.b32(source, lane), all 32 lanes of the warp.
struct Shuffle {
  Register result = kNoRegister, source = kNoRegister;
  int lane = 0;  ///< index into Transfer::values: the lane read, 0…31; see xor_lane
  bool operator==(const Shuffle&) const = default;
};

/// st.shared of 1, 2, 4, 8 or 16 bytes: the low bytes of one register, or 1, 2 or 4 registers in order.
struct Store {
  std::vector<Register> sources;
  int bytes = 4;
  Address address;
  int condition = kAlways;  ///< only these threads store
  bool operator==(const Store&) const = default;
};

/// ld.shared of 1, 2, 4, 8 or 16 bytes; below 4 the rest of the register is zero.
struct Load {
  std::vector<Register> results;
  int bytes = 4;
  Address address;
  bool operator==(const Load&) const = default;
};

/// stmatrix.sync.aligned.m8n8.xN[.trans].shared.b16, N = 1, 2 or 4 registers. `rows` is evaluated for each
/// thread: lane 8i+j gives the 16-byte row j of matrix i; with fewer matrices the other lanes' are not used.
struct StoreMatrix {
  std::vector<Register> sources;
  bool transposed = false;
  Address rows;
  bool operator==(const StoreMatrix&) const = default;
};

/// ldmatrix.sync.aligned.m8n8.xN[.trans].shared.b16; as StoreMatrix.
struct LoadMatrix {
  std::vector<Register> results;
  bool transposed = false;
  Address rows;
  bool operator==(const LoadMatrix&) const = default;
};

/// __syncwarp().
struct WarpBarrier {
  bool operator==(const WarpBarrier&) const = default;
};

/// barrier.cta.sync id, threads (waits) or barrier.cta.arrive id, threads.
struct NamedBarrier {
  int barrier = 0;  ///< index into Transfer::barriers
  int threads = 0;  ///< the count of the instruction: all threads that sync or arrive
  bool waits = true;
  bool operator==(const NamedBarrier&) const = default;
};

/// fence.proxy.async.shared::cta: what the thread has written is visible to the async proxy.
struct AsyncFence {
  bool operator==(const AsyncFence&) const = default;
};

enum class TensorShape { k32x32b, k16x64b, k16x128b, k16x256b };

/// tcgen05.ld.sync.aligned.SHAPE.xN.b32 by each warp, from lane 32 * (warp % 4) + `lane` of the producer's
/// tile on. N follows from the number of results: 1, 1, 2 or 4 registers for each repetition. `warp` is the
/// warp's number in the block: the role begins at a multiple of four.
struct TensorLoad {
  TensorShape shape = TensorShape::k32x32b;
  std::vector<Register> results;
  int lane = 0;    ///< 0, or 16 for the second half of a 16-lane shape
  int column = 0;  ///< from the tile's first column
  bool operator==(const TensorLoad&) const = default;
};

/// tcgen05.wait::ld.sync.aligned. No result of a TensorLoad is used before it.
struct TensorWait {
  bool operator==(const TensorWait&) const = default;
};

using Step = std::variant<Permute, Select, Shuffle, Store, Load, StoreMatrix, LoadMatrix, WarpBarrier,
                          NamedBarrier, AsyncFence, TensorLoad, TensorWait>;

enum class Kind {
  kSame,        ///< nothing to do: registers as they are
  kRenamed,     ///< registers, renamed: Transfer::renamed says all
  kPermuted,    ///< within the thread, with byte permutes
  kInPlace,     ///< shared memory or tensor memory that the consumer reads where it is
  kTensorLoad,  ///< tcgen05.ld into the demanded registers
  kShuffle,     ///< within each warp
  kStaging,     ///< through a buffer in shared memory
  kStore,       ///< into the consumer's tile in shared memory
  kLoad,        ///< out of the producer's tile in shared memory
};

/// "registers", "registers, renamed", "registers, permuted", "in place", "tensor memory load", "shuffle",
/// "staging", "store", "load".
std::string_view name_of(Kind kind);
std::string_view name_of(TensorShape shape);

/// A named barrier to be claimed.
struct BarrierClaim {
  std::string name;  ///< "tile" (threads of one role), or "full", "empty"
  int threads = 0;
  bool operator==(const BarrierClaim&) const = default;
};

/// What a transfer costs, for all threads of one tile, each figure beside the least that is possible.
struct Cost {
  int permutes = 0, selects = 0;              ///< instructions of a thread
  int shuffles = 0, shuffle_bound = 0;        ///< instructions of a thread
  int stores = 0, loads = 0;                  ///< instructions of a thread, stmatrix and ldmatrix too
  int store_wavefronts = 0, store_bound = 0;  ///< of all warps together
  int load_wavefronts = 0, load_bound = 0;
  int tensor_loads = 0;
  int barriers = 0;
  bool operator==(const Cost&) const = default;
};

struct Transfer {
  Kind kind = Kind::kSame;
  std::string method;  ///< how it was found, for readers: "xor schedule", "rows padded by 16 bytes"

  int threads = 0;           ///< that hold one tile on the producer's side
  int consumer_threads = 0;  ///< the same, unless the consumer is another role
  int groups = 1;            ///< tiles side by side in the role: the claims below are for each

  int inputs = 0;                     ///< words of the producer's array: registers 0 … inputs-1
  int registers = 0;                  ///< registers in all
  std::vector<Register> outputs;      ///< words of the consumer's array; kNoRegister: any content
  std::vector<std::int32_t> renamed;  ///< consumer's value v is the thread's own value renamed[v], in every
                                      ///< thread (kNothing: any); empty if it is not so. kPermuted, too, can
                                      ///< be written as these assignments instead of its steps
  std::vector<ThreadValue> values;
  std::vector<ThreadCondition> conditions;

  /// One role: before the consumer is called, by all threads. Two roles: the producer's side.
  std::vector<Step> steps;
  /// One role: after the consumer has returned. Two roles: the producer's side has none.
  std::vector<Step> after;
  /// Two roles, the consumer's side: before it may use the tile, and when it has used it.
  std::vector<Step> receive, release;
  /// Two roles: barriers on which each thread of the consumer's role arrives once, before the first tile.
  std::vector<int> prearrive;

  std::int64_t buffer_bytes = 0;  ///< of Buffer::kTransfer, for each group; 0: none
  int buffer_align = 16;          ///< groups lie at multiples of it
  std::vector<BarrierClaim> barriers;

  Cost cost;
};

/// c, if the value is (thread ^ c) % 32 or (thread % 32) ^ c: what shfl.sync.bfly does.
std::optional<int> xor_lane(const ThreadValue& value);

/// The threads of each different number of a table, as conditions, the most frequent number last (so that it
/// can be what a chain of selects begins with). `threads`: how many there are.
struct ThreadGroup {
  std::int32_t number = 0;
  ThreadCondition condition;
};
std::vector<ThreadGroup> groups(const ThreadValue& value, int threads);

/// One line for each step, as text for people and for tests: "r12 = shuffle(r3, lane ^ 4)".
std::string text_of(const Transfer& transfer, const Step& step);
std::string text_of(const ThreadValue& value);
std::string text_of(const ThreadCondition& condition);
std::string text_of(const Transfer& transfer);

}  // namespace pipelink::transfer
