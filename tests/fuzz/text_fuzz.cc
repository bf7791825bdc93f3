// Texts that packages, objects and users bring: records, contracts, expressions, layouts, PTX, placement
// instances, compositions, launch descriptions. What is read is written and read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "linker/compose/composition_file.h"
#include "linker/place/instance_format.h"
#include "linker/place/solve.h"
#include "linker/runtime/include/pipelink/launch_description.h"
#include "packager/capture/ptx.h"
#include "packager/contract/expression.h"
#include "packager/contract/json.h"
#include "packager/contract/records.h"
#include "packager/contract/steps.h"
#include "packager/contract/validate.h"
#include "packager/layout/algebra.h"
#include "packager/layout/cover.h"
#include "packager/layout/text.h"
#include "tests/fuzz/slowest.h"

namespace {

using namespace pipelink;
using namespace pipelink::contract;

void records(std::string_view text) {
  std::vector<Record> all;
  while (!text.empty()) {  // NUL ends a record
    const std::size_t end = std::min(text.find('\0'), text.size());
    if (Outcome<Record> record = parse_record(text.substr(0, end))) all.push_back(std::move(*record));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const Outcome<Contract> contract = contract_from_records(all);
  if (!contract) return;
  validate(*contract);
  if (!contract_from_records(records_from_contract(*contract))) std::abort();
}

void json(std::string_view text) {
  const Outcome<Contract> contract = from_json(text, "fuzz");
  if (!contract) return;
  validate(*contract);
  const std::string written = to_json(*contract);
  const Outcome<Contract> again = from_json(written, "fuzz");
  if (!again || to_json(*again) != written) std::abort();
}

void expression(std::string_view text) {
  const ParsedExpression parsed = parse_expression(text);
  if (parsed)
    parsed->evaluate({{"a", 3}, {"b", -1}});
  else if (parsed.error.empty())
    std::abort();
  if (const ParsedSteps steps = parse_steps(text); !steps && steps.error.empty()) std::abort();
}

/// Names have values; what is made is written and read again, and its inverses are inverses.
void layout_map(std::string_view text) {
  const layout::Result<layout::LayoutText> parsed = layout::parse_layout_text(text);
  if (!parsed) {
    if (parsed.error.empty()) std::abort();
    return;
  }
  const layout::Result<layout::Layout> made = parsed->evaluate([](std::string_view expression) {
    const ParsedExpression read = parse_expression(expression);
    const Evaluation found = read ? read->evaluate({{"a", 3}, {"b", 8}}) : Evaluation{{}, read.error};
    return found ? layout::Result<std::int64_t>(*found) : layout::Result<std::int64_t>::fault(found.error);
  });
  if (made.value.has_value() != made.error.empty()) std::abort();
  if (!made || made->size() > 4096) return;
  const layout::Result<layout::Layout> again = layout::parse_layout(layout::to_text(*made));
  if (!again || !(*again == *made) || !same_function(*made, coalesce_modes(*made))) std::abort();
  cover_fault(*made, made->size());
  injective_fault(*made);
  if (const auto inverse = left_inverse(*made); inverse && inverse->size() <= 4096)
    for (std::int64_t i = 0; i < made->size(); ++i)
      if ((*inverse)((*made)(i)) != i) std::abort();
  if (const auto inverse = right_inverse(*made))
    for (std::int64_t i = 0; i < inverse->size(); ++i)
      if ((*made)((*inverse)(i)) != i) std::abort();
  composition(*made, *made);
}

void instance(std::string_view text) {
  const Outcome<place::Problem> problem = place::parse_instance(text, "fuzz.pl");
  if (!problem) return;
  if (!place::parse_instance(place::write_instance(*problem), "fuzz.pl")) std::abort();
  if (problem->buffers.size() > 40) return;
  const Outcome<place::Solution> solution = place::solve(*problem, 2'000);
  if (!solution && solution.diagnostics.empty()) std::abort();
}

}  // namespace

/// The first byte chooses the kind of text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const pipelink::fuzz::Timed timed;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      records(text);
      break;
    case 1:
      json(text);
      break;
    case 2:
      expression(text);
      break;
    case 3:
      layout_map(text);
      break;
    case 4:
      parse_ptx(text, "fuzz");
      break;
    case 5:
      instance(text);
      break;
    case 6:
      parse_composition(text, "fuzz.json");
      break;
    case 7:
      if (const auto launch = parse_launch(text); !launch && launch.error().message.empty()) std::abort();
      break;
  }
  return 0;
}
