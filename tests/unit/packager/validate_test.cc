#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

#include "packager/base/render.h"
#include "packager/contract/validate.h"
#include "tests/unit/packager/fixture.h"

namespace pipelink::contract {
namespace {

std::string messages(const std::function<void(Contract&)>& change) {
  Contract contract = test::sample_contract();
  change(contract);
  return render_text(validate(contract));
}

/// "clause title | reason" of the only diagnostic.
std::string only(const std::function<void(Contract&)>& change) {
  Contract contract = test::sample_contract();
  change(contract);
  const Diagnostics found = validate(contract);
  CAPTURE(render_text(found));
  CHECK(found.size() == 1);
  return found.empty() ? std::string()
                       : fmt::format("{} {} | {}", found[0].clause, found[0].title, found[0].reason);
}

}  // namespace

TEST_SUITE_BEGIN("validate");

TEST_CASE("the sample is valid") {
  CHECK(messages([](Contract&) {}) == "");
}

TEST_CASE("whole messages") {
  CHECK(messages([](Contract& c) { c.roles[0].registers_max = 250; }) ==
        "error[P-VALUE]: registers of role consumer is out of range\n  demo: role consumer (demo.cu:10)\n"
        "  = reason: 250 is not a multiple of 8 from 24 to 256\n");
  CHECK(messages([](Contract& c) { c.buffers[1].name = "stage"; }) ==
        "error[P-DUPLICATE]: buffer 'stage' is declared twice\n  demo: declared here (demo.cu:40)\n  demo: "
        "and here (demo.cu:41)\n");
  CHECK(messages([](Contract& c) {
          c.roles[0].warps = 24;
          c.roles[1].warps = 12;
        }) ==
        "error[P-VALUE]: the roles have 36 warps together\n  demo: role consumer: 24 warps (demo.cu:10)\n"
        "  demo: role producer: 12 warps (demo.cu:20)\n  = reason: a block has at most 32 warps\n");
  CHECK(messages([](Contract& c) { c.tensors[0].layout = "((4,8,4),(2,2,32)):((2,256,4096),(1,2048,4))"; }) ==
        "error[P-LAYOUT]: layout of tensor acc does not cover its tile exactly once\n  demo: tensor acc "
        "(demo.cu:90)\n"
        "  = reason: tile element 4 is held twice, by thread 0 value 4 and thread 2 value 0\n");
  CHECK(messages([](Contract& c) { c.buffers[0].bytes.expression = "tile_m * (group"; }) ==
        "error[P-EXPRESSION]: bytes of buffer stage is not an expression\n  demo: buffer stage (demo.cu:40)\n"
        "  = reason: 'tile_m * (group', column 16: expected ')', found the end\n");
}

TEST_CASE("steps") {
  CHECK(messages([](Contract& c) { c.steps[0].loop = "wait operands; release operand"; }) ==
        "error[P-STEPS]: loop of steps consumer has the step `release operand`\n  demo: steps consumer "
        "(demo.cu:110)\n"
        "  = reason: the component has no `operand` that can be waited at, arrived at or called\n"
        "  = help: the words are those of the handle\n");
  CHECK(only([](Contract& c) { c.steps[1].loop = "wait pages"; }) ==
        "P-STEPS loop of steps producer has the step `wait pages` | `pages` is a ring's producer: its words "
        "are "
        "`acquire` and `arrive`, not `wait`");
  CHECK(only([](Contract& c) { c.steps[1].loop = "(arrive done"; }) ==
        "P-STEPS loop of steps producer cannot be read | '(arrive done', column 13: expected ')', found the "
        "end");
  for (const char letter : {'a', 'A'}) {  // a name of none, and no name
    const std::string text =
        messages([&](Contract& c) { c.steps[1].loop = "arrive " + std::string(4000, letter); });
    CHECK(text.size() < 1000);
    CHECK(text.find(std::string(150, letter) + std::string(3, letter) + "... (4,007 bytes)") !=
          std::string::npos);
  }
  CHECK(only([](Contract& c) { c.steps[0].name = "mask"; }) ==
        "P-STEPS 'mask' is no role and no export of this component | ");
  CHECK(only([](Contract& c) { c.steps[0].name = "act"; }) ==
        "P-STEPS steps act has a loop, and is of an export | an export returns to its caller; the loop is a "
        "role's");
  CHECK(only([](Contract& c) { c.callables[0].name = "consumer"; }) ==
        "P-STEPS 'consumer' is a role and an export of this component | ");
  CHECK(only([](Contract& c) { c.steps[1].loop = "acquire pages x 2000"; }) ==
        "P-VALUE the count of a step in loop of steps producer is out of range | 2000 is not between 1 and "
        "1024");
  CHECK(only([](Contract& c) { c.steps[1].loop = "acquire pages x many"; })
            .starts_with(
                "P-EXPRESSION the count of a step in loop of steps producer uses the unknown name 'many'"));
  CHECK(only([](Contract& c) { c.mbarriers[0].first_parity = 2; }) ==
        "P-VALUE first_parity of mbarriers done is out of range | 2 is neither 0 nor 1");
}

TEST_CASE("counters, scopes and the grid") {
  CHECK(
      only([](Contract& c) { c.rings[0].scope = "device"; }) ==
      "P-VALUE scope of ring operands is out of range | 'device' is none of warp, warpgroup, block, cluster");
  CHECK(only([](Contract& c) {
          c.rings[0].full_parity = Amount{2, ""};
        }) == "P-VALUE full_parity of ring operands is out of range | 2 is not between 0 and 1");
  CHECK(only([](Contract& c) { c.counters[0].scope = "world"; }) ==
        "P-VALUE scope of counter signal is out of range | 'world' is none of warp, warpgroup, block, "
        "cluster, device, "
        "system");
  CHECK(only([](Contract& c) { c.counters[0].scope = ""; }) ==
        "P-VALUE scope of counter signal is out of range | its owner states none");
  CHECK(only([](Contract& c) { c.counters[0].arrivals.reset(); }) ==
        "P-VALUE initial or arrivals of counter signal is out of range | its owner states none");
  CHECK(only([](Contract& c) { c.counters[1].field = "n"; }) ==
        "P-VALUE field of counter tiles_done is out of range | 'n' is no pointer among the component's "
        "parameters");
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{2, 1}, {1, 2, 1}, {0, 1, 1}, {17, 1, 1}}) {
    Contract c = test::sample_contract();
    c.grid->cluster = shape;
    REQUIRE(validate(c).size() == 1);
    CHECK(validate(c)[0].clause == "P-VALUE");
  }
}

