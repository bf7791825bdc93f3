// Small pieces of text for messages about ports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linker/bind/bindings.h"
#include "packager/base/words.h"

namespace pipelink::binding {

using pipelink::joined;
using pipelink::quoted;

/// "1 export", "2 exports".
std::string counted(std::size_t count, std::string_view noun);

/// The names of `all` that a typing error away could have been `word`, the nearest first; at most three.
std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& all);

Diagnostic error(std::string clause, std::string title);

/// "a.x" for a port of an instance.
std::string dotted(const Composition& composition, std::size_t instance, const std::string& port);

/// "BIND a.x=b.y"
std::string bind_line(const std::string& importer, const std::string& exporter);

/// That line, in place of other entries for the importer.
Proposal bind_proposal(const std::string& importer, const std::string& exporter);

std::string_view word_of(contract::Direction direction);  ///< "exports", "imports"
std::string_view word_of(contract::RingSide side);        ///< "producer", "consumer"
std::string_view word_of(contract::FactType type);  ///< "an integer", "a boolean", "a real number", "a text"

}  // namespace pipelink::binding
