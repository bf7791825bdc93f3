#include "packager/capture/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "packager/base/demangle.h"
#include "packager/base/file.h"
#include "packager/capture/code_rules.h"
#include "packager/capture/ltoir.h"
#include "packager/capture/object.h"
#include "packager/capture/ptx.h"
#include "packager/contract/fields.h"
#include "packager/contract/records.h"
#include "packager/contract/validate.h"

namespace pipelink {
namespace {

using contract::Contract;
using contract::Record;

constexpr std::int64_t kSelfBytes = 16;  // pipelink/self.h

/// One object's code and what its twin tells.
struct Part {
  std::string file;
  std::string ltoir;
  PtxFacts twin;
};

/// Functions that the toolkit itself supplies at link time.
bool supplied_by_toolkit(std::string_view name) {
  static const std::set<std::string_view> known{"vprintf", "malloc", "free", "__assertfail",
                                                "__nv_aligned_device_malloc"};
  return known.contains(name);
}

class Capturer {
 public:
  Capturer(const std::vector<std::string>& objects, const CaptureOptions& options)
      : objects_(objects), options_(options) {}

  Outcome<Captured> run() {
    for (const std::string& path : objects_) read(path);
    if (has_error(diagnostics_)) return std::move(diagnostics_);
    if (!read_contract()) return std::move(diagnostics_);
    append(diagnostics_, contract::validate(contract_));
    for (const Part& part : parts_) variables(part);
    functions();
    signatures();
    calls();
    instructions();
    residue();
    if (has_error(diagnostics_)) return std::move(diagnostics_);
    note_state();
    Captured captured{std::move(contract_), {}};
    for (Part& part : parts_) captured.ltoir.push_back(std::move(part.ltoir));
    return {std::move(captured), std::move(diagnostics_)};
  }

 private:
  void fail(std::string clause, std::string title, std::vector<LabelledFact> facts, std::string reason = {},
            std::string help = {}) {
    diagnostics_.push_back(make_error(std::move(clause), std::move(title), std::move(facts),
                                      std::move(reason), std::move(help)));
  }

  // ---- objects

  void read(const std::string& path) {
    Outcome<std::vector<FatbinEntry>> entries = read_object(path);
    if (!entries) return append(diagnostics_, std::move(entries.diagnostics));
    Part part;
    part.file = file_name(path);
    std::string wanted = options_.arch, suffix;
    if (wanted.starts_with("sm_")) suffix = wanted.substr(3);
    std::set<std::string> archs;
    bool has_code = false, has_twin = false;
    for (FatbinEntry& entry : *entries) {
      if (entry.is(FatbinKind::kLtoir) || entry.is(FatbinKind::kPtx)) archs.insert(entry.arch);
      if (entry.arch != wanted) continue;
      if (entry.is(FatbinKind::kLtoir) && !has_code)
        has_code = code(part, std::move(entry.payload));
      else if (entry.is(FatbinKind::kPtx) && !has_twin)
        has_twin = twin(part, entry.payload);
    }
    if (has_error(diagnostics_)) return;
    const std::string help = fmt::format(
        "compile with `--generate-code=arch=compute_{0},code=[compute_{0},lto_{0}]`; pipelink_add_component "
        "does",
        suffix);
    if (!archs.empty() && !archs.contains(wanted))
      return fail("P-ARCH", fmt::format("'{}' is compiled for another architecture", part.file),
                  {{part.file, fmt::format("holds code for {}", fmt::join(archs, ", ")), {}},
                   {"the package", fmt::format("is for {}", wanted), {}}},
                  {}, help);
    if (!has_code)
      return fail("P-LTOIR", fmt::format("'{}' has no link-time code for {}", part.file, wanted), {}, {},
                  help);
    if (!has_twin)
      return fail("P-LTOIR", fmt::format("'{}' has no PTX beside its link-time code", part.file), {},
                  "the contract is read from the PTX of the same compile", help);
    parts_.push_back(std::move(part));
  }

