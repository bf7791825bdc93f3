#include <doctest/doctest.h>
#include <fmt/format.h>

#include "packager/base/render.h"
#include "packager/capture/capture.h"
#include "packager/capture/ltoir.h"
#include "packager/capture/object.h"
#include "packager/capture/ptx.h"
#include "packager/contract/json.h"
#include "packager/contract/records.h"
#include "tests/unit/packager/fixture.h"

namespace pipelink {
namespace {

const CaptureOptions kOptions{"demo", "1.2.0", "sm_90a", ""};

Outcome<Captured> capture_bytes(const std::vector<std::string>& objects,
                                const CaptureOptions& options = kOptions) {
  const test::Directory directory;
  std::vector<std::string> paths;
  for (const std::string& bytes : objects)
    paths.push_back(directory.write(fmt::format("part{}.fatbin", paths.size()), bytes));
  return capture(paths, options);
}

std::string messages(const std::string& more, contract::Contract contract = test::sample_contract()) {
  return render_text(capture_bytes({test::object(contract, more)}).diagnostics);
}

std::string fatbin_messages(const std::string& bytes) {
  return render_text(capture_bytes({bytes}).diagnostics);
}

PtxFacts ptx(std::string_view body) {
  Outcome<PtxFacts> facts =
      parse_ptx(fmt::format(".version 9.0\n.target sm_90a\n.address_size 64\n{}", body), "x");
  CAPTURE(render_text(facts.diagnostics));
  REQUIRE(facts);
  return *facts;
}

}  // namespace

TEST_SUITE_BEGIN("capture");

TEST_CASE("objects") {
  const std::string plain = test::fatbin({{1, "text"}, {8, test::ltoir()}, {2, "cubin", 100, 0x200011}});
  for (const std::string& bytes : {plain, test::elf(plain)}) {
    Outcome<std::vector<FatbinEntry>> entries = parse_object(bytes, "x");
    CAPTURE(render_text(entries.diagnostics));
    REQUIRE(entries);
    REQUIRE(entries->size() == 3);
    CHECK((*entries)[0].is(FatbinKind::kPtx));
    CHECK((*entries)[0].payload == std::string("text\0\0\0\0", 8));
    CHECK((*entries)[1].arch == "sm_90a");
    CHECK((*entries)[2].arch == "sm_100f");
  }
  CHECK(parse_object(test::elf(plain + plain), "x")->size() == 6);  // ld -r puts sections together
  CHECK(parse_object(plain + std::string(8, '\0'), "x")->size() == 3);
}

TEST_CASE("no objects") {
  const std::string help =
      "  = help: compile with `nvcc -fatbin -rdc=true --compress-mode=none`; pipelink_add_component does\n";
  CHECK(render_text(parse_object("hello", "x").diagnostics) ==
        "error[I-OBJECT]: 'x' is not an object with device code\n  = reason: it is neither a fatbin nor an "
        "ELF file\n" +
            help);
  CHECK(render_text(parse_object(test::elf("", ".text"), "x").diagnostics) ==
        "error[I-OBJECT]: 'x' is not an object with device code\n  = reason: it has no section "
        "__nv_relfatbin\n" +
            help);
  CHECK(fatbin_messages(test::fatbin({{1, "text", 90, 0x108011}})) ==
        "error[I-OBJECT]: the device code in 'part0.fatbin' is compressed\n"
        "  = reason: nvcc scrambles link-time code that it compresses, so that it cannot be read back\n"
        "  = help: compile with --compress-mode=none; pipelink_add_component does\n");
  CHECK(capture({"/nonexistent/x.o"}, kOptions).diagnostics[0].clause == "I-FILE");
}

TEST_CASE("link-time code") {
  const auto header = parse_ltoir_header(test::ltoir());
  REQUIRE(header);
  CHECK(header->arch == "sm_90a");
  CHECK(header->container_minor == 65);
  CHECK(header->ir_major == 2);
  CHECK(parse_ltoir_header(test::ltoir(100, false))->arch == "sm_100");
  CHECK(!parse_ltoir_header("short"));
  CHECK(!parse_ltoir_header(std::string(64, 'x')));
}

TEST_CASE("PTX") {
  const PtxFacts facts = ptx(R"(
.extern .func (.param .b32 func_retval0) outer
(
.param .b32 outer_param_0
)
;
.visible .global .align 4 .u32 counter = 3;
.visible .const .align 4 .b8 ctab[12] = {1, 0, 0, 0, 2};
.global .align 16 .v4 .f32 vec[2];
.extern .shared .align 128 .b8 dyn[];
.global .align 1 .b8 $str[10] = {104, 105};
.weak .global .align 4 .u32 inlv = 7; // a comment { ;
.global .align 1 .b8 text_of_record[30] = {112, 105, 112, 101, 108, 105, 110, 107, 45, 114, 101, 99, 111, 114, 100, 47, 49, 10, 97, 61, 98, 10};
.weak .func (.param .b32 func_retval0) twice(
.param .b32 twice_param_0
)
;
.visible .func main(
.param .b32 main_param_0
)
{
.reg .b32 %r<4>;
.shared .align 4 .b8 local[128];
.pragma "nounroll }";
ld.shared.u32 %r1, [local];
{ ret; }
}
.weak .func (.param .b32 func_retval0) twice(
.param .b32 twice_param_0
)
{
ret;
}
.visible .entry kern() .maxntid 128, 1, 1 { ret; }
.section .debug_str { .b8 1,2 }
)");
  CHECK(facts.version == "9.0");
  CHECK(facts.target == "sm_90a");
  CHECK(facts.records == std::vector<std::string>{"pipelink-record/1\na=b\n"});
  REQUIRE(facts.functions.size() == 4);
  CHECK(facts.functions[0].name == "outer");
  CHECK(facts.functions[0].external);
  CHECK(facts.functions[1].name == "twice");
  CHECK(!facts.functions[1].external);
  CHECK(facts.functions[1].digest.size() == 64);
  CHECK(facts.functions[2].visible);
  CHECK(facts.functions[3].entry);
  std::string variables;
  for (const PtxVariable& v : facts.variables)
    variables +=
        fmt::format("{} {} {} {}{}\n", v.space, v.name, v.size, v.align, v.external ? " extern" : "");
  CHECK(variables ==
        "global counter 4 4\nconst ctab 12 4\nglobal vec 32 16\nshared dyn 0 128 extern\nglobal inlv 4 "
        "4\nshared local 128 4\n");
  CHECK(facts.variables[1].filled);
  CHECK_FALSE(facts.variables[2].filled);
}

TEST_CASE("damaged PTX") {
  const auto reason = [](std::string_view text) { return parse_ptx(text, "x").diagnostics.at(0).reason; };
  CHECK(reason("") == "it states no version or no target");
  CHECK(reason("hello") == "'hello' is no module-level statement");
  CHECK(reason(".version 9.0\n.func f( {") == "a function has no end");
  CHECK(reason(".version 9.0\n.func f() { { }") == "function 'f' has no end");
  CHECK(reason(".global .u32 x") == "a variable has no end");
  CHECK(reason(".global .u32 [4];") == "a variable has no name");
  CHECK(reason(".func ;") == "a function has no name");
}

TEST_CASE("which variables are written") {
  const auto written = [](std::string_view code) {
    const PtxFacts facts = ptx(
        fmt::format(".global .u32 v;\n.visible .func f(.param .b64 f_param_0)\n{{\n{}\nret;\n}}\n", code));
    return facts.variables.at(0).written;
  };
  CHECK(!written(""));
  CHECK(!written("ld.global.u32 %r1, [v];"));
  CHECK(
      !written("mov.u64 %rd1, v;\nadd.s64 %rd2, %rd1, %rd9;\nld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, "
               "[%rd2+16];\nst.global.f32 [%rd9], %f1;"));
  CHECK(written("st.global.u32 [v], %r1;"));
  CHECK(written("mov.u64 %rd1, v;\nadd.s64 %rd2, %rd1, 8;\nst.global.u32 [%rd2], %r1;"));
  CHECK(written("mov.u64 %rd1, v;\natom.global.add.u32 %r6, [%rd1], 1;"));
  CHECK(written("mov.u64 %rd1, v;\ncvta.global.u64 %rd2, %rd1;\nst.param.b64 [param0+0], %rd2;"));
  CHECK(
      written("$L1:\nst.global.u32 [%rd2], %r1;\n@%p1 bra $L1;\nmov.u64 %rd1, v;\n@%p1 mov.u64 %rd2, "
              "%rd1;\n@!%p1 bra $L1;"));
  CHECK(written("mov.b64 {%r1, %r2}, v;"));
}

TEST_CASE("bodies are compared without the names of their module") {
  const auto digest = [](std::string_view strings, std::string_view code) {
    return ptx(fmt::format("{}.weak .func f(.param .b64 f_param_0)\n{{\n{}\nret;\n}}\n", strings, code))
        .functions.at(0)
        .digest;
  };
  const std::string one = digest(
      "", "ld.param.u64 %rd1, [f_param_0];\n$L__BB0_1:\nbra $L__BB0_1;\n.local .b8 __local_depot0[4];");
  CHECK(
      one ==
      digest("",
             "ld.param.u64 %rd1,  [f_param_0];\n$L__BB7_1:\nbra $L__BB7_1;\n.local .b8 __local_depot7[4];"));
  CHECK(one !=
        digest("",
               "ld.param.u64 %rd2, [f_param_0];\n$L__BB0_1:\nbra $L__BB0_1;\n.local .b8 __local_depot0[4];"));
  CHECK(digest(".global .b8 $str[2] = {1};\n", "mov.u64 %rd1, $str;") ==
        digest(".global .b8 $str[2] = {3};\n.global .b8 $str$1[2] = {1};\n", "mov.u64 %rd1, $str$1;"));
  CHECK(digest(".global .b8 $str[2] = {1};\n", "mov.u64 %rd1, $str;") !=
        digest(".global .b8 $str[2] = {2};\n", "mov.u64 %rd1, $str;"));

  // Static functions and those of unnamed namespaces have the source's path in their names; their bodies
  // count.
  const auto calls = [](std::string_view module, std::string_view inner, std::string_view innermost) {
    const std::string helper = fmt::format("_ZN36_INTERNAL_{0}_4_a_cu_{0}6helperEv", module);
    const std::string deep = fmt::format("_ZN37_GLOBAL__N__{0}_4_a_cu_{0}4deepEv", module);
    return ptx(fmt::format(".func {0}() {{ {2} call.uni {1}, (); ret; }}\n.func {1}() {{ {3} call.uni {0}, "
                           "(); ret; }}\n"
                           ".weak .func f() {{ call.uni {0}, (); ret; }}\n",
                           helper, deep, inner, innermost))
        .functions.at(2)
        .digest;
  };
  CHECK(calls("0a1b2c3d", "", "") == calls("11111111", "", ""));
  CHECK(calls("0a1b2c3d", "", "") != calls("0a1b2c3d", "membar.gl;", ""));
  CHECK(calls("0a1b2c3d", "", "") != calls("0a1b2c3d", "", "membar.gl;"));
}

TEST_CASE("functions and variables that bodies and initial values name") {
  using Names = std::vector<std::string>;
  const PtxFacts facts = ptx(
      ".extern .func far\n;\n.global .u64 table;\n"
      ".global .u64 __unnamed_1[2] = {0, far};\n"  // the compiler's own count too
      ".global .align 1 .u8 packed[2] = {1, 0XFF(far)};\n"
      ".const .u64 tables[2] = {generic(packed)+8, 3};\n"
      ".global .b8 $str[3] = {104, 105};\n"
      ".func near() { mov.u64 %rd1, farther; ret; }\n"
      ".func by_address() { // near\nmov.u64 %rd1, far; st.global.u64 [table], %rd1; mov.u64 %rd2, $str; }\n"
      ".func by_call() { { call.uni (retval0), \nfar, \n(\nparam0\n); } near_by: call.uni near, (); }\n");
  CHECK(facts.names == std::map<std::string, Names>{{"__unnamed_1", {"far"}},
                                                    {"by_address", {"$str", "far", "table"}},
                                                    {"by_call", {"far", "near"}},
                                                    {"packed", {"far"}},
                                                    {"tables", {"packed"}}});
}

TEST_CASE("what exports call, through the component's own functions and tables of functions") {
  contract::Contract contract;
  contract.component = "demo";
  contract.toolkit = "13.0";
  const auto add = [&](contract::Direction direction, const char* name) {
    contract::Callable& callable = contract.callables.emplace_back();
    callable.name = name;
    callable.direction = direction;
    callable.result = {"void", 0, 0};
  };
  for (const char* name : {"direct", "leaf", "other_object", "other_table", "printing", "table", "through"})
    add(contract::Direction::kExport, name);
  for (const char* name : {"alone", "far", "near"}) add(contract::Direction::kImport, name);
  const auto object = [](const std::string& text) {
    return test::fatbin(
        {{1, "\n.version 9.0\n.target sm_90a\n.address_size 64\n" + text}, {8, test::ltoir()}});
  };
  std::string records;
  for (const contract::Record& record : contract::records_from_contract(contract))
    records += test::record_variable(fmt::format("__nv_static_9__0a_4_d_cu_record_{}", records.size()),
                                     contract::record_text(record));
  const auto function = [](std::string_view linkage, std::string_view name, std::string_view calls) {
    return fmt::format("{} .func {}(.param .align 8 .b8 p[16])\n{{\n{}ret;\n}}\n", linkage, name, calls);
  };
  const std::string far = "call.uni pl__demo__import__far, (p);\n",
                    near = "call.uni pl__demo__import__near, (p);\n";
  const std::string externs =
      ".extern .func pl__demo__import__far(.param .align 8 .b8 p[16])\n;\n"
      ".extern .func pl__demo__import__near(.param .align 8 .b8 p[16])\n;\n";
  const std::string first =
      records + externs + ".extern .func _ZN4demo4thenEv(.param .align 8 .b8 p[16])\n;\n" +
      ".extern .global .align 8 .b8 _ZN4demo5tableE[16];\n.global .b8 $str[2] = {104, 105};\n"
      ".global .u64 steps[2] = {leaf, helper};\n.global .u64 all[1] = {generic(steps)};\n" +
      function("", "leaf", "") + function("", "helper", "call.uni again, (p);\n") +
      function(".weak", "_ZN4demo5againEv", "call.uni helper, (p);\n" + near) +
      function("", "again", "call.uni helper, (p);\ncall.uni _ZN4demo5againEv, (p);\n") +
      function(".visible", "pl__demo__export__direct", near + far) +
      function(".visible", "pl__demo__export__leaf", "") +
      function(".visible", "pl__demo__export__through", "call.uni helper, (p);\n") +
      function(".visible", "pl__demo__export__other_object", "call.uni _ZN4demo4thenEv, (p);\n") +
      function(".visible", "pl__demo__export__other_table", "ld.u64 %rd1, [_ZN4demo5tableE];\n") +
      function(".visible", "pl__demo__export__printing", "mov.u64 %rd1, $str;\n") +
      function(".visible", "pl__demo__export__table", "mov.u64 %rd1, all;\n");
  // Its static `helper` is another one.
  const std::string second = externs + function("", "helper", far) +
                             ".visible .const .align 8 .u64 _ZN4demo5tableE[2] = {0, helper};\n" +
                             function(".visible", "_ZN4demo4thenEv", "call.uni helper, (p);\n");
  const Outcome<Captured> captured =
      capture_bytes({object(first), object(second)}, {"demo", "1.0", "sm_90a", ""});
  CAPTURE(render_text(captured.diagnostics));
  REQUIRE(captured);
  std::string found;
  for (const contract::Callable& callable : captured->contract.callables)
    found += fmt::format("{}: {}\n", callable.name, fmt::join(callable.calls, ", "));
  CHECK(found ==
        "alone: \ndirect: far, near\nfar: \nleaf: \nnear: \nother_object: far\nother_table: far\n"
        "printing: \ntable: near\nthrough: near\n");
}

TEST_CASE("operands are followed to where they come from") {
  const auto only = [](std::string_view body) {
    const std::vector<PtxInstruction> code = ptx_code("f", body);
    REQUIRE(code.size() == 1);
    return code.front();
  };
  PtxInstruction i = only("mov.u32 %r1, 5;\nbarrier.sync %r1, 128;");
  CHECK(i.text() == "barrier.sync 5, 128");
  CHECK(i.operands.at(0).origin.only_constants());
  CHECK(i.operands.at(1).origin.value == 128);

  // A call's result, through arithmetic and a loop.
  i = only(
      "{ .reg .b32 temp;\n.param .b32 retval0;\ncall.uni (retval0), pl__c__buffer__b, ( param0 );\n"
      "ld.param.b32 %r1, [retval0+0];\n}\n$L1:\nadd.s32 %r1, %r1, 16;\nst.shared.u32 [%r1+4], %r2;\n@%p1 bra "
      "$L1;");
  CHECK(i.operands.at(0).origin.from == std::set<std::string, std::less<>>{"pl__c__buffer__b"});
  CHECK_FALSE(i.operands.at(0).origin.only_constants());

  // Registers of inline assembly have the same names in every block.
  i = only(
      "{ .reg .b64 %tmp; mov.u64 %tmp, 8; }\n{ .reg .b64 %tmp; ld.param.u64 %tmp, [f_param_0]; cvt.u32.u64 "
      "%r1, %tmp; }\n"
      "st.shared::cta.u32 [%r1], 1;");
  CHECK(i.operands.at(0).origin.unknown);
  CHECK_FALSE(i.operands.at(0).origin.constants);

  CHECK(only("mov.u32 %r1, 0;\n$L: add.s32 %r1, %r1, 4;\nst.shared.u32 [%r1], 1;\n@%p bra $L;")
            .operands.at(0)
            .origin.only_constants());
  CHECK(only("mov.u32 %r1, %tid.x;\nst.shared.u32 [%r1], 1;").operands.at(0).origin.unknown);
  CHECK(only("ld.shared.u32 %r1, [table];\n").operands.at(1).origin.from.contains("table"));
  CHECK(only("selp.b32 %r1, 1, 2, %p1;\nbar.sync %r1;").operands.at(0).origin.value == std::nullopt);
  CHECK(ptx_code("f", "bar.warp.sync 3;\nadd.s32 %r1, %r2, 3; // bar.sync 0;\n/* bar.sync 0; */").size() ==
        1);
  CHECK(ptx_code("f", "").empty());
  for (const char* damaged : {"{", "}}}", "bar.sync", "bar.sync ,,;", "@%p", "mov.u32 %r1, ;", "call (",
                              "{ .reg .b32", "ld. [", "x: y: z"})
    ptx_code("f", damaged);
}

TEST_CASE("a thread's number in the block") {
  const auto seen = [](std::string_view body) { return ptx_code("f", body).size(); };
  // threadIdx.x == 0, threadIdx.x / 128 == 1 handed round the warp, (threadIdx.x & -32) == 64, a loop from
  // threadIdx.x
  CHECK(seen("mov.u32 %r1, %tid.x;\nsetp.ne.s32 %p1, %r1, 0;") == 1);
  CHECK(seen("mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 7;\nshfl.sync.idx.b32 %r3|%p1, %r2, 0, 31, -1;\n"
             "setp.eq.s32 %p2, %r3, 1;") == 1);
  CHECK(seen("mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, -32;\nsetp.eq.s32 %p2, %r2, 64;") == 1);
  CHECK(
      seen("mov.u32 %r1, %tid.x;\n$L:\nadd.s32 %r1, %r1, 128;\nsetp.lt.u32 %p1, %r1, 1024;\n@%p1 bra $L;") ==
      1);
  // i += blockDim.x, threadIdx.x == blockDim.x - 1
  CHECK(seen("ld.param.u32 %r1, [f_param_0];\nmov.u32 %r2, %ntid.x;\nadd.s32 %r1, %r1, %r2;") == 1);
  CHECK(
      seen(
          "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nadd.s32 %r3, %r2, -1;\nsetp.eq.s32 %p1, %r1, %r3;") ==
      1);
  // Of a warp, of a warpgroup, by a handle, and what only looks like it
  CHECK(seen("mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;\nsetp.eq.s32 %p1, %r2, 0;") == 0);
  CHECK(seen("mov.u32 %r1, %tid.x;\nrem.u32 %r2, %r1, 128;\nsetp.lt.u32 %p1, %r2, 64;") == 0);
  CHECK(seen("mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nand.b32 %r3, %r2, 3;\nsetp.eq.s32 %p1, %r3, 0;") ==
        0);
  CHECK(seen("mov.u32 %r1, %tid.x;\n{ call.uni (retval0), pl__c__role__r__warp, ( param0 );\nld.param.b32 "
             "%r2, [retval0];\n}\n"
             "shl.b32 %r3, %r2, 5;\nsub.s32 %r4, %r1, %r3;\nsetp.eq.s32 %p1, %r4, 0;") == 0);
  CHECK(seen("mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n$L:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, "
             "%r1;\n@%p1 bra $L;") == 0);
  CHECK(seen("mov.u32 %r1, %tid.y;\nsetp.eq.s32 %p1, %r1, 0;") == 0);
  // i += blockDim.x * gridDim.x, in either order and doubled; i = blockIdx.x * blockDim.x + threadIdx.x
  const std::string dimensions =
      "ld.param.u32 %r1, [f_param_0];\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %nctaid.x;\n";
  CHECK(seen(dimensions + "mul.lo.s32 %r4, %r2, %r3;\nadd.s32 %r1, %r1, %r4;") == 1);
  CHECK(seen(dimensions + "mul.lo.s32 %r4, %r3, %r2;\nshl.b32 %r5, %r4, 1;\nadd.s32 %r1, %r5, %r1;") == 1);
  CHECK(seen(dimensions + "mul.wide.u32 %rd4, %r2, %r3;\nadd.s64 %rd1, %rd1, %rd4;\nadd.s32 %r1, %r1, 4;") ==
        1);
  CHECK(seen(dimensions + "mad.lo.s32 %r1, %r3, %r2, %r1;") == 1);
  CHECK(seen("mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.s32 %r4, %r1, %r2, "
             "%r3;") == 1);
  // What is so of every thread: threadIdx.x < blockDim.x, threadIdx.x < 1024, blockDim.x == 384
  CHECK(seen("mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nsetp.lt.u32 %p1, %r1, %r2;") == 0);
  CHECK(seen("mov.u32 %r1, %tid.x;\ncvt.u64.u32 %rd1, %r1;\nmov.u32 %r2, %ntid.x;\ncvt.u64.u32 %rd2, %r2;\n"
             "setp.ge.u64 %p1, %rd1, %rd2;") == 0);
  CHECK(seen("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 1024;\nsetp.gt.u32 %p2, %r1, 1023;") == 0);
  CHECK(seen("mov.u32 %r1, %ntid.x;\nsetp.ne.s32 %p1, %r1, 384;") == 0);
  CHECK(
      seen("mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nshr.u32 %r3, %r2, 1;\nsetp.lt.u32 %p1, %r1, %r3;") ==
      1);
  CHECK(seen("mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 1023;") == 1);
  CHECK(seen("mov.u32 %r1, %tid.x;\n@%p1 mov.u32 %r1, 7;\nsetp.eq.s32 %p2, %r1, 0;") == 0);
}

TEST_CASE("lines of the source, where the object has them") {
  const std::vector<PtxInstruction> code = ptx_code(
      "f",
      ".loc 1 12 3\nmov.u32 %r1, 5;\n.loc\t2 7 1, function_name $L__info_string0, inlined_at 1 12 3\n"
      "bar.sync %r1, 64;\n.loc 3 1 1\nbar.sync 2;",
      {{1, "a.cu"}, {2, "b.h"}});
  REQUIRE(code.size() == 2);
  CHECK(code[0].text() == "bar.sync 5, 64");  // the line in between hides nothing
  CHECK(code[0].where.file == "b.h");
  CHECK(code[0].where.line == 7);
  CHECK(code[1].where.file.empty());
  // And nothing else depends on them.
  const std::string plain =
                        ".global .align 4 .u32 v;\n.weak .func f() {\nmov.u64 %rd1, v;\nld.global.u32 %r1, "
                        "[%rd1];\nret;\n}\n",
                    lines =
                        ".global .align 4 .u32 v;\n.weak .func f() {\n.loc 1 3 1\nmov.u64 %rd1, v;\n.loc 1 4 "
                        "2\nld.global.u32 %r1, "
                        "[%rd1];\nret;\n}\n.file 1 \"/home/me/a.cu\"\n";
  CHECK(ptx(plain).functions.at(0).digest == ptx(lines).functions.at(0).digest);
  CHECK_FALSE(ptx(lines).variables.at(0).written);
  CHECK(ptx(".visible .func g() {\n.loc 1 3 1\nbar.sync 0;\n}\n.file 1 \"/home/me/a.cu\", 1, 2\n")
            .code.at(0)
            .where.file == "a.cu");
}

TEST_CASE("a contract is captured") {
  contract::Contract sample = test::sample_contract();
  Outcome<Captured> captured = capture_bytes({test::object(sample)});
  CAPTURE(render_text(captured.diagnostics));
  REQUIRE(captured);
  sample.callables[0].calls = {"mask"};  // bodies here call every handle
  CHECK(to_json(captured->contract) == to_json(sample));
  CHECK(captured->ltoir.size() == 1);
  CHECK(captured->ltoir[0].starts_with(test::ltoir()));
  CHECK(capture_bytes({test::elf(test::object(sample))}));
}

TEST_CASE("what is left in the object is recorded") {
  Outcome<Captured> captured = capture_bytes({test::object(
      test::sample_contract(),
      ".global .u32 __nv_static_24__135286cf_4_c_cu_stl;\n.visible .global .u32 pl__demo__state;\n.global "
      ".b8 table[4];\n.visible .const .b8 _ZN4demo1cE[4] = {0, 0, 128, 63};\n"
      ".weak .func _ZN4cute3fooEv() { ret; }\n.weak .func _ZN4cute3fooIN4demo1TEEEvv() { ret; }\n"
      ".visible .func _ZN4demo6helperEv() { st.global.u32 [__nv_static_24__135286cf_4_c_cu_stl], %r1; ret; "
      "}\n")});
  CAPTURE(render_text(captured.diagnostics));
  REQUIRE(captured);
  CHECK(captured->contract.mutable_data == std::vector<std::string>{"pl__demo__state", "static:4_c_cu_stl"});
  CHECK(render_text(captured.diagnostics) ==
        "note[P-STATE]: the component keeps static data that can be written\n  demo: pl__demo__state, "
        "static:4_c_cu_stl\n"
        "  = reason: all instances of a package share it, so a composition can use the package once\n");
  REQUIRE(captured->contract.weak.size() == 1);
  CHECK(captured->contract.weak[0].starts_with("_ZN4cute3fooEv "));
}

TEST_CASE("contract against object") {
  CHECK(messages(".extern .func helper() ;\n") ==
        "error[P-SYMBOL]: function 'helper' is called but not defined\n  part0.fatbin: calls it\n"
        "  = help: compile the source that defines it into the component\n");
  CHECK(messages(".extern .func vprintf() ;\n.extern .func __assertfail() ;\n.extern .func "
                 "pl__guard__wait() ;\n.extern .func pl__guard__barrier() ;\n") == "");
  CHECK(messages(".extern .func pl__demo__buffer__other() ;\n") ==
        "error[P-SYMBOL]: the handle 'pl__demo__buffer__other' is used but not declared\n  part0.fatbin: "
        "calls it\n"
        "  = reason: no record of component 'demo' declares it\n"
        "  = help: use the annotation in the object's own source or a header that it includes\n");
  CHECK(messages(".extern .func pl__gemm__export__act() ;\n") ==
        "error[P-SYMBOL]: 'pl__gemm__export__act' belongs to another component\n  part0.fatbin: calls it\n"
        "  = reason: components meet through imports, which the linker checks\n"
        "  = help: declare PIPELINK_IMPORT and call its handle\n");
  CHECK(messages(".extern .shared .align 16 .b8 dyn[];\n") ==
        "error[P-SHARED]: component 'demo' declares a dynamic shared array\n  part0.fatbin: dyn, open size\n"
        "  = reason: shared memory is placed by the linker, which cannot move a variable of its own\n"
        "  = help: claim PIPELINK_BUFFER(name, .bytes = …, .align = …) and use name.data<T>(self)\n");
  CHECK(messages(".visible .func _ZN4demo1fEv() {\n.shared .align 4 .b8 s[128];\nret; }\n")
            .starts_with("error[P-SHARED]: component 'demo' declares a static shared variable\n  "
                         "part0.fatbin: s, 128 bytes\n"));
  CHECK(
      messages(".visible .func pl__demo__role__extra() { ret; }\n") ==
      "error[P-SYMBOL]: 'pl__demo__role__extra' is defined but not declared\n  part0.fatbin: defines it\n"
      "  = reason: no annotation declares it\n  = help: declare it with PIPELINK_ROLE or PIPELINK_EXPORT\n");
  CHECK(messages(".visible .entry kern() { ret; }\n")
            .starts_with("error[P-SYMBOL]: component 'demo' defines a kernel\n  part0.fatbin: kern\n"));
  const std::string foreign =
      "  part0.fatbin: defines it\n  = reason: two components that define one name cannot be linked, and "
      "nothing renames a symbol "
      "inside link-time code\n  = help: put it into namespace demo or make it static\n";
  CHECK(messages(".visible .func _Z6helperv() { ret; }\n") ==
        "error[P-NAME]: function 'helper()' is outside the component's own names\n" + foreign);
  CHECK(messages(".visible .func _ZN14demo1fEv() { ret; }\n") ==
        "error[P-NAME]: function '_ZN14demo1fEv' is outside the component's own names\n" + foreign);
  CHECK(messages(".visible .global .u32 counter;\n") ==
        "error[P-NAME]: variable 'counter' is outside the component's own names\n" + foreign);
  CHECK(messages(".extern .global .u32 elsewhere;\n")
            .starts_with("error[P-SYMBOL]: variable 'elsewhere' is declared but not defined\n"));
}

TEST_CASE("declared but not defined") {
  contract::Contract sample = test::sample_contract();
  std::string twin = test::twin_of(sample);
  const std::size_t at = twin.find(".visible .func pl__demo__role__producer");
  REQUIRE(at != std::string::npos);
  twin.resize(at);
  CHECK(fatbin_messages(test::fatbin({{1, twin}, {8, test::ltoir()}})) ==
        "error[P-SYMBOL]: role 'producer' is declared but not defined\n  demo: role producer (demo.cu:20)\n"
        "  = reason: no object defines 'pl__demo__role__producer'\n"
        "  = help: compile the source that defines it into the component\n");
}

TEST_CASE("code and architecture") {
  const contract::Contract sample = test::sample_contract();
  const std::string twin = test::twin_of(sample);
  const std::string help =
      "  = help: compile with `--generate-code=arch=compute_90a,code=[compute_90a,lto_90a]`; "
      "pipelink_add_component does\n";
  CHECK(fatbin_messages(test::fatbin({{1, twin}})) ==
        "error[P-LTOIR]: 'part0.fatbin' has no link-time code for sm_90a\n" + help);
  CHECK(fatbin_messages(test::fatbin({{8, test::ltoir()}})) ==
        "error[P-LTOIR]: 'part0.fatbin' has no PTX beside its link-time code\n  = reason: the contract is "
        "read from the PTX of the same compile\n" +
            help);
  CHECK(fatbin_messages(test::fatbin({{1, twin, 100}, {8, test::ltoir(100), 100}})) ==
        "error[P-ARCH]: 'part0.fatbin' is compiled for another architecture\n  part0.fatbin: holds code for "
        "sm_100a\n"
        "  the package: is for sm_90a\n" +
            help);
  CHECK(fatbin_messages(test::fatbin({{1, twin}, {8, test::ltoir(100)}}))
            .find("its link-time code is for sm_100a") != std::string::npos);
  CHECK(fatbin_messages(test::fatbin({{1, twin}, {8, "garbage"}}))
            .starts_with("error[I-OBJECT]: the link-time code in 'part0.fatbin' is damaged\n"));
  CHECK(capture_bytes(
      {test::fatbin({{1, twin, 100}, {8, test::ltoir(100), 100}, {1, twin}, {8, test::ltoir()}})}));
}

TEST_CASE("several objects") {
  const contract::Contract sample = test::sample_contract();
  const std::string helper = ".version 9.0\n.target sm_90a\n.visible .func _ZN4demo6helperEv() { ret; }\n";
  Outcome<Captured> captured = capture_bytes({test::object(sample, ".extern .func _ZN4demo6helperEv() ;\n"),
                                              test::fatbin({{1, helper}, {8, test::ltoir()}})});
  CAPTURE(render_text(captured.diagnostics));
  REQUIRE(captured);
  CHECK(captured->ltoir.size() == 2);
  const std::string weak = ".weak .func _ZN4cute1fEv() {{ {} ret; }}\n";
  const auto two =
      capture_bytes({test::object(sample, fmt::format(fmt::runtime(weak), "membar.gl;")),
                     test::fatbin({{1, helper + fmt::format(fmt::runtime(weak), "")}, {8, test::ltoir()}})});
  CHECK(render_text(two.diagnostics)
            .starts_with("error[P-SYMBOL]: 'cute::f()' has two bodies in one component\n"));
}

TEST_CASE("names") {
  CaptureOptions options = kOptions;
  options.component = "other";
  CHECK(render_text(capture_bytes({test::object(test::sample_contract())}, options).diagnostics) ==
        "error[P-NAME]: the package and its component have different names\n  the package: is named 'other'\n"
        "  demo: is the component of the objects (demo.cu:1)\n  = help: pack with --name demo\n");
  contract::Contract sample = test::sample_contract();
  sample.roles[0].where.file = "/build/src/deep/demo.cu";
  options = kOptions;
  options.source_root = "/build/src";
  CHECK(capture_bytes({test::object(sample)}, options)->contract.roles[0].where.file == "deep/demo.cu");
}

TEST_SUITE_END();

}  // namespace pipelink
