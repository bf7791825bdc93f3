// What a cubin does not say about its launch: grid, cluster, regions of the parameter block, providers,
// facts. The linker writes it as text beside each cubin (NAME.ARCH.launch), and the composition's library
// carries the same text.
//
//     pipelink-launch/1
//     composition=gemm_swiglu
//     arch=sm_90a
//     entry=gemm_swiglu
//     threads=384
//     cluster=2 1 1
//     blocks_per_sm=1
//     resident=1                               all blocks must be on the device at one time; absent: need not
//     parameters=192 64                        bytes and alignment of the kernel's one parameter; 0 1: none
//     guard=184 2000                           only of a guarded link: offset in the parameters of the
//     address
//                                              to which findings go; how long a wait may take, in ms
//     guard_claim=full 1024 24 1 gemm.operands kind, offset, bytes, arrivals (0 where nothing arrives),
//     claim;
//                                              kinds: buffer, ring, full, empty, mbarriers, kernel
//     guard_role=4 8 gemm.mma                  first warp, warps, role
//     guard_barrier=1 swiglu.warpgroup0        id, named barrier
//     instance=gemm                            begins an instance; sorted by name
//     component=wgmma_gemm
//     region=0 192 64                          offset in the block, bytes, alignment
//     region_type=wgmma_gemm::Parameters       and region_header: where the host finds the type
//     field=map_a 0 128 bytes                  name, offset, bytes, kind, as the device pass recorded them
//     provider=pipelink_host_wgmma_gemm_v1 1   symbol and ABI; without it the arguments are the region
//     arguments_type=wgmma_gemm::Arguments     and arguments_header
//     arguments=16 8                           bytes and alignment; absent if the author listed no fields
//     argument=data 0 8 pointer                like field
//     scratch=partials 8 512 1 0               name, offset of the pointer in the region, bytes, 1: for each
//                                              block, 1: zeroed when the kernel is opened
//     fact=integer tile_m 128                  type, name, value: as the component sees it
//
// In a value, `\n` and `\\` are escaped. An unknown key is an error.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipelink/host_provider.h"
#include "pipelink/result.h"

namespace pipelink {

struct LaunchFact {
  std::string name;
  pipelink_fact_type type = PIPELINK_FACT_INTEGER;
  std::int64_t value = 0;  ///< integer, boolean
  std::string text;        ///< never empty for a number: its text
  bool operator==(const LaunchFact&) const = default;
};

struct LaunchField {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
  std::string kind = "bytes";  ///< or pointer, signed, unsigned, real, boolean: what the caller writes there
  bool operator==(const LaunchField&) const = default;
};

/// Device memory that a component asks the caller of `open` for, and where in its region the address goes.
struct LaunchScratch {
  std::string name;
  std::size_t field = 0;
  std::uint64_t bytes = 0;  ///< of the grid, or of each block
  bool per_block = false, zeroed = false;
  bool operator==(const LaunchScratch&) const = default;
};

/// One component in the composition. `region_size` is 0 when it has no parameters.
struct LaunchInstance {
  std::string name;
  std::string component;
  std::size_t region_offset = 0, region_size = 0, region_align = 1;
  std::string region_type, region_header;
  std::vector<LaunchField> fields;
  std::string provider;  ///< symbol; empty: the caller's arguments are the region
  std::uint32_t provider_abi = 0;
  std::string arguments_type, arguments_header;
  std::size_t arguments_size = 0, arguments_align = 1;  ///< of the provider's struct; size 0: not known
  std::vector<LaunchField> arguments;
  std::vector<LaunchScratch> scratch;
  std::vector<LaunchFact> facts;
  bool takes_arguments() const { return region_size != 0 || !provider.empty(); }
  bool operator==(const LaunchInstance&) const = default;
};

/// What a guarded link says of its findings' addresses.
struct LaunchGuard {
  struct Claim {
    std::string kind, name;
    std::uint32_t offset = 0, bytes = 0, arrivals = 0;
    bool operator==(const Claim&) const = default;
  };
  struct Role {
    std::string name;
    std::uint32_t first_warp = 0, warps = 0;
    bool operator==(const Role&) const = default;
  };
  struct Barrier {
    std::string name;
    std::uint32_t id = 0;
    bool operator==(const Barrier&) const = default;
  };
  std::size_t parameter = 0;
  std::uint32_t milliseconds = 0;
  std::vector<Claim> claims;  ///< of shared memory
  std::vector<Role> roles;
  std::vector<Barrier> barriers;
  bool operator==(const LaunchGuard&) const = default;
};

/// One image of a composition.
struct LaunchDescription {
  std::string composition;
  std::string arch;
  std::string entry;
  std::uint32_t threads = 0;
  std::uint32_t cluster[3] = {1, 1, 1};
  std::uint32_t blocks_per_sm = 1;
  std::uint32_t resident =
      0;  ///< 1: blocks wait for each other, so all of the grid must be there at one time
  std::size_t parameter_size = 0, parameter_align = 1;
  std::optional<LaunchGuard> guard;
  std::vector<LaunchInstance> instances;

