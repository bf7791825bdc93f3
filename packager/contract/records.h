// Record text ⇄ contract. A record is what one annotation leaves in the object: the line `pipelink-record/1`,
// then `key=value` lines ('\n' and '\\' escaped), then a NUL. packager/sdk/include/pipelink/records.h writes
// them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "packager/base/outcome.h"
#include "packager/contract/model.h"

namespace pipelink::contract {

inline constexpr std::string_view kRecordMagic = "pipelink-record/1\n";

/// The key=value lines of one record, unescaped, in order. Every record has component, kind, name, file,
/// line.
struct Record {
  std::vector<std::pair<std::string, std::string>> entries;

  /// The first value of `key`, or nullptr.
  const std::string* find(std::string_view key) const;
};

/// One record's text, with or without the final NUL. P-RECORD.
Outcome<Record> parse_record(std::string_view text);

std::string record_text(const Record& record);  ///< with the final NUL

/// All records of one component, in any order, into a contract whose lists are sorted by name. Duplicates are
/// kept (validate names both). `arch` is not in records. Equal records (one header, two objects) count once.
/// Every unknown kind and key, missing key and malformed value is reported. P-RECORD, P-NAME.
Outcome<Contract> contract_from_records(const std::vector<Record>& records);

/// The inverse: the component's record first, then one for each entry.
std::vector<Record> records_from_contract(const Contract& contract);

}  // namespace pipelink::contract
