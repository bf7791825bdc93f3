// Records: what an annotation leaves in the object. Text, built at compile time, read from the PTX twin by
// `pipelink pack`. Format: linker/DESIGN.md, "Records".
#pragma once

#include <cstddef>
#include <initializer_list>
#include <type_traits>

namespace pipelink::detail {

constexpr std::size_t length(const char* text) {
  std::size_t n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

/// A compiler that was given an absolute path would put a machine's path into the package: keep the file name
/// only. pipelink_add_component maps the source root away, so that a relative path is kept.
constexpr const char* portable_path(const char* path) {
  if (path[0] != '/') return path;
  const char* name = path;
  for (const char* p = path; *p != '\0'; ++p)
    if (*p == '/') name = p + 1;
  return name;
}

/// Writes fields into `out`, or only counts when `out` is null.
struct RecordWriter {
  char* out = nullptr;
  std::size_t size = 0;

  constexpr void put(char c) {
    if (out != nullptr) out[size] = c;
    ++size;
  }
  constexpr void raw(const char* text, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      if (text[i] == '\n' || text[i] == '\\') put('\\');
      put(text[i] == '\n' ? 'n' : text[i]);
    }
  }
  constexpr void raw(const char* text) { raw(text, length(text)); }
  constexpr void number(long long value) {
    char digits[20] = {};
    int n = 0;
    if (value < 0) put('-');
    unsigned long long rest =
        value < 0 ? 0ULL - static_cast<unsigned long long>(value) : static_cast<unsigned long long>(value);
    do {
      digits[n++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    while (n > 0) put(digits[--n]);
  }
  constexpr void field(const char* key, const char* value) { field(key, value, length(value)); }
  constexpr void field(const char* key, const char* value, std::size_t n) {
    raw(key);
    put('=');
    raw(value, n);
    put('\n');
  }
  constexpr void field(const char* key, long long value) {
    raw(key);
    put('=');
    number(value);
    put('\n');
  }
  /// One field per item of a comma-separated list; blanks around items are dropped.
  constexpr void list(const char* key, const char* items) {
    for (const char* p = items; *p != '\0';) {
      while (*p == ' ' || *p == ',') ++p;
      const char* begin = p;
      while (*p != '\0' && *p != ',') ++p;
      const char* end = p;
      while (end > begin && end[-1] == ' ') --end;
      if (end > begin) field(key, begin, static_cast<std::size_t>(end - begin));
    }
  }
};

/// A number, or an expression over facts as text ("tile_m * tile_k * 2"). Default: not stated.
struct Amount {
  long long number = 0;
  const char* expression = nullptr;
  bool stated = false;
  constexpr Amount() = default;
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  constexpr Amount(T value) : number(static_cast<long long>(value)), stated(true) {}  // NOLINT
  /// A type that stands for a number, as CuTe's constants do.
  template <class T, class = std::enable_if_t<std::is_integral_v<std::remove_cv_t<decltype(T::value)>>>,
            class = void>
  constexpr Amount(T) : Amount(T::value) {}                               // NOLINT
  constexpr Amount(const char* text) : expression(text), stated(true) {}  // NOLINT
  constexpr void write(RecordWriter& w, const char* key) const {
    if (!stated) return;
    if (expression != nullptr)
      w.field(key, expression);
    else
      w.field(key, number);
  }
};

struct Integers {
  long long values[16] = {};
  int count = 0;
  constexpr Integers() = default;
  constexpr Integers(std::initializer_list<long long> list) {  // NOLINT
    for (long long v : list) values[count++] = v;
  }
  constexpr void write(RecordWriter& w, const char* key) const {
    for (int i = 0; i < count; ++i) w.field(key, values[i]);
  }
};

/// Numbers, or expressions over facts, in any mixture: {64, "tile_n"}.
struct Amounts {
  Amount values[8] = {};
  int count = 0;
  constexpr Amounts() = default;
  constexpr Amounts(std::initializer_list<Amount> list) {  // NOLINT
    for (const Amount& v : list) values[count++] = v;
  }
  constexpr void write(RecordWriter& w, const char* key) const {
    for (int i = 0; i < count; ++i) values[i].write(w, key);
  }
};

struct Range {
  Amount min, max;
};

// ---- types, as the device compiler spells them ----------------------------------------------------------

template <class T>
constexpr const char* pretty() {
  return __PRETTY_FUNCTION__;  // "… [with T = TYPE]"
}

template <class T>
struct TypeText {
  const char* begin;
  std::size_t size;
  constexpr TypeText() : begin(pretty<T>()), size(0) {
    const char* p = begin;
    while (!(p[0] == 'T' && p[1] == ' ' && p[2] == '=' && p[3] == ' ')) ++p;
    begin = p + 4;
    size = length(begin) - 1;  // without the closing bracket
  }
};

template <class T, class = void>
struct Extent {
  static constexpr long long size = 0, align = 0;
};
template <class T>
struct Extent<T, std::void_t<decltype(sizeof(std::remove_reference_t<T>))>> {
  static constexpr long long size = sizeof(std::remove_reference_t<T>),
                             align = alignof(std::remove_reference_t<T>);
};

template <class T>
constexpr void write_type(RecordWriter& w, const char* key, const char* key_size, const char* key_align) {
  const TypeText<T> text;
  w.field(key, text.begin, text.size);
  if constexpr (std::is_void_v<T>) {
    w.field(key_size, 0LL);
    w.field(key_align, 0LL);
  } else {
    w.field(key_size, Extent<T>::size);
    w.field(key_align, Extent<T>::align);
  }
}

/// What a caller in any language writes into a member of a struct.
template <class T>
constexpr const char* field_kind() {
  if constexpr (std::is_pointer_v<T>)
    return "pointer";
  else if constexpr (std::is_same_v<T, bool>)
    return "boolean";
  else if constexpr (std::is_enum_v<T>)
    return field_kind<std::underlying_type_t<T>>();
  else if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? "signed" : "unsigned";
  else if constexpr (std::is_floating_point_v<T>)
    return "real";
  else
    return "bytes";
}

template <class F>
struct Signature;  // the first parameter of an entry point must be pipelink::Self
template <class R, class SelfType, class... A>
struct Signature<R(SelfType, A...)> {
  using Self = SelfType;
  static constexpr void write(RecordWriter& w) {
    write_type<R>(w, "result", "result_size", "result_align");
    (write_type<A>(w, "parameter", "parameter_size", "parameter_align"), ...);
  }
};

// ---- from a definition to bytes -------------------------------------------------------------------------

template <std::size_t N>
struct RecordText {
  char bytes[N];
};

template <class Definition>
constexpr void write_record(RecordWriter& w) {
  w.raw("pipelink-record/1");
  w.put('\n');
  w.field("component", Definition::component);
  w.field("kind", Definition::kind);
  w.field("name", Definition::name);
  w.field("file", portable_path(Definition::file));
  w.field("line", Definition::line);
  Definition::write(w);
}

template <class Definition>
constexpr std::size_t record_size() {
  RecordWriter w;
  write_record<Definition>(w);
  return w.size + 1;
}

template <class Definition>
constexpr auto record() {
  RecordText<record_size<Definition>()> text{};
  RecordWriter w{text.bytes};
  write_record<Definition>(w);
  return text;
}

// ---- what each annotation may say: the fields of its braces ---------------------------------------------

struct RoleOptions {
  int warps = 0;                ///< of the block, 1 to 32
  Range registers = {24, 240};  ///< per thread, multiples of 8
  int align_warps = 0;          ///< 0: 4 when `warps` is a multiple of 4, else 1
  constexpr void write(RecordWriter& w) const {
    w.field("warps", static_cast<long long>(warps));
    w.field("align_warps", static_cast<long long>(align_warps != 0 ? align_warps : warps % 4 == 0 ? 4 : 1));
    registers.min.write(w, "registers_min");
    registers.max.write(w, "registers_max");
  }
};

struct BufferOptions {
  Amount bytes;           ///< the size
  long long align = 16;   ///< in bytes, a power of two
  const char* live = "";  ///< phases, comma-separated; empty: always
  constexpr void write(RecordWriter& w) const {
    bytes.write(w, "bytes");
    w.field("align", align);
    w.list("live", live);
  }
};

enum class Side { kProducer, kConsumer };

struct RingOptions {
  Side side = Side::kConsumer;  ///< what this component does with the ring
  Range stages;                 ///< owner: how deep it may be
  Amount stage_bytes;           ///< of one stage
  long long align = 0;          ///< of a stage, in bytes, a power of two; owner: 1024 if unstated, user: none
  Amount full_arrivals;         ///< at a full barrier, per use of a stage
  Amount transaction_bytes;     ///< of asynchronous copies that a full barrier waits for, per use of a stage
  Amount empty_arrivals;        ///< at an empty barrier, per use of a stage
  Amount full_parity;           ///< of the consumer's first wait at a stage; unstated: 0, as `wait` has it
  Amount empty_parity;          ///< of the producer's first wait at a stage; unstated: 1, as `acquire` has it
  const char* scope = "";  ///< whose threads it orders: warp, warpgroup, block, cluster; empty: not stated
  int tier = 0;            ///< rings of a lower tier are made deeper first
  int weight = 1;          ///< within a tier, (depth - least depth) / weight is kept level
  const char* live = "";   ///< phases, comma-separated; empty: always
  constexpr void write(RecordWriter& w, bool owner = true) const {
    w.field("side", side == Side::kProducer ? "producer" : "consumer");
    stages.min.write(w, "stages_min");
    stages.max.write(w, "stages_max");
    stage_bytes.write(w, "stage_bytes");
    w.field("align", align != 0 ? align : owner ? 1024 : 1);
    full_arrivals.write(w, "full_arrivals");
    transaction_bytes.write(w, "transaction_bytes");
    empty_arrivals.write(w, "empty_arrivals");
    full_parity.write(w, "full_parity");
    empty_parity.write(w, "empty_parity");
    if (scope[0] != 0) w.field("scope", scope);
    w.field("tier", static_cast<long long>(tier));
    w.field("weight", static_cast<long long>(weight));
    w.list("live", live);
  }
};

struct MbarriersOptions {
  Amount count = 1;        ///< how many
  Amount arrivals = 1;     ///< at each, per phase of it
  int first_parity = 0;    ///< of the first wait at each; 1: it passes, as for room that is free at first
  const char* scope = "";  ///< whose threads they order: warp, warpgroup, block, cluster; empty: not stated
  constexpr void write(RecordWriter& w) const {
    count.write(w, "count");
    arrivals.write(w, "arrivals");
    if (first_parity != 0) w.field("first_parity", static_cast<long long>(first_parity));
    if (scope[0] != 0) w.field("scope", scope);
  }
};

struct NamedBarrierOptions {
  int threads = 0;        ///< a multiple of 32: all threads that take part
  const char* live = "";  ///< phases, comma-separated; empty: always
  constexpr void write(RecordWriter& w) const {
    w.field("threads", static_cast<long long>(threads));
    w.list("live", live);
  }
};

struct TensorMemoryOptions {
  Amount columns;         ///< a power of two from 32 to 512
  const char* live = "";  ///< phases, comma-separated; empty: always
  constexpr void write(RecordWriter& w) const {
    columns.write(w, "columns");
    w.list("live", live);
  }
};

struct SettableOptions {
  Amount value;     ///< the default
  Integers domain;  ///< all values that the component can take
};

struct SettableRealOptions {
  double value = 0;            ///< the default
  double least = 0, most = 0;  ///< any value between them can be set
};

struct TensorOptions {
  const char* element = "";         ///< "f32", "bf16", …
  Amounts tile;                     ///< extents, row-major; numbers, or expressions over facts
  const char* space = "registers";  ///< where the elements are: registers, shared, tensor_memory
  const char* scope = "warpgroup";  ///< whose threads hold the tile: warp, warpgroup, block
  const char* layout = "";  ///< (thread, value) → row-major tile index, CuTe shape:stride or a map's name
  Amount replicas;          ///< how many threads hold each element, if not one
  Amount generations;    ///< calls for which a tile keeps its place (export) or is read (import), if not one
  const char* via = "";  ///< the callable of this component that carries it
  int parameter = 0;     ///< which parameter of that callable, not counting Self
  const char* proxy = "";  ///< shared memory: "async" if the consumer gives the tile to TMA or tensor cores
  int align = 0;           ///< shared memory: bytes to which the consumer wants it aligned; 0: 16
  constexpr void write(RecordWriter& w) const {
    if (*proxy != '\0') w.field("proxy", proxy);
    if (align != 0) w.field("align", static_cast<long long>(align));
    w.field("element", element);
    tile.write(w, "tile");
    w.field("space", space);
    w.field("scope", scope);
    w.field("layout", layout);
    replicas.write(w, "replicas");
    generations.write(w, "generations");
    w.field("via", via);
    w.field("parameter", static_cast<long long>(parameter));
  }
};

struct PhaseOptions {
  const char* after = "";           ///< phases of the same iteration that are over before this one begins
  const char* after_previous = "";  ///< phases of the previous iteration that are over before this one begins
  constexpr void write(RecordWriter& w) const {
    w.list("after", after);
    w.list("after_previous", after_previous);
  }
};

struct CounterOptions {
  const char* field = "";  ///< of this component's parameters: the pointer to the word that the caller lends
  Amount initial;          ///< value of the word when the kernel begins
  Amount arrivals;         ///< what one block adds to the word for each wait
  const char* scope = "";  ///< whose threads it orders: warp, warpgroup, block, cluster, device, system
  constexpr void write(RecordWriter& w) const {
    w.field("field", field);
    initial.write(w, "initial");
    arrivals.write(w, "arrivals");
    if (scope[0] != 0) w.field("scope", scope);
  }
};

struct ScratchOptions {
  const char* field = "";  ///< of this component's parameters: the pointer into which the address is put
  Amount bytes;            ///< for the grid or, with `per_block`, for each of its blocks
  bool per_block = false;  ///< each block has its own
  long long align = 256;   ///< in bytes, a power of two up to 256
  bool zeroed = false;     ///< filled with zeros when the kernel is opened, and not again
  constexpr void write(RecordWriter& w) const {
    w.field("field", field);
    bytes.write(w, "bytes");
    w.field("align", align);
    w.field("per_block", static_cast<long long>(per_block));
    w.field("zeroed", static_cast<long long>(zeroed));
  }
};

struct GridOptions {
  Integers cluster;       ///< blocks of a cluster, {n, 1, 1}; unstated: any
  bool resident = false;  ///< all blocks must be on the device at one time, as some wait for others
  constexpr void write(RecordWriter& w) const {
    cluster.write(w, "cluster");
    w.field("resident", static_cast<long long>(resident));
  }
};

struct StepsOptions {
  const char* once = "";  ///< what is done once, before the loop; of an export: all that a call does
  const char* loop = "";  ///< what each iteration of the role's loop does
  constexpr void write(RecordWriter& w) const {
    w.field("once", once);
    w.field("loop", loop);
  }
};

template <class T>
struct FactType {
  static constexpr bool real = std::is_same_v<T, float> || std::is_same_v<T, double>;
  static_assert(std::is_integral_v<T> || real, "a fact is an integer, bool, float or double");
  static constexpr const char* name = real ? "real" : std::is_same_v<T, bool> ? "boolean" : "integer";
};

/// Whether a number has a value of the type: a real must be finite there, once rounded. By its bits, since
/// nan compared with anything is no constant.
template <class T, class Number>
constexpr bool has_value(Number number) {
  if constexpr (!FactType<T>::real) {
    return true;
  } else {
    const double value = static_cast<double>(number);
    const bool finite = (__builtin_bit_cast(unsigned long long, value) >> 52 & 0x7ff) != 0x7ff;
    // From half a step above the largest float on, rounding leads to infinity.
    return finite && (!std::is_same_v<T, float> || (value > -0x1.ffffffp+127 && value < 0x1.ffffffp+127));
  }
}
template <class T>
constexpr bool have_values(SettableRealOptions options) {
  return has_value<T>(options.value) && has_value<T>(options.least) && has_value<T>(options.most);
}
/// Of a number without a value something, so that no message follows the one that says so.
template <class T, class Number>
constexpr T fact_value(Number number) {
  return has_value<T>(number) ? static_cast<T>(number) : T();
}

/// "0x1.8p+1": all bits of a finite number, as the compile-time text of a decimal one would not be exact.
constexpr void write_real(RecordWriter& w, const char* key, double value) {
  const bool negative = value < 0;
  double rest = negative ? -value : value;
  int exponent = 0;
  for (; rest >= 2; ++exponent) rest /= 2;
  for (; rest != 0 && rest < 1; --exponent) rest *= 2;
  w.raw(key);
  w.put('=');
  if (negative) w.put('-');
  w.raw(rest >= 1 ? "0x1." : "0x0.");
  if (rest >= 1) rest -= 1;
  do {
    rest *= 16;
    const int digit = static_cast<int>(rest);
    rest -= digit;
    w.put("0123456789abcdef"[digit]);
  } while (rest != 0);
  w.put('p');
  if (exponent >= 0) w.put('+');
  w.number(exponent);
  w.put('\n');
}

template <class T>
constexpr void write_fact_value(RecordWriter& w, T value) {
  if constexpr (FactType<T>::real)
    write_real(w, "text_value", static_cast<double>(value));
  else
    w.field("value", static_cast<long long>(value));
}

/// As numbers of the fact's type, which all its values are rounded to.
template <class T>
constexpr void write_range(RecordWriter& w, SettableRealOptions options) {
  static_assert(FactType<T>::real, "a settable real is float or double");
  if (!have_values<T>(options)) return;  // the macro tells
  write_real(w, "text_value", static_cast<double>(static_cast<T>(options.value)));
  write_real(w, "least", static_cast<double>(static_cast<T>(options.least)));
  write_real(w, "most", static_cast<double>(static_cast<T>(options.most)));
}

/// The first is the value of an owner's fact.
constexpr void write_texts(RecordWriter& w, std::initializer_list<const char*> texts, bool owner) {
  w.field("type", "text");
  w.field("cpp_type", "unsigned int");
  if (owner) w.field("text_value", *texts.begin());
  for (const char* text : texts) w.field("texts", text);
}

/// The type as the compiler spells it: the glue knows no alias such as std::int32_t.
template <class T>
constexpr void write_fact_type(RecordWriter& w) {
  w.field("type", FactType<T>::name);
  const TypeText<T> text;
  const char* const word = "signed ";  // of std::int32_t: it says nothing but before char
  std::size_t skip = 0;
  while (word[skip] != 0 && text.begin[skip] == word[skip]) ++skip;
  if (word[skip] != 0 || text.begin[skip] == 'c') skip = 0;
  if (std::is_same_v<T, bool>)
    w.field("cpp_type", "bool");
  else
    w.field("cpp_type", text.begin + skip, text.size - skip);
}

}  // namespace pipelink::detail
