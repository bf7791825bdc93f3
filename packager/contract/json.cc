#include "packager/contract/json.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "packager/base/strict_json.h"
#include "packager/contract/expression.h"
#include "packager/contract/fields.h"

namespace pipelink::contract {
namespace {

using Json = nlohmann::ordered_json;

struct JsonWriter {
  Json json = Json::object();

  void put(std::string_view key, Json value) { json[std::string(key)] = std::move(value); }
  static Json of(const Amount& value) {
    return value.expression.empty() ? Json(value.number) : Json(value.expression);
  }

  void text(std::string_view key, const std::string& value, Need) { put(key, value); }
  void number(std::string_view key, std::int64_t value, Need) { put(key, value); }
  void flag(std::string_view key, bool value) { put(key, value); }
  void amount(std::string_view key, const Amount& value, Need) { put(key, of(value)); }
  void stated(std::string_view key, const std::optional<Amount>& value) {
    if (value) put(key, of(*value));
  }
  template <class Enum>
  void choice(std::string_view key, Enum value) {
    put(key, std::string(enum_name(value)));
  }
  void names(std::string_view key, std::string_view, const std::vector<std::string>& values) {
    put(key, values);
  }
  void numbers(std::string_view key, std::string_view, const std::vector<std::int64_t>& values) {
    put(key, values);
  }
  void amounts(std::string_view key, std::string_view, const std::vector<Amount>& values) {
    Json list = Json::array();
    for (const Amount& value : values) list.push_back(of(value));
    put(key, std::move(list));
  }
  static Json of(const Type& value) {
    return Json{{"name", value.name}, {"size", value.size}, {"align", value.align}};
  }
  void type(std::string_view key, const Type& value) { put(key, of(value)); }
  void types(std::string_view key, std::string_view, const std::vector<Type>& values) {
    Json list = Json::array();
    for (const Type& value : values) list.push_back(of(value));
    put(key, std::move(list));
  }
  void members(std::string_view key, std::string_view, const std::vector<Field>& values) {
    Json list = Json::array();
    for (const Field& value : values) {
      Json item{{"name", value.name}, {"offset", value.offset}, {"size", value.size}};
      if (value.kind != FieldKind::kBytes) item["kind"] = enum_name(value.kind);
      list.push_back(std::move(item));
    }
    put(key, std::move(list));
  }
  void later(std::string_view key, std::int64_t value) {
    if (value != 0) put(key, value);
  }
  void later(std::string_view key, const std::string& value) {
    if (!value.empty()) put(key, value);
  }
  void later(std::string_view key, std::string_view record_key, const std::vector<Field>& values) {
    if (!values.empty()) members(key, record_key, values);
  }
  void later(std::string_view key, std::string_view record_key, const std::vector<std::string>& values) {
    if (!values.empty()) names(key, record_key, values);
  }
  void packed(std::string_view key, const std::string& value) { put(key, value); }
  void packed(std::string_view key, const std::vector<std::string>& values) { later(key, {}, values); }
  void where(const SourceSpan& span) {
    put("file", span.file);
    put("line", span.line);
  }
};

/// Reads one object; every key must be known and present.
class JsonReader {
 public:
  JsonReader(const Json& json, std::string path, std::string_view name, Diagnostics& diagnostics)
      : json_(json), path_(std::move(path)), name_(name), diagnostics_(diagnostics) {
    if (!json_.is_object()) fail("is not an object");
  }

  void fail(std::string_view what) {
    const std::string at = path_.empty() ? "the contract" : path_;
    diagnostics_.push_back(make_error("I-JSON",
                                      fmt::format("'{}' is not a contract of schema {}", name_, kSchema), {},
                                      fmt::format("{} {}", at, what)));
  }

  /// The value of `key`, or nullptr; marks the key as known.
  const Json* find(std::string_view key, bool required = true) {
    known_.emplace(key);
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(std::string(key));
    if (found != json_.end()) return &*found;
    if (required) fail(fmt::format("has no key '{}'", key));
    return nullptr;
  }

  void text(std::string_view key, std::string& value, Need = Need::kRequired) {
    if (const Json* found = find(key)) string(key, *found, value);
  }

