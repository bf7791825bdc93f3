#include <doctest/doctest.h>
#include <fmt/format.h>

#include "packager/base/file.h"
#include "packager/base/render.h"
#include "packager/base/sha256.h"
#include "packager/contract/json.h"
#include "packager/pack/pack.h"
#include "packager/package/archive.h"
#include "tests/unit/packager/fixture.h"

namespace pipelink {
namespace {

const std::vector<std::string> kCode{"first code", std::string(3000, 'x')};

std::vector<ArchiveMember> members_of(const std::string& bytes) {
  std::vector<ArchiveMember> members;
  std::string fault;
  REQUIRE(read_archive(bytes, {}, members, fault));
  return members;
}

std::string messages(const std::string& bytes) {
  return render_text(parse_package(bytes, "demo.plk").diagnostics);
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
}

const std::string kDamaged = "error[I-PACKAGE]: 'demo.plk' is not a package, or is damaged\n  = reason: ";

PackOptions options_in(const test::Directory& directory, const std::string& object) {
  PackOptions options;
  options.name = "demo";
  options.version = "1.2.0";
  options.arch = "sm_90a";
  options.output = directory.path("out/demo.sm_90a.plk");
  options.objects = {directory.write("demo.o", object)};
  options.host_library = directory.write("libdemo.a", "library");
  return options;
}

}  // namespace

TEST_SUITE_BEGIN("package");

TEST_CASE("round trip, deterministic, metadata zero") {
  const contract::Contract contract = test::sample_contract();
  const std::string bytes = *package_bytes(contract, kCode);
  CHECK(*package_bytes(contract, kCode) == bytes);
  Outcome<Package> read = parse_package(bytes, "demo.plk");
  CAPTURE(render_text(read.diagnostics));
  REQUIRE(read);
  CHECK(to_json(read->contract) == to_json(contract));
  CHECK(read->ltoir == kCode);
  CHECK(read->manifest.name == "demo");
  CHECK(read->sha256 == sha256_hex(bytes));
  CHECK(bytes.size() % 512 == 0);
  CHECK(bytes.substr(0, 14) == std::string("manifest.json\0", 14));
  CHECK(bytes.substr(100, 8) == std::string("000644 \0", 8));
  CHECK(bytes.substr(136, 12) == std::string("00000000000 ", 12));
  CHECK(bytes.substr(257, 6) == std::string("ustar\0", 6));
  const std::vector<ArchiveMember> members = members_of(bytes);
  REQUIRE(members.size() == 4);
  CHECK(members[3].name == "code.1.ltoir");
}

TEST_CASE("files") {
  const test::Directory directory;
  const std::string path = directory.path("demo.plk");
  const Outcome<std::string> digest = write_package(path, test::sample_contract(), kCode);
  REQUIRE(digest);
  Outcome<Package> read = read_package(path);
  REQUIRE(read);
  CHECK(read->sha256 == *digest);
  CHECK(read->file == "demo.plk");
  CHECK(read_contract(path)->component == "demo");
  CHECK(read_package(directory.path("none")).diagnostics[0].clause == "I-FILE");
  CHECK(directory.names() == std::vector<std::string>{"demo.plk"});
}

TEST_CASE("what is not a package") {
  CHECK(messages("").starts_with(kDamaged));
  CHECK(messages("hello").starts_with(kDamaged));
  CHECK(messages(std::string(4096, '\0')).starts_with(kDamaged));
  std::vector<ArchiveMember> members = members_of(*package_bytes(test::sample_contract(), kCode));
  const auto without = [&](std::size_t n) {
    std::vector<ArchiveMember> fewer = members;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(n));
    return messages(write_archive(fewer));
  };
  CHECK(without(0) == kDamaged + "member 0 is not 'manifest.json'\n");
  CHECK(without(1) == kDamaged + "member 1 is not 'contract.json'\n");
  CHECK(without(2) == kDamaged + "member 2 is not 'code.0.ltoir'\n");
  CHECK(without(3) == kDamaged + "the manifest lists 3 members, 2 are there\n");
  CHECK(messages(write_archive({members[0], members[1]})) ==
        kDamaged + "it has 2 members, a package has 3 at least\n");
  CHECK(messages(write_archive(members) + std::string(512, '\0')) ==
        kDamaged + "its headers or its padding are not those that PipeLink writes\n");
  std::vector<ArchiveMember> many = members;
  for (int i = 2; i < 300; ++i) many.push_back({fmt::format("code.{}.ltoir", i), ""});
  CHECK(messages(write_archive(many)) == kDamaged + "it has more than 258 members\n");
}

