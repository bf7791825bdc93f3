// Layouts of CuTe as the text that annotations take, so that no number is typed twice:
//
//     using Mma = decltype(cute::make_tiled_mma(…));
//     PIPELINK_EXPORT_TENSOR(acc, .element = "f32", .via = "epilogue",
//                            .tile = {cute::tile_size<0>(Mma{}), cute::tile_size<1>(Mma{})},
//                            .layout = pipelink::cute_accumulator<Mma>);
//
// All is computed by the compiler from types: layouts must be static.
#pragma once

#include <cute/atom/mma_atom.hpp>
#include <cute/layout.hpp>
#include <cute/layout_composed.hpp>
#include <cute/swizzle_layout.hpp>

#include "pipelink/records.h"

namespace pipelink {
namespace detail {

template <class T>
constexpr void write_cute_tuple(RecordWriter& w) {
  if constexpr (cute::is_tuple<T>::value) {
    w.put('(');
    [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      ((w.raw(kIndex == 0 ? "" : ","), write_cute_tuple<cute::tuple_element_t<kIndex, T>>(w)), ...);
    }
    (std::make_index_sequence<cute::tuple_size<T>::value>{});
    w.put(')');
  } else {
    static_assert(cute::is_static<T>::value, "a layout in a contract has static extents and strides");
    w.number(static_cast<long long>(T::value));
  }
}

/// How a layout is written; a layout of another kind is refused here.
template <class Layout>
struct CuteText {
  static_assert(sizeof(Layout) == 0, "not a cute::Layout, nor a swizzle before one");
};
template <class Shape, class Stride>
struct CuteText<cute::Layout<Shape, Stride>> {
  static constexpr void write(RecordWriter& w) {
    write_cute_tuple<Shape>(w);
    w.put(':');
    write_cute_tuple<Stride>(w);
  }
};
/// Bits of the addresses of elements, of which CuTe's swizzles before a layout in shared memory are: 0 if of
/// indices.
template <class Offset>
inline constexpr int kElementBits = Offset::value == 0 ? 0 : -1;
template <int kBits>
inline constexpr int kElementBits<cute::smem_ptr_flag_bits<kBits>> = kBits;

template <int kBits, int kBase, int kShift, class Offset, class Layout>
struct CuteText<cute::ComposedLayout<cute::Swizzle<kBits, kBase, kShift>, Offset, Layout>> {
  static_assert(kElementBits<Offset> >= 0, "a swizzled layout in a contract begins at 0");
  static constexpr void write(RecordWriter& w) {
    int base = kBase;
    for (int bits = kElementBits<Offset>; bits > 8; bits /= 2) --base;
    for (int bits = kElementBits<Offset>; bits != 0 && bits < 8; bits *= 2) ++base;
    if (kBits != 0) {
      w.raw("Sw<");
      w.number(kBits);
      w.put(',');
      w.number(base);
      w.put(',');
      w.number(kShift);
      w.raw("> o ");
    }
    CuteText<Layout>::write(w);
  }
};

template <class Layout>
constexpr auto make_cute_text() {
  constexpr std::size_t size = [] {
    RecordWriter w;
    CuteText<Layout>::write(w);
    return w.size;
  }();
  RecordText<size + 1> text{};
  RecordWriter w{text.bytes};
  CuteText<Layout>::write(w);
  return text;
}
template <class Layout>
inline constexpr auto cute_text_of = make_cute_text<Layout>();

/// CuTe's (thread, value) layouts give the column-major index in the tile, contracts the row-major one.
template <class Tv, class Rows, class Columns>
constexpr auto row_major(Tv tv, Rows rows, Columns columns) {
  return cute::coalesce(
      cute::composition(cute::make_layout(cute::make_shape(rows, columns), cute::LayoutRight{}), tv),
      cute::Step<cute::_1, cute::_1>{});
}
template <class Mma, int kMode>
constexpr auto extent_of() {
  return cute::Int<cute::tile_size<kMode>(Mma{})>{};
}

}  // namespace detail

/// A static layout in elements, as CuTe prints it: for a tile in shared memory, with its swizzle.
template <class Layout>
inline constexpr const char* cute_layout = detail::cute_text_of<Layout>.bytes;

/// (thread, value) → element of a tiled product's accumulators, m × n.
template <class Mma>
inline constexpr const char* cute_accumulator = cute_layout<decltype(detail::row_major(
    Mma{}.get_layoutC_TV(), detail::extent_of<Mma, 0>(), detail::extent_of<Mma, 1>()))>;
/// Of its operand A in registers, m × k.
template <class Mma>
inline constexpr const char* cute_operand_a = cute_layout<decltype(detail::row_major(
    Mma{}.get_layoutA_TV(), detail::extent_of<Mma, 0>(), detail::extent_of<Mma, 2>()))>;
/// Of its operand B in registers, n × k.
template <class Mma>
inline constexpr const char* cute_operand_b = cute_layout<decltype(detail::row_major(
    Mma{}.get_layoutB_TV(), detail::extent_of<Mma, 1>(), detail::extent_of<Mma, 2>()))>;

}  // namespace pipelink
