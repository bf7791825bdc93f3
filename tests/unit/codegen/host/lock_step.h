// 128 threads in lock step: a variable of the generated text is a vector with an item for each thread, so
// that its operators, with their precedence, are the compiler's own.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "maps.h"

constexpr int kThreads = 128;

/// A number of each thread.
template <class T>
struct Each {
  Each() = default;
  Each(T same) { v.fill(same); }
  T& operator[](int thread) { return v[static_cast<std::size_t>(thread)]; }
  const T& operator[](int thread) const { return v[static_cast<std::size_t>(thread)]; }
  std::array<T, kThreads> v{};
};
using Lanes = Each<unsigned>;
using Mask = Each<bool>;

#define LANES_OPERATOR(OP, RESULT)                            \
  inline RESULT operator OP(const Lanes& a, const Lanes& b) { \
    RESULT out;                                               \
    for (int t = 0; t < kThreads; ++t) out[t] = a[t] OP b[t]; \
    return out;                                               \
  }
LANES_OPERATOR(+, Lanes)
LANES_OPERATOR(*, Lanes)
LANES_OPERATOR(/, Lanes)
LANES_OPERATOR(%, Lanes)
LANES_OPERATOR(&, Lanes)
LANES_OPERATOR(^, Lanes)
LANES_OPERATOR(<<, Lanes)
LANES_OPERATOR(>>, Lanes)
LANES_OPERATOR(==, Mask)
LANES_OPERATOR(!=, Mask)
LANES_OPERATOR(<, Mask)

/// condition ? yes : no.
inline Lanes pick(const Mask& condition, const Lanes& yes, const Lanes& no) {
  Lanes out;
  for (int t = 0; t < kThreads; ++t) out[t] = condition[t] ? yes[t] : no[t];
  return out;
}

struct {
  Lanes x;
} inline threadIdx;
inline const Mask kAll = true;
constexpr unsigned pl_shared = 4096;   // where the transfer's buffer begins
constexpr unsigned kSource = 200'000;  // where a producer's tile in shared memory begins
inline std::array<unsigned char, 300'000> memory;

inline Lanes __cvta_generic_to_shared(const Lanes& address) {
  return address;
}
inline Lanes __popc(Lanes v) {
  for (int t = 0; t < kThreads; ++t) v[t] = static_cast<unsigned>(__builtin_popcount(v[t]));
  return v;
}
inline Lanes __shfl_sync(unsigned, const Lanes& v, const Lanes& lane) {
  Lanes out;
  for (int t = 0; t < kThreads; ++t) out[t] = v[t / 32 * 32 + static_cast<int>(lane[t]) % 32];
  return out;
}
inline Lanes __shfl_xor_sync(unsigned mask, const Lanes& v, int lane) {
  return __shfl_sync(mask, v, threadIdx.x % 32u ^ Lanes(static_cast<unsigned>(lane)));
}
inline Lanes __byte_perm(const Lanes& low, const Lanes& high, const Lanes& selector) {
  Lanes out{};
  for (int t = 0; t < kThreads; ++t)
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t both = std::uint64_t{high[t]} << 32 | low[t];
      out[t] |= static_cast<unsigned>(both >> (8 * (selector[t] >> (4 * i) & 7)) & 255) << (8 * i);
    }
  return out;
}

/// An array of each thread.
struct Array {
  explicit Array(int size) : bytes(static_cast<std::size_t>(size)) {}
  std::vector<std::array<unsigned char, kThreads>> bytes;
  unsigned char& at(int byte, int thread) {
    return bytes.at(static_cast<std::size_t>(byte))[static_cast<std::size_t>(thread)];
  }
};
inline Lanes pl_word(Array* from, int word, int bytes) {
  Lanes out{};
  for (int t = 0; t < kThreads; ++t)
    for (int i = 0; i < 4 && 4 * word + i < bytes; ++i)
      out[t] |= unsigned{from->at(4 * word + i, t)} << (8 * i);
  return out;
}
inline void pl_set_word(Array* to, int word, int bytes, const Lanes& value) {
  for (int t = 0; t < kThreads; ++t)
    for (int i = 0; i < 4 && 4 * word + i < bytes; ++i)
      to->at(4 * word + i, t) = static_cast<unsigned char>(value[t] >> (8 * i));
}
inline void pl_set_word(Array& to, int word, int bytes, const Lanes& value) {
  pl_set_word(&to, word, bytes, value);
}