TEST_CASE("digests, formats, agreement") {
  const std::vector<ArchiveMember> good = members_of(*package_bytes(test::sample_contract(), kCode));
  std::vector<ArchiveMember> members = good;
  members[2].bytes[3] ^= 1;
  const std::string text = messages(write_archive(members));
  CHECK(text ==
        fmt::format(
            "error[I-DIGEST]: member 'code.0.ltoir' of 'demo.plk' does not match its digest\n"
            "  manifest: sha256 \"{}\"\n  code.0.ltoir: sha256 \"{}\"\n  = help: fetch or pack it again\n",
            sha256_hex(good[2].bytes), sha256_hex(members[2].bytes)));
  members = good;
  members[1].bytes += " ";
  members[3].bytes += "y";
  CHECK(parse_package(write_archive(members), "x").diagnostics.size() == 2);  // both are told
  members = good;
  replace(members[0].bytes, "\"format\": 1", "\"format\": 2");
  replace(members[0].bytes, "\"toolkit\"", "\"unheard\"");  // a later format may have other keys
  CHECK(messages(write_archive(members)) ==
        "error[I-FORMAT]: package format 2 of 'demo.plk' is not known\n  = reason: this PipeLink reads "
        "format 1\n"
        "  = help: use the PipeLink that packed it, or pack the component again with this one\n");
  members = good;
  replace(members[0].bytes, "\"arch\": \"sm_90a\"", "\"arch\": \"sm_90\"");
  CHECK(messages(write_archive(members)) ==
        kDamaged + "manifest and contract differ in name, version, architecture or toolkit\n");
  members = good;
  replace(members[0].bytes, "\"toolkit\": \"13.0\"", "\"toolkit\": \"13.0\", \"more\": 1");
  CHECK(messages(write_archive(members)) == kDamaged + "the manifest has a key that is not known\n");
  members = good;
  replace(members[0].bytes, "\"toolkit\": \"13.0\"", "\"toolkit\":\"13.0\"");
  CHECK(messages(write_archive(members)) == kDamaged + "the manifest is not written as PipeLink writes it\n");
  members = good;
  replace(members[0].bytes, "\"name\": \"code.0.ltoir\"", "\"name\": \"../../etc/passwd\"");
  CHECK(messages(write_archive(members)) ==
        kDamaged + "the manifest does not list member 'code.0.ltoir' in its place\n");
}

TEST_CASE("a package's contract must be valid") {
  contract::Contract contract = test::sample_contract();
  contract.roles[0].warps = 99;
  CHECK(messages(*package_bytes(contract, kCode))
            .starts_with("error[P-VALUE]: warps of role consumer is out of range\n"));
}

TEST_CASE("pack") {
  const test::Directory directory;
  const PackOptions options = options_in(directory, test::object(test::sample_contract()));
  const Outcome<PackResult> first = pack(options);
  CAPTURE(render_text(first.diagnostics));
  REQUIRE(first);
  const std::string bytes = *read_file(options.output);
  CHECK(sha256_hex(bytes) == first->sha256);
  CHECK(pack(options)->sha256 == first->sha256);
  const Outcome<Package> package = read_package(options.output);
  REQUIRE(package);
  CHECK(package->contract.host->library == "libdemo.a");
  CHECK(package->contract.host->sha256 == sha256_hex("library"));
  CHECK(package->file == "demo.sm_90a.plk");
  CHECK(bytes.find(directory.path("")) == std::string::npos);  // no machine path
}

