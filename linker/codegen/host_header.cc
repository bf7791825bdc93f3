#include "linker/codegen/host_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "linker/codegen/render_template.h"
#include "packager/base/ids.h"

namespace pipelink {
namespace {

using nlohmann::json;

Diagnostic fault(const std::string& title, const std::string& reason = "") {
  Diagnostic d;
  d.clause = "L-HOST";
  d.title = title;
  d.reason = reason;
  return d;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\\')
      out += "\\\\";
    else
      out += c;
  }
  return out;
}

std::string field_text(const LaunchField& f) {
  return fmt::format("{} {} {} {}", f.name, f.offset, f.size, f.kind);
}

/// An instance as a member of Arguments: C++ keywords get a final underscore.
std::string member_name(const std::string& instance) {
  return is_keyword(instance) ? instance + "_" : instance;
}

/// From the global namespace: the composition's own namespace may have a component's name.
std::string global(const std::string& type) {
  return type.starts_with("::") ? type : "::" + type;
}

std::string include_of(const std::string& header) {
  return header.starts_with("<") ? header : "\"" + header + "\"";
}

const std::string& arguments_type(const LaunchInstance& i) {
  return i.provider.empty() ? i.region_type : i.arguments_type;
}
const std::string& arguments_header(const LaunchInstance& i) {
  return i.provider.empty() ? i.region_header : i.arguments_header;
}

/// A struct of a public header, as the device pass of one architecture laid it out.
struct StructLayout {
  std::string_view what;
  const std::string& type;
  const std::string& header;
  std::size_t size, align;
  const std::vector<LaunchField>& fields;
  std::string text() const {
    std::string out = fmt::format("{} bytes, aligned to {}", size, align);
    for (const LaunchField& f : fields) out += fmt::format(", {} at {} ({})", f.name, f.offset, f.size);
    return out;
  }
};

std::vector<StructLayout> structs(const LaunchInstance& i) {
  std::vector<StructLayout> out;
  if (i.region_size)
    out.push_back({"parameters", i.region_type, i.region_header, i.region_size, i.region_align, i.fields});
  if (i.arguments_size)
    out.push_back({"arguments", i.arguments_type, i.arguments_header, i.arguments_size, i.arguments_align,
                   i.arguments});
  return out;
}

/// One host struct serves all images, so the device passes of all architectures must agree on it.
Diagnostics layout_conflicts(const HostHeaderInput& input) {
  struct Seen {
    std::string owner, layout;
  };
  std::map<std::string, Seen> types;
  Diagnostics faults;
  for (const LaunchDescription& image : input.images) {
    for (const LaunchInstance& i : image.instances) {
      for (const StructLayout& s : structs(i)) {
        const Seen now{fmt::format("{} ({})", i.component, image.arch), s.text()};
        const Seen& first = types.try_emplace(s.type, now).first->second;
        if (first.layout == now.layout) continue;
        Diagnostic d = fault(
            fmt::format("the {} {} of instance {} differ between architectures", s.what, s.type, i.name),
            "the host fills one struct for all architectures");
        d.facts.push_back({first.owner, first.layout, {}});
        d.facts.push_back({now.owner, now.layout, {}});
        d.help = "let the struct not depend on __CUDA_ARCH__, and build all packages from one version of " +
                 (s.header.empty() ? "its header" : s.header);
        faults.push_back(std::move(d));
      }
    }
  }
  return faults;
}

/// The instances with arguments, of all images.
struct Member {
  const LaunchInstance* instance = nullptr;  // of the first image that has it
  std::string arch;
  std::size_t images = 0;
};

Outcome<std::vector<Member>> members(const HostHeaderInput& input) {
  Diagnostics faults;
  std::vector<Member> out;
  if (input.images.empty()) faults.push_back(fault("composition " + input.composition + " has no image"));
  if (!valid_name(input.composition))
    faults.push_back(
        fault("`" + input.composition + "` is not a name for a composition", name_fault(input.composition)));
  std::set<std::string> archs;
  for (const LaunchDescription& image : input.images) {
    if (const std::string text = runtime_internal::launch_fault(image); !text.empty())
      faults.push_back(fault("the launch description for " + image.arch + " is not valid", text));
    if (image.composition != input.composition)
      faults.push_back(fault("an image of " + image.composition + " among those of " + input.composition));
    if (!valid_arch(image.arch) || !archs.insert(image.arch).second)
      faults.push_back(fault("the architecture `" + image.arch + "` is there twice or is none"));
    for (const LaunchInstance& i : image.instances) {
      if (!i.takes_arguments()) continue;
      if (arguments_type(i).empty() || (i.region_size && i.region_type.empty()))
        faults.push_back(fault("instance " + i.name + " has parameters, but no type for them",
                               "component " + i.component + " names no struct of a public header"));
      const auto same =
          std::find_if(out.begin(), out.end(), [&](const Member& m) { return m.instance->name == i.name; });
      if (same == out.end()) {
        out.push_back({&i, image.arch, 1});
        continue;
      }
      ++same->images;
      if (arguments_type(*same->instance) != arguments_type(i) ||
          arguments_header(*same->instance) != arguments_header(i))
        faults.push_back(fault("the arguments of instance " + i.name + " differ between architectures",
                               fmt::format("{}: {} of {}; {}: {} of {}", same->arch,
                                           arguments_type(*same->instance), arguments_header(*same->instance),
                                           image.arch, arguments_type(i), arguments_header(i))));
    }
  }
  if (faults.empty()) faults = layout_conflicts(input);
  if (!faults.empty()) return faults;
  std::sort(out.begin(), out.end(),
            [](const Member& a, const Member& b) { return a.instance->name < b.instance->name; });
  return out;
}

/// Assertions that hold the host compiler's view of each struct to the device pass's, each text once.
json assertions(const HostHeaderInput& input) {
  json out = json::array();
  std::set<std::string> seen;
  const auto add = [&](const std::string& condition, const std::string& message) {
    if (seen.insert(condition).second) out.push_back({{"condition", condition}, {"message", message}});
  };
  for (const LaunchDescription& image : input.images) {
    for (const LaunchInstance& i : image.instances) {
      const std::string where = fmt::format("in the device pass of {} ({})", i.component, image.arch);
      for (const StructLayout& s : structs(i)) {
        const std::string type = global(s.type);
        add(fmt::format("std::is_trivially_copyable_v<{}>", type), s.type + " is copied as bytes");
        add(fmt::format("sizeof({}) == {}", type, s.size),
            fmt::format("{} has {} bytes {}", s.type, s.size, where));
        add(fmt::format("alignof({}) == {}", type, s.align),
            fmt::format("{} is aligned to {} {}", s.type, s.align, where));
        for (const LaunchField& f : s.fields) {
          add(fmt::format("offsetof({}, {}) == {}", type, f.name, f.offset),
              fmt::format("{}::{} has offset {} {}", s.type, f.name, f.offset, where));
          add(fmt::format("sizeof({}::{}) == {}", type, f.name, f.size),
              fmt::format("{}::{} has {} bytes {}", s.type, f.name, f.size, where));
        }
      }
    }
  }
  return out;
}

json includes(const HostHeaderInput& input) {
  std::set<std::string> headers;
  for (const LaunchDescription& image : input.images) {
    for (const LaunchInstance& i : image.instances) {
      if (i.region_size && !i.region_header.empty()) headers.insert(include_of(i.region_header));
      if (i.takes_arguments() && !arguments_header(i).empty())
        headers.insert(include_of(arguments_header(i)));
    }
  }
  json out = json::array();
  for (const std::string& h : headers) out.push_back({{"header", h}});
  return out;
}

std::string symbol(const HostHeaderInput& input, const char* kind, const std::string& arch) {
  return fmt::format("pipelink_{}_{}_{}", kind, input.composition, arch);
}

json image_list(const HostHeaderInput& input) {
  json out = json::array();
  for (const LaunchDescription& image : input.images)
    out.push_back({{"arch", image.arch},
                   {"image", symbol(input, "image", image.arch)},
                   {"launch", symbol(input, "launch", image.arch)}});
  return out;
}

json provider_list(const HostHeaderInput& input) {
  std::set<std::string> symbols;
  for (const LaunchDescription& image : input.images)
    for (const LaunchInstance& i : image.instances)
      if (!i.provider.empty()) symbols.insert(i.provider);
  json out = json::array();
  for (const std::string& s : symbols) out.push_back({{"symbol", s}});
  return out;
}

}  // namespace