  bool code(Part& part, std::string payload) {
    const std::optional<LtoirHeader> header = parse_ltoir_header(payload);
    if (!header) {
      fail("I-OBJECT", fmt::format("the link-time code in '{}' is damaged", part.file), {},
           "it has no valid header");
    } else if (header->arch != options_.arch &&
               header->arch + 'f' != options_.arch) {  // 'f' is not in the header
      fail("P-ARCH", fmt::format("'{}' is compiled for another architecture", part.file),
           {{part.file, fmt::format("its link-time code is for {}", header->arch), {}},
            {"the package", fmt::format("is for {}", options_.arch), {}}});
    } else {
      part.ltoir = std::move(payload);
    }
    return true;
  }

  bool twin(Part& part, std::string_view payload) {
    Outcome<PtxFacts> facts = parse_ptx(payload, part.file);
    if (!facts)
      append(diagnostics_, std::move(facts.diagnostics));
    else if (facts->target != options_.arch)
      fail("P-ARCH", fmt::format("'{}' is compiled for another architecture", part.file),
           {{part.file, fmt::format("its PTX is for {}", facts->target), {}},
            {"the package", fmt::format("is for {}", options_.arch), {}}});
    else
      part.twin = std::move(*facts);
    return true;
  }

  // ---- records

  bool read_contract() {
    std::vector<Record> records;
    for (const Part& part : parts_)
      for (const std::string& text : part.twin.records) {
        Outcome<Record> record = contract::parse_record(text);
        if (!record) {
          for (Diagnostic& diagnostic : record.diagnostics)
            diagnostic.facts.push_back({part.file, "holds the record", {}});
          append(diagnostics_, std::move(record.diagnostics));
          continue;
        }
        for (auto& [key, value] : record->entries)
          if (key == "file") value = portable_path(value, options_.source_root);
        records.push_back(std::move(*record));
      }
    if (has_error(diagnostics_)) return false;
    Outcome<Contract> read = contract::contract_from_records(records);
    append(diagnostics_, read.diagnostics);
    if (!read) return false;
    contract_ = std::move(*read);
    contract_.arch = options_.arch;
    if (!options_.version.empty()) contract_.version = options_.version;
    if (!options_.component.empty() && options_.component != contract_.component) {
      fail("P-NAME", "the package and its component have different names",
           {{"the package", fmt::format("is named '{}'", options_.component), {}},
            {contract_.component, "is the component of the objects", contract_.where}},
           {}, fmt::format("pack with --name {}", contract_.component));
      return false;
    }
    return true;
  }

  // ---- variables

  void variables(const Part& part) {
    for (const PtxVariable& variable : part.twin.variables) {
      if (variable.space == "shared") {
        const char* what = variable.external ? "a dynamic shared array" : "a static shared variable";
        const std::string size =
            variable.size > 0 ? fmt::format("{} bytes", variable.size) : std::string("open size");
        fail("P-SHARED", fmt::format("component '{}' declares {}", contract_.component, what),
             {{part.file, fmt::format("{}, {}", demangled(variable.name), size), {}}},
             "shared memory is placed by the linker, which cannot move a variable of its own",
             "claim PIPELINK_BUFFER(name, .bytes = …, .align = …) and use name.data<T>(self)");
        continue;
      }
      if (variable.space == "const" && variable.visible && !variable.external && !variable.filled)
        fail("P-CONSTANT",
             fmt::format("the constant variable '{}' is never filled", demangled(variable.name)),
             {{part.file, fmt::format("{} bytes without an initial value", variable.size), {}}},
             "a host program's cudaMemcpyToSymbol fills the variable of its own module, and the one in the "
             "linked "
             "kernel stays zero",
             "let PIPELINK_PARAMETERS carry it, or give it its value where it is defined; if that is zero, "
             "the object looks "
             "the same: make it constexpr or const");
      if (variable.visible && !own_name(variable.name)) foreign_name(part, "variable", variable.name);
      if (variable.external && !variable_defined(variable.name))
        fail("P-SYMBOL", fmt::format("variable '{}' is declared but not defined", demangled(variable.name)),
             {{part.file, "refers to it", {}}}, {}, "compile the source that defines it into the component");
      const bool shared_writable = variable.space == "global" && !variable.external &&
                                   (variable.written || variable.visible) &&
                                   !variable.name.starts_with("_ZT");  // a class's virtual functions
      if (shared_writable) contract_.mutable_data.push_back(stable_name(variable.name));
      if (variable.weak && !own_name(variable.name))
        contract_.weak.push_back(fmt::format("{} {}", variable.name, variable.digest));
    }
  }

