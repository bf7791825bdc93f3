// The composition file by itself: what it may say, and the place of every fault.
#include "linker/compose/composition_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "packager/base/render.h"

namespace pipelink {
namespace {

std::string faults(const std::string& text) {
  const Outcome<CompositionFile> file = parse_composition(text, "fused.json");
  CHECK(!file);
  return render_text(file.diagnostics);
}

/// A whole file with `more` before its end.
std::string with(const std::string& more) {
  return "{\"schema\": 1, \"name\": \"fused\", \"arch\": \"sm_90a\",\n \"components\": [{\"package\": "
         "\"a.plk\"}]" +
         (more.empty() ? "" : ",\n " + more) + "}";
}

}  // namespace

TEST_CASE("a composition file with everything") {
  const Outcome<CompositionFile> file = parse_composition(R"({
  "schema": 1,
  "name": "fused_mlp",
  "arch": "sm_90a",
  "components": [
    {"package": "lib/gemm.sm_90a.plk", "as": "g0"},
    {"package": "swiglu.sm_90a.plk"}
  ],
  "bind": [["g0.epilogue", "swiglu.apply"]],
  "set": {"g0.tile_m": 128, "g0.fast": true, "g0.name": "x", "g0.scale": 0.50},
  "rings": {"g0.operands": {"tier": 2, "weight": 3}},
  "launch": {"cluster": [2, 1, 1], "blocks_per_sm": 2},
  "options": {"guard": true, "guard_ms": 500, "limit": 1000}
})",
                                                          "fused.json");
  REQUIRE(file);
  CHECK(file->name == "fused_mlp");
  CHECK(file->arch == "sm_90a");
  CHECK(file->file == "fused.json");
  REQUIRE(file->components.size() == 2);
  CHECK(file->components[0].package == "lib/gemm.sm_90a.plk");
  CHECK(file->components[0].as == "g0");
  CHECK(file->components[1].as.empty());
  CHECK(file->components[1].where == SourceSpan{"fused.json", 7});
  CHECK(file->bind == std::vector<std::pair<std::string, std::string>>{{"g0.epilogue", "swiglu.apply"}});
  CHECK(file->set == std::map<std::string, std::string>{
                         {"g0.fast", "true"}, {"g0.name", "x"}, {"g0.scale", "0.50"}, {"g0.tile_m", "128"}});
  CHECK(file->rings.at("g0.operands").tier == 2);
  CHECK(file->rings.at("g0.operands").weight == 3);
  CHECK(file->launch.cluster[0] == 2);
  CHECK(file->launch.blocks_per_sm == 2);
  CHECK(file->options.guard);
  CHECK(file->options.guard_ms == 500);
  CHECK(file->options.limit == 1000);
  CHECK(file->lines.at("BIND g0.epilogue=swiglu.apply") == 9);
  CHECK(file->lines.at("SET g0.tile_m") == 10);
}

TEST_CASE("what is absent has its default") {
  const Outcome<CompositionFile> file = parse_composition(with(""), "fused.json");
  REQUIRE(file);
  CHECK(file->launch.cluster[2] == 1);
  CHECK(file->launch.blocks_per_sm == 1);
  CHECK_FALSE(file->options.guard);
  CHECK(file->options.guard_ms == 2000);
  CHECK(file->options.limit == LinkOptions{}.limit);
}

TEST_CASE("where the user wrote it, if a build system wrote the file") {
  const std::string rest = ", \"set\": {\"a.x\": 1}, \"bind\": [[\"a.f\", \"b.f\"]]";
  Outcome<CompositionFile> file = parse_composition(
      with("\"declared\": {\"file\": \"k/CMakeLists.txt\", \"line\": 12}" + rest), "fused.json");
  REQUIRE(file);
  CHECK(file->declared == SourceSpan{"k/CMakeLists.txt", 12});
  Composition composition;
  composition.file = "fused.json";
  composition.lines = file->lines;
  CHECK(composition.where("SET a.x") == SourceSpan{"fused.json", 3});
  composition.declared = file->declared;
  CHECK(composition.where("SET a.x") == SourceSpan{"k/CMakeLists.txt", 12});
  CHECK(composition.where() == SourceSpan{"k/CMakeLists.txt", 12});
  CHECK(parse_composition(with("\"declared\": {\"file\": \"CMakeLists.txt\"}"), "x")->declared ==
        SourceSpan{"CMakeLists.txt", 0});
  CHECK(faults(with("\"declared\": {\"file\": \"a\\nb\", \"line\": 0}")) ==
        R"(error[I-COMPOSITION]: the composition file is malformed
  composition: column 23: `file` is no path (fused.json:3)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 39: `line` is 0, must be 1 to 1000000000 (fused.json:3)
)");
  CHECK(faults(with("\"declared\": {\"line\": 3, \"text\": 1}")).find("lacks the key `file`") !=
        std::string::npos);
}