TEST_CASE("header") {
  CHECK(only([](Contract& c) { c.component = "Demo"; }) ==
        "P-NAME 'Demo' is not a name for a component | it has the character 'D'");
  CHECK(only([](Contract& c) { c.version = ""; }) == "P-VALUE '' is not a version | ");
  CHECK(only([](Contract& c) { c.arch = "90a"; }) == "P-ARCH '90a' is not an architecture | ");
  CHECK(only([](Contract& c) { c.toolkit = "13"; }) == "P-TOOLKIT '13' is not a toolkit version | ");
}

TEST_CASE("entries") {
  CHECK(only([](Contract& c) {
          c.roles[1].name = "pro__ducer";
          c.steps.pop_back();
        }) == "P-NAME 'pro__ducer' is not a name for a role | it has '__'");
  CHECK(only([](Contract& c) { c.roles[1].warps = 0; }) ==
        "P-VALUE warps of role producer is out of range | 0 is not between 1 and 32");
  CHECK(only([](Contract& c) { c.roles[1].align_warps = 3; }) ==
        "P-VALUE align_warps of role producer is out of range | 3 is not a power of two up to 32");
  CHECK(only([](Contract& c) { c.roles[1].registers_min = 48; }) ==
        "P-VALUE registers of role producer is out of range | the least, 48, is above the most, 40");
  CHECK(only([](Contract& c) { c.callables[0].phases = {"rest"}; }) ==
        "P-VALUE phases of callable act names the unknown phase 'rest' | its phases are load, work");
  CHECK(only([](Contract& c) { c.callables[0].parameters[1].size = 0; }) ==
        "P-VALUE parameter 1 of callable act is out of range | 'int' has 0 bytes");
  CHECK(only([](Contract& c) { c.callables[0].result.name = ""; }) ==
        "P-VALUE result of callable act is out of range | the type has no name");
  CHECK(only([](Contract& c) { c.buffers[0].align = 48; }) ==
        "P-VALUE align of buffer stage is out of range | 48 is not a power of two up to 65536");
  CHECK(only([](Contract& c) { c.buffers[1].bytes.number = 0; }) ==
        "P-VALUE bytes of buffer table is out of range | 0 is not between 1 and 1073741824");
  CHECK(only([](Contract& c) { c.buffers[0].live = {"gone"}; }) ==
        "P-VALUE live of buffer stage names the unknown phase 'gone' | its phases are load, work");
  CHECK(only([](Contract& c) { c.buffers[0].bytes.expression = "tile_n"; }) ==
        "P-EXPRESSION bytes of buffer stage uses the unknown name 'tile_n' | known are group, interleave, "
        "operands.stages, pages.stages, scale, tile_m, word");
  CHECK(only([](Contract& c) { c.buffers[0].bytes.expression = "scale * 2"; }) ==
        "P-EXPRESSION bytes of buffer stage uses the fact 'scale', which is no integer | 'scale * 2' is "
        "evaluated in integers");
  CHECK(only([](Contract& c) { c.rings[0].stages_min.number = 9; }) ==
        "P-VALUE stages of ring operands is out of range | the least, 9, is above the most, 8");
  CHECK(only([](Contract& c) { c.rings[0].stage_bytes.reset(); }) ==
        "P-VALUE ring operands does not say how many bytes a stage has | a ring is placed from the claim of "
        "its owner");
  CHECK(only([](Contract& c) { c.rings[0].weight = -1; }) ==
        "P-VALUE weight of ring operands is out of range | -1 is not between 0 and 1000");
  CHECK(only([](Contract& c) {
          c.rings[0].empty_arrivals = Amount{0, ""};
        }) == "P-VALUE empty_arrivals of ring operands is out of range | 0 is not between 1 and 1048575");
  CHECK(only([](Contract& c) { c.mbarriers[0].count.number = 0; }) ==
        "P-VALUE count of mbarriers done is out of range | 0 is not between 1 and 4096");
  CHECK(only([](Contract& c) { c.named_barriers[0].threads.number = 100; }) ==
        "P-VALUE threads of named_barrier sync is out of range | 100 is not a multiple of 32");
  CHECK(only([](Contract& c) {
          c.tensor_memory[0].columns = Amount{96, ""};
        }) == "P-VALUE columns of tensor_memory cells is out of range | 96 is not a power of two");
  CHECK(only([](Contract& c) {
          c.tensor_memory[0].columns = Amount{1024, ""};
        }) == "P-VALUE columns of tensor_memory cells is out of range | 1024 is not between 32 and 512");
  CHECK(only([](Contract& c) {
          c.requirements[0].expression = "tile_m >";
        }).starts_with("P-EXPRESSION expression of requirement whole is not an expression | "));
}