  const LaunchInstance* find(std::string_view instance) const {
    for (const LaunchInstance& i : instances)
      if (i.name == instance) return &i;
    return nullptr;
  }
  bool operator==(const LaunchDescription&) const = default;
};

namespace runtime_internal {

inline constexpr std::uint64_t kMostScratch = std::uint64_t{1} << 48;  // more than any GPU has
inline constexpr std::string_view kLaunchHeading = "pipelink-launch/1";

inline bool parse_number(std::string_view text, auto& out) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  return status == std::errc() && end == text.data() + text.size() && !text.empty();
}

inline std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      out += text[i] == 'n' ? '\n' : text[i];
    } else {
      out += text[i];
    }
  }
  return out;
}

/// Cuts the first word off `rest`.
inline std::string_view next_word(std::string_view& rest) {
  const std::size_t space = rest.find(' ');
  const std::string_view word = rest.substr(0, space);
  rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
  return word;
}

/// Reads exactly the given numbers, separated by single spaces.
inline bool parse_numbers(std::string_view text, auto&... out) {
  bool good = (parse_number(next_word(text), out) && ...);
  return good && text.empty();
}

inline bool parse_fact(std::string_view value, LaunchFact& fact) {
  const std::string_view type = next_word(value);
  fact.name = next_word(value);
  fact.text = unescape(value);
  if (fact.name.empty()) return false;
  if (type == "text")
    fact.type = PIPELINK_FACT_TEXT;
  else if (type == "real")
    fact.type = PIPELINK_FACT_REAL;
  else if (type == "boolean")
    fact.type = PIPELINK_FACT_BOOLEAN;
  else if (type == "integer")
    fact.type = PIPELINK_FACT_INTEGER;
  else
    return false;
  if (fact.type == PIPELINK_FACT_TEXT) return true;
  if (fact.type == PIPELINK_FACT_REAL) return !fact.text.empty();
  if (!parse_number(fact.text, fact.value)) return false;
  return fact.type == PIPELINK_FACT_INTEGER || fact.value == 0 || fact.value == 1;
}

inline bool parse_field(std::string_view value, LaunchField& field) {
  field.name = next_word(value);
  const bool numbers =
      parse_number(next_word(value), field.offset) && parse_number(next_word(value), field.size);
  if (!value.empty()) field.kind = value;
  for (const char* kind : {"bytes", "pointer", "signed", "unsigned", "real", "boolean"})
    if (field.kind == kind) return numbers && !field.name.empty();
  return false;
}

inline bool parse_scratch(std::string_view value, LaunchScratch& scratch) {
  scratch.name = next_word(value);
  unsigned per_block = 0, zeroed = 0;
  const bool good = parse_numbers(value, scratch.field, scratch.bytes, per_block, zeroed);
  scratch.per_block = per_block == 1;
  scratch.zeroed = zeroed == 1;
  return good && per_block <= 1 && zeroed <= 1 && !scratch.name.empty();
}

