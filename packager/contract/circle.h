// Whether names lead back to where they began.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace pipelink::contract {

/// A circle of `next`, which gives the names to which one leads, all among `names`: from a name back to it,
/// the first that is met in the order of `names`. Empty if there is none.
std::vector<std::string> first_circle(
    const std::vector<std::string>& names,
    const std::function<std::vector<std::string>(const std::string&)>& next);

}  // namespace pipelink::contract
