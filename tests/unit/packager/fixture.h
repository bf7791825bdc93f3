// Synthetic contracts, objects and packages, made without a device compiler.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "packager/contract/model.h"

namespace pipelink::test {

/// Valid, with an entry of every kind.
contract::Contract sample_contract();

/// The PTX twin that a compile of `contract` would leave: its records, its roles and exports, calls of all
/// its handles.
std::string twin_of(const contract::Contract& contract, std::string_view more = {});

/// A byte array of PTX holding a record.
std::string record_variable(std::string_view name, std::string_view bytes);

std::string ltoir(int arch = 90, bool variant = true, std::string_view payload = "payload");

struct FatbinPart {
  int kind = 1;
  std::string payload;
  unsigned arch = 90;
  unsigned long long flags = 0x100011;
};
std::string fatbin(const std::vector<FatbinPart>& parts);

/// PTX twin and link-time code.
std::string object(const contract::Contract& contract, std::string_view more = {});

/// An ELF file whose section __nv_relfatbin holds `fatbin`.
std::string elf(const std::string& fatbin, std::string_view section = "__nv_relfatbin");

/// A directory that is removed at the end.
class Directory {
 public:
  Directory();
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  std::string path(std::string_view name) const;
  std::string write(std::string_view name, std::string_view bytes) const;
  std::vector<std::string> names() const;

 private:
  std::string root_;
};

}  // namespace pipelink::test
