// Records → contract and back, by the field lists of fields.h.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <tuple>

#include "packager/contract/expression.h"
#include "packager/contract/fields.h"
#include "packager/contract/records.h"
#include "packager/contract/type_text.h"

namespace pipelink::contract {
namespace {

constexpr std::string_view kCommonKeys[] = {"component", "kind", "name", "file", "line"};

bool to_integer(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// The device pass writes a real's bits, "0x1.8p+1", as it has no other exact text for them.
std::string decimal(const std::string& text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = std::string_view(text).substr(negative ? 1 : 0);
  if (!digits.starts_with("0x")) return text;
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data() + 2, end, value, std::chars_format::hex);
  return error == std::errc{} && last == end ? fmt::format("{}", negative ? -value : value) : text;
}

std::string text_of(const Record& record, std::string_view key) {
  const std::string* value = record.find(key);
  return value != nullptr ? *value : std::string();
}

SourceSpan span_of(const Record& record) {
  std::int64_t line = 0;
  if (!to_integer(text_of(record, "line"), line) || line < 0 || line > std::numeric_limits<int>::max())
    line = 0;
  return {text_of(record, "file"), static_cast<int>(line)};
}

/// Reads one record's fields and remembers which keys were asked for.
class RecordReader {
 public:
  RecordReader(const Record& record, Diagnostics& diagnostics) : record_(record), diagnostics_(diagnostics) {
    for (const std::string_view key : kCommonKeys) know(key);
  }

  void fail(std::string title, std::string reason = {}) {
    const std::string what = fmt::format("{} {}", text_of(record_, "kind"), text_of(record_, "name"));
    diagnostics_.push_back(make_error("P-RECORD", std::move(title),
                                      {{text_of(record_, "component"), what, span_of(record_)}},
                                      std::move(reason)));
  }

  void text(std::string_view key, std::string& value, Need need) {
    if (const std::string* found = single(key, need)) value = *found;
  }

  template <class Integer>
  void number(std::string_view key, Integer& value, Need need) {
    const std::string* found = single(key, need);
    std::int64_t parsed = 0;
    if (found == nullptr) return;
    if (!to_integer(*found, parsed) || parsed < std::numeric_limits<Integer>::min() ||
        parsed > std::numeric_limits<Integer>::max())
      return fail(fmt::format("key '{}' has no integer value", key),
                  fmt::format("its value is '{}'", *found));
    value = static_cast<Integer>(parsed);
  }

  void flag(std::string_view key, bool& value) {
    int number_value = value ? 1 : 0;
    number(key, number_value, Need::kDefaulted);
    if (number_value != 0 && number_value != 1)
      return fail(fmt::format("key '{}' is neither 0 nor 1", key),
                  fmt::format("its value is '{}'", number_value));
    value = number_value == 1;
  }

  void amount(std::string_view key, Amount& value, Need need) {
    const std::string* found = single(key, need);
    if (found != nullptr && !found->empty())
      value = amount_from_text(*found);
    else if (found != nullptr && need == Need::kRequired)
      fail(fmt::format("key '{}' has no value", key));
  }

  void stated(std::string_view key, std::optional<Amount>& value) {
    const std::string* found = single(key, Need::kDefaulted);
    if (found != nullptr && !found->empty()) value = amount_from_text(*found);
  }

  template <class Enum>
  void choice(std::string_view key, Enum& value) {
    const std::string* found = single(key, Need::kRequired);
    if (found == nullptr || enum_value(*found, value)) return;
    fail(fmt::format("key '{}' has the unknown value '{}'", key, *found),
         fmt::format("it takes {}", fmt::join(EnumNames<Enum>::names, ", ")));
  }

  void names(std::string_view, std::string_view key, std::vector<std::string>& values) {
    for (const std::string* value : all(key))
      if (!value->empty()) values.push_back(*value);
  }

  void numbers(std::string_view, std::string_view key, std::vector<std::int64_t>& values) {
    for (const std::string* value : all(key)) integer(key, *value, values.emplace_back());
  }

  void amounts(std::string_view, std::string_view key, std::vector<Amount>& values) {
    for (const std::string* value : all(key)) {
      if (value->empty()) fail(fmt::format("key '{}' has no value", key));
      values.push_back(amount_from_text(*value));
    }
  }