TEST_CASE("text that is no JSON") {
  CHECK(faults("{\"schema\": 1,\n  \"name\": }") ==
        R"(error[I-JSON]: the composition file is not valid JSON
  composition: column 11: syntax error while parsing value - unexpected '}'; expected '[', '{', or a literal (fused.json:2)
)");
  CHECK(faults("") ==
        R"(error[I-JSON]: the composition file is not valid JSON
  composition: column 1: syntax error while parsing value - unexpected end of input; expected '[', '{', or a literal (fused.json:1)
)");
  CHECK(faults(with("\"set\": {\"a.x\": 1, \"a.x\": 2}")) ==
        R"(error[I-JSON]: the composition file is not valid JSON
  composition: column 20: key `a.x` is there twice (fused.json:3)
)");
  for (const char* number : {"9223372036854775808", "18446744073709551616"})
    CHECK(faults(with(fmt::format("\"options\": {{\"limit\": {}}}", number))) ==
          fmt::format(R"(error[I-COMPOSITION]: the composition file is malformed
  composition: column 23: `limit` is {}, which does not fit 64 bits (fused.json:3)
)",
                      number));
  CHECK(faults(with("\"set\": [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]")) ==
        R"(error[I-JSON]: the composition file is not valid JSON
  composition: column 24: nested deeper than 16 (fused.json:3)
)");
}

TEST_CASE("numbers of any size are kept as they are written") {
  const std::string digits = "1" + std::string(310, '0');
  for (const std::string& number :
       {std::string("9223372036854775807"), std::string("9223372036854775808"), std::string("1e400"),
        std::string("18446744073709551615"), std::string("18446744073709551616"), std::string("-0"),
        std::string("-9223372036854775809"), std::string("-12.5E+0400"), std::string("1e-400"), digits,
        "-" + digits + ".25"}) {
    const Outcome<CompositionFile> file = parse_composition(
        with(fmt::format("\"set\": {{\"a.x\": {0},\"a.t\": \"\\\"{0}\", \"a.y\":{0}}}", number)),
        "fused.json");
    REQUIRE(file);
    CHECK(file->set.at("a.x") == number);
    CHECK(file->set.at("a.t") == "\"" + number);
    CHECK(file->set.at("a.y") == number);
  }
  const std::string found = faults(with("\"options\": {\"limit\": " + digits + ", \"guard_ms\": 1e400}"));
  CHECK(found.find("`limit` is 1" + std::string(159, '0') + "... (311 bytes), which does not fit 64 bits") !=
        std::string::npos);
  CHECK(found.find("`guard_ms` must be an integer, not a real number (fused.json:3)") != std::string::npos);
  // What is malformed stays so, where it is.
  for (const char* wrong : {"1e400e5", "01e400", "1.e400", "1e400x", "--1e400", "1e+-400"})
    CHECK(faults(with(fmt::format("\"set\": {{\"a.x\": {}}}", wrong))).starts_with("error[I-JSON]"));
  CHECK(faults(with("\"set\": {\"a.x\": 1e400, \"a.y\": ?}")).find("composition: column 31: syntax error") !=
        std::string::npos);
}

TEST_CASE("another schema") {
  CHECK(faults("{\"schema\": 2, \"future\": 1}") ==
        R"(error[I-FORMAT]: the composition file has another schema
  composition: column 12: schema 2; this linker reads schema 1 (fused.json:1)
)");
}

TEST_CASE("reserved keys are refused by name") {
  CHECK(faults(with("\"domains\": 1, \"views\": 2,\n \"counters\": 3")) ==
        R"(error[I-COMPOSITION]: the key `domains` of a composition is reserved
  composition: column 2: `domains` is reserved for a later schema (fused.json:3)
  = help: remove `domains`

error[I-COMPOSITION]: the key `views` of a composition is reserved
  composition: column 16: `views` is reserved for a later schema (fused.json:3)
  = help: remove `views`

error[I-COMPOSITION]: the key `counters` of a composition is reserved
  composition: column 2: `counters` is reserved for a later schema (fused.json:4)
  = help: remove `counters`
)");
}

