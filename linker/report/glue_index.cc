#include "linker/report/glue_index.h"

#include <cctype>

namespace pipelink {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

GlueIndex::GlueIndex(std::string_view glue) {
  for (std::size_t begin = 0; begin < glue.size();) {
    const std::size_t end = std::min(glue.find('\n', begin), glue.size());
    lines_.emplace_back(glue.substr(begin, end - begin));
    begin = end + 1;
  }
  for (std::size_t n = 0; n < lines_.size(); ++n) {
    const std::string& line = lines_[n];
    const int number = static_cast<int>(n) + 1;
    for (std::size_t at = line.find("pl__"); at != std::string::npos; at = line.find("pl__", at)) {
      std::size_t end = at;
      while (end < line.size() && is_word(line[end])) ++end;
      std::vector<int>& of = symbols_[line.substr(at, end - at)];
      if (of.empty() || of.back() != number) of.push_back(number);
      at = end;
    }
    if (const std::size_t comment = line.rfind("  // "); comment != std::string::npos)
      comments_[line.substr(comment + 5)].push_back(number);
  }
}

std::vector<int> GlueIndex::of(const std::string& symbol) const {
  const auto it = symbols_.find(symbol);
  return it == symbols_.end() ? std::vector<int>{} : it->second;
}

std::vector<int> GlueIndex::commented(const std::string& claim) const {
  const auto it = comments_.find(claim);
  return it == comments_.end() ? std::vector<int>{} : it->second;
}

std::vector<int> GlueIndex::of(const std::string& symbol, std::string_view text) const {
  std::vector<int> out;
  for (int line : of(symbol))
    if (lines_[static_cast<std::size_t>(line) - 1].find(text) != std::string::npos) out.push_back(line);
  return out;
}

}  // namespace pipelink
