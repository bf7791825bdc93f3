// Packages and objects: whatever the bytes, a value or a diagnostic. Half of the inputs are bytes; the others
// are packages of which a member was changed, so that what lies behind the digests is read, too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "packager/base/render.h"
#include "packager/base/sha256.h"
#include "packager/capture/object.h"
#include "packager/package/archive.h"
#include "packager/package/package.h"
#include "tests/fuzz/slowest.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace pipelink;

std::string small_package() {
  contract::Contract c;
  c.component = "fill";
  c.version = "1.0.0";
  c.arch = "sm_90a";
  c.toolkit = "13.0";
  c.where = {"fill.cu", 1};
  c.roles.push_back({"run", {"fill.cu", 2}, 4, 4, 24, 240});
  c.buffers.push_back({"stage", {"fill.cu", 3}, {1024, {}}, 128, {}});
  return *package_bytes(c, {"code"});
}

/// Puts the digest that a changed member has now where the manifest has the old one.
void mend_manifest(std::string& manifest, const std::string& before, const std::string& after) {
  const auto replace = [&](const std::string& old, const std::string& with) {
    if (const std::size_t at = manifest.find(old); at != std::string::npos)
      manifest.replace(at, old.size(), with);
  };
  replace("\"sha256\": \"" + sha256_hex(before), "\"sha256\": \"" + sha256_hex(after));
  replace("\"size\": " + std::to_string(before.size()), "\"size\": " + std::to_string(after.size()));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned number) {
  std::minstd_rand random(number + 1);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<ArchiveMember> members;
  std::string fault;
  if (!read_archive({reinterpret_cast<const char*>(data), size}, {16, max_size}, members, fault) ||
      members.size() < 3) {
    static const std::string package = small_package();
    members.clear();
    read_archive(package, {16, max_size}, members, fault);
  }
  const std::size_t which = random() % members.size();
  const std::string before = members[which].bytes;
  std::string& changed = members[which].bytes;
  changed.resize(before.size() + 64);
  changed.resize(
      LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(changed.data()), before.size(), changed.size()));
  if (which > 0 && random() % 8 != 0) mend_manifest(members[0].bytes, before, changed);
  const std::string written = write_archive(members);
  if (written.size() > max_size) return size;
  std::copy(written.begin(), written.end(), data);
  return written.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Timed timed;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto package = parse_package(bytes, "fuzz.plk");
  const auto object = parse_object(bytes, "fuzz.o");
  if (!package && package.diagnostics.empty()) std::abort();
  if (!object && object.diagnostics.empty()) std::abort();
  if (package) {  // what is read can be written, and is read again
    const auto again = package_bytes(package->contract, package->ltoir);
    if (!again || !parse_package(*again, "fuzz.plk")) std::abort();
  }
  render_sarif(package.diagnostics);
  return 0;
}