TEST_CASE("sizes of parameters are those that their types' texts say") {
  const auto stated = [](const char* name, std::int64_t size) {
    return messages([&](Contract& c) { c.callables[0].parameters[0] = {name, size, 1}; });
  };
  for (const auto& [name, size] :
       std::initializer_list<std::pair<const char*, std::int64_t>>{{"float (&)[16]", 64},
                                                                   {"const float(&)[16]", 64},
                                                                   {"float (&)[4][8]", 128},
                                                                   {"unsigned char (&&)[3]", 3},
                                                                   {"volatile unsigned short (&)[2]", 4},
                                                                   {"long long", 8},
                                                                   {"unsigned long long int", 8},
                                                                   {"unsigned", 4},
                                                                   {"unsigned long &", 8},
                                                                   {"short int", 2},
                                                                   {"float3", 12},
                                                                   {"double4 (&)[2]", 64},
                                                                   {"ulonglong2", 16},
                                                                   {"const int *", 8},
                                                                   {"const demo::T *__restrict__", 8},
                                                                   {"float *(&)[2]", 16},
                                                                   {"float (*)[16]", 8},
                                                                   {"__int128 &", 16},
                                                                   {"bool", 1}}) {
    INFO(std::string(name));
    CHECK(stated(name, size) == "");
    CHECK(stated(name, size + 1)
              .find(fmt::format(
                  "error[P-VALUE]: parameter 0 of callable act is out of range\n  demo: callable act "
                  "(demo.cu:30)\n"
                  "  = reason: '{}' has {} bytes, and {} are stated\n  = help: pack the component again\n",
                  name, size, size + 1)) == 0);
  }
  CHECK(stated("float (&)[16]", 128) != "");
  // Of what is not known only that elements are whole.
  CHECK(stated("demo::T (&)[4]", 24) == "");
  CHECK(stated("demo::T (&)[4]", 25).find("'demo::T (&)[4]' has 4 elements, and 25 bytes are stated") !=
        std::string::npos);
  for (const char* other :
       {"demo::T &", "cuda::std::array<float, 4> &", "void (&)(int)", "void (*)(int)", "float (demo::T::*)",
        "float (&)[0]", "float (&)[99999999999999999999]", "float (&)[x]"})
    CHECK(stated(other, 7) == "");
}

