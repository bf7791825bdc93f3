// What a guarded kernel found, in words. The kernel writes records to memory of the host; the launch
// description says which claim, role or barrier an address is of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipelink/launch_description.h"

namespace pipelink::runtime_internal {

/// pl_guard_record of templates/guard.cu.mustache.
struct GuardRecord {
  std::uint32_t kind, block, thread, at, a, b, c, d;
};
static_assert(sizeof(GuardRecord) == 32);

inline constexpr std::size_t kGuardRecords = 64;
inline constexpr std::uint32_t kGuardMbarrier = 1;  ///< at: offset; a: parity; b: microseconds waited
inline constexpr std::uint32_t kGuardBarrier = 2;   ///< at: id; a: threads; b: microseconds waited
inline constexpr std::uint32_t kGuardOverrun = 3;   ///< at: where the band begins; a, b: first and last wrong
                                                    ///< offset; c: how many; d: found, expected of both
inline constexpr std::uint32_t kGuardStuck = 4;     ///< at: warps that have not ended; a: blocks; b: ended
inline constexpr std::uint32_t kGuardAlso = 0x100;  ///< of a wait: another one had failed already
inline constexpr std::uint32_t kGuardJustBegun = 1000;  ///< microseconds; a shorter wait tells nothing

class GuardReport {
 public:
  GuardReport(const LaunchGuard& guard, std::vector<GuardRecord> records)
      : guard_(guard), records_(std::move(records)) {}

  /// A line for each finding: first the wait that failed and what else waited then, then overruns. Empty if
  /// there is none.
  std::string text() const {
    std::string out;
    for (const GuardRecord& r : records_)
      if (r.kind == kGuardMbarrier || r.kind == kGuardBarrier)
        out += "timeout: " + who(r) + " waited " + time(r.b) + " for " + what(r) + "\n";
    for (const GuardRecord& r : records_)
      if (r.kind & kGuardAlso && r.b >= kGuardJustBegun)
        out += "  also: " + who(r) + " waited " + time(r.b) + " for " + what(r) + "\n";
    for (const GuardRecord& r : records_)
      if (r.kind == kGuardStuck) out += stuck(r);
    out += overruns();
    if (records_.size() >= kGuardRecords) out += "there may be more: the record is full\n";
    return out;
  }

 private:
  static std::string number(std::uint32_t n) { return std::to_string(n); }
  static std::string time(std::uint32_t microseconds) {
    const std::uint32_t ms = microseconds / 1000;
    return number(ms / 1000) + "." + number(ms % 1000 / 100) + number(ms % 100 / 10) + number(ms % 10) + " s";
  }
  static std::string hex(std::uint32_t byte) {
    constexpr const char* digits = "0123456789abcdef";
    return std::string("0x") + digits[byte >> 4 & 15] + digits[byte & 15];
  }

  std::string role_of(std::uint32_t warp) const {
    for (const LaunchGuard::Role& r : guard_.roles)
      if (warp >= r.first_warp && warp < r.first_warp + r.warps) return "role " + r.name;
    return "no role";
  }
  std::string who(const GuardRecord& r) const {
    return role_of(r.thread / 32) + " (block " + number(r.block) + ", warp " + number(r.thread / 32) +
           ", thread " + number(r.thread) + ")";
  }

  std::string what(const GuardRecord& r) const {
    if ((r.kind & ~kGuardAlso) == kGuardBarrier) {
      std::string names;
      for (const LaunchGuard::Barrier& b : guard_.barriers)
        if (b.id == r.at) names += (names.empty() ? "" : " or ") + b.name;
      return "named barrier " + names + " of " + number(r.a) + " threads";
    }
    for (const LaunchGuard::Claim& c : guard_.claims) {
      if (c.arrivals == 0 || r.at < c.offset || r.at >= c.offset + c.bytes) continue;
      const std::string index = number((r.at - c.offset) / 8);
      const std::string which = c.kind == "mbarriers"
                                    ? "mbarrier " + c.name + "[" + index + "]"
                                    : "the " + c.kind + " barrier of ring " + c.name + ", stage " + index;
      return which + ", parity " + number(r.a) + ", which " + number(c.arrivals) +
             (c.arrivals == 1 ? " arrival completes" : " arrivals complete");
    }
    return "an mbarrier at offset " + number(r.at) + ", which nobody claims";
  }

  std::string stuck(const GuardRecord& r) const {
    if (r.at == 0)
      return "stuck: " + number(r.a - r.b) + " of " + number(r.a) + " blocks did not end after that\n";
    std::string names;
    for (std::uint32_t w = 0; w < 32; ++w)
      if (r.at >> w & 1)
        names += (names.empty() ? "" : ", ") + std::string("warp ") + number(w) + " (" + role_of(w) + ")";
    return "stuck: in block " + number(r.block) + " " + names +
           " did not end after that: the code waits where no guard sees it\n";
  }

  /// The nearest claim names an overrun; the same one in many blocks is one line.
  std::string overruns() const {
    struct Line {
      std::string text, values;
      std::uint32_t blocks = 0, first = 0;
    };
    std::vector<Line> lines;
    for (const GuardRecord& r : records_) {
      if (r.kind != kGuardOverrun) continue;
      auto [text, values] = overrun(r);
      const auto same =
          std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.text == text; });
      if (same == lines.end()) {
        lines.push_back({std::move(text), std::move(values), 1, r.block});
        continue;
      }
      ++same->blocks;
      if (r.block > same->first) continue;
      same->first = r.block;
      same->values = std::move(values);
    }
    std::string out;
    for (const Line& l : lines)
      out += "overrun: " + l.text + "; " + l.values + " in block " + number(l.first) +
             (l.blocks == 1 ? "" : ", and in " + number(l.blocks - 1) + " more") + "\n";
    return out;
  }

  /// Where, and what is there: the latter is another in each block.
  std::pair<std::string, std::string> overrun(const GuardRecord& r) const {
    const LaunchGuard::Claim *below = nullptr, *above = nullptr;
    const auto end = [](const LaunchGuard::Claim& c) { return c.offset + c.bytes; };
    for (const LaunchGuard::Claim& c : guard_.claims) {
      if (end(c) <= r.a && (!below || end(c) > end(*below))) below = &c;
      if (c.offset > r.b && (!above || c.offset < above->offset)) above = &c;
    }
    const std::uint32_t past = below ? r.a - end(*below) + 1 : UINT32_MAX;
    const std::uint32_t ahead = above ? above->offset - r.b : UINT32_MAX;
    const bool after = past <= ahead;
    const LaunchGuard::Claim* near = after ? below : above;
    std::string where = "byte " + number(after ? past : ahead) + (after ? " after " : " before ") +
                        (near ? name(*near) : std::string("nothing"));
    if (r.c > 1)
      where += ", " + number(r.c) + " wrong bytes up to " +
               (after ? "byte " + number(r.b - r.a + past) + " after it"
                      : "byte " + number(above->offset - r.a) + " before it");
    return {std::move(where),
            hex(after ? r.d : r.d >> 16) + " instead of " + hex(after ? r.d >> 8 : r.d >> 24)};
  }

  static std::string name(const LaunchGuard::Claim& c) {
    if (c.kind == "kernel") return "the kernel's own words (" + c.name + ")";
    if (c.kind == "full" || c.kind == "empty") return "the " + c.kind + " barriers of ring " + c.name;
    return c.kind + " " + c.name + " of " + number(c.bytes) + " bytes";
  }

  const LaunchGuard& guard_;
  std::vector<GuardRecord> records_;
};

}  // namespace pipelink::runtime_internal
