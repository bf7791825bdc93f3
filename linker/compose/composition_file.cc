#include "linker/compose/composition_file.h"

#include <algorithm>
#include <initializer_list>

#include "linker/compose/located_json.h"
#include "packager/base/ids.h"
#include "packager/base/words.h"

namespace pipelink {
namespace {

using compose::JsonMember;
using compose::JsonValue;
using Kind = JsonValue::Kind;

constexpr std::string_view kReserved[] = {"domains", "views", "counters"};

bool all_digits(const std::string& text) {
  return text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0) == std::string::npos;
}

class Reader {
 public:
  explicit Reader(const std::string& name) { out_.file = name; }

  Outcome<CompositionFile> read(const JsonValue& root) {
    if (!expect(root, Kind::kObject, "the composition")) return std::move(faults_);
    if (!schema(root)) return std::move(faults_);
    keys(root, "the composition",
         {"schema", "name", "arch", "components", "bind", "set", "rings", "launch", "options", "declared"});
    if (const JsonValue* v = required(root, "name", Kind::kText)) name(*v);
    if (const JsonValue* v = required(root, "arch", Kind::kText)) arch(*v);
    if (const JsonValue* v = required(root, "components", Kind::kArray)) components(*v);
    if (const JsonValue* v = optional(root, "bind", Kind::kArray)) bind(*v);
    if (const JsonValue* v = optional(root, "set", Kind::kObject)) set(*v);
    if (const JsonValue* v = optional(root, "rings", Kind::kObject)) rings(*v);
    if (const JsonValue* v = optional(root, "launch", Kind::kObject)) launch(*v);
    if (const JsonValue* v = optional(root, "options", Kind::kObject)) options(*v);
    if (const JsonValue* v = optional(root, "declared", Kind::kObject)) declared(*v);
    if (!faults_.empty()) return std::move(faults_);
    return std::move(out_);
  }

 private:
  void fault(int line, int column, const std::string& title, const std::string& what,
             const std::string& help = {}, const char* clause = "I-COMPOSITION") {
    Diagnostic d;
    d.clause = clause;
    d.title = title;
    d.facts.push_back({"composition", "column " + std::to_string(column) + ": " + what, {out_.file, line}});
    d.help = help;
    faults_.push_back(std::move(d));
  }
  void malformed(const JsonValue& v, const std::string& what, const std::string& help = {}) {
    fault(v.line, v.column, "the composition file is malformed", what, help);
  }

  bool expect(const JsonValue& v, Kind kind, const std::string& what) {
    if (v.kind == kind) return true;
    if (kind == Kind::kInteger && v.kind == Kind::kReal && all_digits(v.text)) {
      malformed(v, what + " is " + shortened(v.text) + ", which does not fit 64 bits");
      return false;
    }
    malformed(v,
              what + " must be " + std::string(kind_word(kind)) + ", not " + std::string(kind_word(v.kind)));
    return false;
  }

  const JsonValue* required(const JsonValue& object, const char* key, Kind kind) {
    const JsonMember* m = object.find(key);
    if (!m) {
      fault(object.line, object.column, "the composition file lacks the key `" + std::string(key) + "`",
            "this object needs `" + std::string(key) + "`");
      return nullptr;
    }
    return expect(m->value, kind, quoted(key)) ? &m->value : nullptr;
  }
  const JsonValue* optional(const JsonValue& object, const char* key, Kind kind) {
    const JsonMember* m = object.find(key);
    return m && expect(m->value, kind, quoted(key)) ? &m->value : nullptr;
  }

  void keys(const JsonValue& object, const std::string& what, std::initializer_list<std::string_view> known) {
    for (const JsonMember& m : object.members) {
      if (std::find(known.begin(), known.end(), m.key) != known.end()) continue;
      if (std::find(std::begin(kReserved), std::end(kReserved), m.key) != std::end(kReserved)) {
        fault(m.line, m.column, "the key `" + m.key + "` of a composition is reserved",
              "`" + m.key + "` is reserved for a later schema", "remove `" + m.key + "`");
        continue;
      }
      std::string list;
      for (std::string_view k : known) list += (list.empty() ? "" : ", ") + std::string(k);
      fault(m.line, m.column, "unknown key `" + m.key + "` in a composition file",
            what + " has no key `" + m.key + "`", "the keys here are " + list);
    }
  }