TEST_CASE("calls of an export are imports, sorted") {
  CHECK(
      only([](Contract& c) { c.callables[0].calls = {"act"}; }) ==
      "P-VALUE callable act calls 'act', which is no import | an export calls the imported callables of its "
      "component");
  CHECK(only([](Contract& c) { c.callables[1].calls = {"mask"}; }) ==
        "P-VALUE callable mask calls 'mask', which is no import | an export calls the imported callables of "
        "its "
        "component");
  CHECK(only([](Contract& c) {
          c.callables[0].calls = {"mask", "mask"};
        }) == "P-VALUE calls of callable act is out of range | a name stands twice, or they are not sorted");
}

TEST_CASE("facts") {
  CHECK(only([](Contract& c) {
          c.facts[0].value = Amount{5, ""};
        }) == "P-VALUE value of fact group is out of range | 5 is not among 4, 8, 16");
  CHECK(only([](Contract& c) {
          c.facts[0].domain = {4, 8, 8};
        }) == "P-VALUE domain of fact group is out of range | 4, 8, 8 is not ascending");
  CHECK(only([](Contract& c) { c.facts[0].domain.clear(); }) ==
        "P-VALUE domain of fact group is out of range | a settable fact lists the values that it may take");
  CHECK(only([](Contract& c) { c.facts[0].settable = false; }) ==
        "P-VALUE domain of fact group is out of range | only a settable fact has one");
  CHECK(only([](Contract& c) {
          c.facts[0].value = Amount{0, "tile_m"};
        }) ==
        "P-VALUE value of fact group is out of range | the default of a settable fact is a number, not an "
        "expression");
  CHECK(only([](Contract& c) { c.facts[1].settable = true; }) ==
        "P-VALUE settable of fact interleave is out of range | only the owner can declare a fact settable");
  CHECK(only([](Contract& c) {
          c.facts[1].value = Amount{2, ""};
        }) == "P-VALUE value of fact interleave is out of range | 2 is neither 0 nor 1");
  CHECK(only([](Contract& c) { c.facts[2].text_value = ""; }) ==
        "P-VALUE text_value of fact scale is out of range | its owner states none");
  CHECK(only([](Contract& c) { c.facts[3].value.reset(); }) ==
        "P-VALUE value of fact tile_m is out of range | its owner states none");
  CHECK(only([](Contract& c) {
          c.facts[3].value = Amount{0, "tile_m * 2"};
        }) == "P-EXPRESSION the value of fact tile_m depends on itself | tile_m -> tile_m");
  CHECK(only([](Contract& c) {
          c.facts.push_back(c.facts[3]);
          c.facts.back().name = "tile_n";
          c.facts.back().value = Amount{0, "tile_m + 1"};
          c.facts[3].value = Amount{0, "tile_n * 2"};
        }) == "P-EXPRESSION the value of fact tile_m depends on itself | tile_m -> tile_n -> tile_m");
}