  void type(std::string_view key, Type& value) {
    text(key, value.name, Need::kRequired);
    value.name = spelt_type(std::move(value.name));
    number(fmt::format("{}_size", key), value.size, Need::kDefaulted);
    number(fmt::format("{}_align", key), value.align, Need::kDefaulted);
  }

  void types(std::string_view, std::string_view key, std::vector<Type>& values) {
    for (const std::string* value : all(key)) values.push_back({spelt_type(*value), 0, 0});
    column(fmt::format("{}_size", key), values, &Type::size);
    column(fmt::format("{}_align", key), values, &Type::align);
  }

  void members(std::string_view, std::string_view key, std::vector<Field>& values) {
    for (const std::string* value : all(key)) values.push_back({*value, 0, 0});
    column(fmt::format("{}_offset", key), values, &Field::offset);
    column(fmt::format("{}_size", key), values, &Field::size);
    kinds(fmt::format("{}_kind", key), values);
  }

  void later(std::string_view key, std::int64_t& value) { number(key, value, Need::kDefaulted); }
  void later(std::string_view key, std::string& value) { text(key, value, Need::kDefaulted); }
  void later(std::string_view key, std::string_view record_key, std::vector<Field>& values) {
    members(key, record_key, values);
  }
  void later(std::string_view key, std::string_view record_key, std::vector<std::string>& values) {
    names(key, record_key, values);
  }

  void packed(std::string_view, std::string&) {}
  void packed(std::string_view, std::vector<std::string>&) {}

  /// Reports keys that no field asked for.
  void finish() {
    std::set<std::string_view> told;
    for (const auto& [key, value] : record_.entries)
      if (!known_.contains(key) && told.insert(key).second)
        fail(fmt::format("key '{}' is not known", key),
             fmt::format("the record's kind is '{}'", text_of(record_, "kind")));
  }

 private:
  void know(std::string_view key) { known_.emplace(key); }

  std::vector<const std::string*> all(std::string_view key) {
    know(key);
    std::vector<const std::string*> values;
    for (const auto& entry : record_.entries)
      if (entry.first == key) values.push_back(&entry.second);
    return values;
  }

  const std::string* single(std::string_view key, Need need) {
    const std::vector<const std::string*> values = all(key);
    if (values.empty() && need == Need::kRequired) fail(fmt::format("key '{}' is missing", key));
    if (values.size() > 1) fail(fmt::format("key '{}' stands {} times", key, values.size()));
    return values.empty() ? nullptr : values.front();
  }

  void integer(std::string_view key, const std::string& text, std::int64_t& value) {
    if (!to_integer(text, value))
      fail(fmt::format("key '{}' has no integer value", key), fmt::format("its value is '{}'", text));
  }

  template <class Row>
  void column(const std::string& key, std::vector<Row>& rows, std::int64_t Row::*member) {
    const std::vector<const std::string*> values = all(key);
    if (values.size() != rows.size())
      return fail(fmt::format("key '{}' stands {} times", key, values.size()),
                  fmt::format("the list that it belongs to has {} entries", rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) integer(key, *values[i], rows[i].*member);
  }

  /// A record that an older SDK wrote has no kinds.
  void kinds(const std::string& key, std::vector<Field>& fields) {
    const std::vector<const std::string*> words = all(key);
    if (words.empty()) return;
    if (words.size() != fields.size())
      return fail(fmt::format("key '{}' stands {} times", key, words.size()),
                  fmt::format("the list that it belongs to has {} entries", fields.size()));
    for (std::size_t i = 0; i < words.size(); ++i)
      if (!enum_value(*words[i], fields[i].kind))
        fail(fmt::format("key '{}' has the unknown value '{}'", key, *words[i]),
             fmt::format("it takes {}", fmt::join(EnumNames<FieldKind>::names, ", ")));
  }

  const Record& record_;
  Diagnostics& diagnostics_;
  std::set<std::string, std::less<>> known_;
};

/// Writes one entry's fields as key=value lines.
struct RecordWriter {
  Record record;

  void put(std::string_view key, std::string value) {
    record.entries.emplace_back(std::string(key), std::move(value));
  }