/// One instruction on shared memory, of the threads in `mask`. The address is the last input.
inline void run(const Mask& mask, const std::string& code, std::initializer_list<Lanes*> outputs,
                std::initializer_list<Lanes> inputs) {
  const std::vector<Lanes*> out(outputs);
  const std::vector<Lanes> in(inputs);
  const auto has = [&](const char* part) { return code.find(part) != std::string::npos; };
  const unsigned plus = static_cast<unsigned>(std::atoi(code.c_str() + code.find("+ ") + 2));
  const bool stores = has("st.shared") || has("stmatrix"), matrices = has("matrix");
  const int words = static_cast<int>(stores ? in.size() - 1 : out.size());
  const int bytes = has(".b8") || has(".u8") ? 1 : has(".shared.b16 [%1") || has(".u16 %0, [") ? 2 : 4;
  if (!matrices && has("ld.shared"))
    for (Lanes* o : out) *o = Lanes{};
  for (int t = 0; t < kThreads; ++t)
    for (int w = 0; w < words; ++w)
      for (int i = 0; i < (matrices ? 4 : bytes); ++i) {
        if (!mask[t]) continue;
        std::size_t at = in.back()[t] + plus + static_cast<unsigned>(4 * w + i);
        if (matrices) {  // two halves of matrix w: lane l has row l/4; transposed, column l/4
          const int lane = t % 32, across = lane % 4 * 2 + i / 2, row = has(".trans") ? across : lane / 4;
          at = in.back()[t - lane + w * 8 + row] + plus +
               static_cast<unsigned>(2 * (has(".trans") ? lane / 4 : across) + i % 2);
        }
        unsigned char& byte = memory.at(at);
        if (stores)
          byte = static_cast<unsigned char>(in[static_cast<std::size_t>(w)][t] >> (8 * i));
        else if (Lanes& o = *out[static_cast<std::size_t>(w)]; true)
          o[t] = (o[t] & ~(255u << (8 * i))) | unsigned{byte} << (8 * i);
      }
}

inline std::map<std::string, int> kinds;
inline int faults = 0;

/// A pair of the matrix of unit.route, with a tile of random bytes.
struct Case {
  Case(int bytes, int producer, int consumer, bool two_roles, const char* kind)
      : b(bytes),
        from(pipelink::transfer::test::producers(b)[static_cast<std::size_t>(producer)]),
        to(pipelink::transfer::test::consumers(b)[static_cast<std::size_t>(consumer)]),
        given(from.side.map.values * b),
        name(from.name + " to " + to.name + (two_roles ? " between roles" : "")) {
    ++kinds[kind];
    for (int t = 0; t < kThreads; ++t) threadIdx.x[t] = static_cast<unsigned>(t);
    memory.fill(0xa5);
    for (std::size_t i = 0; i < sizeof tile; ++i)
      tile[i] = static_cast<unsigned char>((i * 2654435761u + i / 7) >> 11);
    const auto& map = from.side.map;
    for (int t = 0; t < map.threads; ++t)
      for (int v = 0; v < map.values; ++v)
        for (int i = 0; i < b; ++i)
          if (map(t, v) >= 0) given.at(v * b + i, t) = tile[map(t, v) * b + i];
    const auto& offset = from.side.address.offset;
    for (std::size_t e = 0; e < offset.size(); ++e)
      std::memcpy(&memory[kSource + static_cast<std::size_t>(offset[e] * b)],
                  tile + e * static_cast<std::size_t>(b), static_cast<std::size_t>(b));
  }
  Lanes source() const { return kSource; }
  void fault(int element) {
    ++faults;
    std::printf("%s, %d bytes: element %d is wrong\n", name.c_str(), b, element);
  }
  void check(Array& out) {
    const auto& map = to.side.map;
    for (int t = 0; t < map.threads; ++t)
      for (int v = 0; v < map.values; ++v)
        for (int i = 0; i < b; ++i)
          if (map(t, v) >= 0 && out.at(v * b + i, t) != tile[map(t, v) * b + i]) return fault(map(t, v));
  }
  void check_shared() {
    const auto& offset = to.side.address.offset;
    for (std::size_t e = 0; e < offset.size(); ++e)
      if (std::memcmp(&memory[pl_shared + static_cast<std::size_t>(offset[e] * b)],
                      tile + e * static_cast<std::size_t>(b), static_cast<std::size_t>(b)) != 0)
        return fault(static_cast<int>(e));
  }

  int b;
  pipelink::transfer::test::Named from, to;
  Array given;
  std::string name;
  unsigned char tile[64 * 64 * 8];
};

inline int finish() {
  int all = 0;
  for (const auto& [kind, count] : kinds) {
    std::printf("%d by %s\n", count, kind.c_str());
    all += count;
  }
  std::printf("%d pairs, %d wrong\n", all, faults);
  return faults == 0 && kinds.size() >= 4 ? 0 : 1;
}
