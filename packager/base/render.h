// Diagnostics and clauses as text for a terminal, as JSON and as SARIF 2.1.0.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "packager/base/catalog.h"
#include "packager/base/diagnostic.h"

namespace pipelink {

enum class Format { kText, kJson, kSarif };

/// "text", "json", "sarif"; false for any other word.
bool parse_format(std::string_view word, Format& format);

/// True if the file descriptor is a terminal and NO_COLOR is unset or empty.
bool wants_colour(int file_descriptor);

///     error[L-REGS]: the roles ask for more registers than the block has
///       gemm: 2 warpgroups of 248 each (gemm.cu:31)
///       = reason: 2 * 248 + 40 = 536, the block has 504
///       = help: lower registers_max of role consumer
/// One empty line between diagnostics. Twenty of one severity and clause, and how many more there are.
std::string render_text(const Diagnostics& diagnostics, bool colour = false);

/// {"diagnostics":[{"severity","clause","title","facts":[{"owner","text","file","line"}],"reason","help"}]}
std::string render_json(const Diagnostics& diagnostics);

/// One run whose rules are the clauses that the results name.
std::string render_sarif(const Diagnostics& diagnostics);

std::string render(const Diagnostics& diagnostics, Format format, bool colour = false);

/// One clause, for `pipelink explain`; wrapped at 88 columns.
std::string explain_text(const Clause& clause);

/// {"clauses":[{"id","kind","title","rule","reason","help"}]}
std::string explain_json(std::span<const Clause> list);

/// "id  title" for every clause, for `pipelink explain --list`.
std::string clause_list_text();

}  // namespace pipelink