Outcome<std::string> launch_text(const LaunchDescription& d) {
  std::string out = std::string(runtime_internal::kLaunchHeading) + "\n";
  const auto put = [&out](std::string_view key, const std::string& value) {
    out += fmt::format("{}={}\n", key, value);
  };
  put("composition", escaped(d.composition));
  put("arch", escaped(d.arch));
  put("entry", escaped(d.entry));
  put("threads", fmt::format("{}", d.threads));
  put("cluster", fmt::format("{} {} {}", d.cluster[0], d.cluster[1], d.cluster[2]));
  put("blocks_per_sm", fmt::format("{}", d.blocks_per_sm));
  if (d.resident != 0) put("resident", "1");
  put("parameters", fmt::format("{} {}", d.parameter_size, d.parameter_align));
  if (d.guard) {
    put("guard", fmt::format("{} {}", d.guard->parameter, d.guard->milliseconds));
    for (const LaunchGuard::Claim& c : d.guard->claims)
      put("guard_claim", fmt::format("{} {} {} {} {}", c.kind, c.offset, c.bytes, c.arrivals, c.name));
    for (const LaunchGuard::Role& r : d.guard->roles)
      put("guard_role", fmt::format("{} {} {}", r.first_warp, r.warps, r.name));
    for (const LaunchGuard::Barrier& b : d.guard->barriers)
      put("guard_barrier", fmt::format("{} {}", b.id, b.name));
  }
  for (const LaunchInstance& i : d.instances) {
    put("instance", i.name);
    put("component", escaped(i.component));
    if (i.region_size) {
      put("region", fmt::format("{} {} {}", i.region_offset, i.region_size, i.region_align));
      put("region_type", escaped(i.region_type));
      put("region_header", escaped(i.region_header));
      for (const LaunchField& f : i.fields) put("field", field_text(f));
    }
    if (!i.provider.empty()) {
      put("provider", fmt::format("{} {}", i.provider, i.provider_abi));
      put("arguments_type", escaped(i.arguments_type));
      put("arguments_header", escaped(i.arguments_header));
      if (i.arguments_size) put("arguments", fmt::format("{} {}", i.arguments_size, i.arguments_align));
      for (const LaunchField& f : i.arguments) put("argument", field_text(f));
    }
    for (const LaunchScratch& s : i.scratch)
      put("scratch", fmt::format("{} {} {} {:d} {:d}", s.name, s.field, s.bytes, s.per_block, s.zeroed));
    for (const LaunchFact& f : i.facts) {
      static constexpr const char* kTypes[] = {"integer", "boolean", "real", "text"};
      const bool whole = f.type == PIPELINK_FACT_INTEGER || f.type == PIPELINK_FACT_BOOLEAN;
      put("fact", fmt::format("{} {} {}", kTypes[f.type], f.name,
                              whole ? fmt::format("{}", f.value) : escaped(f.text)));
    }
  }
  if (const auto back = parse_launch(out); !back)
    return fault("a launch description is not valid", back.error().message);
  return out;
}

Outcome<std::string> host_header(const HostHeaderInput& input) {
  const Outcome<std::vector<Member>> found = members(input);
  if (!found) return found.diagnostics;
  json list = json::array();
  for (const Member& m : *found)
    list.push_back({{"member", member_name(m.instance->name)},
                    {"instance", m.instance->name},
                    {"component", m.instance->component},
                    {"type", global(arguments_type(*m.instance))},
                    {"optional", m.images == input.images.size() ? "false" : "true"}});
  json values;
  values["composition"] = input.composition;
  values["includes"] = includes(input);
  values["assertions"] = assertions(input);
  values["images"] = image_list(input);
  values["providers"] = provider_list(input);
  values["has_arguments"] = !list.empty();
  values["members"] = std::move(list);
  return render_template("host_header.h", values);
}

Outcome<std::string> host_source(const HostHeaderInput& input) {
  if (const auto found = members(input); !found) return found.diagnostics;
  return render_template("host_source.cc", {{"composition", input.composition}});
}

}  // namespace pipelink
