// Filling in a template of templates/, strictly: a template and its values must name the same keys.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "packager/base/outcome.h"

namespace pipelink {

/// The template `name` ("glue.cu") with `values`, an object of texts, numbers, booleans (for sections),
/// objects and arrays of objects. Text is put in as it is. T-TEMPLATE: no such template, malformed, a key
/// without a value, a value without a key.
Outcome<std::string> render_template(std::string_view name, const nlohmann::json& values);

/// The same for a page: `{{key}}` is escaped for HTML text and quoted attributes, control characters are
/// replaced; `{{{key}}}` is put in as it is.
Outcome<std::string> render_html(std::string_view name, const nlohmann::json& values);

enum class Escape { kNone, kHtml };

/// The same for a template's text; `name` is for messages.
Outcome<std::string> render_text(std::string_view name, std::string_view text, const nlohmann::json& values,
                                 Escape escape = Escape::kNone);

std::string escape_html(std::string_view text);

}  // namespace pipelink
