#include "linker/bind/proposals.h"

#include <algorithm>
#include <set>

#include "linker/bind/compatible.h"
#include "linker/bind/words.h"

namespace pipelink::binding {
namespace {

/// A change of the entry that binds `importer` to `exporter`, whichever stands first.
Proposal change_of_entry(std::string help, const std::string& importer, const std::string& exporter,
                         const std::string& replacement) {
  return {std::move(help), [=](Composition& c) {
            const auto meant = [&](const auto& e) {
              return (e.first == importer && e.second == exporter) ||
                     (e.first == exporter && e.second == importer);
            };
            if (replacement.empty()) std::erase_if(c.bind, meant);
            for (auto& e : c.bind)
              if (meant(e)) e = {importer, replacement};
          }};
}

}  // namespace

std::vector<Proposal> other_exports(const Composition& composition, const std::vector<Binding>& callables,
                                    PortRef importer, PortRef bound, bool own) {
  const auto side = [&](std::size_t i) {
    return Side{composition.instances[i].name, composition.contract(i)};
  };
  const auto name = [&](PortRef ref) {
    return dotted(composition, ref.instance, composition.contract(ref.instance).callables[ref.index].name);
  };
  std::vector<PortRef> all;
  for (const Binding& b : callables)
    if (b.importer == importer) all.push_back(b.exporter);
  const bool several = all.size() > 1;
  const std::string from = name(importer), old = name(bound);
  std::vector<Proposal> out;
  if (several) out.push_back(change_of_entry("remove " + bind_line(from, old), from, old, {}));
  const Side a = side(importer.instance);
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    if (i == importer.instance && !own) continue;
    const Side b = side(i);
    for (std::size_t k = 0; k < b.contract.callables.size(); ++k) {
      const contract::Callable& exported = b.contract.callables[k];
      const PortRef other{i, k};
      if (exported.direction != contract::Direction::kExport ||
          std::find(all.begin(), all.end(), other) != all.end() ||
          !callable_misfit(a, a.contract.callables[importer.index], b, exported).empty())
        continue;
      const std::string line = bind_line(from, name(other));
      out.push_back(
          several ? change_of_entry(line + " in place of " + bind_line(from, old), from, old, name(other))
                  : bind_proposal(from, name(other)));
    }
  }
  return out;
}

std::vector<Proposal> without_one(const Composition& composition, const std::vector<Meant>& meant,
                                  bool busy_too) {
  std::set<std::size_t> instances;
  for (const Meant& m : meant)
    if (busy_too || composition.contract(m.instance).roles.empty()) instances.insert(m.instance);
  std::vector<Proposal> out;
  for (const std::size_t i : instances) {
    if (std::none_of(meant.begin(), meant.end(), [&](const Meant& m) { return m.fits && m.instance != i; }))
      continue;
    const std::string name = composition.instances[i].name;
    out.push_back({"leave " + quoted(name) + " out", [=](Composition& c) {
                     std::erase_if(c.instances, [&](const Instance& other) { return other.name == name; });
                   }});
  }
  return out;
}

}  // namespace pipelink::binding