TEST_CASE("tensors") {
  CHECK(only([](Contract& c) { c.tensors[0].space = "cloud"; }).starts_with("P-VALUE space of tensor acc"));
  CHECK(only([](Contract& c) { c.tensors[0].scope = "warp"; }) ==
        "P-LAYOUT layout of tensor acc is not for a warp | its first mode has 128 threads, a warp has 32");
  CHECK(only([](Contract& c) { c.tensors[0].layout = ""; }) ==
        "P-LAYOUT tensor acc has no layout | registers are addressed by thread and value");
  CHECK(only([](Contract& c) { c.tensors[0].layout = "(128"; }) ==
        "P-LAYOUT layout of tensor acc cannot be read | '(128', column 5: expected ')'");
  CHECK(only([](Contract& c) {
          c.tensors[0].tile = {Amount{64, ""}, Amount{0, ""}};
        }) == "P-VALUE tile of tensor acc is out of range | (64, 0) has not between 1 and 4194304 elements");
  CHECK(only([](Contract& c) {
          c.tensors[0].tile.assign(2, Amount{std::int64_t{1} << 40, ""});
        }).starts_with("P-VALUE tile of tensor acc"));
  CHECK(only([](Contract& c) { c.tensors[0].via = "nobody"; }) ==
        "P-VALUE tensor acc is carried by the unknown callable 'nobody' | ");
  CHECK(only([](Contract& c) { c.tensors[0].via = ""; }) ==
        "P-VALUE via of tensor acc is out of range | a tensor in registers is carried by a callable");
  CHECK(only([](Contract& c) { c.tensors[0].parameter = 1; }) ==
        "P-VALUE parameter of tensor acc is out of range | callable 'mask' has 1 parameters, numbered from "
        "0; 1 is none of them");
}

TEST_CASE("tensors by facts") {
  // tile_m is fixed and owned, 64: judged here. group can be set: judged when it is known.
  CHECK(messages([](Contract& c) {
          c.tensors[0].tile = {Amount{0, "tile_m"}, Amount{256, ""}};
          c.tensors[0].layout = "wgmma_accumulator(tile_m,4*tile_m)";
        }) == "");
  CHECK(
      only([](Contract& c) {
        c.tensors[0].tile = {Amount{0, "tile_m"}, Amount{256, ""}};
        c.tensors[0].layout = "wgmma_accumulator(tile_m,2*tile_m)";
      }) ==
      "P-LAYOUT layout of tensor acc does not cover its tile exactly once | the layout has 128 threads x 64 "
      "values = 8192 elements, the tile has 16384");
  CHECK(messages([](Contract& c) { c.tensors[0].layout = "wgmma_accumulator(64,group)"; }) == "");
  CHECK(only([](Contract& c) { c.tensors[0].layout = "wgmma_accumulator(64,grup)"; }) ==
        "P-EXPRESSION column 22 of the layout of tensor acc uses the unknown name 'grup' | known are group, "
        "interleave, operands.stages, pages.stages, scale, tile_m, word");
  CHECK(
      only([](Contract& c) { c.tensors[0].layout = "wgmma_accumulator(64,4*)"; }) ==
      "P-EXPRESSION column 22 of the layout of tensor acc is not an expression | '4*', column 3: expected a "
      "value, found the end");
  CHECK(only([](Contract& c) {
          c.tensors[0].tile[1] = Amount{0, "operands.stages"};
        }) ==
        "P-EXPRESSION tile of tensor acc reads the placement | 'operands.stages' is known after placement, "
        "and tiles "
        "are routed before it");
  CHECK(only([](Contract& c) {
          c.tensors[0].tile[1] = Amount{0, "tile_m - 64"};
        }) == "P-VALUE tile of tensor acc is out of range | (64, 0) has not between 1 and 4194304 elements");
  CHECK(only([](Contract& c) {
          c.tensors[0].tile[1] = Amount{0, "tile_m / 0"};
        }) == "P-EXPRESSION tile of tensor acc cannot be evaluated | 'tile_m / 0': division by zero");
  CHECK(only([](Contract& c) { c.tensors[0].layout = "(128,tile_m-64):(1,1)"; }) ==
        "P-LAYOUT layout of tensor acc cannot be read | '(128,tile_m-64):(1,1)', column 6: an extent is at "
        "least 1, "
        "'tile_m-64' is 0");
  CHECK(only([](Contract& c) {
          c.tensors[0].tile.assign(9, Amount{1, ""});
        }).starts_with("P-VALUE tile of tensor acc is out of range | it has 9 extents, 8 are allowed"));
}

