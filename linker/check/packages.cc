#include <map>

#include "linker/bind/words.h"
#include "linker/check/context.h"
#include "packager/base/demangle.h"

namespace pipelink::checking {
namespace {

using binding::counted;
using binding::quoted;

constexpr std::size_t kShown = 8;  ///< functions that one message lists

}  // namespace

/// Packages that disagree on the same functions share a message: two copies of a library differ in hundreds.
void check_packages(const Context& context, Findings& findings) {
  const std::vector<PackageInput>& packages = context.composition.packages;
  std::map<std::string, std::map<std::size_t, std::string>> bodies;  // symbol → package → digest
  for (std::size_t p = 0; p < packages.size(); ++p) {
    for (const std::string& entry : packages[p].contract.weak) {
      const auto space = entry.find(' ');
      bodies[entry.substr(0, space)][p] = space == std::string::npos ? "" : entry.substr(space + 1);
    }
  }
  std::map<std::vector<std::size_t>, std::vector<std::string>> conflicts;  // packages → symbols
  for (const auto& [symbol, by_package] : bodies) {
    std::vector<std::size_t> holders;
    bool differ = false;
    for (const auto& [package, digest] : by_package) {
      holders.push_back(package);
      differ = differ || digest != by_package.begin()->second;
    }
    if (differ) conflicts[holders].push_back(symbol);
  }
  for (const auto& [holders, symbols] : conflicts) {
    std::vector<std::string> names;
    for (const std::size_t p : holders) names.push_back(packages[p].contract.component);
    Diagnostic d = binding::error("L-ODR", "the packages of " + binding::joined(names, " and ") +
                                               " hold different functions of one name");
    for (std::size_t s = 0; s < symbols.size() && s < kShown; ++s) {
      for (const std::size_t p : holders) {
        d.facts.push_back(
            {packages[p].contract.component,
             quoted(demangled(symbols[s])) + " has the body " + bodies[symbols[s]][p].substr(0, 12),
             packages[p].contract.where});
      }
    }
    d.reason = counted(symbols.size(), "function") + " of one name with different bodies in " +
               counted(holders.size(), "package") + ", of which the vendor linker keeps one";
    if (symbols.size() > kShown) d.reason += "; " + std::to_string(kShown) + " are listed";
    d.help = "keep the functions of " + names.back() +
             " in a namespace of its own, or compile both against one version";
    findings.push_back({std::move(d), {}});
  }
}

}  // namespace pipelink::checking
