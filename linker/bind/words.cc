#include "linker/bind/words.h"

#include <algorithm>
#include <numeric>

namespace pipelink::binding {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i + 1;
    for (std::size_t k = 0; k < b.size(); ++k) {
      const std::size_t above = row[k + 1];
      row[k + 1] = std::min({above + 1, row[k] + 1, corner + (a[i] == b[k] ? 0 : 1)});
      corner = above;
    }
  }
  return row.back();
}

}  // namespace

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& all) {
  const std::size_t bound = std::max<std::size_t>(1, word.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& name : all) {
    const std::size_t distance = edit_distance(word, name);
    if (distance <= bound) found.emplace_back(distance, name);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < found.size() && i < 3; ++i) names.push_back(found[i].second);
  return names;
}

Diagnostic error(std::string clause, std::string title) {
  Diagnostic d;
  d.clause = std::move(clause);
  d.title = std::move(title);
  return d;
}

std::string dotted(const Composition& composition, std::size_t instance, const std::string& port) {
  return composition.instances[instance].name + "." + port;
}

std::string bind_line(const std::string& importer, const std::string& exporter) {
  return "BIND " + importer + "=" + exporter;
}

Proposal bind_proposal(const std::string& importer, const std::string& exporter) {
  return {bind_line(importer, exporter), [=](Composition& c) {
            std::erase_if(c.bind, [&](const auto& e) { return e.first == importer || e.second == importer; });
            c.bind.emplace_back(importer, exporter);
          }};
}

std::string_view word_of(contract::Direction direction) {
  return direction == contract::Direction::kExport ? "exports" : "imports";
}

std::string_view word_of(contract::RingSide side) {
  return side == contract::RingSide::kProducer ? "producer" : "consumer";
}

std::string_view word_of(contract::FactType type) {
  switch (type) {
    case contract::FactType::kInteger:
      return "an integer";
    case contract::FactType::kBoolean:
      return "a boolean";
    case contract::FactType::kReal:
      return "a real number";
    case contract::FactType::kText:
      return "a text";
  }
  return "?";
}

}  // namespace pipelink::binding
