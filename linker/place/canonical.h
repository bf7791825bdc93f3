// One problem, one form: every list and every live set sorted by name and without repetitions.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "linker/place/problem.h"

namespace pipelink::place {

Problem canonical(const Problem& problem);

/// The index of the entry of that name in a list sorted by name, or −1.
template <class T>
int find_sorted(const std::vector<T>& list, std::string_view name) {
  auto it = std::lower_bound(list.begin(), list.end(), name,
                             [](const T& t, std::string_view n) { return t.name < n; });
  return it != list.end() && it->name == name ? static_cast<int>(it - list.begin()) : -1;
}

/// "live in main,store" or "always live".
std::string lifetime_text(const Claim& claim);

}  // namespace pipelink::place