/// False: an unknown key or a value that does not parse.
inline bool parse_instance_line(std::string_view key, std::string_view value, LaunchInstance& i) {
  if (key == "component")
    i.component = unescape(value);
  else if (key == "region")
    return parse_numbers(value, i.region_offset, i.region_size, i.region_align);
  else if (key == "region_type")
    i.region_type = unescape(value);
  else if (key == "region_header")
    i.region_header = unescape(value);
  else if (key == "arguments_type")
    i.arguments_type = unescape(value);
  else if (key == "arguments_header")
    i.arguments_header = unescape(value);
  else if (key == "provider") {
    i.provider = next_word(value);
    return !i.provider.empty() && parse_number(value, i.provider_abi);
  } else if (key == "field") {
    return parse_field(value, i.fields.emplace_back());
  } else if (key == "arguments") {
    return parse_numbers(value, i.arguments_size, i.arguments_align);
  } else if (key == "argument") {
    return parse_field(value, i.arguments.emplace_back());
  } else if (key == "scratch") {
    return parse_scratch(value, i.scratch.emplace_back());
  } else if (key == "fact") {
    LaunchFact fact;
    const bool good = parse_fact(value, fact);
    i.facts.push_back(std::move(fact));
    return good;
  } else {
    return false;
  }
  return true;
}

inline bool parse_guard_line(std::string_view key, std::string_view value, LaunchGuard& guard) {
  const auto number = [&value](auto& out) { return parse_number(next_word(value), out); };
  if (key == "guard_claim") {
    LaunchGuard::Claim& c = guard.claims.emplace_back();
    c.kind = next_word(value);
    const bool good = number(c.offset) && number(c.bytes) && number(c.arrivals);
    c.name = value;
    for (const char* kind : {"buffer", "ring", "full", "empty", "mbarriers", "kernel"})
      if (c.kind == kind) return good && !c.name.empty();
    return false;
  }
  if (key == "guard_role") {
    LaunchGuard::Role& r = guard.roles.emplace_back();
    const bool good = number(r.first_warp) && number(r.warps);
    r.name = value;
    return good && !r.name.empty();
  }
  if (key == "guard_barrier") {
    LaunchGuard::Barrier& b = guard.barriers.emplace_back();
    const bool good = number(b.id);
    b.name = value;
    return good && !b.name.empty();
  }
  return false;
}

inline bool parse_launch_line(std::string_view key, std::string_view value, LaunchDescription& d) {
  if (key == "composition")
    d.composition = unescape(value);
  else if (key == "arch")
    d.arch = unescape(value);
  else if (key == "entry")
    d.entry = unescape(value);
  else if (key == "threads")
    return parse_number(value, d.threads);
  else if (key == "cluster")
    return parse_numbers(value, d.cluster[0], d.cluster[1], d.cluster[2]);
  else if (key == "blocks_per_sm")
    return parse_number(value, d.blocks_per_sm);
  else if (key == "resident")
    return parse_number(value, d.resident) && d.resident == 1;
  else if (key == "parameters")
    return parse_numbers(value, d.parameter_size, d.parameter_align);
  else if (key == "guard" && !d.guard) {
    d.guard.emplace();
    return parse_numbers(value, d.guard->parameter, d.guard->milliseconds);
  } else {
    return d.guard && parse_guard_line(key, value, *d.guard);
  }
  return true;
}

inline bool is_alignment(std::size_t value) {
  return value != 0 && value <= 4096 && (value & (value - 1)) == 0;
}

inline bool fields_fit(const std::vector<LaunchField>& fields, std::size_t size) {
  for (const LaunchField& f : fields)
    if (f.size > size || f.offset > size - f.size) return false;
  return true;
}