  void text(std::string_view key, const std::string& value, Need need) {
    if (need == Need::kRequired || !value.empty()) put(key, value);
  }
  void number(std::string_view key, std::int64_t value, Need) { put(key, std::to_string(value)); }
  void flag(std::string_view key, bool value) { put(key, value ? "1" : "0"); }
  void amount(std::string_view key, const Amount& value, Need) { put(key, to_text(value)); }
  void stated(std::string_view key, const std::optional<Amount>& value) {
    if (value) put(key, to_text(*value));
  }
  template <class Enum>
  void choice(std::string_view key, Enum value) {
    put(key, std::string(enum_name(value)));
  }
  void names(std::string_view, std::string_view key, const std::vector<std::string>& values) {
    for (const std::string& value : values) put(key, value);
  }
  void numbers(std::string_view, std::string_view key, const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values) put(key, std::to_string(value));
  }
  void amounts(std::string_view, std::string_view key, const std::vector<Amount>& values) {
    for (const Amount& value : values) put(key, to_text(value));
  }
  void type(std::string_view key, const Type& value) {
    put(key, value.name);
    put(fmt::format("{}_size", key), std::to_string(value.size));
    put(fmt::format("{}_align", key), std::to_string(value.align));
  }
  void types(std::string_view, std::string_view key, const std::vector<Type>& values) {
    for (const Type& value : values) type(key, value);
  }
  void members(std::string_view, std::string_view key, const std::vector<Field>& values) {
    for (const Field& value : values) {
      put(key, value.name);
      put(fmt::format("{}_offset", key), std::to_string(value.offset));
      put(fmt::format("{}_size", key), std::to_string(value.size));
      put(fmt::format("{}_kind", key), std::string(enum_name(value.kind)));
    }
  }
  void later(std::string_view key, std::int64_t value) {
    if (value != 0) put(key, std::to_string(value));
  }
  void later(std::string_view key, const std::string& value) { text(key, value, Need::kDefaulted); }
  void later(std::string_view key, std::string_view record_key, const std::vector<Field>& values) {
    members(key, record_key, values);
  }
  void later(std::string_view key, std::string_view record_key, const std::vector<std::string>& values) {
    names(key, record_key, values);
  }
  void packed(std::string_view, const std::string&) {}
  void packed(std::string_view, const std::vector<std::string>&) {}
};

template <class Entry>
void read_fields(const Record& record, Entry& entry, Diagnostics& diagnostics) {
  RecordReader reader(record, diagnostics);
  entry.where = span_of(record);
  if constexpr (requires { entry.name; }) entry.name = text_of(record, "name");
  fields(reader, entry);
  reader.finish();
}

template <class Entry>
void read_single(const Record& record, std::optional<Entry>& slot, Diagnostics& diagnostics) {
  const std::string component = text_of(record, "component"), kind = text_of(record, "kind");
  if (slot)
    diagnostics.push_back(
        make_error("P-DUPLICATE", fmt::format("{} declared twice", kind),
                   {{component, "declared here", slot->where}, {component, "and here", span_of(record)}}));
  read_fields(record, slot.emplace(), diagnostics);
}

/// Every object holds one, equal in all of them but for the toolkit that compiled it.
void read_component(const Record& record, Contract& contract, bool& seen, Diagnostics& diagnostics) {
  const std::string name = text_of(record, "component");
  if (seen && name != contract.component) return;  // check_component tells
  Contract other;
  RecordReader reader(record, diagnostics);
  reader.text("version", other.version, Need::kDefaulted);
  reader.text("toolkit", other.toolkit, Need::kDefaulted);
  reader.finish();
  if (seen && other.toolkit != contract.toolkit) {
    diagnostics.push_back(make_error("P-TOOLKIT", "the objects are compiled by different toolkits",
                                     {{name, fmt::format("compiled by {}", contract.toolkit), contract.where},
                                      {name, fmt::format("compiled by {}", other.toolkit), span_of(record)}},
                                     "the package states one toolkit, and its link-time code needs it",
                                     "compile all sources of the component with one nvcc"));
  } else if (seen) {
    diagnostics.push_back(
        make_error("P-DUPLICATE", "the component is declared twice",
                   {{name, "declared here", contract.where}, {name, "and here", span_of(record)}}));
  }
  seen = true;
  contract.component = name;
  contract.version = other.version;
  contract.toolkit = other.toolkit;
  contract.where = span_of(record);
}

void read_entry(const Record& record, Contract& contract, bool& component_seen, Diagnostics& diagnostics) {
  RecordReader reader(record, diagnostics);
  bool complete = true;
  for (const std::string_view key : kCommonKeys)
    if (record.find(key) == nullptr) {
      reader.fail(fmt::format("key '{}' is missing", key));
      complete = false;
    }
  if (!complete) return;
  const std::string kind = text_of(record, "kind");
  if (kind == "component") return read_component(record, contract, component_seen, diagnostics);
  if (kind == "grid") return read_single(record, contract.grid, diagnostics);
  if (kind == "parameters") return read_single(record, contract.parameters, diagnostics);
  if (kind == "host") return read_single(record, contract.host, diagnostics);
  bool known = false;
  entry_lists(contract, [&](std::string_view, std::string_view list_kind, auto& list) {
    if (list_kind != kind) return;
    known = true;
    read_fields(record, list.emplace_back(), diagnostics);
  });
  if (!known) reader.fail(fmt::format("record kind '{}' is not known", kind));
}

void check_component(const std::vector<const Record*>& records, Contract& contract, bool seen,
                     Diagnostics& diagnostics) {
  if (records.empty()) {
    diagnostics.push_back(make_error("P-RECORD", "the objects hold no record", {},
                                     "no annotation was found in any of them",
                                     "include <pipelink/component.h> and declare the component"));
    return;
  }
  const std::string name = seen ? contract.component : text_of(*records.front(), "component");
  contract.component = name;
  if (!seen)
    diagnostics.push_back(make_error("P-RECORD", fmt::format("component '{}' is not declared", name),
                                     {{name, "its first record", span_of(*records.front())}},
                                     "no record has the kind 'component'"));
  std::set<std::string> told{name};
  for (const Record* record : records)
    if (const std::string other = text_of(*record, "component"); told.insert(other).second)
      diagnostics.push_back(
          make_error("P-NAME", "the objects of one package belong to two components",
                     {{name, "the component", contract.where},
                      {other, fmt::format("{} {}", text_of(*record, "kind"), text_of(*record, "name")),
                       span_of(*record)}},
                     {}, "pack each component by itself"));
}

}  // namespace

Outcome<Contract> contract_from_records(const std::vector<Record>& records) {
  std::vector<const Record*> sorted;
  for (const Record& record : records) sorted.push_back(&record);
  const auto key = [](const Record* record) -> const auto& {
    return record->entries;
  };
  std::sort(sorted.begin(), sorted.end(), [&](const Record* a, const Record* b) { return key(a) < key(b); });
  sorted.erase(std::unique(sorted.begin(), sorted.end(),
                           [&](const Record* a, const Record* b) { return key(a) == key(b); }),
               sorted.end());
  Contract contract;
  Diagnostics diagnostics;
  bool seen = false;
  for (const Record* record : sorted) read_entry(*record, contract, seen, diagnostics);
  check_component(sorted, contract, seen, diagnostics);
  entry_lists(contract, [](std::string_view, std::string_view, auto& list) {
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return std::tie(a.name, a.where.file, a.where.line) < std::tie(b.name, b.where.file, b.where.line);
    });
  });
  for (Fact& fact : contract.facts) {
    std::sort(fact.domain.begin(), fact.domain.end());
    if (fact.type == FactType::kReal)
      for (std::string* number : {&fact.text_value, &fact.least, &fact.most}) *number = decimal(*number);
  }
  return {std::move(contract), std::move(diagnostics)};
}

std::vector<Record> records_from_contract(const Contract& contract) {
  std::vector<Record> records;
  const auto begin = [&](std::string_view kind, const std::string& name, const SourceSpan& where) {
    RecordWriter writer;
    writer.put("component", contract.component);
    writer.put("kind", std::string(kind));
    writer.put("name", name);
    writer.put("file", where.file);
    writer.put("line", std::to_string(where.line));
    return writer;
  };
  RecordWriter component = begin("component", contract.component, contract.where);
  component.put("version", contract.version);
  component.put("toolkit", contract.toolkit);
  records.push_back(std::move(component.record));
  entry_lists(contract, [&](std::string_view, std::string_view kind, const auto& list) {
    for (const auto& entry : list) {
      RecordWriter writer = begin(kind, entry.name, entry.where);
      fields(writer, entry);
      records.push_back(std::move(writer.record));
    }
  });
  const auto single = [&](std::string_view kind, const auto& entry) {
    if (!entry) return;
    RecordWriter writer = begin(kind, contract.component, entry->where);
    fields(writer, *entry);
    records.push_back(std::move(writer.record));
  };
  single("grid", contract.grid);
  single("parameters", contract.parameters);
  single("host", contract.host);
  return records;
}

}  // namespace pipelink::contract
