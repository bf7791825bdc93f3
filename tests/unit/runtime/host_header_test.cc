// The generated texts: read back, compiled, refused by the compiler where they must be, run from a C program.
#include "linker/codegen/host_header.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "sample.h"

using namespace pipelink;
namespace fs = std::filesystem;

namespace sample {

std::string text_of(const LaunchDescription& d) {
  const auto text = launch_text(d);
  REQUIRE_MESSAGE(text, (text.diagnostics.empty() ? "" : text.diagnostics[0].reason));
  return *text;
}

}  // namespace sample

namespace {

/// A folder for one test, gone afterwards.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("pipelink runtime test " + std::to_string(getpid()));
  Folder() { fs::create_directories(path / "pipelink"); }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
};

struct Ran {
  int status = 0;
  std::string output;
};

Ran run(const std::string& command) {
  Ran ran;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  char part[4096];
  while (const std::size_t n = std::fread(part, 1, sizeof part, pipe)) ran.output.append(part, n);
  ran.status = pclose(pipe);
  return ran;
}

const std::string kIncludes = std::string(" -I '") + RUNTIME_INCLUDE + "' -I '" + SAMPLE_INCLUDE + "'";

Ran compile(const Folder& folder, const std::string& source, const std::string& rest) {
  return run(std::string("cd '") + folder.path.string() + "' && '" + CXX_COMPILER +
             "' -std=c++20 -Wall -Wextra -Wpedantic -Werror -I ." + kIncludes + " '" + source + "' " + rest);
}

HostHeaderInput input(const LaunchDescription& d = sample::description()) {
  return {"sample", {d}};
}

const char* const kUser = R"(
#include <pipelink/sample.h>
#include <pipelink/sample.h>
pipelink::Result<pipelink::Session> use(const pipelink::Kernel& kernel) {
  const pipelink::sample::Arguments arguments{.load = {nullptr, 1, 2, 0, 0}, .new_ = {1.0f, nullptr}};
  return pipelink::sample::open(kernel, arguments);
}
pipelink::Result<pipelink::Kernel> load() { return pipelink::sample::load(); }
)";

}  // namespace

TEST_CASE("a launch description reads back as it was written") {
  const auto d = sample::description();
  const auto back = parse_launch(sample::text_of(d));
  REQUIRE(back);
  CHECK(*back == d);
}

TEST_CASE("a launch of blocks that wait for each other") {
  LaunchDescription d = sample::description();
  d.resident = 1;
  const Outcome<std::string> text = launch_text(d);
  REQUIRE(text);
  CHECK(text->find("\nresident=1\n") != std::string::npos);
  CHECK(parse_launch(*text)->resident == 1);
  std::string none = *text;
  none.replace(none.find("resident=1"), 10, "resident=0");
  CHECK(!parse_launch(none));
}

TEST_CASE("a launch description that would not read back is refused") {
  auto d = sample::description();
  d.instances[2].region_offset = 128;
  const auto text = launch_text(d);
  REQUIRE(!text);
  CHECK(text.diagnostics[0].clause == "L-HOST");
  CHECK(text.diagnostics[0].reason == "launch description of sample: the regions of load and new overlap");
}

TEST_CASE("the generated header compiles without a warning") {
  const Folder folder;
  const auto header = host_header(input());
  REQUIRE_MESSAGE(header, header.diagnostics[0].title);
  folder.write("pipelink/sample.h", *header);
  folder.write("user.cc", kUser);
  const Ran ran = compile(folder, "user.cc", "-fsyntax-only");
  CHECK_MESSAGE(ran.status == 0, ran.output);
}

TEST_CASE("host and device pass disagree: the compiler says which field") {
  const Folder folder;
  auto d = sample::description();
  d.instances[0].fields[1].offset = 132;
  d.instances[2].fields[0].size = 8;
  folder.write("pipelink/sample.h", *host_header(input(d)));
  folder.write("user.cc", kUser);
  const Ran ran = compile(folder, "user.cc", "-fsyntax-only");
  CHECK(ran.status != 0);
  CHECK(ran.output.find("loader::Parameters::tiles has offset 132 in the device pass of loader (sm_90a)") !=
        std::string::npos);
  CHECK(ran.output.find("scaler::Parameters::factor has 8 bytes in the device pass of scaler (sm_90a)") !=
        std::string::npos);
}

TEST_CASE("several architectures, one of them without an instance") {
  auto other = sample::description("sm_100a");
  other.instances.pop_back();
  const auto header = host_header({"sample", {sample::description(), other}});
  REQUIRE(header);
  CHECK(header->find("{\"load\", &arguments.load, sizeof arguments.load, false}") != std::string::npos);
  CHECK(header->find("{\"new\", &arguments.new_, sizeof arguments.new_, true}") != std::string::npos);
  CHECK(header->find("{\"sm_100a\", pipelink_image_sample_sm_100a, ") != std::string::npos);
}

