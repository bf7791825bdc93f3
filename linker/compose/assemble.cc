#include <algorithm>
#include <set>
#include <tuple>

#include "linker/compose/composition_file.h"

#include "packager/base/words.h"

namespace pipelink {
namespace {

using contract::Direction;

std::string major_of(const std::string& toolkit) {
  return toolkit.substr(0, toolkit.find('.'));
}

Diagnostic error(const char* clause, std::string title) {
  Diagnostic d;
  d.clause = clause;
  d.title = std::move(title);
  return d;
}

/// A use of a package with the package that it names; sorted, so that the order of the file does not show.
struct Use {
  std::string name;  ///< of the instance
  bool named = false;
  std::size_t package = 0;
  SourceSpan where;
};

class Assembler {
 public:
  explicit Assembler(const CompositionFile& file) : file_(file) {}

  Outcome<Composition> run(const std::vector<PackageInput>& packages) {
    out_.name = file_.name;
    out_.arch = file_.arch;
    out_.file = file_.file;
    out_.set = file_.set;
    out_.rings = file_.rings;
    out_.launch = file_.launch;
    out_.options = file_.options;
    out_.lines = file_.lines;
    out_.declared = file_.declared;
    std::set<std::pair<std::string, std::string>> seen;
    for (const auto& entry : file_.bind)  // in order: several exports of one import are called so
      if (seen.insert(entry).second) out_.bind.push_back(entry);
    collect(packages);
    one_package_each();
    arch();
    toolkit();
    names();
    state();
    instances();
    rings();
    if (has_error(faults_)) return std::move(faults_);
    return {std::move(out_), std::move(faults_)};
  }

 private:
  /// Where the user wrote what stands there in the file.
  SourceSpan place(const SourceSpan& where) const { return file_.declared.value_or(where); }

  /// Equal packages once, sorted by component, then file; the path kept is the least.
  void collect(const std::vector<PackageInput>& packages) {
    const auto key = [](const PackageInput& p) {
      return std::tie(p.contract.component, p.sha256.empty() ? p.path : p.sha256);
    };
    std::vector<const PackageInput*> sorted;
    for (const PackageInput& p : packages) sorted.push_back(&p);
    std::sort(sorted.begin(), sorted.end(), [&](const PackageInput* a, const PackageInput* b) {
      return std::make_tuple(key(*a), a->path) < std::make_tuple(key(*b), b->path);
    });
    for (const PackageInput* p : sorted) {
      if (out_.packages.empty() || key(out_.packages.back()) != key(*p)) out_.packages.push_back(*p);
    }
    for (std::size_t i = 0; i < packages.size(); ++i) {
      const auto same = [&](const PackageInput& p) { return key(p) == key(packages[i]); };
      const auto at = std::find_if(out_.packages.begin(), out_.packages.end(), same);
      const ComponentUse& use = file_.components[i];
      uses_.push_back({use.as.empty() ? packages[i].contract.component : use.as, !use.as.empty(),
                       static_cast<std::size_t>(at - out_.packages.begin()), use.where});
    }
    std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
      return std::tie(a.name, a.package, a.where.line) < std::tie(b.name, b.package, b.where.line);
    });
  }

  LabelledFact package_fact(std::size_t p, const std::string& text) const {
    const PackageInput& package = out_.packages[p];
    return {package.contract.component, package.file + " " + text, package.contract.where};
  }

  void one_package_each() {
    for (std::size_t i = 0; i < out_.packages.size();) {
      const std::string& component = out_.packages[i].contract.component;
      Diagnostic d = error("L-NAME", "two packages hold the component " + quoted(component));
      std::size_t end = i;
      for (; end < out_.packages.size() && out_.packages[end].contract.component == component; ++end) {
        d.facts.push_back(package_fact(end, "holds version " + out_.packages[end].contract.version));
      }
      if (end - i > 1) {
        d.reason = std::to_string(end - i) + " packages define the symbols pl__" + component +
                   "__*, which are one name each in the linked kernel";
        d.help = "name one of these packages for all instances of " + quoted(component);
        complained_.insert(component);
        faults_.push_back(std::move(d));
      }
      i = end;
    }
  }

  void arch() {
    Diagnostic d = error("L-ARCH", "a package is for another architecture than the composition");
    d.facts.push_back({"composition", "`arch` is " + file_.arch, out_.where()});
    std::set<std::string> found;
    for (std::size_t i = 0; i < out_.packages.size(); ++i) {
      const std::string& arch = out_.packages[i].contract.arch;
      if (arch == file_.arch) continue;
      found.insert(arch);
      d.facts.push_back(package_fact(i, "is for " + arch));
    }
    if (found.empty()) return;
    const std::size_t other = d.facts.size() - 1;
    d.reason = "of " + std::to_string(out_.packages.size()) + " packages, " +
               std::to_string(out_.packages.size() - other) + " for " + file_.arch;
    if (other == out_.packages.size() && found.size() == 1) {
      d.help = "state \"arch\": \"" + *found.begin() +
               "\", for which all packages are, or name the packages for " + file_.arch;
    } else {
      std::string list;
      for (std::size_t i = 1; i < d.facts.size(); ++i) list += (i > 1 ? ", " : "") + quoted(d.facts[i].owner);
      d.help = "name the packages for " + file_.arch + " of " + list;
    }
    faults_.push_back(std::move(d));
  }