TEST_CASE("unknown keys are refused by name, wherever they stand") {
  CHECK(faults(with("\"Bind\": [],\n \"options\": {\"Guard\": true}, \"launch\": {\"grid\": 1},"
                    "\n \"rings\": {\"a.r\": {\"depth\": 1}}")) ==
        R"(error[I-COMPOSITION]: unknown key `Bind` in a composition file
  composition: column 2: the composition has no key `Bind` (fused.json:3)
  = help: the keys here are schema, name, arch, components, bind, set, rings, launch, options, declared

error[I-COMPOSITION]: unknown key `depth` in a composition file
  composition: column 20: a ring preference has no key `depth` (fused.json:5)
  = help: the keys here are tier, weight

error[I-COMPOSITION]: unknown key `grid` in a composition file
  composition: column 41: `launch` has no key `grid` (fused.json:4)
  = help: the keys here are cluster, blocks_per_sm

error[I-COMPOSITION]: unknown key `Guard` in a composition file
  composition: column 14: `options` has no key `Guard` (fused.json:4)
  = help: the keys here are guard, guard_ms, limit
)");
}

TEST_CASE("missing keys") {
  CHECK(faults("{\"schema\": 1}") ==
        R"(error[I-COMPOSITION]: the composition file lacks the key `name`
  composition: column 1: this object needs `name` (fused.json:1)

error[I-COMPOSITION]: the composition file lacks the key `arch`
  composition: column 1: this object needs `arch` (fused.json:1)

error[I-COMPOSITION]: the composition file lacks the key `components`
  composition: column 1: this object needs `components` (fused.json:1)
)");
}

TEST_CASE("names that C++ takes for something else") {
  const auto named = [](const char* name) {
    return faults(std::string("{\"schema\": 1, \"name\": \"") + name +
                  "\", \"arch\": \"sm_90a\", \"components\": [{\"package\": \"a.plk\"}]}");
  };
  CHECK(named("class").find("the name `class` is a keyword of C++") != std::string::npos);
  for (const char* name : {"main", "std", "linux", "unix"})
    CHECK(named(name).find("means something else to a C++ compiler") != std::string::npos);
}

TEST_CASE("malformed values, all at once") {
  CHECK(
      faults(
          "{\"schema\": 1, \"name\": \"Fused\", \"arch\": \"90a\",\n \"components\": [{\"as\": \"a__b\"}, "
          "3],\n"
          " \"bind\": [[\"a.x\"], [\"a\", \"b.y\"], [1, \"b.y\"]],\n \"set\": {\"tile\": 1, \"a.x\": null},\n"
          " \"rings\": {\"a.r\": {\"weight\": 0}},\n"
          " \"launch\": {\"cluster\": [4, 5, 1], \"blocks_per_sm\": 0},\n \"options\": {\"limit\": 1.5}}") ==
      R"(error[I-COMPOSITION]: the composition file is malformed
  composition: column 23: the name `Fused` has the character 'F' (fused.json:1)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 40: `arch` is `90a`, expected a name such as `sm_90a` (fused.json:1)

error[I-COMPOSITION]: the composition file lacks the key `package`
  composition: column 17: this object needs `package` (fused.json:2)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 24: the name `a__b` has '__' (fused.json:2)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 33: an entry of `components` must be an object, not an integer (fused.json:2)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 11: an entry of `bind` has 1 ports, must be 2 (fused.json:3)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 21: `a` is not of the form `instance.port` (fused.json:3)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 35: a port of `bind` must be a string, not an integer (fused.json:3)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 10: `tile` is not of the form `owner.fact` (fused.json:4)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 28: the value of `a.x` must be a number, a boolean or a string, not null (fused.json:4)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 30: `weight` is 0, must be 1 to 1000 (fused.json:5)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 24: `cluster` has 20 blocks, must be at most 16 (fused.json:6)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 52: `blocks_per_sm` is 0, must be 1 to 32 (fused.json:6)

error[I-COMPOSITION]: the composition file is malformed
  composition: column 23: `limit` must be an integer, not a real number (fused.json:7)
)");
  CHECK(faults("[]") ==
        R"(error[I-COMPOSITION]: the composition file is malformed
  composition: column 1: the composition must be an object, not an array (fused.json:1)
)");
}

TEST_CASE("damaged text is refused or read, and nothing else") {
  const std::string whole = with(
      R"("bind": [["a.x", "b.y"]], "set": {"a.x": 1.5, "a.\u0041": "\\"}, "rings": {"a.r": {}}, "options": {})");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(!parse_composition(whole.substr(0, i), "fused.json"));
    for (const char c : {'"', '{', ']', '0', '\0', '\\', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = c;
      const Outcome<CompositionFile> file = parse_composition(damaged, "fused.json");
      CHECK((file || !file.diagnostics.empty()));
    }
  }
}

}  // namespace pipelink