  /// "instance.port"; what follows the first dot is the port's name.
  bool dotted(const std::string& text, int line, int column, const char* what) {
    const auto dot = text.find('.');
    const bool good = dot != std::string::npos && valid_name(std::string_view(text).substr(0, dot)) &&
                      valid_name(std::string_view(text).substr(dot + 1));
    if (!good) {
      fault(line, column, "the composition file is malformed",
            quoted(text) + " is not of the form `" + what + "`");
    }
    return good;
  }

  bool integer(const JsonValue& v, const std::string& what, std::int64_t low, std::int64_t high,
               std::int64_t& result) {
    if (!expect(v, Kind::kInteger, what)) return false;
    if (v.integer < low || v.integer > high) {
      malformed(v, what + " is " + std::to_string(v.integer) + ", must be " + std::to_string(low) + " to " +
                       std::to_string(high));
      return false;
    }
    result = v.integer;
    return true;
  }

  bool schema(const JsonValue& root) {
    const JsonValue* v = required(root, "schema", Kind::kInteger);
    if (!v) return false;
    if (v->integer == kCompositionSchema) return true;
    fault(v->line, v->column, "the composition file has another schema",
          "schema " + std::to_string(v->integer) + "; this linker reads schema " +
              std::to_string(kCompositionSchema),
          {}, "I-FORMAT");
    return false;
  }

  void name(const JsonValue& v) {
    std::string fault = is_keyword(v.text) ? "is a keyword of C++" : name_fault(v.text);
    for (const char* taken : {"main", "std", "linux", "unix"})  // a kernel and a namespace in user's programs
      if (v.text == taken) fault = "means something else to a C++ compiler";
    if (!fault.empty()) malformed(v, "the name " + quoted(v.text) + " " + fault);
    out_.name = v.text;
  }

  void arch(const JsonValue& v) {
    if (!valid_arch(v.text))
      malformed(v, "`arch` is " + quoted(v.text) + ", expected a name such as `sm_90a`");
    out_.arch = v.text;
  }

  void components(const JsonValue& list) {
    if (list.items.empty() || list.items.size() > kMaxComponents) {
      malformed(list, "`components` has " + std::to_string(list.items.size()) + " entries, must be 1 to " +
                          std::to_string(kMaxComponents));
      return;
    }
    for (const JsonValue& v : list.items) {
      if (!expect(v, Kind::kObject, "an entry of `components`")) continue;
      keys(v, "an entry of `components`", {"package", "as"});
      ComponentUse use;
      use.where = {out_.file, v.line};
      if (const JsonValue* p = required(v, "package", Kind::kText)) {
        use.package = p->text;
        use.package_line = p->line;
        use.package_column = p->column;
        if (p->text.empty() || p->text.find('\0') != std::string::npos) malformed(*p, "`package` is no path");
      }
      if (const JsonValue* a = optional(v, "as", Kind::kText)) {
        use.as = a->text;
        if (!valid_name(a->text)) malformed(*a, "the name " + quoted(a->text) + " " + name_fault(a->text));
      }
      out_.components.push_back(std::move(use));
    }
  }

  bool bounded(const JsonValue& v, std::size_t count, const char* what) {
    if (count <= kMaxEntries) return true;
    malformed(v, quoted(what) + " has " + std::to_string(count) + " entries, must be at most " +
                     std::to_string(kMaxEntries));
    return false;
  }

  void bind(const JsonValue& list) {
    if (!bounded(list, list.items.size(), "bind")) return;
    for (const JsonValue& v : list.items) {
      if (!expect(v, Kind::kArray, "an entry of `bind`")) continue;
      if (v.items.size() != 2) {
        malformed(v, "an entry of `bind` has " + std::to_string(v.items.size()) + " ports, must be 2");
        continue;
      }
      bool good = true;
      for (const JsonValue& port : v.items) {
        good = expect(port, Kind::kText, "a port of `bind`") &&
               dotted(port.text, port.line, port.column, "instance.port") && good;
      }
      if (!good) continue;
      const auto& entry = out_.bind.emplace_back(v.items[0].text, v.items[1].text);
      out_.lines.emplace("BIND " + entry.first + "=" + entry.second, v.line);
    }
  }

