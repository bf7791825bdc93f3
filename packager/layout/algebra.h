// Operations on layouts. Each gives a layout that is right at every index, or says why there is none.
#pragma once

#include "packager/layout/layout.h"

namespace pipelink::layout {

/// The same function of the flat index with as few extents as possible; its modes are not kept.
Layout coalesce(const Layout& layout);

/// Each top-level mode coalesced by itself: the same function of a coordinate.
Layout coalesce_modes(const Layout& layout);

/// i → a(b(i)), with b's modes. The indices of b must be below a's size. A layout exists if no digit of a's
/// index carries while b's extents run, and if b's swizzle can be moved before a.
Result<Layout> composition(const Layout& a, const Layout& b);

/// i → swizzle(a(i)), if that is one swizzle of an unswizzled layout.
Result<Layout> swizzled(const Swizzle& swizzle, const Layout& a);

/// The largest r with a(r(i)) == i for all i < size(r): where index i is.
Result<Layout> right_inverse(const Layout& a);

/// r with r(a(i)) == i for all i < size(a), which must not map two coordinates to one index. Of an index that
/// `a` never gives it says nothing.
Result<Layout> left_inverse(const Layout& a);

/// i → factor * a(i): element offsets to bytes. The factor is a power of two if `a` is swizzled.
Result<Layout> scaled(const Layout& a, std::int64_t factor);

}  // namespace pipelink::layout
