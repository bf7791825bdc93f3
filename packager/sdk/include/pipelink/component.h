// PipeLink's authoring header. A component's source begins
//
//     #define PIPELINK_COMPONENT my_component
//     #include <pipelink/component.h>
//     namespace my_component { … annotations and code … }
//
// Each annotation states one claim, port or fact and defines a handle of the same name; pass `self` to it.
// Annotations leave records in the object (records.h) and no code: handles fold to constants when the
// composition is linked. Options are designated initialisers:
//
//     PIPELINK_BUFFER(stage, .bytes = sizeof(Tile), .align = 1024);
//
// The `///` comments are the reference: cmake/docs/generate.py makes a page of them. Above each annotation
// stand the form in which it is written, to the line that ends in `;` or `}`, and then what it means. The
// options and the functions of the handle are read from the code.
#pragma once

#include "pipelink/device.h"
#include "pipelink/records.h"
#include "pipelink/self.h"

#define PIPELINK_DETAIL_JOIN2(a, b) a##b
#define PIPELINK_DETAIL_JOIN(a, b) PIPELINK_DETAIL_JOIN2(a, b)
#define PIPELINK_DETAIL_TEXT2(a) #a
#define PIPELINK_DETAIL_TEXT(a) PIPELINK_DETAIL_TEXT2(a)
/// pl__COMPONENT__rest
#define PIPELINK_DETAIL_SYMBOL(rest) \
  PIPELINK_DETAIL_JOIN(PIPELINK_DETAIL_JOIN(pl__, PIPELINK_COMPONENT), rest)

// A record: the type `pipelink_KIND_NAME` says what it holds, the constant holds it. The control needs none.
#ifdef PIPELINK_CONTROL
#define PIPELINK_DETAIL_EMIT(type)
#else
#define PIPELINK_DETAIL_EMIT(type) \
  static __device__ __attribute__((used)) const auto type##_record = ::pipelink::detail::record<type>();