/// What a well-formed text may still get wrong; empty: nothing.
inline std::string launch_fault(const LaunchDescription& d) {
  if (d.composition.empty() || d.arch.empty() || d.entry.empty())
    return "composition, arch or entry is missing";
  if (d.threads == 0 || d.threads > 1024) return "threads must be 1 to 1024";
  if (d.blocks_per_sm == 0 || d.blocks_per_sm > 64) return "blocks_per_sm must be 1 to 64";
  for (const std::uint32_t c : d.cluster)
    if (c == 0 || c > 16) return "each cluster dimension must be 1 to 16";
  if (d.cluster[1] != 1 || d.cluster[2] != 1) return "a cluster must be one-dimensional: the grid is";
  if (d.parameter_size > 32764) return "the parameter block exceeds 32764 bytes";
  if (!is_alignment(d.parameter_align)) return "the parameter alignment must be a power of two up to 4096";
  if (d.guard && (d.guard->parameter % 8 != 0 || d.parameter_size < 8 ||
                  d.guard->parameter > d.parameter_size - 8 || d.guard->milliseconds == 0))
    return "the guard's parameter leaves the parameter block, or it has no time";
  for (std::size_t n = 0; n < d.instances.size(); ++n) {
    const LaunchInstance& i = d.instances[n];
    for (std::size_t m = 0; m < n; ++m)
      if (d.instances[m].name == i.name) return "instance " + i.name + " is there twice";
    if (i.name.empty() || i.component.empty()) return "an instance has no name or no component";
    if (i.region_size > d.parameter_size || i.region_offset > d.parameter_size - i.region_size)
      return "the region of " + i.name + " leaves the parameter block";
    if (!is_alignment(i.region_align) || i.region_offset % i.region_align != 0 ||
        i.region_align > d.parameter_align)
      return "the region of " + i.name + " is not aligned";
    if (i.provider.empty() && i.arguments_size) return i.name + " has arguments, but no provider";
    if (!is_alignment(i.arguments_align) || i.arguments_size > 32764)
      return "the arguments of " + i.name + " have no possible size or alignment";
    if (!fields_fit(i.fields, i.region_size) || !fields_fit(i.arguments, i.arguments_size))
      return "a field of " + i.name + " leaves its struct";
    for (const LaunchScratch& s : i.scratch)
      if (i.region_size < 8 || s.field > i.region_size - 8 || s.bytes == 0 || s.bytes > kMostScratch)
        return "the scratch " + s.name + " of " + i.name + " leaves its region, or has no possible size";
    for (std::size_t m = 0; m < n; ++m) {
      const LaunchInstance& other = d.instances[m];
      if (i.region_size && other.region_size && i.region_offset < other.region_offset + other.region_size &&
          other.region_offset < i.region_offset + i.region_size)
        return "the regions of " + other.name + " and " + i.name + " overlap";
    }
  }
  return "";
}

}  // namespace runtime_internal

inline Result<LaunchDescription> parse_launch(std::string_view text) {
  const auto bad = [](std::size_t line, const std::string& what) {
    return Error{ErrorCode::kBadDescription,
                 "launch description, line " + std::to_string(line) + ": " + what};
  };
  LaunchDescription d;
  bool heading = false;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view content = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!heading) {
      if (content != runtime_internal::kLaunchHeading)
        return bad(line, "expected `pipelink-launch/1`, found `" + std::string(content.substr(0, 40)) + "`");
      heading = true;
      continue;
    }
    if (content.empty()) continue;
    const std::size_t equals = content.find('=');
    if (equals == std::string_view::npos) return bad(line, "expected key=value");
    const std::string_view key = content.substr(0, equals), value = content.substr(equals + 1);
    if (key == "instance") {
      d.instances.emplace_back().name = value;
      continue;
    }
    const bool good = d.instances.empty()
                          ? runtime_internal::parse_launch_line(key, value, d)
                          : runtime_internal::parse_instance_line(key, value, d.instances.back());
    if (!good) return bad(line, "cannot read `" + std::string(content.substr(0, 120)) + "`");
  }
  if (!heading) return bad(1, "the text is empty");
  if (std::string fault = runtime_internal::launch_fault(d); !fault.empty())
    return Error{ErrorCode::kBadDescription, "launch description of " + d.composition + ": " + fault};
  return d;
}

}  // namespace pipelink