TEST_CASE("replication is stated") {
  const auto rows = [](Contract& c, std::int64_t replicas) {
    c.tensors[0].tile = {Amount{64, ""}};
    c.tensors[0].layout = "((4,8,4),2):((0,1,16),8)";
    if (replicas != 0) c.tensors[0].replicas = Amount{replicas, ""};
  };
  CHECK(messages([&](Contract& c) { rows(c, 4); }) == "");
  CHECK(only([&](Contract& c) { rows(c, 0); }) ==
        "P-LAYOUT layout of tensor acc does not cover its tile exactly once | the layout has 128 threads x 2 "
        "values = "
        "256 elements, the tile has 64");
  CHECK(only([&](Contract& c) { rows(c, 2); }) ==
        "P-LAYOUT layout of tensor acc does not hold each element of its tile as often as is stated | the "
        "layout has "
        "128 threads x 2 values = 256 elements, the tile has 64, each held twice");
  CHECK(only([&](Contract& c) { rows(c, -1); }) ==
        "P-VALUE replicas of tensor acc is out of range | -1 is not between 1 and 4194304");
}

TEST_CASE("a tile outlives calls where it has a place") {
  const auto kept = [](Contract& c, const char* space, std::int64_t calls) {
    c.tensors[0].space = space;
    c.tensors[0].layout = "(64,256):(256,1)";
    c.tensors[0].generations = Amount{calls, ""};
  };
  CHECK(messages([&](Contract& c) { kept(c, "tensor_memory", 2); }) == "");
  CHECK(only([&](Contract& c) { kept(c, "tensor_memory", 0); }) ==
        "P-VALUE generations of tensor acc is out of range | 0 is not between 1 and 4194304");
  CHECK(only([](Contract& c) {
          c.tensors[0].generations = Amount{2, ""};
        }) ==
        "P-VALUE generations of tensor acc is stated of a tile in registers | 2: it is there for one call");
}

