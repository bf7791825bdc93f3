#include "packager/contract/circle.h"

#include <algorithm>
#include <map>

namespace pipelink::contract {
namespace {

class Walk {
 public:
  explicit Walk(const std::function<std::vector<std::string>(const std::string&)>& next) : next_(next) {}

  /// Whether a circle was met; it is the path then.
  bool meets_circle(const std::string& name) {
    if (state_[name] == State::kDone) return false;
    if (state_[name] == State::kOnPath) {
      path_.erase(path_.begin(), std::find(path_.begin(), path_.end(), name));
      path_.push_back(name);
      return true;
    }
    state_[name] = State::kOnPath;
    path_.push_back(name);
    for (const std::string& other : next_(name))
      if (meets_circle(other)) return true;
    path_.pop_back();
    state_[name] = State::kDone;
    return false;
  }

  std::vector<std::string> take() { return std::move(path_); }

 private:
  enum class State { kNew, kOnPath, kDone };

  const std::function<std::vector<std::string>(const std::string&)>& next_;
  std::map<std::string, State> state_;
  std::vector<std::string> path_;
};

}  // namespace

std::vector<std::string> first_circle(
    const std::vector<std::string>& names,
    const std::function<std::vector<std::string>(const std::string&)>& next) {
  Walk walk(next);
  for (const std::string& name : names)
    if (walk.meets_circle(name)) return walk.take();
  return {};
}

}  // namespace pipelink::contract
