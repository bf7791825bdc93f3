// The contract of one package, as data. Written by capture (from records), carried as contract.json, read by
// the linker. Names match [a-z][a-z0-9_]* without "__".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packager/base/diagnostic.h"

namespace pipelink::contract {

/// A number, or an expression over facts and the placement, kept as text until the composition is known.
/// Names in an expression: a fact owned or used by the component (`tile_m`), or `RING.stages`.
struct Amount {
  std::int64_t number = 0;
  std::string expression;  ///< empty when `number` holds the value
  bool operator==(const Amount&) const = default;
};

/// A C++ type as the device pass names it. `size` and `align` in bytes; 0 for void. For a reference, those of
/// the referee.
struct Type {
  std::string name;
  std::int64_t size = 0;
  std::int64_t align = 0;
  bool operator==(const Type&) const = default;
};

enum class Direction { kExport, kImport };

/// How far a protocol reaches, the nearest first: all its participants are in one of these.
inline constexpr std::string_view kScopes[] = {"warp", "warpgroup", "block", "cluster", "device", "system"};

/// A warp-group role: code that some warps of the block run. Symbol: pl__C__role__NAME.
struct Role {
  std::string name;
  SourceSpan where;
  int warps = 0;
  int align_warps = 1;     ///< the first warp is a multiple of this; 4 for a warpgroup
  int registers_min = 24;  ///< per thread, multiples of 8
  int registers_max = 240;
};

/// A device function offered to, or wanted from, another component. The leading Self is not listed.
struct Callable {
  std::string name;
  SourceSpan where;
  Direction direction = Direction::kExport;
  Type result;
  std::vector<Type> parameters;
  std::vector<std::string>
      phases;  ///< import: the phases in which it is called; export: the phases that it runs
  std::vector<std::string> calls;  ///< export: the imported callables that its code calls, sorted
};

/// Shared memory by handle.
struct Buffer {
  std::string name;
  SourceSpan where;
  Amount bytes;
  std::int64_t align = 16;
  std::vector<std::string> live;  ///< phases of this component; empty: always
};

enum class RingSide { kProducer, kConsumer };

/// stages × stage_bytes with a full and an empty mbarrier per stage. The owner exports it; the other side
/// imports it and states what it relies on. Absent values were not stated. Convention: full and empty start
/// at phase 0, the consumer waits first (the producer's first pass over the stages waits on parity 1, which
/// passes); a side that does otherwise states the parities of its first waits.
struct Ring {
  std::string name;
  SourceSpan where;
  Direction direction = Direction::kExport;
  RingSide side = RingSide::kConsumer;  ///< what this component is
  Amount stages_min, stages_max;        ///< owner; equal for a fixed depth
  std::optional<Amount> stage_bytes;
  std::int64_t align = 1024;                ///< of a stage
  std::optional<Amount> full_arrivals;      ///< arrivals that complete the full barrier
  std::optional<Amount> transaction_bytes;  ///< bytes expected on the full barrier per stage; 0: none
  std::optional<Amount> empty_arrivals;     ///< arrivals that complete the empty barrier
  std::optional<Amount> full_parity;        ///< of the consumer's first wait at each stage; 0 if unstated
  std::optional<Amount> empty_parity;       ///< of the producer's first wait at each stage; 1 if unstated
  std::string scope;                        ///< of kScopes: whose threads it orders; empty: not stated
  int tier = 0;                             ///< deeper first: lower tiers before higher
  int weight = 1;
  std::vector<std::string> live;
};

/// `count` mbarriers, each initialised to `arrivals`.
struct Mbarriers {
  std::string name;
  SourceSpan where;
  Amount count;
  Amount arrivals;
  std::int64_t first_parity = 0;  ///< of the first wait at each; 1: it passes before anybody arrives
  std::string scope;              ///< of kScopes; empty: not stated
};

/// A word in global memory that the caller lends through a pointer among the parameters. The owner exports
/// it; others that wait at it or add to it import it.
struct Counter {
  std::string name;
  SourceSpan where;
  Direction direction = Direction::kExport;
  std::string field;               ///< of this component's parameters: the pointer to the word
  std::optional<Amount> initial;   ///< value of the word when the kernel begins
  std::optional<Amount> arrivals;  ///< what one block adds to the word for each wait
  std::string scope;               ///< of kScopes; empty: not stated
};

/// Global memory for the component's own use, which the caller lends when the kernel is opened. Its address
/// is put into a pointer among the component's parameters.
struct Scratch {
  std::string name;
  SourceSpan where;
  std::string field;  ///< of this component's parameters
  Amount bytes;       ///< for the grid, or for each of its blocks
  std::int64_t align = 256;
  bool per_block = false;
  bool zeroed = false;  ///< filled with zeros when the kernel is opened, not before each launch
};

/// One hardware barrier (ids 0..15; 0 belongs to the dispatch kernel).
struct NamedBarrier {
  std::string name;
  SourceSpan where;
  Amount threads;
  std::vector<std::string> live;
};

/// Columns of tensor memory, all lanes of them. The dispatch kernel allocates and frees.
struct TensorMemory {
  std::string name;
  SourceSpan where;
  Amount columns;  ///< a power of two from 32 to 512
  std::vector<std::string> live;
};

enum class FactType { kInteger, kBoolean, kReal, kText };

/// A fact that the component owns (export) or reads (import). Values are kept as text in canonical form.
struct Fact {
  std::string name;
  SourceSpan where;
  Direction direction = Direction::kExport;
  FactType type = FactType::kInteger;
  std::string
      cpp_type;  ///< `int`, `bool`, `float`…: what the handle returns; of a text, its number in `texts`
  bool settable = false;
  std::optional<Amount>
      value;  ///< owner: the value, or a settable fact's default. Import: the value if nobody owns it
  std::string text_value;            ///< for kReal and kText
  std::vector<std::int64_t> domain;  ///< settable: the values it may take, ascending
  std::vector<std::string> texts;    ///< kText, settable or imported: those that this component has code for
  std::string least, most;           ///< kReal, settable: it may take any value from `least` to `most`
};

/// A condition that must hold in every composition: an expression whose value must not be 0.
struct Requirement {
  std::string name;
  SourceSpan where;
  std::string expression;
};

/// A tile of a tensor that passes between components.
struct TensorPort {
  std::string name;
  SourceSpan where;
  Direction direction = Direction::kExport;
  std::string element;       ///< "f32", "bf16", …
  std::vector<Amount> tile;  ///< extents, e.g. {64, 256}
  std::string space;         ///< "registers", "shared", "tensor_memory"
  std::string scope;         ///< who holds it together: "warp", "warpgroup", "block"
  /// In the notation of packager/layout/text.h, expressions over facts for numbers. Registers: (thread,
  /// value) → row-major tile index. Tensor memory: (lane, element along the columns) → the same. Shared: a
  /// coordinate for each extent of the tile → offset in elements.
  std::string layout;
  std::optional<Amount> replicas;  ///< how often each element is held; 1 if unstated
  /// Export: calls for which a tile keeps its place, the one that hands it over among them; import: calls
  /// for which it is read. 1 if unstated.
  std::optional<Amount> generations;
  std::string via;    ///< the callable of this component that carries it
  int parameter = 0;  ///< which parameter of that callable
  std::string proxy;  ///< shared memory: "async" if the consumer reads it through the async proxy, else empty
  std::int64_t align = 0;  ///< shared memory: bytes; 0: 16
};

/// A part of a component's time. Order edges within an iteration and to the next one.
struct Phase {
  std::string name;
  SourceSpan where;
  std::vector<std::string> after;  ///< phases of the same iteration that are over before this one begins
  std::vector<std::string>
      after_previous;  ///< phases of the previous iteration that are over before this one begins
};

/// What a caller in any language writes into a field; kBytes: something that only the header describes.
enum class FieldKind { kBytes, kPointer, kSigned, kUnsigned, kReal, kBoolean };

struct Field {
  std::string name;
  std::int64_t offset = 0;
  std::int64_t size = 0;
  FieldKind kind = FieldKind::kBytes;
  bool operator==(const Field&) const = default;
};

/// The order in which a role waits at protocols and arrives at them; of an export, its body's. The language
/// is that of steps.h. A component that has any states those of all its roles and exports: one without takes
/// part in no protocol.
struct Steps {
  std::string name;  ///< of a role or an export
  SourceSpan where;
  std::string once;  ///< before the loop; of an export: all
  std::string loop;  ///< of each iteration
};

/// What the component asks of the launch.
struct Grid {
  SourceSpan where;
  std::vector<std::int64_t> cluster;  ///< blocks of a cluster, three extents; empty: any
  bool resident = false;  ///< all blocks must be on the device at one time, as some wait for others
};

/// The kernel parameters that the component reads, a struct of its public header.
struct ParameterRegion {
  std::string type;  ///< qualified C++ name
  std::string header;
  SourceSpan where;
  std::int64_t size = 0;
  std::int64_t align = 0;
  std::vector<Field> fields;
};

/// A static library beside the package. `arguments` is the C++ type of what the caller lends, of the public
/// header; its layout as the device pass saw it, or 0 and no fields when the author listed none.
struct HostProvider {
  std::string symbol;
  std::string arguments;
  std::string header;
  int abi = 0;
  std::int64_t size = 0;
  std::int64_t align = 0;
  std::vector<Field> fields;
  std::string library;  ///< file name beside the .plk
  std::string sha256;   ///< of the library
  SourceSpan where;
};

struct Contract {
  std::string component;
  std::string version;
  std::string arch;     ///< "sm_90a"
  std::string toolkit;  ///< "13.0"
  SourceSpan where;
  std::vector<Role> roles;
  std::vector<Callable> callables;
  std::vector<Buffer> buffers;
  std::vector<Ring> rings;
  std::vector<Mbarriers> mbarriers;
  std::vector<NamedBarrier> named_barriers;
  std::vector<TensorMemory> tensor_memory;
  std::vector<Fact> facts;
  std::vector<Requirement> requirements;
  std::vector<TensorPort> tensors;
  std::vector<Phase> phases;
  std::vector<Steps> steps;
  std::vector<Counter> counters;
  std::vector<Scratch> scratch;
  std::optional<Grid> grid;
  std::optional<ParameterRegion> parameters;
  std::optional<HostProvider> host;
  std::vector<std::string>
      mutable_data;  ///< static device or shared variables found in the object: no second instance
  std::vector<std::string> weak;  ///< weak functions left in the twin, "symbol digest"
};

}  // namespace pipelink::contract