  void toolkit() {
    std::map<std::string, std::size_t> majors;
    for (const PackageInput& p : out_.packages) ++majors[major_of(p.contract.toolkit)];
    if (majors.size() < 2) return;
    Diagnostic d = error("L-TOOLKIT", "the packages are from toolkits of different major versions");
    std::string counts;
    for (const auto& [major, count] : majors) {
      counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " from CUDA " + major;
    }
    for (std::size_t i = 0; i < out_.packages.size(); ++i) {
      d.facts.push_back(package_fact(i, "is from CUDA " + out_.packages[i].contract.toolkit));
    }
    d.reason = counts + "; link-time code is readable within one major version only";
    d.help = "pack all with one major version";
    faults_.push_back(std::move(d));
  }

  void names() {
    std::vector<std::size_t> count(out_.packages.size());
    for (const Use& use : uses_) ++count[use.package];
    for (std::size_t p = 0; p < out_.packages.size(); ++p) {
      const auto unnamed = [&](const Use& use) { return use.package == p && !use.named; };
      if (count[p] < 2 || std::none_of(uses_.begin(), uses_.end(), unnamed)) continue;
      const std::string& component = out_.packages[p].contract.component;
      Diagnostic d = error("L-NAME", "the component " + quoted(component) + " is used " +
                                         std::to_string(count[p]) + " times and not every use has a name");
      std::set<std::string> taken;
      for (const Use& use : uses_) {
        taken.insert(use.name);
        if (use.package != p) continue;
        d.facts.push_back(
            {"composition",
             use.named ? quoted(component) + " as " + quoted(use.name) : quoted(component) + " without `as`",
             place(use.where)});
      }
      std::string proposed;
      int number = 0;
      for (const Use& use : uses_) {
        if (!unnamed(use)) continue;
        while (taken.count(component + std::to_string(number))) ++number;
        proposed +=
            (proposed.empty() ? "" : ", ") + ("\"as\": \"" + component + std::to_string(number++) + "\"");
      }
      d.reason = "ports, facts and the link map are addressed as instance.name";
      d.help = "name each use: " + proposed;
      faults_.push_back(std::move(d));
      complained_.insert(component);
    }
    for (std::size_t i = 0; i < uses_.size();) {
      std::size_t end = i;
      while (end < uses_.size() && uses_[end].name == uses_[i].name) ++end;
      if (end - i > 1 && !complained_.count(uses_[i].name)) {
        Diagnostic d = error("L-NAME", "two instances have the name " + quoted(uses_[i].name));
        for (std::size_t k = i; k < end; ++k) {
          const std::string& component = out_.packages[uses_[k].package].contract.component;
          d.facts.push_back({"composition",
                             quoted(component) + (uses_[k].named ? " as " + quoted(uses_[k].name) : ""),
                             place(uses_[k].where)});
        }
        d.reason = "ports, facts and the link map are addressed as instance.name";
        d.help = "give " + std::to_string(end - i - 1) + " of them another `as`";
        faults_.push_back(std::move(d));
      }
      i = end;
    }
  }

  void state() {
    for (std::size_t p = 0; p < out_.packages.size(); ++p) {
      const contract::Contract& c = out_.packages[p].contract;
      if (c.mutable_data.empty()) continue;
      Diagnostic d = error("P-STATE", "the component " + quoted(c.component) +
                                          " keeps static data that can be written and has several instances");
      std::string list;
      for (const std::string& name : c.mutable_data) list += (list.empty() ? "" : ", ") + quoted(name);
      d.facts.push_back(package_fact(p, "has " + list));
      std::size_t count = 0;
      for (const Use& use : uses_) {
        if (use.package != p) continue;
        ++count;
        d.facts.push_back({"composition", "instance " + quoted(use.name), place(use.where)});
      }
      if (count < 2) continue;
      d.reason = std::to_string(count) + " instances would share " + std::to_string(c.mutable_data.size()) +
                 (c.mutable_data.size() == 1 ? " variable" : " variables") + " that each takes for its own";
      d.help =
          "use one instance, or keep the state in a buffer or the parameter region of " + quoted(c.component);
      faults_.push_back(std::move(d));
    }
  }

  void instances() {
    std::map<std::size_t, int> next;
    for (const Use& use : uses_) {
      const std::string& component = out_.packages[use.package].contract.component;
      out_.instances.push_back({use.name, component, next[use.package]++, use.package});
    }
  }

  void rings() {
    for (const auto& [name, preference] : out_.rings) {
      const auto dot = name.find('.');
      std::string owned;
      bool found = false;
      for (std::size_t i = 0; i < out_.instances.size(); ++i) {
        for (const contract::Ring& r : out_.contract(i).rings) {
          if (r.direction != Direction::kExport) continue;
          found = found || (out_.instances[i].name == name.substr(0, dot) && r.name == name.substr(dot + 1));
          owned += (owned.empty() ? "" : ", ") + quoted(out_.instances[i].name + "." + r.name);
        }
      }
      if (found) continue;
      Diagnostic d =
          error("L-SET", "a preference is stated for " + quoted(name) + ", which is no ring of its owner");
      d.facts.push_back({"composition", "RING " + name, out_.where("RING " + name)});
      d.reason = owned.empty() ? "no component of this composition owns a ring" : "the rings are " + owned;
      d.help = owned.empty() ? "remove it" : "name one of these rings by its owner, or remove it";
      faults_.push_back(std::move(d));
    }
  }

  const CompositionFile& file_;
  Composition out_;
  std::vector<Use> uses_;
  Diagnostics faults_;
  std::set<std::string> complained_;  ///< components whose uses lack names: said once
};

}  // namespace

Outcome<Composition> assemble(const CompositionFile& file, const std::vector<PackageInput>& packages) {
  return Assembler(file).run(packages);
}

}  // namespace pipelink
