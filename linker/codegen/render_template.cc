#include "linker/codegen/render_template.h"

#include <cstddef>
#include <kainjow/mustache.hpp>
#include <set>
#include <utility>
#include <vector>

#include "templates/template_text.h"

namespace pipelink {
namespace {

using nlohmann::json;
namespace mustache = kainjow::mustache;

/// A tag of a template, as a tree: mustache.hpp renders, but tells nobody which keys it met.
struct Tag {
  char kind = 'v';  // 'v' variable, '#' section, '^' inverted section
  std::string key;
  std::vector<Tag> inside;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Tag> read() {
    std::vector<Tag> tags = list("");
    return tags;
  }
  const std::string& fault() const { return fault_; }

 private:
  std::vector<Tag> list(const std::string& until) {
    std::vector<Tag> tags;
    while (fault_.empty()) {
      const std::size_t open = text_.find("{{", at_);
      if (open == std::string_view::npos) {
        if (!until.empty()) fault_ = "section `" + until + "` has no end";
        break;
      }
      const bool triple = text_.substr(open, 3) == "{{{";
      const std::size_t start = open + (triple ? 3 : 2);
      const std::size_t close = text_.find(triple ? "}}}" : "}}", start);
      if (close == std::string_view::npos) {
        fault_ = "a tag has no end";
        break;
      }
      std::string word = trim(text_.substr(start, close - start));
      at_ = close + (triple ? 3 : 2);
      const char kind = word.empty() ? ' ' : word[0];
      if (kind == '!') continue;
      if (kind == '#' || kind == '^' || kind == '/' || kind == '&')
        word = trim(std::string_view(word).substr(1));
      if (word.empty() ||
          word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) {
        fault_ = "`" + word + "` is not a key";
        break;
      }
      if (kind == '/') {
        if (word != until) fault_ = "`/" + word + "` ends `" + until + "`";
        break;
      }
      Tag tag{kind == '#' || kind == '^' ? kind : 'v', word, {}};
      if (tag.kind != 'v') tag.inside = list(word);
      tags.push_back(std::move(tag));
    }
    return tags;
  }

  static std::string trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return "";
    return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string fault_;
};

/// Walks template and values together. A path names keys without list positions: "components.handles.line".
class Match {
 public:
  void check(const std::vector<Tag>& tags, const json& values) {
    scopes_.push_back({&values, ""});
    walk(tags);
    collect(values, "");
    for (const std::string& path : present_)
      if (!used_.count(path)) faults_.insert("the value `" + path + "` is not in the template");
  }
  const std::set<std::string>& faults() const { return faults_; }

 private:
  struct Scope {
    const json* value;
    std::string path;
  };

  void walk(const std::vector<Tag>& tags) {
    for (const Tag& tag : tags) {
      const Scope found = find(tag.key);
      if (!found.value) {
        faults_.insert("the key `" + tag.key + "` has no value");
        continue;
      }
      used_.insert(found.path);
      const json& value = *found.value;
      if (tag.kind == 'v') {
        if (!value.is_string() && !value.is_number())
          faults_.insert("the value `" + found.path + "` is not a text");
      } else if (tag.kind == '#' && value.is_array()) {
        if (value.empty()) mark(tag.inside, found.path);
        for (const json& element : value) enter(tag.inside, element, found.path);
      } else if (tag.kind == '#' && value.is_object()) {
        enter(tag.inside, value, found.path);
      } else if (value.is_array() || value.is_boolean()) {
        const bool shown = value.is_array() ? value.empty() : value.get<bool>() == (tag.kind == '#');
        if (shown)
          walk(tag.inside);
        else
          mark(tag.inside, "");
      } else {
        faults_.insert("the section `" + tag.key + "` needs a list, an object or a truth value");
      }
    }
  }

  void enter(const std::vector<Tag>& tags, const json& value, const std::string& path) {
    if (!value.is_object()) {
      faults_.insert("the list `" + path + "` holds something that is not an object");
      return;
    }
    scopes_.push_back({&value, path + "."});
    walk(tags);
    scopes_.pop_back();
  }

  /// A part that is not shown: its keys count as used where they exist, and need not exist.
  void mark(const std::vector<Tag>& tags, const std::string& path) {
    for (const Tag& tag : tags) {
      if (const Scope found = find(tag.key); found.value) used_.insert(found.path);
      if (!path.empty()) used_.insert(path + "." + tag.key);
      mark(tag.inside, path);
    }
  }

  Scope find(const std::string& key) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto value = scope->value->find(key); value != scope->value->end())
        return {&*value, scope->path + key};
    return {nullptr, ""};
  }

  void collect(const json& value, const std::string& path) {
    if (value.is_array()) {
      for (const json& element : value) collect(element, path);
    } else if (value.is_object()) {
      for (const auto& [key, inner] : value.items()) {
        const std::string inner_path = path.empty() ? key : path + "." + key;
        present_.insert(inner_path);
        collect(inner, inner_path);
      }
    }
  }

  std::vector<Scope> scopes_;
  std::set<std::string> used_, present_, faults_;
};

mustache::data convert(const json& value) {
  if (value.is_string()) return mustache::data(value.get<std::string>());
  if (value.is_boolean()) return mustache::data(value.get<bool>());
  if (value.is_array()) {
    mustache::data list(mustache::data::type::list);
    for (const json& element : value) list.push_back(convert(element));
    return list;
  }
  if (value.is_object()) {
    mustache::data object(mustache::data::type::object);
    for (const auto& [key, inner] : value.items()) object.set(key, convert(inner));
    return object;
  }
  return mustache::data(value.dump());
}

Diagnostic fault(std::string_view name, const std::string& text) {
  Diagnostic d;
  d.clause = "T-TEMPLATE";
  d.title = "the template " + std::string(name) + " and its values do not match";
  d.reason = text;
  return d;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
          out += "\uFFFD";
        else
          out += c;
    }
  }
  return out;
}

Outcome<std::string> render_text(std::string_view name, std::string_view text, const json& values,
                                 Escape escape) {
  Reader reader(text);
  const std::vector<Tag> tags = reader.read();
  if (!reader.fault().empty()) return fault(name, reader.fault());
  if (!values.is_object()) return fault(name, "the values are not an object");
  Match match;
  match.check(tags, values);
  Diagnostics diagnostics;
  for (const std::string& f : match.faults()) diagnostics.push_back(fault(name, f));
  if (!diagnostics.empty()) return diagnostics;

  mustache::mustache form{std::string(text)};
  form.set_custom_escape(
      [escape](const std::string& s) { return escape == Escape::kHtml ? escape_html(s) : s; });
  if (!form.is_valid()) return fault(name, form.error_message());
  return form.render(convert(values));
}

namespace {

Outcome<std::string> render(std::string_view name, const json& values, Escape escape) {
  const std::string_view text = template_text(name);
  if (text.empty()) return fault(name, "there is no such template");
  return render_text(name, text, values, escape);
}

}  // namespace

Outcome<std::string> render_template(std::string_view name, const json& values) {
  return render(name, values, Escape::kNone);
}

Outcome<std::string> render_html(std::string_view name, const json& values) {
  return render(name, values, Escape::kHtml);
}

}  // namespace pipelink