TEST_CASE("images that disagree") {
  auto other = sample::description("sm_100a");
  other.instances[0].arguments_type = "loader::Other";
  const auto header = host_header({"sample", {sample::description(), other}});
  REQUIRE(!header);
  CHECK(header.diagnostics[0].title == "the arguments of instance load differ between architectures");
  CHECK(header.diagnostics[0].reason ==
        "sm_90a: loader::Arguments of sample_component.h; sm_100a: loader::Other of sample_component.h");
  CHECK(host_header({"sample", {}}).diagnostics[0].title == "composition sample has no image");
  CHECK(!host_header({"sample", {sample::description(), sample::description()}}));
}

TEST_CASE("device passes that lay out a struct differently") {
  auto other = sample::description("sm_100a");
  other.instances[2].fields[1].offset = 4;
  const auto header = host_header({"sample", {sample::description(), other}});
  REQUIRE(!header);
  REQUIRE(header.diagnostics.size() == 1);
  const Diagnostic& d = header.diagnostics[0];
  CHECK(d.clause == "L-HOST");
  CHECK(d.title == "the parameters scaler::Parameters of instance new differ between architectures");
  REQUIRE(d.facts.size() == 2);
  CHECK(d.facts[0].owner == "scaler (sm_90a)");
  CHECK(d.facts[0].text == "16 bytes, aligned to 8, factor at 0 (4), out at 8 (8)");
  CHECK(d.facts[1].owner == "scaler (sm_100a)");
  CHECK(d.facts[1].text == "16 bytes, aligned to 8, factor at 0 (4), out at 4 (8)");
}

TEST_CASE("arguments: the compiler and all device passes agree on them") {
  const Folder folder;
  auto d = sample::description();
  d.instances[0].arguments[2].offset = 16;
  folder.write("pipelink/sample.h", *host_header(input(d)));
  folder.write("user.cc", kUser);
  const Ran ran = compile(folder, "user.cc", "-fsyntax-only");
  CHECK(ran.status != 0);
  CHECK(ran.output.find("loader::Arguments::columns has offset 16 in the device pass of loader (sm_90a)") !=
        std::string::npos);
  d.arch = "sm_100a";
  const auto header = host_header({"sample", {sample::description(), d}});
  REQUIRE(!header);
  CHECK(header.diagnostics[0].title ==
        "the arguments loader::Arguments of instance load differ between architectures");
}

TEST_CASE("fields of a launch description") {
  const std::string text = sample::text_of(sample::description());
  CHECK(text.find("\nfield=scratch 136 8 pointer\n") != std::string::npos);
  CHECK(text.find("\narguments=24 8\nargument=data 0 8 pointer\n") != std::string::npos);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    copy.replace(copy.find(from), from.size(), to);
    return parse_launch(copy);
  };
  CHECK(*changed("field=map 0 128 bytes", "field=map 0 128") ==
        sample::description());  // older texts have no kind
  for (const char* wrong :
       {"field=map 0 128 other", "field=map 0", "field=map 0 x bytes", "field= 0 128 bytes"})
    CHECK_MESSAGE(!changed("field=map 0 128 bytes", wrong), wrong);
  CHECK(changed("field=map 0 128 bytes", "field=map 65 128 bytes").error().message ==
        "launch description of sample: a field of load leaves its struct");
  CHECK(!changed("argument=data 0 8 pointer", "argument=data 17 8 pointer"));
  CHECK(!changed("arguments=24 8", "arguments=24 3"));
  CHECK(changed("component=mask", "component=mask\narguments=8 8").error().message ==
        "launch description of sample: mask has arguments, but no provider");
}

TEST_CASE("one header for four architectures") {
  const Folder folder;
  std::vector<LaunchDescription> images;
  for (const char* arch : {"sm_90a", "sm_100a", "sm_103a", "sm_120a"})
    images.push_back(sample::description(arch));
  folder.write("pipelink/sample.h", *host_header({"sample", images}));
  folder.write("user.cc", kUser);
  const Ran ran = compile(folder, "user.cc", "-fsyntax-only");
  CHECK_MESSAGE(ran.status == 0, ran.output);
}

TEST_CASE("parameters without a type") {
  auto d = sample::description();
  d.instances[2].region_type.clear();
  const auto header = host_header(input(d));
  REQUIRE(!header);
  CHECK(header.diagnostics[0].title == "instance new has parameters, but no type for them");
}