  bool variable_defined(std::string_view name) const {
    for (const Part& part : parts_)
      for (const PtxVariable& variable : part.twin.variables)
        if (variable.name == name && !variable.external) return true;
    return false;
  }

  /// Names of static variables hold a hash of the source's path; without it the contract is the same
  /// everywhere.
  static std::string stable_name(std::string_view name) {
    constexpr std::string_view kStatic = "__nv_static_";
    if (!name.starts_with(kStatic)) return std::string(name);
    const std::size_t first = name.find("__", kStatic.size());  // behind the length
    const std::size_t hash =
        first == std::string_view::npos ? first : name.find('_', first + 2);  // behind the hash
    return hash == std::string_view::npos ? std::string(name)
                                          : fmt::format("static:{}", name.substr(hash + 1));
  }

  // ---- functions

  /// A C++ name in the namespace named as the component, or a C name with its prefix.
  bool own_name(std::string_view name) const {
    if (name.starts_with(fmt::format("pl__{}__", contract_.component))) return true;
    const std::string space = fmt::format("{}{}", contract_.component.size(), contract_.component);
    if (!name.starts_with("_Z")) return false;
    for (std::size_t at = name.find(space); at != std::string_view::npos; at = name.find(space, at + 1))
      if (name[at - 1] < '0' || name[at - 1] > '9') return true;  // "5compa", not the end of "15compa…"
    return false;  // _ZN3foo…, _ZNK3foo…, and instances with arguments of its namespace
  }

  void foreign_name(const Part& part, std::string_view what, const std::string& name) {
    fail("P-NAME", fmt::format("{} '{}' is outside the component's own names", what, demangled(name)),
         {{part.file, "defines it", {}}},
         "two components that define one name cannot be linked, and nothing renames a symbol inside "
         "link-time code",
         fmt::format("put it into namespace {} or make it static", contract_.component));
  }

  void functions() {
    std::map<std::string, std::string> defined;    // name → object
    std::map<std::string, std::string> undefined;  // name → first object that calls it
    for (const Part& part : parts_)
      for (const PtxFunction& function : part.twin.functions) {
        if (function.external) continue;
        const auto [first, inserted] = defined.emplace(function.name, part.file);
        if (!inserted && function.visible)
          fail("P-SYMBOL", fmt::format("'{}' is defined twice", demangled(function.name)),
               {{first->second, "defines it", {}}, {part.file, "defines it too", {}}});
        check_definition(part, function);
      }
    for (const Part& part : parts_)
      for (const PtxFunction& function : part.twin.functions)
        if (function.external && !defined.contains(function.name))
          undefined.emplace(function.name, part.file);
    check_declared(defined);
    check_undefined(undefined);
  }

  void check_definition(const Part& part, const PtxFunction& function) {
    if (function.entry)
      return fail("P-SYMBOL", fmt::format("component '{}' defines a kernel", contract_.component),
                  {{part.file, function.name, {}}},
                  "the linked kernel is generated, and every other one would be dropped", "make it a role");
    if (!function.visible) return;
    const std::vector<std::string> expected = defined_symbols(contract_);
    const std::string prefix = fmt::format("pl__{}__", contract_.component);
    const bool entry_point =
        function.name.starts_with(prefix + "role__") || function.name.starts_with(prefix + "export__");
    if (entry_point && !std::binary_search(expected.begin(), expected.end(), function.name))
      fail("P-SYMBOL", fmt::format("'{}' is defined but not declared", function.name),
           {{part.file, "defines it", {}}}, "no annotation declares it",
           "declare it with PIPELINK_ROLE or PIPELINK_EXPORT");
    else if (!own_name(function.name))
      foreign_name(part, "function", function.name);
  }

