#include "linker/bind/fact_type.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "linker/bind/words.h"

namespace pipelink::binding {
namespace {

using contract::FactType;

bool parse_integer(std::string_view text, std::int64_t& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string shortest(double number) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr};
}

}  // namespace

bool parse_value(std::string_view text, FactType type, FactValue& value) {
  value.type = type;
  switch (type) {
    case FactType::kInteger:
      return parse_integer(text, value.integer);
    case FactType::kBoolean:
      value.integer = text == "true" || text == "1";
      return value.integer || text == "false" || text == "0";
    case FactType::kReal: {
      const std::optional<double> number = real_of(text);
      if (!number) return false;
      // What no double holds stays as it is written; no range has it.
      value.text = std::isfinite(*number) ? shortest(*number) : std::string(text);
      return true;
    }
    case FactType::kText:
      value.text = text;
      return true;
  }
  return false;
}

std::string value_text(std::int64_t value, FactType type) {
  if (type == FactType::kBoolean && (value == 0 || value == 1)) return value ? "true" : "false";
  return std::to_string(value);
}

std::string value_text(const FactValue& value) {
  const bool textual = value.type == FactType::kReal || value.type == FactType::kText;
  return textual ? value.text : value_text(value.integer, value.type);
}

std::string type_text(const contract::Fact& fact) {
  return fact.cpp_type.empty() ? std::string(word_of(fact.type)) : quoted(fact.cpp_type);
}

std::optional<contract::IntegerRange> range_of(const contract::Fact& fact) {
  return contract::integer_range(fact.type == FactType::kBoolean ? "bool" : fact.cpp_type);
}

std::string domain_text(const contract::Fact& fact) {
  std::vector<std::string> values = fact.texts;
  for (const std::int64_t v : fact.domain) values.push_back(value_text(v, fact.type));
  return joined(values, ", ");
}

void round_to_type(const contract::Fact& owner, FactValue& value) {
  if (owner.type != FactType::kReal || owner.cpp_type != "float") return;
  const std::optional<double> number = real_of(value.text);
  if (number && std::abs(*number) <= static_cast<double>(std::numeric_limits<float>::max()))
    value.text = shortest(static_cast<double>(static_cast<float>(*number)));
}

bool in_range(const contract::Fact& fact, const std::string& text) {
  const std::optional<double> least = real_of(fact.least), most = real_of(fact.most), number = real_of(text);
  return least && most && number && *number >= *least && *number <= *most;
}

bool above_range(const contract::Fact& fact, const std::string& text) {
  const std::optional<double> most = real_of(fact.most), number = real_of(text);
  return most && number && *number > *most;
}

std::string allowed_text(const contract::Fact& fact) {
  if (fact.type == FactType::kReal) return "a number from " + fact.least + " to " + fact.most;
  return "one of " + domain_text(fact);
}

}  // namespace pipelink::binding