  template <class Integer>
  void number(std::string_view key, Integer& value, Need = Need::kRequired) {
    std::int64_t parsed = 0;
    const Json* found = find(key);
    if (found == nullptr || !integer(key, *found, parsed)) return;
    if (parsed < std::numeric_limits<Integer>::min() || parsed > std::numeric_limits<Integer>::max())
      return fail(fmt::format("has a value of '{}' out of range", key));
    value = static_cast<Integer>(parsed);
  }

  void flag(std::string_view key, bool& value) {
    const Json* found = find(key);
    if (found == nullptr) return;
    if (!found->is_boolean())
      return fail(fmt::format("has a value of '{}' that is neither true nor false", key));
    value = found->get<bool>();
  }

  void amount(std::string_view key, Amount& value, Need) {
    if (const Json* found = find(key)) read(key, *found, value);
  }

  void stated(std::string_view key, std::optional<Amount>& value) {
    if (const Json* found = find(key, false)) read(key, *found, value.emplace());
  }

  template <class Enum>
  void choice(std::string_view key, Enum& value) {
    std::string word;
    const Json* found = find(key);
    if (found == nullptr || !string(key, *found, word) || enum_value(word, value)) return;
    fail(fmt::format("has the unknown value '{}' of '{}'; it takes {}", word, key,
                     fmt::join(EnumNames<Enum>::names, ", ")));
  }

  void names(std::string_view key, std::string_view, std::vector<std::string>& values) {
    each(key, [&](const Json& item) { string(key, item, values.emplace_back()); });
  }

  void numbers(std::string_view key, std::string_view, std::vector<std::int64_t>& values) {
    each(key, [&](const Json& item) { integer(key, item, values.emplace_back()); });
  }

  void amounts(std::string_view key, std::string_view, std::vector<Amount>& values) {
    each(key, [&](const Json& item) { read(key, item, values.emplace_back()); });
  }

  void type(std::string_view key, Type& value) {
    if (const Json* found = find(key)) read_type(*found, inner(key), value);
  }

  void types(std::string_view key, std::string_view, std::vector<Type>& values) {
    each(key, [&](const Json& item) { read_type(item, inner(key, values.size()), values.emplace_back()); });
  }

  void members(std::string_view key, std::string_view, std::vector<Field>& values) {
    each(key, [&](const Json& item) {
      JsonReader reader(item, inner(key, values.size()), name_, diagnostics_);
      Field& value = values.emplace_back();
      reader.text("name", value.name);
      reader.number("offset", value.offset);
      reader.number("size", value.size);
      if (reader.find("kind", false) != nullptr) reader.choice("kind", value.kind);
      reader.finish();
    });
  }

  void later(std::string_view key, std::int64_t& value) {
    if (find(key, false) != nullptr) number(key, value);
  }
  void later(std::string_view key, std::string& value) {
    if (const Json* found = find(key, false)) string(key, *found, value);
  }
  void later(std::string_view key, std::string_view record_key, std::vector<Field>& values) {
    if (find(key, false) != nullptr) members(key, record_key, values);
  }
  void later(std::string_view key, std::string_view record_key, std::vector<std::string>& values) {
    if (find(key, false) != nullptr) names(key, record_key, values);
  }

  void packed(std::string_view key, std::string& value) { text(key, value); }
  void packed(std::string_view key, std::vector<std::string>& values) { later(key, {}, values); }

  void where(SourceSpan& span) {
    text("file", span.file);
    number("line", span.line);
  }

  template <class Entry>
  void list(std::string_view key, std::vector<Entry>& entries) {
    if (later_list(key) && find(key, false) == nullptr) return;
    each(key, [&](const Json& item) {
      JsonReader reader(item, inner(key, entries.size()), name_, diagnostics_);
      Entry& entry = entries.emplace_back();
      reader.text("name", entry.name);
      reader.where(entry.where);
      fields(reader, entry);
      reader.finish();
    });
  }

  template <class Entry>
  void single(std::string_view key, std::optional<Entry>& entry) {
    const Json* found = find(key, false);
    if (found == nullptr) return;
    JsonReader reader(*found, inner(key), name_, diagnostics_);
    reader.where(entry.emplace().where);
    fields(reader, *entry);
    reader.finish();
  }

  void finish() {
    if (!json_.is_object()) return;
    for (const auto& item : json_.items())
      if (!known_.contains(item.key())) fail(fmt::format("has the unknown key '{}'", item.key()));
  }