  void check_declared(const std::map<std::string, std::string>& defined) {
    const auto check = [&](std::string_view kind, const auto& item, const std::string& symbol) {
      if (defined.contains(symbol)) return;
      fail("P-SYMBOL", fmt::format("{} '{}' is declared but not defined", kind, item.name),
           {{contract_.component, fmt::format("{} {}", kind, item.name), item.where}},
           fmt::format("no object defines '{}'", symbol),
           "compile the source that defines it into the component");
    };
    const std::string prefix = fmt::format("pl__{}__", contract_.component);
    for (const auto& role : contract_.roles) check("role", role, prefix + "role__" + role.name);
    for (const auto& callable : contract_.callables)
      if (callable.direction == contract::Direction::kExport)
        check("export", callable, prefix + "export__" + callable.name);
  }

  void check_undefined(const std::map<std::string, std::string>& undefined) {
    const std::vector<std::string> handles = handle_symbols(contract_);
    const std::string prefix = fmt::format("pl__{}__", contract_.component);
    for (const auto& [name, file] : undefined) {
      if (supplied_by_toolkit(name) || std::binary_search(handles.begin(), handles.end(), name)) continue;
      if (name.starts_with(prefix))
        fail("P-SYMBOL", fmt::format("the handle '{}' is used but not declared", name),
             {{file, "calls it", {}}},
             fmt::format("no record of component '{}' declares it", contract_.component),
             "use the annotation in the object's own source or a header that it includes");
      else if (name.starts_with("pl__"))
        fail("P-SYMBOL", fmt::format("'{}' belongs to another component", name), {{file, "calls it", {}}},
             "components meet through imports, which the linker checks",
             "declare PIPELINK_IMPORT and call its handle");
      else
        fail("P-SYMBOL", fmt::format("function '{}' is called but not defined", demangled(name)),
             {{file, "calls it", {}}}, {}, "compile the source that defines it into the component");
    }
  }

  /// Annotations record the types of a function, the object has its own: nothing else holds the two together
  /// where somebody declares a handle by hand.
  void signatures() {
    for (const auto& callable : contract_.callables) {
      const bool exports = callable.direction == contract::Direction::kExport;
      const std::string symbol =
          fmt::format("pl__{}__{}__{}", contract_.component, exports ? "export" : "import", callable.name);
      std::vector<std::int64_t> said{kSelfBytes};
      for (const contract::Type& type : callable.parameters) said.push_back(bytes_passed(type));
      const std::int64_t result = bytes_passed(callable.result);
      for (const Part& part : parts_)
        for (const PtxFunction& function : part.twin.functions)
          if (function.name == symbol && (function.parameters != said || function.result != result))
            fail("P-SIGNATURE",
                 fmt::format("the code of callable {} passes something else than its annotation says",
                             callable.name),
                 {{part.file,
                   fmt::format("passes {} and returns {}", bytes_text(function.parameters), function.result),
                   {}},
                  {contract_.component, fmt::format("says {} and returns {}", bytes_text(said), result),
                   callable.where}},
                 "bytes of each parameter, Self first; a call with others reads what is not there",
                 fmt::format("declare it by {} alone", exports ? "PIPELINK_EXPORT" : "PIPELINK_IMPORT"));
    }
  }

  /// As PTX passes it: references as addresses, small integers as 32 bits.
  static std::int64_t bytes_passed(const contract::Type& type) {
    if (type.name.find('&') != std::string::npos) return 8;  // also "float (&)[64]"
    return type.size == 0 ? 0 : std::max<std::int64_t>(type.size, 4);
  }

  static std::string bytes_text(const std::vector<std::int64_t>& bytes) {
    return fmt::format("{}", fmt::join(bytes, " + "));
  }