TEST_CASE("pack refuses") {
  CHECK(pack({}).diagnostics.size() == 5);
  CHECK(render_text(pack({}).diagnostics)
            .starts_with("error[U-USAGE]: pack needs the component's name (--name)\n  = help: see `pipelink "
                         "pack --help`\n"));
  const test::Directory directory;
  PackOptions options = options_in(directory, test::object(test::sample_contract()));
  options.host_library.clear();
  CHECK(render_text(pack(options).diagnostics) ==
        "error[P-HOST]: a host provider is declared but its library is not given\n  demo: host provider "
        "pipelink_host_demo_v1 (demo.cu:6)\n"
        "  = help: give HOST_SOURCES to pipelink_add_component, or --host-library to pack\n");
  contract::Contract contract = test::sample_contract();
  contract.host.reset();
  options = options_in(directory, test::object(contract));
  CHECK(render_text(pack(options).diagnostics) ==
        "error[P-HOST]: a host library is given but no host provider is declared\n  demo: its host library "
        "is 'libdemo.a'\n"
        "  = help: declare PIPELINK_HOST, or leave the library out\n");
  CHECK(directory.names() == std::vector<std::string>{"demo.o", "libdemo.a"});  // nothing was written
  options.arch = "90a";
  CHECK(pack(options).diagnostics[0].clause == "U-USAGE");
}

TEST_CASE("inspect") {
  contract::Contract sample = test::sample_contract();
  sample.callables[0].calls = {"mask"};
  Outcome<Package> package = parse_package(*package_bytes(sample, kCode), "demo.plk");
  REQUIRE(package);
  const std::string text = inspect_text(*package);
  CHECK(text.starts_with(
      fmt::format("demo 1.2.0 for sm_90a, toolkit 13.0\ndemo.plk, package format 1, sha256 {}\n\n"
                  "roles\n"
                  "  consumer  4 warps, aligned to 4  registers 160..240  demo.cu:10\n"
                  "  producer  4 warps, aligned to 4  registers 24..40    demo.cu:20\n\n"
                  "callables\n"
                  "  export  act   float(float (&)[4], int)  in work; calls mask  demo.cu:30\n"
                  "  import  mask  void(float (&)[128])                           demo.cu:31\n",
                  package->sha256)));
  CHECK(
      text.find("  export  operands  consumer  2..8 stages, bytes 16384, aligned to 1024, full arrivals 1") !=
      std::string::npos);
  CHECK(text.ends_with("code\n  code.0.ltoir  10 bytes\n  code.1.ltoir  3000 bytes\n"));
  const std::string json = inspect_json(*package);
  CHECK(json.starts_with("{\n  \"file\": \"demo.plk\",\n"));
  CHECK(json.find("\"component\": \"demo\"") != std::string::npos);
}

TEST_CASE("differences") {
  const contract::Contract a = test::sample_contract();
  contract::Contract b = a;
  CHECK(contract_differences(a, b).empty());
  b.roles[0].where.line = 99;  // moved, not changed
  CHECK(contract_differences(a, b).empty());
  b.version = "1.3.0";
  b.roles[0].warps = 8;
  b.facts[0].domain = {8, 16};
  b.buffers.pop_back();
  b.phases.push_back(b.phases[1]);
  b.phases.back().name = "store";
  b.rings[0].full_arrivals.reset();
  b.callables[0].calls = {"mask"};
  CHECK(contract_differences(a, b) ==
        std::vector<std::string>{
            "- buffer table", "  callable act: calls none -> mask", "  component: version 1.2.0 -> 1.3.0",
            "  fact group: domain 4, 8, 16 -> 8, 16", "  ring operands: full_arrivals 1 -> none",
            "  role consumer: warps 4 -> 8", "+ phase store"});
}

TEST_SUITE_END();

}  // namespace pipelink