#endif
#define PIPELINK_DETAIL_RECORD(KIND, NAME, ...)                                                       \
  struct pipelink_##KIND##_##NAME {                                                                   \
    static constexpr const char* component = PIPELINK_DETAIL_TEXT(PIPELINK_COMPONENT);                \
    static constexpr const char* kind = #KIND;                                                        \
    static constexpr const char* name = #NAME;                                                        \
    static constexpr const char* file = __FILE__;                                                     \
    static constexpr long long line = __LINE__;                                                       \
    static constexpr void write([[maybe_unused]] ::pipelink::detail::RecordWriter& w) { __VA_ARGS__ } \
  };                                                                                                  \
  PIPELINK_DETAIL_EMIT(pipelink_##KIND##_##NAME)

// ---- roles and callables --------------------------------------------------------------------------------

/// PIPELINK_ROLE(name, .warps = 4, .registers = {24, 40}) (pipelink::Self self) { … }
/// Code for `warps` warps of the block. Registers per thread, multiples of 8: the least that the role can
/// live with and the most that it can use. Four warps are a warpgroup and start at one. The handle's warp and
/// thread are counted within the role.
#define PIPELINK_ROLE(NAME, ...)                                                               \
  PIPELINK_DETAIL_RECORD(role, NAME, ::pipelink::detail::RoleOptions{__VA_ARGS__}.write(w);)   \
  extern "C" __device__ unsigned PIPELINK_DETAIL_SYMBOL(__role__##NAME##__warp)(unsigned);     \
  struct PIPELINK_DETAIL_SYMBOL(__handle__##NAME) {                                            \
    static __device__ __forceinline__ unsigned warp(::pipelink::Self self) {                   \
      return threadIdx.x / 32 - PIPELINK_DETAIL_SYMBOL(__role__##NAME##__warp)(self.instance); \
    }                                                                                          \
    static __device__ __forceinline__ unsigned thread(::pipelink::Self self) {                 \
      return threadIdx.x - 32 * PIPELINK_DETAIL_SYMBOL(__role__##NAME##__warp)(self.instance); \
    }                                                                                          \
  };                                                                                           \
  [[maybe_unused]] static constexpr PIPELINK_DETAIL_SYMBOL(__handle__##NAME) NAME{};           \
  extern "C" __device__ __inline_hint__ void PIPELINK_DETAIL_SYMBOL(__role__##NAME)

#define PIPELINK_DETAIL_CALLABLE(NAME, DIRECTION, PHASES, RESULT, ...)                                \
  PIPELINK_DETAIL_RECORD(                                                                             \
      callable, NAME, w.field("direction", DIRECTION); static_assert(                                 \
          std::is_same_v<::pipelink::detail::Signature<RESULT(__VA_ARGS__)>::Self, ::pipelink::Self>, \
          "the first parameter of a callable is pipelink::Self");                                     \
      ::pipelink::detail::Signature<RESULT(__VA_ARGS__)>::write(w); w.list("phase", PHASES);)

/// PIPELINK_EXPORT(name, result, pipelink::Self self, parameters…) { … }
/// A device function for other components to call. It runs in its caller's warps.
#define PIPELINK_EXPORT(NAME, RESULT, ...) PIPELINK_EXPORT_IN(NAME, "", RESULT, __VA_ARGS__)
/// PIPELINK_EXPORT_IN(name, "load, store", result, pipelink::Self self, parameters…) { … }
/// An export, with the phases of this component that its body runs through, in order.
#define PIPELINK_EXPORT_IN(NAME, PHASES, RESULT, ...)                   \
  PIPELINK_DETAIL_CALLABLE(NAME, "export", PHASES, RESULT, __VA_ARGS__) \
  extern "C" __device__ __inline_hint__ RESULT PIPELINK_DETAIL_SYMBOL(__export__##NAME)(__VA_ARGS__)

/// PIPELINK_IMPORT(name, result, pipelink::Self self, parameters…);
/// A device function that another component exports. Call it as name(self, …).
#define PIPELINK_IMPORT(NAME, RESULT, ...) PIPELINK_IMPORT_IN(NAME, "", RESULT, __VA_ARGS__)
/// PIPELINK_IMPORT_IN(name, "store", result, pipelink::Self self, parameters…);
/// An import, with the phases of this component in which it is called.
#define PIPELINK_IMPORT_IN(NAME, PHASES, RESULT, ...)                                                       \
  PIPELINK_DETAIL_CALLABLE(NAME, "import", PHASES, RESULT, __VA_ARGS__)                                     \
  extern "C" __device__ RESULT PIPELINK_DETAIL_SYMBOL(__import__##NAME)(__VA_ARGS__);                       \
  template <class... A>                                                                                     \
  [[maybe_unused]] static __device__ __forceinline__ RESULT NAME(::pipelink::Self self, A&&... arguments) { \
    return PIPELINK_DETAIL_SYMBOL(__import__##NAME)(self, static_cast<A&&>(arguments)...);                  \
  }                                                                                                         \
  static_assert(true)

// ---- shared memory and barriers -------------------------------------------------------------------------

/// PIPELINK_BUFFER(name, .bytes = 32768, .align = 1024, .live = "store");
/// Shared memory. Without `live` it is always live; with it, other claims may use the bytes in other phases,
/// where the declared order of phases allows. The handle's address is the 32-bit one in the shared window.
#define PIPELINK_BUFFER(NAME, ...)                                                                \
  PIPELINK_DETAIL_RECORD(buffer, NAME, ::pipelink::detail::BufferOptions{__VA_ARGS__}.write(w);)  \
  extern "C" __device__ unsigned char* PIPELINK_DETAIL_SYMBOL(__buffer__##NAME)(unsigned);        \
  struct PIPELINK_DETAIL_SYMBOL(__handle__##NAME) {                                               \
    static constexpr long long align = ::pipelink::detail::BufferOptions{__VA_ARGS__}.align;      \
    template <class T = unsigned char>                                                            \
    static __device__ __forceinline__ T* data(::pipelink::Self self) {                            \
      return reinterpret_cast<T*>(PIPELINK_DETAIL_SYMBOL(__buffer__##NAME)(self.instance));       \
    }                                                                                             \
    static __device__ __forceinline__ std::uint32_t address(::pipelink::Self self) {              \
      return ::pipelink::shared_address(PIPELINK_DETAIL_SYMBOL(__buffer__##NAME)(self.instance)); \
    }                                                                                             \
  };                                                                                              \
  [[maybe_unused]] static constexpr PIPELINK_DETAIL_SYMBOL(__handle__##NAME) NAME {}

/// PIPELINK_RING(name, .side = pipelink::kConsumer, .stages = {2, 8}, .stage_bytes = 49152,
///               .full_arrivals = 1, .transaction_bytes = 49152, .empty_arrivals = 2);
/// A ring of stages in shared memory, each with a full and an empty mbarrier, owned by this component. The
/// linker chooses its depth. Another component imports it as the other side. A producer calls acquire (waits
/// until the stage is empty), fills data, and arrives at full, as by mbarrier::arrive(name.full(self, at)); a
/// consumer calls wait (until the stage is full), and then release. Both advance a RingCursor of their own.
#define PIPELINK_RING(NAME, ...) PIPELINK_DETAIL_RING(NAME, true, __VA_ARGS__)
/// PIPELINK_IMPORT_RING(name, .side = pipelink::kProducer, .stage_bytes = 49152);
/// The other end of a ring that another component owns. State what this side relies on; what it does not
/// state is not compared.
#define PIPELINK_IMPORT_RING(NAME, ...) PIPELINK_DETAIL_RING(NAME, false, __VA_ARGS__)
#define PIPELINK_DETAIL_RING(NAME, OWNER, ...)                                                               \
  PIPELINK_DETAIL_RECORD(ring, NAME, w.field("direction", OWNER ? "export" : "import");                      \
                         ::pipelink::detail::RingOptions{__VA_ARGS__}.write(w, OWNER);)                      \
  extern "C" __device__ unsigned char* PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__data)(unsigned);             \
  extern "C" __device__ unsigned char* PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__full)(unsigned);             \
  extern "C" __device__ unsigned char* PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__empty)(unsigned);            \
  extern "C" __device__ unsigned PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__stages)(unsigned);                 \
  extern "C" __device__ unsigned PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__stage_bytes)(unsigned);            \
  struct PIPELINK_DETAIL_SYMBOL(__handle__##NAME) {                                                          \
    static __device__ __forceinline__ std::uint32_t stages(::pipelink::Self self) {                          \
      return PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__stages)(self.instance);                                \
    }                                                                                                        \
    static __device__ __forceinline__ std::uint32_t stage_bytes(::pipelink::Self self) {                     \
      return PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__stage_bytes)(self.instance);                           \
    }                                                                                                        \
    static __device__ __forceinline__ unsigned char* data(::pipelink::Self self,                             \
                                                          ::pipelink::RingCursor at) {                       \
      return PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__data)(self.instance) + at.stage * stage_bytes(self);   \
    }                                                                                                        \
    static __device__ __forceinline__ std::uint32_t address(::pipelink::Self self,                           \
                                                            ::pipelink::RingCursor at) {                     \
      return ::pipelink::shared_address(PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__data)(self.instance)) +     \
             at.stage * stage_bytes(self);                                                                   \
    }                                                                                                        \
    static __device__ __forceinline__ std::uint32_t full(::pipelink::Self self, ::pipelink::RingCursor at) { \
      return ::pipelink::shared_address(PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__full)(self.instance)) +     \
             at.stage * 8;                                                                                   \
    }                                                                                                        \
    static __device__ __forceinline__ std::uint32_t empty(::pipelink::Self self,                             \
                                                          ::pipelink::RingCursor at) {                       \
      return ::pipelink::shared_address(PIPELINK_DETAIL_SYMBOL(__ring__##NAME##__empty)(self.instance)) +    \
             at.stage * 8;                                                                                   \
    }                                                                                                        \
    static __device__ __forceinline__ void acquire(::pipelink::Self self, ::pipelink::RingCursor at) {       \
      ::pipelink::mbarrier::wait(empty(self, at), at.parity ^ 1);                                            \
    }                                                                                                        \
    static __device__ __forceinline__ void wait(::pipelink::Self self, ::pipelink::RingCursor at) {          \
      ::pipelink::mbarrier::wait(full(self, at), at.parity);                                                 \
    }                                                                                                        \
    static __device__ __forceinline__ void release(::pipelink::Self self, ::pipelink::RingCursor at) {       \
      ::pipelink::mbarrier::arrive(empty(self, at));                                                         \
    }                                                                                                        \
  };                                                                                                         \
  [[maybe_unused]] static constexpr PIPELINK_DETAIL_SYMBOL(__handle__##NAME) NAME {}

/// PIPELINK_MBARRIERS(name, .count = 2, .arrivals = 1);
/// An array of mbarriers; the dispatch kernel initialises them.
#define PIPELINK_MBARRIERS(NAME, ...)                                                                        \
  PIPELINK_DETAIL_RECORD(mbarriers, NAME, ::pipelink::detail::MbarriersOptions{__VA_ARGS__}.write(w);)       \
  extern "C" __device__ unsigned char* PIPELINK_DETAIL_SYMBOL(__mbarriers__##NAME)(unsigned);                \
  struct PIPELINK_DETAIL_SYMBOL(__handle__##NAME) {                                                          \
    static __device__ __forceinline__ std::uint32_t address(::pipelink::Self self, std::uint32_t i = 0) {    \
      return ::pipelink::shared_address(PIPELINK_DETAIL_SYMBOL(__mbarriers__##NAME)(self.instance)) + i * 8; \
    }                                                                                                        \
    static __device__ __forceinline__ void wait(::pipelink::Self self, std::uint32_t i,                      \
                                                std::uint32_t parity) {                                      \
      ::pipelink::mbarrier::wait(address(self, i), parity);                                                  \
    }                                                                                                        \
    static __device__ __forceinline__ void arrive(::pipelink::Self self, std::uint32_t i = 0) {              \
      ::pipelink::mbarrier::arrive(address(self, i));                                                        \
    }                                                                                                        \
  };                                                                                                         \
  [[maybe_unused]] static constexpr PIPELINK_DETAIL_SYMBOL(__handle__##NAME) NAME {}

/// PIPELINK_NAMED_BARRIER(name, .threads = 128);
/// One hardware barrier for `threads` threads, in the unaligned forms: it may be reached from two places in
/// the code. Choose among barriers by branching, never by computing an id: a computed id makes the kernel
/// claim all sixteen. The handle's id is for libraries that take a barrier's number; a guarded link does not
/// see what they do with it.
#define PIPELINK_NAMED_BARRIER(NAME, ...)                                                               \
  PIPELINK_DETAIL_RECORD(named_barrier, NAME,                                                           \
                         ::pipelink::detail::NamedBarrierOptions{__VA_ARGS__}.write(w);)                \
  extern "C" __device__ unsigned PIPELINK_DETAIL_SYMBOL(__barrier__##NAME)(unsigned);                   \
  struct PIPELINK_DETAIL_SYMBOL(__handle__##NAME) {                                                     \
    static constexpr int threads = ::pipelink::detail::NamedBarrierOptions{__VA_ARGS__}.threads;        \
    static_assert(threads > 0 && threads % 32 == 0, "a named barrier is for a multiple of 32 threads"); \
    static __device__ __forceinline__ unsigned id(::pipelink::Self self) {                              \
      return PIPELINK_DETAIL_SYMBOL(__barrier__##NAME)(self.instance);                                  \
    }                                                                                                   \
    static __device__ __forceinline__ void sync(::pipelink::Self self) {                                \
      const unsigned id = PIPELINK_DETAIL_SYMBOL(__barrier__##NAME)(self.instance);                     \
      if (pl__guard__barrier(id, threads, true)) return;                                                \
      asm volatile("barrier.sync %0, %1;" ::"r"(id), "n"(threads) : "memory");                          \
    }                                                                                                   \
    static __device__ __forceinline__ void arrive(::pipelink::Self self) {                              \
      const unsigned id = PIPELINK_DETAIL_SYMBOL(__barrier__##NAME)(self.instance);                     \
      if (pl__guard__barrier(id, threads, false)) return;                                               \
      asm volatile("barrier.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory");                        \
    }                                                                                                   \
  };                                                                                                    \
  [[maybe_unused]] static constexpr PIPELINK_DETAIL_SYMBOL(__handle__##NAME) NAME {}

/// PIPELINK_TENSOR_MEMORY(name, .columns = 256);
/// Columns of tensor memory (sm_100 and its kin), all 128 lanes of them: a power of two from 32 to 512. The
/// kernel allocates them before the roles begin and frees them when all roles have returned: by then all
/// tcgen05 operations must be done. The handle's address is that of lane 0 of the first column.
#define PIPELINK_TENSOR_MEMORY(NAME, ...)                                                   \
  PIPELINK_DETAIL_RECORD(tensor_memory, NAME,                                               \
                         ::pipelink::detail::TensorMemoryOptions{__VA_ARGS__}.write(w);)    \
  extern "C" __device__ unsigned PIPELINK_DETAIL_SYMBOL(__tensor_memory__##NAME)(unsigned); \
  struct PIPELINK_DETAIL_SYMBOL(__handle__##NAME) {                                         \
    static __device__ __forceinline__ std::uint32_t address(::pipelink::Self self) {        \
      return PIPELINK_DETAIL_SYMBOL(__tensor_memory__##NAME)(self.instance);                \
    }                                                                                       \
  };                                                                                        \
  [[maybe_unused]] static constexpr PIPELINK_DETAIL_SYMBOL(__handle__##NAME) NAME {}

// ---- facts ----------------------------------------------------------------------------------------------

/// PIPELINK_FACT(tile_m, int, 128);
/// A constant of this component, baked into its code, that others may read. Here it is an ordinary constexpr.
#define PIPELINK_FACT(NAME, TYPE, VALUE)                                                           \
  PIPELINK_DETAIL_RECORD(                                                                          \
      fact, NAME, w.field("direction", "export"); ::pipelink::detail::write_fact_type<TYPE>(w);    \
      w.field("settable", 0LL); static_assert(::pipelink::detail::has_value<TYPE>(VALUE),          \
                                              "the value of a fact is finite in its type");        \
      ::pipelink::detail::write_fact_value<TYPE>(w, ::pipelink::detail::fact_value<TYPE>(VALUE));) \
  [[maybe_unused]] static constexpr TYPE NAME = VALUE

/// PIPELINK_SETTABLE_FACT(group, int, .value = 8, .domain = {4, 8, 16});
/// A constant that the composition may set (`SET owner.group=16`) without a recompile: the owner too reads it
/// as group(self). `switch (group(self))` over the domain folds to the chosen case.
#define PIPELINK_SETTABLE_FACT(NAME, TYPE, ...)                                                  \
  PIPELINK_DETAIL_RECORD(fact, NAME, w.field("direction", "export");                             \
                         ::pipelink::detail::write_fact_type<TYPE>(w); w.field("settable", 1LL); \
                         constexpr ::pipelink::detail::SettableOptions options{__VA_ARGS__};     \
                         options.value.write(w, "value"); options.domain.write(w, "domain");)    \
  PIPELINK_DETAIL_FACT_HANDLE(NAME, TYPE)

/// PIPELINK_SETTABLE_REAL(cap, float, .value = 50, .least = 1, .most = 1000);
/// A real constant that the composition may set to any value of the range (`SET owner.cap=30`) without a
/// recompile: the owner too reads it as cap(self).
#define PIPELINK_SETTABLE_REAL(NAME, TYPE, ...)                                                         \
  PIPELINK_DETAIL_RECORD(                                                                               \
      fact, NAME, w.field("direction", "export"); ::pipelink::detail::write_fact_type<TYPE>(w);         \
      w.field("settable", 1LL); constexpr ::pipelink::detail::SettableRealOptions options{__VA_ARGS__}; \
      static_assert(::pipelink::detail::have_values<TYPE>(options),                                     \
                    ".value, .least and .most of a settable real are finite in its type");              \
      ::pipelink::detail::write_range<TYPE>(w, options);)                                               \
  PIPELINK_DETAIL_FACT_HANDLE(NAME, TYPE)

/// PIPELINK_USE_FACT(tile_m, int);
/// A fact that another component owns, read as tile_m(self).
#define PIPELINK_USE_FACT(NAME, TYPE)                                                             \
  PIPELINK_DETAIL_RECORD(fact, NAME, w.field("direction", "import");                              \
                         ::pipelink::detail::write_fact_type<TYPE>(w); w.field("settable", 0LL);) \
  PIPELINK_DETAIL_FACT_HANDLE(NAME, TYPE)

/// PIPELINK_USE_FACT_OR(interleave, int, 0);
/// The same, with a value for compositions in which nobody owns it.
#define PIPELINK_USE_FACT_OR(NAME, TYPE, VALUE)                                                    \
  PIPELINK_DETAIL_RECORD(                                                                          \
      fact, NAME, w.field("direction", "import"); ::pipelink::detail::write_fact_type<TYPE>(w);    \
      w.field("settable", 0LL); static_assert(::pipelink::detail::has_value<TYPE>(VALUE),          \
                                              "the value of a fact is finite in its type");        \
      ::pipelink::detail::write_fact_value<TYPE>(w, ::pipelink::detail::fact_value<TYPE>(VALUE));) \
  PIPELINK_DETAIL_FACT_HANDLE(NAME, TYPE)

/// PIPELINK_TEXT(element, "bf16");
/// A text of this component that others may depend on: the name of a data type, of one choice among several,
/// a shape, a layout. Here it is an ordinary constexpr.
#define PIPELINK_TEXT(NAME, VALUE)                                                             \
  PIPELINK_DETAIL_RECORD(fact, NAME, w.field("direction", "export"); w.field("settable", 0LL); \
                         w.field("type", "text"); w.field("cpp_type", "unsigned int");         \
                         w.field("text_value", VALUE);)                                        \
  [[maybe_unused]] static constexpr const char* NAME = VALUE

/// PIPELINK_SETTABLE_TEXT(reduction, "sum", "max");
/// A text that the composition may set to another one of the list; the first is the default. The owner too
/// reads it: reduction(self) is its place in the list, from 0, on which a `switch` folds.
#define PIPELINK_SETTABLE_TEXT(NAME, ...)                                                      \
  PIPELINK_DETAIL_RECORD(fact, NAME, w.field("direction", "export"); w.field("settable", 1LL); \
                         ::pipelink::detail::write_texts(w, {__VA_ARGS__}, true);)             \
  PIPELINK_DETAIL_FACT_HANDLE(NAME, unsigned)

/// PIPELINK_USE_TEXT(element, "f32", "bf16");
/// A text that another component owns, and those that this one has code for; a composition in which it is
/// another one is refused. element(self) is its place in this list, from 0.
#define PIPELINK_USE_TEXT(NAME, ...)                                                           \
  PIPELINK_DETAIL_RECORD(fact, NAME, w.field("direction", "import"); w.field("settable", 0LL); \
                         ::pipelink::detail::write_texts(w, {__VA_ARGS__}, false);)            \
  PIPELINK_DETAIL_FACT_HANDLE(NAME, unsigned)

#define PIPELINK_DETAIL_FACT_HANDLE(NAME, TYPE)                                         \
  extern "C" __device__ TYPE PIPELINK_DETAIL_SYMBOL(__fact__##NAME)(unsigned);          \
  [[maybe_unused]] static __device__ __forceinline__ TYPE NAME(::pipelink::Self self) { \
    return PIPELINK_DETAIL_SYMBOL(__fact__##NAME)(self.instance);                       \
  }                                                                                     \
  static_assert(true)

/// PIPELINK_REQUIRE(whole_tiles, "tile_n % 16 == 0");
/// A condition on facts that this component owns or uses; a composition that breaks it is refused.
#define PIPELINK_REQUIRE(NAME, EXPRESSION) \
  PIPELINK_DETAIL_RECORD(requirement, NAME, w.field("expression", EXPRESSION);) static_assert(true)

// ---- tensors, phases, parameters ------------------------------------------------------------------------

/// PIPELINK_EXPORT_TENSOR(acc, .element = "f32", .tile = {64, 256}, .layout = "…", .via = "epilogue");
/// A tile that this component hands over in the parameter of a callable, and where each element is: in CuTe's
/// shape:stride, or as a map by name such as wgmma_accumulator(64,tile_n). Extents and the numbers of a
/// layout may be expressions over facts: .tile = {64, "tile_n"}.
#define PIPELINK_EXPORT_TENSOR(NAME, ...) PIPELINK_DETAIL_TENSOR(NAME, "export", __VA_ARGS__)
/// PIPELINK_IMPORT_TENSOR(acc, .element = "f32", .tile = {64, 256}, .layout = "…", .via = "epilogue");
/// A tile that this component takes in the parameter of a callable.
#define PIPELINK_IMPORT_TENSOR(NAME, ...) PIPELINK_DETAIL_TENSOR(NAME, "import", __VA_ARGS__)
#define PIPELINK_DETAIL_TENSOR(NAME, DIRECTION, ...)                               \
  PIPELINK_DETAIL_RECORD(tensor, NAME, w.field("direction", DIRECTION);            \
                         ::pipelink::detail::TensorOptions{__VA_ARGS__}.write(w);) \
  static_assert(true)

/// PIPELINK_PHASE(store, .after = "load", .after_previous = "store");
/// A part of this component's time, for lifetimes.
#define PIPELINK_PHASE(NAME, ...)                                                              \
  PIPELINK_DETAIL_RECORD(phase, NAME, ::pipelink::detail::PhaseOptions{__VA_ARGS__}.write(w);) \
  static_assert(true)

/// PIPELINK_COUNTER(done, .field = "done", .initial = 0, .arrivals = 1, .scope = "device");
/// A word in global memory at which roles wait and to which they add, owned by this component. The caller
/// lends it through a pointer of PIPELINK_PARAMETERS, and the component's code reads and adds by itself; the
/// contract says what others rely on, and the linker compares. If blocks wait for other blocks, one of the
/// components asks PIPELINK_GRID for `resident`.
#define PIPELINK_COUNTER(NAME, ...) PIPELINK_DETAIL_COUNTER(NAME, "export", __VA_ARGS__)
/// PIPELINK_IMPORT_COUNTER(done, .field = "flag", .arrivals = 1, .scope = "device");
/// A counter that another component owns. State what this side relies on; what it does not state is not
/// compared.
#define PIPELINK_IMPORT_COUNTER(NAME, ...) PIPELINK_DETAIL_COUNTER(NAME, "import", __VA_ARGS__)
#define PIPELINK_DETAIL_COUNTER(NAME, DIRECTION, ...)                               \
  PIPELINK_DETAIL_RECORD(counter, NAME, w.field("direction", DIRECTION);            \
                         ::pipelink::detail::CounterOptions{__VA_ARGS__}.write(w);) \
  static_assert(true)

/// PIPELINK_SCRATCH(partials, .field = "partials", .bytes = "tile * 4", .per_block = true);
/// Global memory for this component's own use. The caller of open lends all scratch of a kernel as one piece,
/// whose size `scratch_bytes` tells; the address goes into a pointer of PIPELINK_PARAMETERS, whatever the
/// caller or the host provider wrote there. The handle's data is, with `per_block`, the block's own part.
#define PIPELINK_SCRATCH(NAME, ...)                                                                 \
  PIPELINK_DETAIL_RECORD(scratch, NAME, ::pipelink::detail::ScratchOptions{__VA_ARGS__}.write(w);)  \
  extern "C" __device__ unsigned char* PIPELINK_DETAIL_SYMBOL(__scratch__##NAME)(::pipelink::Self); \
  struct PIPELINK_DETAIL_SYMBOL(__handle__##NAME) {                                                 \
    template <class T = unsigned char>                                                              \
    static __device__ __forceinline__ T* data(::pipelink::Self self) {                              \
      return reinterpret_cast<T*>(PIPELINK_DETAIL_SYMBOL(__scratch__##NAME)(self));                 \
    }                                                                                               \
  };                                                                                                \
  [[maybe_unused]] static constexpr PIPELINK_DETAIL_SYMBOL(__handle__##NAME) NAME {}

/// PIPELINK_GRID(.cluster = {2, 1, 1}, .resident = true);
/// What this component asks of the launch. A composition has one shape of cluster; with `resident`, a grid
/// that does not fit the device at one time is refused when it is opened.
#define PIPELINK_GRID(...)                                                                   \
  PIPELINK_DETAIL_RECORD(grid, grid, ::pipelink::detail::GridOptions{__VA_ARGS__}.write(w);) \
  static_assert(true)

/// PIPELINK_STEPS(load, .loop = "acquire operands; arrive operands");
/// The order in which a role, or the body of an export, waits and arrives: the words of the handles,
/// separated by `;`. A ring's producer does `acquire` and `arrive`, its consumer `wait` and `release`;
/// mbarriers and counters have `wait` and `arrive`, named barriers `sync` and `arrive`; `call f` stands for
/// the steps of the export that `f` is bound to. `x 2` repeats a step, or steps in brackets; `*` says any
/// number of times, at least once;
/// `?` says in some iterations only. From the steps of all roles the linker finds waits that are never met. A
/// component that states any states those of all its roles and exports.
#define PIPELINK_STEPS(NAME, ...)                                                              \
  PIPELINK_DETAIL_RECORD(steps, NAME, ::pipelink::detail::StepsOptions{__VA_ARGS__}.write(w);) \
  static_assert(true)

/// PIPELINK_PARAMETERS(swiglu::Parameters, "swiglu.h", out, rows);
/// The kernel parameters that this component reads: a struct of its public header, with all its fields. Read
/// them as parameters(self). Without a host provider, the caller of open fills the struct itself.
#define PIPELINK_PARAMETERS(TYPE, HEADER, ...)                                                       \
  PIPELINK_DETAIL_RECORD(                                                                            \
      parameters, region, using Type = TYPE; const ::pipelink::detail::TypeText<Type> text;          \
      w.field("type", text.begin, text.size); w.field("header", HEADER);                             \
      w.field("size", static_cast<long long>(sizeof(Type)));                                         \
      w.field("align", static_cast<long long>(alignof(Type))); PIPELINK_DETAIL_FIELDS(__VA_ARGS__))  \
  extern "C" __device__ const unsigned char* PIPELINK_DETAIL_SYMBOL(__parameters)(::pipelink::Self); \
  [[maybe_unused]] static __device__ __forceinline__ const TYPE& parameters(::pipelink::Self self) { \
    return *reinterpret_cast<const TYPE*>(PIPELINK_DETAIL_SYMBOL(__parameters)(self));               \
  }                                                                                                  \
  static_assert(std::is_trivially_copyable_v<TYPE>, "kernel parameters are copied as bytes")

/// PIPELINK_HOST(tma_loader::Arguments, "tma_loader.h", a, b, m, n, k);
/// This component ships a host provider (pipelink/provider.hpp) that fills its parameters from these
/// arguments: a struct of its public header, with all its fields. Without the fields, only C and C++ callers
/// can fill it.
#define PIPELINK_HOST(TYPE, HEADER, ...)                                                                  \
  PIPELINK_DETAIL_RECORD(                                                                                 \
      host, provider, w.field("symbol", "pipelink_host_" PIPELINK_DETAIL_TEXT(PIPELINK_COMPONENT) "_v1"); \
      using Type = TYPE; const ::pipelink::detail::TypeText<Type> text;                                   \
      w.field("arguments", text.begin, text.size); w.field("header", HEADER); w.field("abi", 1LL);        \
      __VA_OPT__(w.field("size", static_cast<long long>(sizeof(Type))); w.field(                          \
          "align", static_cast<long long>(alignof(Type)));) PIPELINK_DETAIL_FIELDS(__VA_ARGS__))          \
  static_assert(true)

#define PIPELINK_DETAIL_EMPTY()
#define PIPELINK_DETAIL_DEFER(m) m PIPELINK_DETAIL_EMPTY()
#define PIPELINK_DETAIL_EXPAND(...) \
  PIPELINK_DETAIL_EXPAND1(PIPELINK_DETAIL_EXPAND1(PIPELINK_DETAIL_EXPAND1(__VA_ARGS__)))
#define PIPELINK_DETAIL_EXPAND1(...) \
  PIPELINK_DETAIL_EXPAND2(PIPELINK_DETAIL_EXPAND2(PIPELINK_DETAIL_EXPAND2(__VA_ARGS__)))
#define PIPELINK_DETAIL_EXPAND2(...) \
  PIPELINK_DETAIL_EXPAND3(PIPELINK_DETAIL_EXPAND3(PIPELINK_DETAIL_EXPAND3(__VA_ARGS__)))
#define PIPELINK_DETAIL_EXPAND3(...) __VA_ARGS__
#define PIPELINK_DETAIL_FIELDS(...) \
  __VA_OPT__(PIPELINK_DETAIL_EXPAND(PIPELINK_DETAIL_FIELDS_STEP(__VA_ARGS__)))
#define PIPELINK_DETAIL_FIELDS_STEP(FIRST, ...)                                                     \
  w.field("field", #FIRST);                                                                         \
  w.field("field_offset", static_cast<long long>(offsetof(Type, FIRST)));                           \
  w.field("field_size", static_cast<long long>(sizeof(Type::FIRST)));                               \
  w.field("field_kind", ::pipelink::detail::field_kind<std::remove_cv_t<decltype(Type::FIRST)>>()); \
  __VA_OPT__(PIPELINK_DETAIL_DEFER(PIPELINK_DETAIL_FIELDS_AGAIN)()(__VA_ARGS__))
#define PIPELINK_DETAIL_FIELDS_AGAIN() PIPELINK_DETAIL_FIELDS_STEP

namespace pipelink {
inline constexpr auto kProducer = detail::Side::kProducer;
inline constexpr auto kConsumer = detail::Side::kConsumer;
}  // namespace pipelink

#ifndef PIPELINK_COMPONENT
#error "define PIPELINK_COMPONENT (the component's name) before including <pipelink/component.h>"
#endif
#ifndef PIPELINK_CONTROL
namespace {
struct pipelink_component {
  static constexpr const char* component = PIPELINK_DETAIL_TEXT(PIPELINK_COMPONENT);
  static constexpr const char* kind = "component";
  static constexpr const char* name = component;
  static constexpr const char* file = "";
  static constexpr long long line = 0;
  static constexpr void write(::pipelink::detail::RecordWriter& w) {
    w.field("toolkit",
            PIPELINK_DETAIL_TEXT(__CUDACC_VER_MAJOR__) "." PIPELINK_DETAIL_TEXT(__CUDACC_VER_MINOR__));
  }
};
PIPELINK_DETAIL_EMIT(pipelink_component)
}  // namespace
#endif
