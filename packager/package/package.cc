#include "packager/package/package.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "packager/base/file.h"
#include "packager/base/sha256.h"
#include "packager/base/strict_json.h"
#include "packager/contract/json.h"
#include "packager/contract/validate.h"
#include "packager/package/archive.h"

namespace pipelink {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxCode = 256;
constexpr std::size_t kMaxManifest = std::size_t{1} << 20;
constexpr std::size_t kMaxContract = std::size_t{16} << 20;
constexpr std::string_view kManifestName = "manifest.json";
constexpr std::string_view kContractName = "contract.json";

std::string code_name(std::size_t index) {
  return fmt::format("code.{}.ltoir", index);
}

/// `members` are those behind the manifest.
std::string manifest_text(const Manifest& manifest, const std::vector<ArchiveMember>& members,
                          std::size_t first) {
  Json list = Json::array();
  for (std::size_t i = first; i < members.size(); ++i)
    list.push_back(Json{{"name", members[i].name},
                        {"size", members[i].bytes.size()},
                        {"sha256", sha256_hex(members[i].bytes)}});
  return json_text(Json{{"format", manifest.format},
                        {"name", manifest.name},
                        {"version", manifest.version},
                        {"arch", manifest.arch},
                        {"toolkit", manifest.toolkit},
                        {"members", std::move(list)}});
}

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Outcome<Package> run() {
    std::string fault;
    if (!read_archive(bytes_, {2 + kMaxCode, kMaxFileSize}, members_, fault)) return damaged(fault);
    if (!names(fault)) return damaged(fault);
    if (Diagnostics found = manifest(); !found.empty()) return found;
    if (Diagnostics found = digests(); !found.empty()) return found;
    if (manifest_text(package_.manifest, members_, 1) != members_[0].bytes)
      return damaged("the manifest is not written as PipeLink writes it");
    return contract();
  }

 private:
  Diagnostic damaged(std::string reason) const {
    return make_error("I-PACKAGE", fmt::format("'{}' is not a package, or is damaged", name_), {},
                      std::move(reason));
  }

  bool names(std::string& fault) const {
    if (members_.size() < 3) {
      fault = fmt::format("it has {} members, a package has 3 at least", members_.size());
      return false;
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const std::string expected = i == 0   ? std::string(kManifestName)
                                   : i == 1 ? std::string(kContractName)
                                            : code_name(i - 2);
      if (members_[i].name == expected) continue;
      fault = fmt::format("member {} is not '{}'", i, expected);
      return false;
    }
    if (members_[0].bytes.size() > kMaxManifest || members_[1].bytes.size() > kMaxContract) {
      fault = "the manifest or the contract is too large";
      return false;
    }
    return true;
  }

  /// Reads the manifest's own values and keeps its list for digests().
  Diagnostics manifest() {
    Outcome<Json> parsed = parse_json(members_[0].bytes, fmt::format("{}:{}", name_, kManifestName));
    if (!parsed) return parsed.diagnostics;
    const Json& json = *parsed;
    if (!json.is_object() || !json.contains("format") || !json["format"].is_number_integer())
      return {damaged("the manifest states no format version")};
    if (json["format"] != kPackageFormat)
      return {make_error("I-FORMAT",
                         fmt::format("package format {} of '{}' is not known", json["format"].dump(), name_),
                         {}, fmt::format("this PipeLink reads format {}", kPackageFormat),
                         "use the PipeLink that packed it, or pack the component again with this one")};
    const std::pair<std::string_view, std::string*> texts[] = {{"name", &package_.manifest.name},
                                                               {"version", &package_.manifest.version},
                                                               {"arch", &package_.manifest.arch},
                                                               {"toolkit", &package_.manifest.toolkit}};
    std::size_t known = 2;  // format, members
    for (const auto& [key, value] : texts) {
      const auto found = json.find(std::string(key));
      if (found == json.end() || !found->is_string())
        return {damaged(fmt::format("the manifest has no text '{}'", key))};
      *value = found->get_ref<const std::string&>();
      ++known;
    }
    const auto list = json.find("members");
    if (list == json.end() || !list->is_array()) return {damaged("the manifest has no array 'members'")};
    if (json.size() != known) return {damaged("the manifest has a key that is not known")};
    list_ = *list;
    return {};
  }