  void set(const JsonValue& object) {
    if (!bounded(object, object.members.size(), "set")) return;
    for (const JsonMember& m : object.members) {
      if (!dotted(m.key, m.line, m.column, "owner.fact")) continue;
      const JsonValue& v = m.value;
      switch (v.kind) {
        case Kind::kBoolean:
          out_.set[m.key] = v.boolean ? "true" : "false";
          break;
        case Kind::kInteger:
        case Kind::kReal:
        case Kind::kText:
          out_.set[m.key] = v.text;
          break;
        default:
          malformed(v, "the value of " + quoted(m.key) + " must be a number, a boolean or a string, not " +
                           std::string(kind_word(v.kind)));
      }
      out_.lines.emplace("SET " + m.key, m.line);
    }
  }

  void rings(const JsonValue& object) {
    if (!bounded(object, object.members.size(), "rings")) return;
    for (const JsonMember& m : object.members) {
      if (!dotted(m.key, m.line, m.column, "owner.ring")) continue;
      if (!expect(m.value, Kind::kObject, quoted(m.key))) continue;
      keys(m.value, "a ring preference", {"tier", "weight"});
      std::int64_t tier = 0, weight = 1;
      if (const JsonMember* t = m.value.find("tier")) integer(t->value, "`tier`", 0, 1000, tier);
      if (const JsonMember* w = m.value.find("weight")) integer(w->value, "`weight`", 1, 1000, weight);
      out_.rings[m.key] = {static_cast<int>(tier), static_cast<int>(weight)};
      out_.lines.emplace("RING " + m.key, m.line);
    }
  }

  void launch(const JsonValue& object) {
    keys(object, "`launch`", {"cluster", "blocks_per_sm"});
    if (const JsonValue* v = optional(object, "cluster", Kind::kArray)) {
      if (v->items.size() != 3) {
        malformed(*v, "`cluster` has " + std::to_string(v->items.size()) + " extents, must be 3");
      } else {
        std::int64_t product = 1;
        for (std::size_t i = 0; i < 3; ++i) {
          std::int64_t extent = 1;
          integer(v->items[i], "an extent of `cluster`", 1, 16, extent);
          out_.launch.cluster[i] = static_cast<int>(extent);
          product *= extent;
        }
        if (product > 16)
          malformed(*v, "`cluster` has " + std::to_string(product) + " blocks, must be at most 16");
      }
    }
    std::int64_t blocks = 1;
    if (const JsonMember* m = object.find("blocks_per_sm"))
      integer(m->value, "`blocks_per_sm`", 1, 32, blocks);
    out_.launch.blocks_per_sm = static_cast<int>(blocks);
  }

  void options(const JsonValue& object) {
    keys(object, "`options`", {"guard", "guard_ms", "limit"});
    if (const JsonValue* v = optional(object, "guard", Kind::kBoolean)) out_.options.guard = v->boolean;
    if (const JsonMember* m = object.find("guard_ms")) {
      integer(m->value, "`guard_ms`", 1, 3'600'000, out_.options.guard_ms);
      if (!out_.options.guard) malformed(m->value, "`guard_ms` is for a link with `guard`");
    }
    std::int64_t limit = static_cast<std::int64_t>(out_.options.limit);
    if (const JsonMember* m = object.find("limit")) {
      integer(m->value, "`limit`", 1, std::int64_t{1} << 50, limit);
    }
    out_.options.limit = static_cast<std::uint64_t>(limit);
  }

  /// Where the user wrote what a build system put into this file: messages about its entries name that.
  void declared(const JsonValue& object) {
    keys(object, "`declared`", {"file", "line"});
    SourceSpan place;
    std::int64_t line = 0;
    if (const JsonValue* v = required(object, "file", Kind::kText)) {
      place.file = v->text;
      const bool plain = std::all_of(v->text.begin(), v->text.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
      });
      if (v->text.empty() || !plain) malformed(*v, "`file` is no path");
    }
    if (const JsonMember* m = object.find("line")) integer(m->value, "`line`", 1, 1'000'000'000, line);
    place.line = static_cast<int>(line);
    out_.declared = place;
  }

  CompositionFile out_;
  Diagnostics faults_;
};

}  // namespace

Outcome<CompositionFile> parse_composition(std::string_view text, const std::string& file) {
  Outcome<JsonValue> root = compose::parse_json(text, file);
  if (!root) return std::move(root.diagnostics);
  return Reader(file).read(*root);
}

}  // namespace pipelink