TEST_CASE("tiles in memory") {
  const auto shared = [](Contract& c, const char* layout) {
    c.tensors[0].space = "shared";
    c.tensors[0].layout = layout;
  };
  CHECK(messages([&](Contract& c) { shared(c, "Sw<3,3,3> o (64,(64,4)):(64,(1,4096))"); }) == "");
  CHECK(messages([&](Contract& c) { shared(c, "row_major(64,256,264)"); }) == "");
  CHECK(
      only([&](Contract& c) { shared(c, "row_major(256,64)"); }) ==
      "P-LAYOUT layout of tensor acc does not give each element a place of its own | its modes have 256 x 64 "
      "elements, the tile is 64 x 256");
  CHECK(only([&](Contract& c) { shared(c, "(64,256):(128,1)"); }) ==
        "P-LAYOUT layout of tensor acc does not give each element a place of its own | (1, 0) and (0, 128) "
        "are both "
        "at 128");
  CHECK(only([&](Contract& c) {
          shared(c, "row_major(64,256)");
          c.tensors[0].replicas = Amount{2, ""};
        }) ==
        "P-VALUE replicas of tensor acc is stated of a tile in shared memory | 2: each element has one place "
        "there");
  CHECK(messages([&](Contract& c) {
          c.tensors[0].space = "tensor_memory";
          c.tensors[0].layout = "(64,256):(256,1)";
        }) == "");
}