  Diagnostics digests() const {
    if (list_.size() != members_.size() - 1)
      return {damaged(
          fmt::format("the manifest lists {} members, {} are there", list_.size(), members_.size() - 1))};
    Diagnostics found;
    for (std::size_t i = 1; i < members_.size(); ++i) {
      const ArchiveMember& member = members_[i];
      const Json& item = list_[i - 1];
      const bool complete = item.is_object() && item.size() == 3 && item.contains("name") &&
                            item.contains("size") && item.contains("sha256");
      if (!complete || item["name"] != member.name)
        return {damaged(fmt::format("the manifest does not list member '{}' in its place", member.name))};
      if (item["size"] == member.bytes.size() && item["sha256"] == sha256_hex(member.bytes)) continue;
      found.push_back(make_error(
          "I-DIGEST", fmt::format("member '{}' of '{}' does not match its digest", member.name, name_),
          {{"manifest",
            fmt::format("sha256 {}", item["sha256"].dump(-1, ' ', false, Json::error_handler_t::replace)),
            {}},
           {member.name, fmt::format("sha256 \"{}\"", sha256_hex(member.bytes)), {}}},
          {}, "fetch or pack it again"));
    }
    return found;
  }

  Outcome<Package> contract() {
    Outcome<contract::Contract> read =
        contract::from_json(members_[1].bytes, fmt::format("{}:{}", name_, kContractName));
    if (!read) return read.diagnostics;
    const Manifest& manifest = package_.manifest;
    if (read->component != manifest.name || read->version != manifest.version ||
        read->arch != manifest.arch || read->toolkit != manifest.toolkit)
      return damaged("manifest and contract differ in name, version, architecture or toolkit");
    if (Diagnostics found = contract::validate(*read); has_error(found)) return found;
    package_.contract = std::move(*read);
    for (std::size_t i = 2; i < members_.size(); ++i) package_.ltoir.push_back(std::move(members_[i].bytes));
    package_.sha256 = sha256_hex(bytes_);
    package_.file = name_;
    return std::move(package_);
  }

  std::string_view bytes_, name_;
  std::vector<ArchiveMember> members_;
  Json list_;
  Package package_;
};

}  // namespace

Outcome<Package> parse_package(std::string_view bytes, std::string_view name) {
  return Reader(bytes, name).run();
}

Outcome<Package> read_package(const std::string& path) {
  const Outcome<std::string> bytes = read_file(path);
  if (!bytes) return bytes.diagnostics;
  return parse_package(*bytes, file_name(path));
}

Outcome<contract::Contract> read_contract(const std::string& path) {
  Outcome<Package> package = read_package(path);
  if (!package) return package.diagnostics;
  return std::move(package->contract);
}

Outcome<std::string> package_bytes(const contract::Contract& contract,
                                   const std::vector<std::string>& ltoir) {
  if (ltoir.empty() || ltoir.size() > kMaxCode)
    return make_error("P-LTOIR",
                      fmt::format("a package has from 1 to {} objects, not {}", kMaxCode, ltoir.size()));
  std::vector<ArchiveMember> members{{std::string(kManifestName), {}},
                                     {std::string(kContractName), to_json(contract)}};
  if (members[1].bytes.size() > kMaxContract)
    return make_error("P-VALUE", "the contract is too large", {},
                      fmt::format("it has {} bytes, the bound is {}", members[1].bytes.size(), kMaxContract));
  for (const std::string& code : ltoir) members.push_back({code_name(members.size() - 2), code});
  const Manifest manifest{kPackageFormat, contract.component, contract.version, contract.arch,
                          contract.toolkit};
  members[0].bytes = manifest_text(manifest, members, 1);
  return write_archive(members);
}

Outcome<std::string> write_package(const std::string& path, const contract::Contract& contract,
                                   const std::vector<std::string>& ltoir) {
  Outcome<std::string> bytes = package_bytes(contract, ltoir);
  if (!bytes) return bytes;
  Outcome<bool> written = write_file_if_changed(path, *bytes);
  if (!written) return written.diagnostics;
  return sha256_hex(*bytes);
}

}  // namespace pipelink
