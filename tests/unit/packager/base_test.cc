#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <set>

#include <nlohmann/json.hpp>
#include "packager/base/catalog.h"
#include "packager/base/file.h"
#include "packager/base/ids.h"
#include "packager/base/render.h"
#include "packager/base/sha256.h"

#include "packager/base/strict_json.h"
#include "tests/unit/packager/fixture.h"

namespace pipelink {

TEST_SUITE_BEGIN("base");

TEST_CASE("names") {
  for (const char* name : {"a", "tile_m", "x1", "a_b_c"}) CHECK_MESSAGE(valid_name(name), name);
  for (const char* name : {"", "A", "1a", "_a", "a__b", "a_", "a-b", "a.b", "tile m", "\xc3\xa9"})
    CHECK_MESSAGE(!valid_name(name), name);
  CHECK(valid_name(std::string(64, 'a')));
  CHECK(name_fault(std::string(65, 'a')) == "has more than 64 characters");
  CHECK(name_fault("aB") == "has the character 'B'");
  CHECK(name_fault("a\n") == "has the character 0x0a");
  CHECK(name_fault("a__b") == "has '__'");
  CHECK(name_fault("1a") == "does not begin with a letter");
  CHECK(name_fault("a_") == "ends in '_'");
  for (const char* word : {"alignas", "class", "do", "default", "xor_eq"})
    CHECK_MESSAGE(is_keyword(word), word);
  CHECK_FALSE(is_keyword("classes"));
  for (const char* name : {"a", "demo::Parameters", "A1::b_::C"}) CHECK_MESSAGE(valid_cpp_name(name), name);
  for (const char* name : {"", "::a", "a::", "a:b", "a::::b", "1a", "a::1", "a b"})
    CHECK_MESSAGE(!valid_cpp_name(name), name);
  for (const char* arch : {"sm_90", "sm_90a", "sm_100f", "sm_120a"}) CHECK_MESSAGE(valid_arch(arch), arch);
  for (const char* arch : {"", "90a", "sm_", "sm_9", "sm_90b", "sm_90aa", "compute_90a"})
    CHECK_MESSAGE(!valid_arch(arch), arch);
}

TEST_CASE("every clause of the catalog is well written") {
  std::set<std::string_view> titles;
  CHECK(clauses().size() > 40);
  for (const Clause& clause : clauses()) {
    CAPTURE(clause.id);
    CHECK(find_clause(clause.id) == &clause);
    CHECK(std::string_view("PLITU").find(clause.id[0]) != std::string_view::npos);
    CHECK(clause.id[1] == '-');
    CHECK(titles.insert(clause.title).second);
    CHECK(!clause.title.ends_with('.'));
    CHECK((clause.title[0] >= 'a' && clause.title[0] <= 'z'));
    for (const std::string_view text : {clause.rule, clause.reason, clause.help}) CHECK(text.ends_with('.'));
  }
  CHECK(find_clause("L-NONE") == nullptr);
  CHECK(find_clause("") == nullptr);
}

TEST_CASE("exit status") {
  const auto status = [](std::initializer_list<const char*> ids) {
    Diagnostics all;
    for (const char* id : ids) all.push_back(make_error(id, "x"));
    return exit_status(all);
  };
  CHECK(status({}) == 0);
  CHECK(status({"P-NAME", "L-REGS"}) == 1);
  CHECK(status({"I-FILE"}) == 2);
  CHECK(status({"L-REGS", "T-CHILD"}) == 2);
  CHECK(status({"U-USAGE", "P-NAME"}) == 2);
  Diagnostic warning = make_error("I-FILE", "x");
  warning.severity = Severity::kWarning;
  CHECK(exit_status({warning}) == 0);
  CHECK(!has_error({warning}));
  CHECK(kind_name(kind_of("T-NVRTC")) == "toolchain");
}

Diagnostics sample() {
  Diagnostic first =
      make_error("L-REGS", "the roles ask for more registers than the block has",
                 {{"gemm", "2 warpgroups of 248 each", {"gemm.cu", 31}},
                  {"", "without an owner", {}},
                  {"loader", "no line", {"loader.cu", 0}}},
                 "2 * 248 + 40 = 536, the block has 504", "lower registers_max of role consumer");
  Diagnostic second = make_error("", "just\nsaid \x1b[31m");
  second.severity = Severity::kNote;
  return {first, second};
}

TEST_CASE("text") {
  CHECK(render_text(sample()) ==
        "error[L-REGS]: the roles ask for more registers than the block has\n"
        "  gemm: 2 warpgroups of 248 each (gemm.cu:31)\n"
        "  without an owner\n"
        "  loader: no line (loader.cu)\n"
        "  = reason: 2 * 248 + 40 = 536, the block has 504\n"
        "  = help: lower registers_max of role consumer\n"
        "\n"
        "note: just\n"
        "  said ?[31m\n");
  CHECK(render_text({}).empty());
  // What a terminal would obey; other characters stay as they are.
  const Diagnostics odd = {make_error("I-FILE",
                                      "a\x1b[31m\x7f \xc2\x85 \xe2\x80\xa8 \xe2\x80\xae \xe2\x81\xa6 "
                                      "\xe2\x80\x8f|\xc2\xa0\xe2\x80\xa6\xe2\x81\xa5\xe2",
                                      {{"o", "\xc2\x9b", {"\xe2\x80\xad", 2}}})};
  CHECK(render_text(odd) ==
        "error[I-FILE]: a?[31m? ? ? ? ? ?|\xc2\xa0\xe2\x80\xa6\xe2\x81\xa5\xe2\n  o: ? (?:2)\n");
  CHECK(render_text({make_error("I-FILE", "cannot read 'x'")}, true) ==
        "\x1b[1;31merror[I-FILE]\x1b[0m\x1b[1m: cannot read 'x'\x1b[0m\n");
}

TEST_CASE("JSON") {
  CHECK(render_json({}) == "{\n  \"diagnostics\": []\n}\n");
  CHECK(render(sample(), Format::kJson).find("\"clause\": \"L-REGS\",\n      \"title\": \"the roles ask") !=
        std::string::npos);
  CHECK(render_json({make_error("I-FILE", "not \xff UTF-8", {{"o", "t", {"f", 2}}}, "r", "h")}) ==
        "{\n  \"diagnostics\": [\n    {\n      \"severity\": \"error\",\n      \"clause\": \"I-FILE\",\n"
        "      \"title\": \"not \xef\xbf\xbd UTF-8\",\n      \"facts\": [\n        {\n          \"owner\": "
        "\"o\",\n"
        "          \"text\": \"t\",\n          \"file\": \"f\",\n          \"line\": 2\n        }\n      ],\n"
        "      \"reason\": \"r\",\n      \"help\": \"h\"\n    }\n  ]\n}\n");
}

TEST_CASE("SARIF") {
  const std::string text = render(sample(), Format::kSarif);
  for (const char* part : {"\"version\": \"2.1.0\"", "\"id\": \"L-REGS\"", "\"ruleId\": \"L-REGS\"",
                           "\"ruleIndex\": 0", "\"startLine\": 31", "\"uri\": \"gemm.cu\"",
                           "\"relatedLocations\"", "\"level\": \"note\"", "help: lower registers_max"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  CHECK(parse_json(text, "sarif"));
}

TEST_CASE("formats, colour, explanation") {
  Format format = Format::kText;
  CHECK(parse_format("sarif", format));
  CHECK(format == Format::kSarif);
  CHECK(!parse_format("xml", format));
  ::setenv("NO_COLOR", "1", 1);
  CHECK(!wants_colour(1));
  CHECK(explain_text(*find_clause("I-WRITE")) ==
        "I-WRITE: a file cannot be written\n\n"
        "  rule    An output is written under a temporary name in its own directory and then\n"
        "          renamed.\n"
        "  reason  A half-written output would look like a finished one to the next build step.\n"
        "  help    Check that the directory can be written and the disk is not full.\n");
  const nlohmann::json one = nlohmann::json::parse(explain_json({find_clause("I-WRITE"), 1}));
  REQUIRE(one["clauses"].size() == 1);
  CHECK(one["clauses"][0]["id"] == "I-WRITE");
  CHECK(one["clauses"][0]["kind"] == "input");
  CHECK(one["clauses"][0]["help"] == find_clause("I-WRITE")->help);
  CHECK(nlohmann::json::parse(explain_json(clauses()))["clauses"].size() == clauses().size());
  CHECK(clause_list_text().find("L-REGS          the registers do not suffice\n") != std::string::npos);
}

TEST_CASE("SHA-256") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(is_sha256_hex(sha256_hex("x")));
  CHECK(!is_sha256_hex("BA"));
}

TEST_CASE("files") {
  const test::Directory directory;
  const std::string path = directory.path("deep/er/file");
  CHECK(write_file(path, "hello"));
  CHECK(*read_file(path) == "hello");
  CHECK(*write_file_if_changed(path, "hello") == false);
  CHECK(*write_file_if_changed(path, "hullo") == true);
  CHECK(*read_file(path) == "hullo");
  CHECK(directory.names() == std::vector<std::string>{"deep"});
  CHECK(render_text(read_file(path, 4).diagnostics) ==
        fmt::format("error[I-FILE]: cannot read '{}'\n  = reason: it has 5 bytes, the bound is 4\n", path));
  CHECK(render_text(read_file(directory.path("none")).diagnostics) ==
        fmt::format("error[I-FILE]: cannot read '{}'\n  = reason: No such file or directory\n",
                    directory.path("none")));
  CHECK(read_file(directory.path("deep")).diagnostics[0].reason == "it is not a regular file");
  CHECK(write_file(directory.path("deep"), "x").diagnostics[0].clause ==
        "I-WRITE");                                              // a directory is in the way
  CHECK(directory.names() == std::vector<std::string>{"deep"});  // nothing is left
  CHECK(write_file(path + "/below", "x").diagnostics[0].clause == "I-WRITE");
}

TEST_CASE("no machine path gets out") {
  CHECK(portable_path("/home/me/src/a.cu", "/home/me/src") == "a.cu");
  CHECK(portable_path("/home/me/src/d/a.cu", "/home/me/src/") == "d/a.cu");
  CHECK(portable_path("/home/me/srcs/a.cu", "/home/me/src") == "a.cu");
  CHECK(portable_path("/usr/include/a.h") == "a.h");
  CHECK(portable_path("d/a.cu") == "d/a.cu");
  CHECK(portable_path("./a.cu") == "a.cu");
  CHECK(portable_path("../../a.cu") == "a.cu");
  CHECK(portable_path("") == "");
}

TEST_CASE("strict JSON") {
  const auto reason = [](std::string_view text) {
    return parse_json(text, "f.json").diagnostics.at(0).reason;
  };
  CHECK(parse_json("{\"a\": [1, {\"a\": 2}], \"b\": {\"a\": 3}}", "f.json"));
  CHECK(reason("{\"a\": 1,\n \"a\": 2}") == "the key 'a' stands twice in one object");
  CHECK(reason(std::string(33, '[')) == "it is nested more than 32 deep");
  CHECK(reason("{\n \"a\": x}").starts_with("line 2, column 7: syntax error"));
  CHECK(reason("").starts_with("line 1, column 1: syntax error"));
  CHECK(render_text(parse_json("[1", "f.json").diagnostics)
            .starts_with("error[I-JSON]: 'f.json' is not valid JSON\n"));
  CHECK(!parse_json("\"\xff\"", "f.json"));
  CHECK(render_text(parse_json("{\"a\": 1e308,\n \"b\": [-1e999]}", "f.json").diagnostics) ==
        "error[I-JSON]: 'f.json' has a number that is too large\n"
        "  = reason: line 2, column 8: -1e999 is beyond all 64-bit floats\n");
  CHECK(reason("1" + std::string(310, '0')).ends_with("... (311 bytes) is beyond all 64-bit floats"));

  // Neither takes the time of its square.
  std::string list = "[0", keys = "{\"k\": 0";
  for (int i = 0; i < 200'000; ++i) {
    list += ",{}";
    keys += fmt::format(",\"k{}\":0", i);
  }
  CHECK(parse_json(list + "]", "f.json")->size() == 200'001);
  CHECK(reason(keys + "}") == "an object has more than 8192 keys");
}

TEST_SUITE_END();

}  // namespace pipelink
