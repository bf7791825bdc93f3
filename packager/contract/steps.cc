#include "packager/contract/steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "packager/base/words.h"
#include "packager/contract/expression.h"

namespace pipelink::contract {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr int kMaxNesting = 16;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ParsedSteps run() {
    ParsedSteps out;
    if (text_.size() > kMaxText) {
      out.error = fmt::format("it has {} characters, the bound is {}", text_.size(), kMaxText);
      return out;
    }
    std::vector<Step> steps = list(0);
    skip();
    if (error_.empty() && at_ < text_.size()) fail("';' or the end");
    out.error = std::move(error_);
    if (out.error.empty()) out.value = std::move(steps);
    return out;
  }

 private:
  static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

  static bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (space(peek())) ++at_;
  }

  /// "column 5", and the line if there are several.
  std::string place() const {
    const std::string_view before = text_.substr(0, at_);
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = newline == std::string_view::npos ? at_ + 1 : at_ - newline;
    if (text_.find('\n') == std::string_view::npos) return fmt::format("column {}", column);
    return fmt::format("line {}, column {}", std::count(before.begin(), before.end(), '\n') + 1, column);
  }

  void say(const std::string& what) {
    if (error_.empty()) error_ = fmt::format("{}: {}", place(), what);
  }

  void fail(std::string_view expected) {
    say(fmt::format("expected {}, found {}", expected,
                    at_ >= text_.size()                       ? "the end"
                    : text_[at_] > ' ' && text_[at_] < '\x7f' ? fmt::format("'{}'", text_[at_])
                                                              : "another character"));
  }

  bool take(char c) {
    skip();
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  std::string word(std::string_view what) {
    skip();
    const std::size_t begin = at_;
    while (letter(peek())) ++at_;
    if (at_ == begin) fail(what);
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::vector<Step> list(int depth) {
    std::vector<Step> steps;
    if (depth > kMaxNesting) {
      fail(fmt::format("brackets nested at most {} deep", kMaxNesting));
      return steps;
    }
    while (error_.empty()) {
      skip();
      if (at_ >= text_.size() || peek() == ')') break;
      steps.push_back(step(depth));
      if (!take(';')) break;
    }
    return steps;
  }

  Step step(int depth) {
    Step out;
    if (take('(')) {
      out.inner = list(depth + 1);
      if (out.inner.empty()) fail("a step");
      if (!take(')')) fail("')'");
    } else {
      out.word = word("a step such as `wait full`");
      out.name = word("a name");
    }
    out.sometimes = take('?');
    out.any = take('*');
    if (take('x')) out.count = amount();
    skip();
    if (peek() == '?' || peek() == '*' || peek() == 'x')
      say(
          fmt::format("'{}' comes too late: after a step stand '?', then '*', then 'x' and a number, each at "
                      "most once",
                      peek()));
    return out;
  }

  /// Up to the step's end: an expression has brackets of its own.
  Amount amount() {
    skip();
    const std::size_t begin = at_;
    for (int depth = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ';' || (c == ')' && depth == 0)) break;
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    std::string_view text = text_.substr(begin, at_ - begin);
    while (!text.empty() && space(text.back())) text.remove_suffix(1);
    if (text.empty()) fail("a number");
    if (const std::size_t mark = late_mark(text); mark != std::string_view::npos) {
      at_ = begin + mark;  // step() tells
      text = text.substr(0, mark);
    }
    return amount_from_text(text);
  }

  /// Where a count ends in a mark, "2 ?", which an expression does not; or has another count, "2 x 3".
  static std::size_t late_mark(std::string_view text) {
    const char last = text.empty() ? ' ' : text.back();
    if (last == '?' || last == '*') return text.size() - 1;
    for (std::size_t at = 1; at + 1 < text.size(); ++at)
      if (text[at] == 'x' && space(text[at - 1]) && !letter(text[at + 1]) && ends_value(text.substr(0, at)))
        return at;
    return std::string_view::npos;
  }

  static bool ends_value(std::string_view text) {
    while (!text.empty() && space(text.back())) text.remove_suffix(1);
    return !text.empty() && (letter(text.back()) || text.back() == ')');
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

struct Word {
  const char* text;
  bool waits, arrives;
};

/// The words of the handle of that kind; a ring's are its side's.
std::vector<Word> words_of(const Contract& contract, const StepTarget& target) {
  switch (target.kind) {
    case StepTarget::Kind::kRing:
      if (contract.rings[target.index].side == RingSide::kProducer)
        return {{"acquire", true, false}, {"arrive", false, true}};
      return {{"wait", true, false}, {"release", false, true}};
    case StepTarget::Kind::kMbarriers:
    case StepTarget::Kind::kCounter:
      return {{"wait", true, false}, {"arrive", false, true}};
    case StepTarget::Kind::kNamedBarrier:
      return {{"sync", true, true}, {"arrive", false, true}};
    case StepTarget::Kind::kCallable:
      break;
  }
  return {{"call", false, false}};
}

std::string what_it_is(const Contract& contract, const StepTarget& target) {
  switch (target.kind) {
    case StepTarget::Kind::kRing:
      return contract.rings[target.index].side == RingSide::kProducer ? "a ring's producer"
                                                                      : "a ring's consumer";
    case StepTarget::Kind::kMbarriers:
      return "an array of mbarriers";
    case StepTarget::Kind::kNamedBarrier:
      return "a named barrier";
    case StepTarget::Kind::kCounter:
      return "a counter";
    case StepTarget::Kind::kCallable:
      break;
  }
  return "an import";
}

}  // namespace

ParsedSteps parse_steps(std::string_view text) {
  return Parser(text).run();
}

std::optional<StepTarget> step_target(const Contract& contract, const Step& step, std::string& error) {
  std::vector<StepTarget> found;
  const auto look = [&](StepTarget::Kind kind, const auto& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].name == step.name) found.push_back({kind, i, false, false});
  };
  look(StepTarget::Kind::kRing, contract.rings);
  look(StepTarget::Kind::kMbarriers, contract.mbarriers);
  look(StepTarget::Kind::kNamedBarrier, contract.named_barriers);
  look(StepTarget::Kind::kCounter, contract.counters);
  for (std::size_t i = 0; i < contract.callables.size(); ++i)
    if (contract.callables[i].name == step.name && contract.callables[i].direction == Direction::kImport)
      found.push_back({StepTarget::Kind::kCallable, i, false, false});
  if (found.size() != 1) {
    error = fmt::format("the component has {} `{}` that can be waited at, arrived at or called",
                        found.empty() ? "no" : "several", shortened(step.name));
    return std::nullopt;
  }
  const std::vector<Word> words = words_of(contract, found.front());
  std::vector<std::string> known;
  for (const Word& word : words) {
    if (step.word == word.text) {
      found.front().waits = word.waits;
      found.front().arrives = word.arrives;
      return found.front();
    }
    known.push_back(fmt::format("`{}`", word.text));
  }
  error = fmt::format("`{}` is {}: its words are {}, not `{}`", step.name,
                      what_it_is(contract, found.front()), fmt::join(known, " and "), shortened(step.word));
  return std::nullopt;
}

}  // namespace pipelink::contract