TEST_CASE("a composition without arguments") {
  const Folder folder;
  auto d = sample::description();
  d.instances = {d.instances[1]};
  folder.write("pipelink/sample.h", *host_header(input(d)));
  folder.write("user.cc",
               "#include <pipelink/sample.h>\n"
               "auto use(const pipelink::Kernel& k) { return pipelink::sample::open(k, {}); }\n");
  const Ran ran = compile(folder, "user.cc", "-fsyntax-only");
  CHECK_MESSAGE(ran.status == 0, ran.output);
}

TEST_CASE("a C program runs a composition through its library") {
  const Folder folder;
  folder.write("pipelink/sample.h", *host_header(input()));
  folder.write("sample.host.cc", *host_source(input()));
  std::string launch = sample::text_of(sample::description());
  folder.write("sample.launch", launch);
  folder.write("sample.cubin", std::string("\177ELF") + std::string(100, 'x'));
  folder.write("sample.images.cc", R"images(asm(R"(
    .pushsection .rodata
    .globl pipelink_image_sample_sm_90a
pipelink_image_sample_sm_90a: .incbin "sample.cubin"
.Lend_image:
    .balign 8
    .globl pipelink_image_sample_sm_90a_size
pipelink_image_sample_sm_90a_size: .quad .Lend_image - pipelink_image_sample_sm_90a
    .globl pipelink_launch_sample_sm_90a
pipelink_launch_sample_sm_90a: .incbin "sample.launch"
.Lend_launch: .byte 0
    .balign 8
    .globl pipelink_launch_sample_sm_90a_size
pipelink_launch_sample_sm_90a_size: .quad .Lend_launch - pipelink_launch_sample_sm_90a
    .popsection
)");
)images");
  folder.write("main.c", R"(
#include <stdio.h>
#include <pipelink/sample.h>
int main(void) {
  struct { const void* data; unsigned rows, columns, blocks, scratch; } load = {0, 256, 64, 10, 0};
  struct { float factor; void* out; } scale = {1.0f, 0};
  pipelink_argument arguments[] = {{"load", &load, sizeof load}, {"new", &scale, sizeof scale}};
  pipelink_kernel* kernel = 0;
  pipelink_session* session = 0;
  size_t bytes = 1;
  if (pipelink_sample_load(-1, &kernel)) return printf("%s\n", pipelink_last_error()), 1;
  if (pipelink_scratch_bytes(kernel, arguments, 2, &bytes) || bytes) return 2;
  if (pipelink_open(kernel, arguments, 1, 0, 0, &session) != 7 || session) return 3;
  printf("%s\n", pipelink_last_error());
  if (pipelink_open(kernel, arguments, 2, 0, 0, &session)) return printf("%s\n", pipelink_last_error()), 4;
  pipelink_close_kernel(kernel);
  if (pipelink_launch(session, 0)) return printf("%s\n", pipelink_last_error()), 5;
  printf("%u blocks\n", pipelink_session_blocks(session));
  pipelink_close_session(session);
  if (pipelink_load_file("sample.cubin", "no.launch", 0, 0, -1, &kernel) != 11) return 6;
  printf("%s\n", pipelink_last_error());
  if (pipelink_load_file("/dev/zero", "sample.launch", 0, 0, -1, &kernel) != 11) return 7;
  printf("%s\n", pipelink_last_error());
  if (pipelink_load_file("sample.cubin", "sample.launch", 0, 0, -1, &kernel)) printf("%s\n", pipelink_last_error());
  return 0;
}
)");
  Ran ran = compile(folder, "sample.host.cc", "-O0 -c -o host.o");
  REQUIRE_MESSAGE(ran.status == 0, ran.output);
  ran = run("cd '" + folder.path.string() + "' && '" + C_COMPILER +
            "' -std=c11 -Wall -Wextra -Wpedantic -Werror -I ." + kIncludes + " -c main.c -o main.o");
  REQUIRE_MESSAGE(ran.status == 0, ran.output);
  ran = run("cd '" + folder.path.string() + "' && '" + CXX_COMPILER + "' -std=c++20 -I ." + kIncludes +
            " main.o host.o sample.images.cc '" + SAMPLE_INCLUDE + "/sample_provider.cc' -ldl -o main");
  REQUIRE_MESSAGE(ran.status == 0, ran.output);

  const std::string program = "cd '" + folder.path.string() + "' && ";
  ran = run(program + "LD_LIBRARY_PATH='" + fs::path(FAKE_DRIVER).parent_path().string() +
            "' FAKE_PARAMETERS=320 ./main");
  CHECK_MESSAGE(ran.status == 0, ran.output);
  CHECK(ran.output ==
        "no arguments for instance new (component scaler)\n10 blocks\ncannot open no.launch\n"
        "/dev/zero has more than 256 MiB: no link writes such a file\n"
        "no host provider pipelink_host_loader_v1 for component loader: its host library is not linked into "
        "this "
        "program\n");
}
