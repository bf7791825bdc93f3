// read_composition() with real packages.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "builders.h"
#include "packager/base/render.h"
#include "packager/package/package.h"

namespace pipelink::test {
namespace {

/// A directory that is gone with the test.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("pipelink_front_" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path / "lib"); }
  ~Folder() { std::filesystem::remove_all(path); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
  void package(const std::string& name, const Component& component) const {
    const Outcome<std::string> written =
        write_package((path / name).string(), component.contract(), {std::string("\x01\x02", 2)});
    INFO(render_text(written.diagnostics));
    REQUIRE(written);
  }
};

}  // namespace

TEST_CASE("a composition with its packages") {
  const Folder folder;
  folder.package("lib/gemm.sm_90a.plk", Component("gemm").role("mma", 4).callable(kIn, "epilogue", {"int"}));
  folder.package("swiglu.sm_90a.plk", Component("swiglu").callable(kOut, "epilogue", {"int"}));
  std::filesystem::copy_file(folder.path / "swiglu.sm_90a.plk", folder.path / "lib/copy.plk");
  const std::string json = folder.file("fused.json", R"({"schema": 1, "name": "fused", "arch": "sm_90a",
    "components": [{"package": "swiglu.sm_90a.plk", "as": "s0"}, {"package": "lib/gemm.sm_90a.plk"},
                   {"package": "lib/copy.plk", "as": "s1"}],
    "bind": [["gemm.epilogue", "s1.epilogue"]]})");
  const Outcome<Composition> c = read_composition(json);
  INFO(render_text(c.diagnostics));
  REQUIRE(c);
  REQUIRE(c->packages.size() == 2);
  CHECK(c->packages[0].file == "gemm.sm_90a.plk");
  CHECK(c->packages[0].sha256.size() == 64);
  CHECK(c->file == "fused.json");
  CHECK(picture(*c) == "gemm.epilogue -> s1.epilogue\ndropped s0.epilogue\n");
}

TEST_CASE("every package that cannot be read is named, and the composition file too") {
  const Folder folder;
  folder.file("noise.plk", "no archive");
  const std::string json = folder.file("fused.json", R"({"schema": 1, "name": "fused", "arch": "sm_90a",
    "components": [{"package": "noise.plk"}, {"package": "absent.plk"}]})");
  const Outcome<Composition> c = read_composition(json);
  CHECK(!c);
  REQUIRE(c.diagnostics.size() == 2);
  CHECK(c.diagnostics[0].clause == "I-FILE");
  CHECK(c.diagnostics[1].clause == "I-PACKAGE");
  const Outcome<Composition> none = read_composition((folder.path / "none.json").string());
  REQUIRE(none.diagnostics.size() == 1);
  CHECK(none.diagnostics[0].clause == "I-FILE");
}

}  // namespace pipelink::test
