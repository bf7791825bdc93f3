// Small linear algebra over GF(2). A vector is the bits of a number; a matrix is its columns.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace pipelink::transfer::gf2 {

using Vector = std::uint32_t;

/// A subspace, reduced as vectors are added; remembers how each was made from the vectors offered.
class Space {
 public:
  /// Whether the vector is new to the space. `kernel`, if given, gets the combination of the vectors offered
  /// so far (a bit for each, in order) that is zero, when it is not.
  bool add(Vector vector, Vector* kernel = nullptr) {
    Vector made = Vector{1} << offered_++;
    reduce(vector, made);
    if (vector != 0) {
      rows_.emplace_back(vector, made);
      return true;
    }
    if (kernel != nullptr) *kernel = made;
    return false;
  }

  bool contains(Vector vector) const {
    Vector made = 0;
    reduce(vector, made);
    return vector == 0;
  }

  /// The combination of the vectors offered that is `vector`.
  std::optional<Vector> solve(Vector vector) const {
    Vector made = 0;
    reduce(vector, made);
    if (vector != 0) return std::nullopt;
    return made;
  }

  int dimension() const { return static_cast<int>(rows_.size()); }

 private:
  void reduce(Vector& vector, Vector& made) const {
    for (const auto& [row, combination] : rows_)
      if ((vector & std::bit_floor(row)) != 0) {
        vector ^= row;
        made ^= combination;
      }
  }

  std::vector<std::pair<Vector, Vector>> rows_;  // by age; no later row has the leading bit of an earlier one
  int offered_ = 0;
};

inline Vector product(const std::vector<Vector>& columns, Vector vector) {
  Vector out = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if ((vector >> i & 1) != 0) out ^= columns[i];
  return out;
}

}  // namespace pipelink::transfer::gf2