 private:
  std::string inner(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }
  std::string inner(std::string_view key, std::size_t index) const {
    return fmt::format("{}[{}]", inner(key), index);
  }

  template <class Each>
  void each(std::string_view key, Each&& visit) {
    const Json* found = find(key);
    if (found == nullptr) return;
    if (!found->is_array()) return fail(fmt::format("has a value of '{}' that is no array", key));
    for (const Json& item : *found) visit(item);
  }

  bool string(std::string_view key, const Json& json, std::string& value) {
    if (!json.is_string()) {
      fail(fmt::format("has a value of '{}' that is no string", key));
      return false;
    }
    value = json.get_ref<const std::string&>();
    return true;
  }

  bool integer(std::string_view key, const Json& json, std::int64_t& value) {
    const bool fits = json.is_number_integer() &&
                      (!json.is_number_unsigned() ||
                       json.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
    if (fits)
      value = json.get<std::int64_t>();
    else
      fail(fmt::format("has a value of '{}' that is no 64-bit integer", key));
    return fits;
  }

  void read(std::string_view key, const Json& json, Amount& value) {
    if (json.is_string()) {
      value = amount_from_text(json.get_ref<const std::string&>());
      if (json.get_ref<const std::string&>().empty())
        fail(fmt::format("has an empty expression of '{}'", key));
    } else {
      integer(key, json, value.number);
    }
  }

  void read_type(const Json& json, std::string path, Type& value) {
    JsonReader reader(json, std::move(path), name_, diagnostics_);
    reader.text("name", value.name);
    reader.number("size", value.size);
    reader.number("align", value.align);
    reader.finish();
  }

  const Json& json_;
  std::string path_;
  std::string_view name_;
  Diagnostics& diagnostics_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace

std::string to_json(const Contract& contract) {
  JsonWriter writer;
  writer.put("schema", kSchema);
  writer.put("component", contract.component);
  writer.put("version", contract.version);
  writer.put("arch", contract.arch);
  writer.put("toolkit", contract.toolkit);
  writer.where(contract.where);
  entry_lists(contract, [&](std::string_view key, std::string_view, const auto& entries) {
    if (later_list(key) && entries.empty()) return;
    Json list = Json::array();
    for (const auto& entry : entries) {
      JsonWriter item;
      item.put("name", entry.name);
      item.where(entry.where);
      fields(item, entry);
      list.push_back(std::move(item.json));
    }
    writer.put(key, std::move(list));
  });
  const auto single = [&](std::string_view key, const auto& entry) {
    if (!entry) return;
    JsonWriter item;
    item.where(entry->where);
    fields(item, *entry);
    writer.put(key, std::move(item.json));
  };
  single("grid", contract.grid);
  single("parameters", contract.parameters);
  single("host", contract.host);
  writer.put("mutable_data", contract.mutable_data);
  writer.put("weak", contract.weak);
  return json_text(writer.json);
}

Outcome<Contract> from_json(std::string_view text, std::string_view name) {
  const Outcome<Json> parsed = parse_json(text, name);
  if (!parsed) return parsed.diagnostics;
  Contract contract;
  Diagnostics diagnostics;
  JsonReader reader(*parsed, "", name, diagnostics);
  int schema = 0;
  reader.number("schema", schema);
  if (!diagnostics.empty()) return diagnostics;
  if (schema != kSchema)
    return make_error("I-FORMAT", fmt::format("contract schema {} is not known", schema),
                      {{std::string(name), fmt::format("states schema {}", schema), {}}},
                      fmt::format("this PipeLink reads schema {}", kSchema),
                      "pack the component with this PipeLink, or use the one that packed it");
  reader.text("component", contract.component);
  reader.text("version", contract.version);
  reader.text("arch", contract.arch);
  reader.text("toolkit", contract.toolkit);
  reader.where(contract.where);
  entry_lists(contract,
              [&](std::string_view key, std::string_view, auto& entries) { reader.list(key, entries); });
  reader.single("grid", contract.grid);
  reader.single("parameters", contract.parameters);
  reader.single("host", contract.host);
  reader.names("mutable_data", {}, contract.mutable_data);
  reader.names("weak", {}, contract.weak);
  reader.finish();
  if (!diagnostics.empty()) return diagnostics;
  return contract;
}

}  // namespace pipelink::contract