TEST_CASE("lists have a bound, whatever their entries say") {
  const auto chain = [](Contract& c) {
    const Fact fact = c.facts.front();
    c.facts.assign(100'000, fact);
    for (std::size_t i = 0; i + 1 < c.facts.size(); ++i)
      c.facts[i].value->expression = fmt::format("f{}", i + 1);
  };
  CHECK(only(chain) ==
        "P-VALUE the number of its entries 'fact', of component demo is out of range | 100000 is more than "
        "1024");
  CHECK(only([](Contract& c) {
          c.phases.resize(1025);
        }).starts_with("P-VALUE the number of its entries 'phase'"));
}

TEST_CASE("reals and texts") {
  const auto fact = [](const std::string& name, void (*change)(Fact&)) {
    return only([&](Contract& c) {
      for (Fact& f : c.facts)
        if (f.name == name) change(f);
    });
  };
  CHECK(fact("scale", [](Fact& f) { f.cpp_type = "int evil(); float"; }) ==
        "P-VALUE cpp_type of fact scale is out of range | 'int evil(); float' is neither float nor double");
  CHECK(fact("scale", [](Fact& f) { f.text_value = "0.1; }"; }) ==
        "P-VALUE text_value of fact scale is out of range | '0.1; }' is no finite number");
  CHECK(fact("scale", [](Fact& f) { f.text_value = "inf"; }) ==
        "P-VALUE text_value of fact scale is out of range | 'inf' is no finite number");
  CHECK(fact("scale", [](Fact& f) { f.texts = {"a"}; }) ==
        "P-VALUE texts of fact scale is out of range | only a text fact has them");
  CHECK(fact("word", [](Fact& f) { f.cpp_type = "int"; }) ==
        "P-VALUE cpp_type of fact word is out of range | 'int' is not unsigned int, a number in the list "
        "of texts");
  CHECK(fact("word", [](Fact& f) { f.texts.pop_back(); }) ==
        "P-VALUE text_value of fact word is out of range | 'bf16' is not among f32");
  CHECK(fact("word", [](Fact& f) { f.texts.push_back("f32"); }) ==
        "P-VALUE texts of fact word is out of range | 'f32' is there twice");
  CHECK(fact("word", [](Fact& f) {
          f.texts[0] = "f\n32";
        }).starts_with("P-VALUE texts of fact word is out of range"));
  CHECK(fact("word", [](Fact& f) { f.settable = false; }) ==
        "P-VALUE texts of fact word is out of range | a fixed text is one");
  CHECK(fact("word", [](Fact& f) {
          f.settable = false;
          f.direction = Direction::kImport;
          f.texts.clear();
        }) == "P-VALUE texts of fact word is out of range | a reader lists those that it has code for");
}

TEST_CASE("scratch") {
  CHECK(only([](Contract& c) { c.scratch[0].field = "n"; }) ==
        "P-VALUE field of scratch partials is out of range | 'n' is no pointer among the component's "
        "parameters");
  CHECK(only([](Contract& c) { c.scratch[0].align = 512; }) ==
        "P-VALUE align of scratch partials is out of range | 512 is not a power of two up to 256");
  CHECK(only([](Contract& c) {
          c.scratch[0].bytes = Amount{0, ""};
        }) == "P-VALUE bytes of scratch partials is out of range | 0 is not between 1 and 1099511627776");
  CHECK(only([](Contract& c) {
          c.scratch.push_back(c.scratch[0]);
          c.scratch[1].name = "sums";
        }) == "P-VALUE field of scratch sums is out of range | 'out' is that of scratch partials too");
}

TEST_CASE("phases, parameters, host") {
  CHECK(only([](Contract& c) { c.phases[0].after = {"work"}; }) ==
        "P-VALUE phase load begins after itself | load after work after load");
  CHECK(only([](Contract& c) {
          c.phases[0].after_previous = {"gone"};
        }).starts_with("P-VALUE after_previous of phase load names the unknown phase 'gone'"));
  CHECK(only([](Contract& c) { c.parameters->fields[2].size = 12; }) ==
        "P-VALUE field 'n' of parameters is out of range | offset 16 and size 12 do not fit 24 bytes");
  CHECK(messages([](Contract& c) {
          c.parameters->fields[2].size = INT64_MAX;
        }).find("offset 16 and size 9223372036854775807 do not fit 24 bytes") != std::string::npos);
  CHECK(only([](Contract& c) { c.parameters->fields[2].name = "in"; }) ==
        "P-DUPLICATE field 'in' of the parameters is listed twice | ");
  CHECK(only([](Contract& c) {
          c.parameters->header = "/usr/include/demo.h";
        }).starts_with("P-VALUE header of parameters"));
  CHECK(only([](Contract& c) { c.parameters->size = 5000; }).starts_with("P-VALUE size of parameters"));
  CHECK(only([](Contract& c) {
          c.parameters.reset();
          c.counters.clear();
          c.scratch.clear();
        }) == "P-HOST the host provider has no parameters to fill | ");
  CHECK(only([](Contract& c) { c.host->symbol = "a::b"; }) ==
        "P-HOST 'a::b' is not a symbol for the host provider | ");
  CHECK(only([](Contract& c) { c.host->abi = 0; }) ==
        "P-HOST the host provider has no ABI version | its value is 0");
}

TEST_CASE("arguments of the host provider") {
  CHECK(validate(test::sample_contract()).empty());
  CHECK(only([](Contract& c) { c.parameters->fields[2].kind = FieldKind::kPointer; }) ==
        "P-VALUE field 'n' of parameters is out of range | there is no pointer of 4 bytes");
  CHECK(only([](Contract& c) { c.host->fields[1].kind = FieldKind::kBoolean; }) ==
        "P-VALUE field 'scale' of host is out of range | there is no boolean of 4 bytes");
  CHECK(only([](Contract& c) { c.host->fields[2].name = "in"; }) ==
        "P-DUPLICATE field 'in' of the arguments is listed twice | ");
  CHECK(only([](Contract& c) { c.host->fields[1].offset = 14; }) ==
        "P-VALUE field 'scale' of host is out of range | offset 14 and size 4 do not fit 16 bytes");
  CHECK(only([](Contract& c) { c.host->fields.erase(c.host->fields.begin()); }) ==
        "P-VALUE field list of host is out of range | 8 bytes between the beginning and field 'scale' belong "
        "to no field, and padding is less than the struct's alignment, 8");
  CHECK(only([](Contract& c) { c.host->align = 256; }).starts_with("P-VALUE align of host"));
  Contract unlisted = test::sample_contract();
  unlisted.host->size = unlisted.host->align = 0;
  unlisted.host->fields.clear();
  CHECK(validate(unlisted).empty());
  unlisted.host->size = 8;
  CHECK(!validate(unlisted).empty());
}

TEST_CASE("all errors, not the first") {
  Contract contract = test::sample_contract();
  contract.roles[0].warps = 0;
  contract.buffers[0].align = 3;
  contract.phases[0].after = {"nothing"};
  contract.host->arguments = "";
  CHECK(validate(contract).size() == 4);
}

TEST_SUITE_END();

}  // namespace pipelink::contract
