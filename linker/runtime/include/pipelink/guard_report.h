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
/// Of a wait: at: offset, or id of the named barrier; a: parity, or threads; b: of a named barrier, the warps
/// that have come; c: microseconds waited; d: when it began, in microseconds.
inline constexpr std::uint32_t kGuardMbarrier = 1;
inline constexpr std::uint32_t kGuardBarrier = 2;
/// at: where the band begins; a, b: first and last wrong offset; c: how many; d: found and expected of both.
inline constexpr std::uint32_t kGuardOverrun = 3;
/// at: warps that have not ended, or 0; a: blocks; b: blocks that have ended.
inline constexpr std::uint32_t kGuardStuck = 4;
/// Added to a wait's kind: another one had failed before.
inline constexpr std::uint32_t kGuardAlso = 0x100;
inline constexpr std::uint32_t kGuardJustBegun = 1000;  ///< microseconds; a shorter wait tells nothing

class GuardReport {
 public:
  GuardReport(const LaunchGuard& guard, std::vector<GuardRecord> records)
      : guard_(guard), records_(std::move(records)) {}

  /// A line for each finding: waits, the likely cause first, then overruns. Empty if there is none.
  std::string text() const {
    std::string out = waits();
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

  const LaunchGuard::Claim* mbarrier_at(std::uint32_t offset) const {
    for (const LaunchGuard::Claim& c : guard_.claims)
      if (c.arrivals != 0 && offset >= c.offset && offset < c.offset + c.bytes) return &c;
    return nullptr;
  }

  std::string what(const GuardRecord& r) const {
    if ((r.kind & ~kGuardAlso) == kGuardBarrier) {
      std::string names;
      for (const LaunchGuard::Barrier& b : guard_.barriers)
        if (b.id == r.at) names += (names.empty() ? "" : " or ") + b.name;
      return "named barrier " + names + ": " + number(r.b) + " of " + number(r.a / 32) + " warps came";
    }
    const LaunchGuard::Claim* c = mbarrier_at(r.at);
    if (!c) return "an mbarrier at offset " + number(r.at) + ", which nobody claims";
    const std::string index = number((r.at - c->offset) / 8);
    const std::string which = c->kind == "mbarriers"
                                  ? "mbarrier " + c->name + "[" + index + "]"
                                  : "the " + c->kind + " barrier of ring " + c->name + ", stage " + index;
    return which + ", parity " + number(r.a) + ", which takes " + number(c->arrivals) +
           (c->arrivals == 1 ? " arrival" : " arrivals");
  }

  /// The likely cause is what began to be waited for first: the others wait because of it.
  std::string waits() const {
    std::vector<GuardRecord> list;
    for (const GuardRecord& r : records_) {
      const std::uint32_t kind = r.kind & ~kGuardAlso;
      if (kind != kGuardMbarrier && kind != kGuardBarrier) continue;
      if (r.kind & kGuardAlso && r.c < kGuardJustBegun) continue;
      list.push_back(r);
    }
    if (list.empty()) return "";
    const auto began = [&](const GuardRecord& r) { return static_cast<std::int32_t>(r.d - list.front().d); };
    std::vector<std::size_t> order(list.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return began(list[a]) < began(list[b]); });
    std::string out;
    for (const std::size_t i : order)
      out += (out.empty() ? "timeout: " : "  also: ") + who(list[i]) + " waited " + time(list[i].c) +
             " for " + what(list[i]) + "\n";
    return out;
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
      std::pair<std::string, std::string> found = overrun(r);
      const auto same =
          std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.text == found.first; });
      if (same == lines.end()) {
        lines.push_back({std::move(found.first), std::move(found.second), 1, r.block});
        continue;
      }
      ++same->blocks;
      if (r.block > same->first) continue;
      same->first = r.block;
      same->values = std::move(found.second);
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
