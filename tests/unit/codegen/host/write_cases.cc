// Writes C++ in which the generated text of transfers runs on this machine: all threads at once, each
// variable a vector of theirs (lock_step.h). Only what vectors of GCC cannot say is spelt otherwise here.
#include <fmt/format.h>

#include <cstdio>
#include <regex>

#include "linker/codegen/transfer_text.h"
#include "maps.h"

using namespace pipelink;
using namespace pipelink::transfer;
using namespace pipelink::transfer::test;

namespace {

/// "(a + b)", from its opening bracket on.
std::string bracket(const std::string& text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text.substr(at, i - at + 1);
  }
  return {};
}

std::string operands(const std::string& text, const std::string& constraint, const std::string& before) {
  std::string out;
  for (std::size_t at = text.find(constraint); at != std::string::npos; at = text.find(constraint, at + 1))
    out += (out.empty() ? "" : ", ") + before + bracket(text, at + constraint.size());
  return out;
}

/// Where `sign` stands outside of brackets.
std::size_t outside(const std::string& text, const std::string& sign) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') i += bracket(text, i).size() - 1;
    if (text.compare(i, sign.size(), sign) == 0) return i;
  }
  return std::string::npos;
}

/// "a ? b : c" as pick(a, b, c), also within brackets: no class has that operator.
std::string picked(const std::string& text) {
  if (const std::size_t question = outside(text, " ? "); question != std::string::npos) {
    const std::string rest = text.substr(question + 3);
    const std::size_t colon = outside(rest, " : ");
    return fmt::format("pick({}, {}, {})", picked(text.substr(0, question)), picked(rest.substr(0, colon)),
                       picked(rest.substr(colon + 3)));
  }
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '(') {
      out += text[i];
      continue;
    }
    const std::string inner = bracket(text, i);
    out += '(' + picked(inner.substr(1, inner.size() - 2)) + ')';
    i += inner.size() - 1;
  }
  return out;
}

std::string on_host(std::string line) {
  if (line.find("barrier.") != std::string::npos || line.find("fence.") != std::string::npos ||
      line == "__syncwarp();")
    return {};  // all threads do each line together
  if (const std::size_t at = line.find("asm volatile(\""); at != std::string::npos) {
    const std::size_t end = line.find('"', at + 14);
    const std::string code = line.substr(at + 13, end + 1 - at - 13), rest = line.substr(end);
    const std::string when = line.starts_with("if (") ? bracket(line, 3) : "kAll";
    return fmt::format("run({}, {}, {{{}}}, {{{}}});", when, code, operands(rest, "\"=r\"", "&"),
                       operands(rest, "\"r\"", ""));
  }
  const auto replace = [&](const char* pattern, const char* by) {
    line = std::regex_replace(line, std::regex(pattern), by);
  };
  replace("alignas\\(16\\) unsigned char (\\w+)\\[(\\d+)\\];", "Array $1($2);");
  replace("unsigned char\\* const", "const unsigned");
  if (line.find("static_cast<int>") != std::string::npos) replace("-(\\d+)", "(0u - $1u)");
  replace("static_cast<int>", "static_cast<unsigned>");
  replace("^const bool", "const Mask");
  if (line.find(" ? ") != std::string::npos) {
    const std::size_t begin = line.find(" = ") + 3;
    line = line.substr(0, begin) + picked(line.substr(begin, line.size() - begin - 1)) + ";";
  }
  replace("\\bunsigned\\b", "Lanes");
  return line;
}

int cases = 0;

void write(int bytes, bool two_roles, int producer, int consumer) {
  const std::vector<Named> from = producers(bytes), to = consumers(bytes);
  Request request;
  request.from = from[static_cast<std::size_t>(producer)].side;
  request.to = to[static_cast<std::size_t>(consumer)].side;
  request.two_roles = two_roles;
  request.columns = 64;
  if (request.from.space == Space::kTensorMemory || request.to.space == Space::kTensorMemory) return;
  if (two_roles && request.to.space != Space::kRegisters) return;
  const Planned planned = plan_transfer(request);
  if (!planned.transfer) return;
  const Transfer& t = *planned.transfer;
  if (t.kind == Kind::kSame || t.kind == Kind::kInPlace) return;
  TransferContext context{"t0_", 0, {}, false};
  context.placed.group_bytes = t.buffer_bytes;
  for (std::size_t b = 0; b < t.barriers.size(); ++b)
    context.placed.barriers.push_back({static_cast<int>(b) + 1});
  const auto type_of = [&](const Endpoint& side) {
    contract::Type type{"const T (&)[N]", static_cast<std::int64_t>(side.map.values) * bytes, 4};
    if (side.space != Space::kRegisters) type = {"unsigned int", 4, 4};
    return type;
  };
  const contract::Type has = type_of(request.from), wants = type_of(request.to);
  const Carried given{"a0", "From", &has}, taken{two_roles ? "t0_out" : "", "To", &wants};
  std::vector<std::string> lines;
  if (two_roles) {
    lines = give_text(t, context, given);
    std::vector<std::string> more = take_text(t, context, taken);
    lines.insert(lines.begin(), {fmt::format("alignas(16) unsigned char t0_out[{}];", wants.size), "{"});
    lines.insert(lines.end(), {"}", "{"});
    lines.insert(lines.end(), more.begin(), more.end());
    lines.push_back("}");
  } else {
    lines = transfer_text(t, context, given, taken, false).before;
  }
  std::printf("static void case%d() {  // %s to %s\n  Case c(%d, %d, %d, %s, \"%s\");\n", cases++,
              from[static_cast<std::size_t>(producer)].name.c_str(),
              to[static_cast<std::size_t>(consumer)].name.c_str(), bytes, producer, consumer,
              two_roles ? "true" : "false", std::string(name_of(t.kind)).c_str());
  std::printf(request.from.space == Space::kRegisters ? "  Array& a0 = c.given;\n"
                                                      : "  const Lanes a0 = c.source();\n");
  for (const std::string& line : lines)
    if (const std::string host = on_host(line); !host.empty()) std::printf("  %s\n", host.c_str());
  std::printf(request.to.space == Space::kRegisters ? "  c.check(t0_out);\n}\n" : "  c.check_shared();\n}\n");
}

}  // namespace

int main() {
  std::printf("#include \"lock_step.h\"\n\n");
  for (const int bytes : {1, 2, 4, 8})
    for (int p = 0; p < static_cast<int>(producers(bytes).size()); ++p)
      for (int c = 0; c < static_cast<int>(consumers(bytes).size()); ++c) {
        if ((7 * p + 3 * c + bytes) % 11 == 0) write(bytes, false, p, c);
        if ((5 * p + 3 * c + bytes) % 37 == 0) write(bytes, true, p, c);
      }
  std::printf("\nint main() {\n");
  for (int n = 0; n < cases; ++n) std::printf("  case%d();\n", n);
  std::printf("  return finish();\n}\n");
}