  // ---- what exports call

  /// The imports that an export's code names: directly, through the component's own functions, or through the
  /// initial values of variables, which are tables of functions and what makes virtual calls. A name is that
  /// of its own object, if it is defined there. Who names a function may call it; where an address goes is
  /// not followed.
  void calls() {
    using Place = std::pair<std::size_t, std::string_view>;  // part, function or variable
    std::set<Place> defined;
    std::map<std::string_view, std::size_t> visible;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const auto define = [&](const auto& symbol) {
        if (symbol.external) return;
        defined.emplace(part, symbol.name);
        if (symbol.visible || symbol.weak) visible.emplace(symbol.name, part);
      };
      for (const PtxFunction& function : parts_[part].twin.functions) define(function);
      for (const PtxVariable& variable : parts_[part].twin.variables) define(variable);
    }
    const std::string prefix = fmt::format("pl__{}__", contract_.component);
    std::map<std::string, std::string_view> imports;  // symbol → name
    for (const contract::Callable& callable : contract_.callables)
      if (callable.direction == contract::Direction::kImport)
        imports.emplace(fmt::format("{}import__{}", prefix, callable.name), callable.name);
    for (contract::Callable& callable : contract_.callables) {
      if (callable.direction != contract::Direction::kExport) continue;
      const std::string symbol = fmt::format("{}export__{}", prefix, callable.name);
      std::set<std::string> called;
      std::set<Place> reached;
      std::vector<Place> open;
      const auto reach = [&](std::size_t part, const std::string& name) {
        if (const auto import = imports.find(name); import != imports.end()) called.emplace(import->second);
        Place place{part, name};
        if (!defined.contains(place))
          if (const auto other = visible.find(name); other != visible.end()) place.first = other->second;
        if (reached.insert(place).second) open.push_back(place);
      };
      reach(0, symbol);
      while (!open.empty()) {
        const auto [part, at] = open.back();
        open.pop_back();
        const auto& names = parts_[part].twin.names;
        if (const auto named = names.find(std::string(at)); named != names.end())
          for (const std::string& name : named->second) reach(part, name);
      }
      callable.calls.assign(called.begin(), called.end());
    }
  }

  void instructions() {
    for (const Part& part : parts_)
      append(diagnostics_, check_code(contract_, part.file, part.twin.code).findings);
  }

  // ---- what stays beside the handles

  void residue() {
    for (const Part& part : parts_)
      for (const PtxFunction& function : part.twin.functions)
        if (function.weak && !function.external && !own_name(function.name))
          contract_.weak.push_back(fmt::format("{} {}", function.name, function.digest));
    for (std::vector<std::string>* list : {&contract_.weak, &contract_.mutable_data}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    for (std::size_t i = 1; i < contract_.weak.size(); ++i) {
      const std::string &a = contract_.weak[i - 1], &b = contract_.weak[i];
      const std::size_t space = a.find(' ');
      if (a.substr(0, space) == b.substr(0, b.find(' ')))
        fail("P-SYMBOL", fmt::format("'{}' has two bodies in one component", demangled(a.substr(0, space))),
             {}, "the vendor linker keeps one of them, and both callers run it",
             "give the two functions different names");
    }
  }

  void note_state() {
    if (contract_.mutable_data.empty()) return;
    Diagnostic note =
        make_error("P-STATE", "the component keeps static data that can be written",
                   {{contract_.component, fmt::format("{}", fmt::join(contract_.mutable_data, ", ")), {}}},
                   "all instances of a package share it, so a composition can use the package once");
    note.severity = Severity::kNote;
    diagnostics_.push_back(std::move(note));
  }

  const std::vector<std::string>& objects_;
  const CaptureOptions& options_;
  std::vector<Part> parts_;
  Contract contract_;
  Diagnostics diagnostics_;
};

}  // namespace

Outcome<Captured> capture(const std::vector<std::string>& objects, const CaptureOptions& options) {
  return Capturer(objects, options).run();
}

}  // namespace pipelink
