// How the runtime loads an image, settles grid and scratch with the providers and fills the parameter block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipelink/cuda_device.h"
#include "pipelink/driver.h"
#include "pipelink/guard_report.h"
#include "pipelink/launch_description.h"
#include "pipelink/result.h"
#include "pipelink/runtime_types.h"

namespace pipelink {
namespace runtime_internal {

inline constexpr std::size_t kScratchAlign = 256;

inline std::size_t round_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

/// Zeroed host memory of a given alignment.
class Block {
 public:
  Block() = default;
  Block(std::size_t size, std::size_t align) : size_(size) {
    const std::size_t unit = align < 64 ? 64 : align;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(unit, round_up(size ? size : 1, unit))));
    if (memory_) std::memset(memory_.get(), 0, round_up(size ? size : 1, unit));
  }
  std::byte* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_ = 0;
};

/// A loaded image. Immutable once loaded.
struct LoadedKernel {
  Driver driver;
  Device device;
  LaunchDescription launch;
  Module module = nullptr;
  Function function = nullptr;
  std::uint32_t cluster_size = 1;
  std::uint32_t default_blocks = 0;
  std::uint64_t resident_blocks = 0;                      // that fit the device at one time
  std::vector<pipelink_host_function_v1> providers;       // one per instance, null where it has none
  std::vector<std::vector<pipelink_host_fact_v1>> facts;  // views into `launch`
  volatile GuardRecord* guard_records = nullptr;  // of a guarded kernel: pinned, kGuardRecords of them
  DevicePointer guard_address = 0;                // the same for the device

  LoadedKernel() = default;
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  ~LoadedKernel() {
    if (module) {
      CurrentContext current(driver, device.context);
      if (current.status() == 0) driver.module_unload(module);
    }
    if (guard_records) {
      CurrentContext current(driver, device.context);
      if (current.status() == 0) driver.host_free(const_cast<GuardRecord*>(guard_records));
    }
    if (device.retained) driver.primary_release(device.ordinal);
  }

  /// The records that are complete; those of a running kernel may be incomplete.
  std::string guard_report() const {
    std::vector<GuardRecord> found;
    for (std::size_t n = 0; guard_records && n < kGuardRecords; ++n) {
      const volatile GuardRecord& r = guard_records[n];
      if (const std::uint32_t kind = r.kind; kind != 0)
        found.push_back({kind, r.block, r.thread, r.at, r.a, r.b, r.c, r.d});
    }
    return found.empty() ? std::string() : GuardReport(*launch.guard, std::move(found)).text();
  }

  LaunchAttribute cluster_attribute() const {
    LaunchAttribute attribute{};
    attribute.id = kLaunchClusterDimension;
    attribute.value.cluster = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
    return attribute;
  }

  LaunchConfig config(std::uint32_t blocks, LaunchAttribute* cluster) const {
    LaunchConfig c{};
    c.grid[0] = blocks;
    c.grid[1] = c.grid[2] = 1;
    c.block[0] = launch.threads;
    c.block[1] = c.block[2] = 1;
    c.attributes = cluster_size > 1 ? cluster : nullptr;  // a cluster of one block needs no attribute
    c.attribute_count = cluster_size > 1 ? 1 : 0;
    return c;
  }
};

/// Memory of the host for the findings of a guarded kernel: a trap leaves no other to read.
inline Result<void> prepare_guard(LoadedKernel& k) {
  if (!k.launch.guard) return {};
  constexpr std::size_t bytes = kGuardRecords * sizeof(GuardRecord);
  void* memory = nullptr;
  Status status = k.driver.host_alloc(&memory, bytes, kHostAllocMapped);
  if (status == 0) {
    std::memset(memory, 0, bytes);
    k.guard_records = static_cast<GuardRecord*>(memory);
    status = k.driver.host_address(&k.guard_address, memory, 0);
  }
  if (status == 0) return {};
  return k.driver.error(ErrorCode::kBadImage, "no pinned memory for the guard of " + k.launch.composition,
                        status);
}

inline Result<void> resolve_providers(LoadedKernel& k, std::span<const Provider> table) {
  for (const LaunchInstance& i : k.launch.instances) {
    pipelink_host_function_v1 function = nullptr;
    if (!i.provider.empty()) {
      if (i.provider_abi != PIPELINK_HOST_ABI)
        return Error{ErrorCode::kProvider, "the host provider of component " + i.component + " has ABI " +
                                               std::to_string(i.provider_abi) + "; this runtime speaks ABI " +
                                               std::to_string(PIPELINK_HOST_ABI)};
      for (const Provider& p : table)
        if (p.symbol && i.provider == p.symbol) function = p.function;
      if (!function)
        function = reinterpret_cast<pipelink_host_function_v1>(dlsym(RTLD_DEFAULT, i.provider.c_str()));
      if (!function)
        return Error{ErrorCode::kProvider, "no host provider " + i.provider + " for component " +
                                               i.component +
                                               ": its host library is not linked into this program"};
    }
    k.providers.push_back(function);
    auto& facts = k.facts.emplace_back();
    for (const LaunchFact& f : i.facts)
      facts.push_back({f.name.c_str(), static_cast<std::uint32_t>(f.type), 0, f.value, f.text.c_str()});
  }
  return {};
}

/// Holds the image to its description and finds the persistent default of the grid.
inline Result<void> plan_grid(LoadedKernel& k) {
  const LaunchDescription& d = k.launch;
  const std::string subject = d.composition + " for " + d.arch;
  if (k.driver.parameter_info) {
    std::size_t offset = 0, size = 0;
    const bool found = k.driver.parameter_info(k.function, 0, &offset, &size) == 0;
    if ((found ? size : 0) != d.parameter_size)
      return Error{ErrorCode::kBadImage,
                   "image and launch description of " + subject + " disagree: the kernel takes " +
                       std::to_string(found ? size : 0) + " bytes of parameters, described are " +
                       std::to_string(d.parameter_size)};
  }
  k.cluster_size = d.cluster[0] * d.cluster[1] * d.cluster[2];
  const auto want = static_cast<std::uint64_t>(k.device.multiprocessors) * d.blocks_per_sm;
  std::uint64_t blocks = want / k.cluster_size * k.cluster_size;
  if (k.cluster_size == 1) {
    int fit = 0;
    if (const Status s = k.driver.occupancy_blocks(&fit, k.function, static_cast<int>(d.threads), 0); s != 0)
      return k.driver.error(ErrorCode::kBadImage, "cannot plan the launch of " + subject, s);
    if (fit < static_cast<int>(d.blocks_per_sm))
      return Error{ErrorCode::kBadImage, subject + " was linked for " + std::to_string(d.blocks_per_sm) +
                                             " block(s) per multiprocessor, but " + std::to_string(fit) +
                                             " fit on " + k.device.name};
    k.resident_blocks = static_cast<std::uint64_t>(fit) * k.device.multiprocessors;
  } else {
    LaunchAttribute attribute = k.cluster_attribute();
    const LaunchConfig config = k.config(k.cluster_size, &attribute);
    int clusters = 0;
    if (const Status s = k.driver.occupancy_clusters(&clusters, k.function, &config); s != 0)
      return k.driver.error(ErrorCode::kBadImage, "cannot plan the launch of " + subject, s);
    const auto resident = static_cast<std::uint64_t>(clusters < 0 ? 0 : clusters) * k.cluster_size;
    k.resident_blocks = resident;
    blocks = blocks < resident
                 ? blocks
                 : resident;  // a whole cluster shares a GPC: some multiprocessors may stay idle
  }
  if (blocks == 0)
    return Error{ErrorCode::kBadImage, "no cluster of " + std::to_string(k.cluster_size) + " blocks of " +
                                           subject + " fits on " + k.device.name};
  k.default_blocks = static_cast<std::uint32_t>(blocks);
  return {};
}

/// Blocks that wait for each other must all be on the device.
inline Result<void> check_resident(const LoadedKernel& k, std::uint32_t blocks) {
  if (k.launch.resident == 0 || blocks <= k.resident_blocks) return {};
  return Error{ErrorCode::kBadArgument, "the blocks of " + k.launch.composition + " wait for each other: " +
                                            std::to_string(k.resident_blocks) + " fit on " + k.device.name +
                                            " at one time, asked for are " + std::to_string(blocks)};
}

/// What the providers asked for, settled.
struct Requests {
  std::uint32_t blocks = 0;  // of the grid, as the providers are told
  std::uint32_t asked = 0;   // the largest request
  std::size_t scratch = 0;
  std::vector<std::size_t> scratch_offset, scratch_bytes;  // per instance
  std::vector<bool> scratch_zero;
  std::vector<std::vector<std::size_t>> declared;  // offset of each instance's own claims
};

/// Of the whole grid.
inline std::uint64_t whole_scratch(const LaunchScratch& s, std::uint32_t blocks) {
  return s.per_block ? s.bytes * blocks : s.bytes;
}

inline Result<void> match_arguments(const LoadedKernel& k, std::span<const Argument> arguments,
                                    std::vector<const Argument*>& of_instance) {
  const auto names = [&k] {
    std::string text;
    for (const LaunchInstance& i : k.launch.instances)
      if (i.takes_arguments()) text += (text.empty() ? "" : ", ") + i.name;
    return text.empty() ? std::string("none") : text;
  };
  of_instance.assign(k.launch.instances.size(), nullptr);
  for (const Argument& a : arguments) {
    std::size_t n = 0;
    while (n < of_instance.size() && k.launch.instances[n].name != a.instance) ++n;
    if (n == of_instance.size() && a.optional) continue;
    if (n == of_instance.size() || !k.launch.instances[n].takes_arguments())
      return Error{ErrorCode::kBadArgument, "arguments for `" + std::string(a.instance) +
                                                "`: the instances of " + k.launch.composition +
                                                " with arguments are " + names()};
    if (of_instance[n])
      return Error{ErrorCode::kBadArgument,
                   "arguments for `" + std::string(a.instance) + "` were given twice"};
    if (!a.data)
      return Error{ErrorCode::kBadArgument, "arguments for `" + std::string(a.instance) + "` are null"};
    of_instance[n] = &a;
  }
  for (std::size_t n = 0; n < of_instance.size(); ++n) {
    const LaunchInstance& i = k.launch.instances[n];
    if (i.takes_arguments() && !of_instance[n])
      return Error{ErrorCode::kBadArgument,
                   "no arguments for instance " + i.name + " (component " + i.component + ")"};
    if (i.provider.empty() && i.region_size && of_instance[n]->size != i.region_size)
      return Error{ErrorCode::kBadArgument, "arguments for " + i.name + " have " +
                                                std::to_string(of_instance[n]->size) + " bytes; " +
                                                (i.region_type.empty() ? "its region" : i.region_type) +
                                                " has " + std::to_string(i.region_size)};
  }
  return {};
}

/// Fills every region of `block`. `requests` is written in the measuring pass and read in the other.
inline Result<void> call_providers(const LoadedKernel& k, const std::vector<const Argument*>& arguments,
                                   pipelink_host_pass pass, std::uint64_t scratch, const Block& block,
                                   Requests& requests) {
  const LaunchDescription& d = k.launch;
  for (std::size_t n = 0; n < d.instances.size(); ++n) {
    const LaunchInstance& i = d.instances[n];
    std::byte* region = block.data() + i.region_offset;
    pipelink_host_result_v1 result{sizeof(pipelink_host_result_v1), 0, 0, 0, 0};
    if (k.providers[n]) {
      std::memset(region, 0, i.region_size);
      char message[1024] = {};
      pipelink_host_context_v1 c{};
      c.abi = PIPELINK_HOST_ABI;
      c.size = sizeof c;
      c.pass = pass;
      c.component = i.component.c_str();
      c.instance = i.name.c_str();
      c.arch = d.arch.c_str();
      c.facts = k.facts[n].data();
      c.fact_count = k.facts[n].size();
      c.grid = {static_cast<std::uint32_t>(k.device.multiprocessors), requests.blocks, d.threads,
                {d.cluster[0], d.cluster[1], d.cluster[2]},           d.blocks_per_sm, 0};
      if (pass == PIPELINK_HOST_FILL && requests.scratch_bytes[n]) {
        c.scratch = scratch + requests.scratch_offset[n];
        c.scratch_size = requests.scratch_bytes[n];
      }
      c.tensor_map_encode_tiled = k.driver.tensor_map_encode_tiled;
      c.error = message;
      c.error_size = sizeof message;
      const int status =
          k.providers[n](&c, arguments[n]->data, arguments[n]->size, region, i.region_size, &result);
      message[sizeof message - 1] = 0;
      if (status != 0)
        return Error{ErrorCode::kProvider,
                     "instance " + i.name + " (component " + i.component + "): " +
                         (message[0] ? std::string(message)
                                     : "its host provider failed with " + std::to_string(status))};
    } else if (i.region_size) {
      std::memcpy(region, arguments[n]->data, i.region_size);
    }
    if (pass == PIPELINK_HOST_FILL)
      for (std::size_t s = 0; s < i.scratch.size(); ++s) {
        const std::uint64_t address = scratch + requests.declared[n][s];
        std::memcpy(region + i.scratch[s].field, &address, sizeof address);
      }
    if (pass != PIPELINK_HOST_MEASURE) continue;
    const std::size_t offset = round_up(requests.scratch, kScratchAlign);
    if (result.scratch_bytes > (std::uint64_t{1} << 48) - offset)
      return Error{ErrorCode::kProvider, "instance " + i.name + " asks for " +
                                             std::to_string(result.scratch_bytes) +
                                             " bytes of scratch: more than any GPU has"};
    requests.scratch_offset.push_back(offset);
    requests.scratch_bytes.push_back(result.scratch_bytes);
    requests.scratch_zero.push_back(result.scratch_zero != 0);
    if (result.scratch_bytes) requests.scratch = offset + result.scratch_bytes;
    if (result.blocks > requests.asked) requests.asked = result.blocks;
  }
  return {};
}

/// Behind what the providers asked for, and when the grid is known.
inline Result<void> claim_scratch(const LoadedKernel& k, Requests& requests) {
  for (const LaunchInstance& i : k.launch.instances) {
    std::vector<std::size_t>& offsets = requests.declared.emplace_back();
    for (const LaunchScratch& s : i.scratch) {
      const std::size_t offset = round_up(requests.scratch, kScratchAlign);
      const std::uint64_t most = kMostScratch / (s.per_block ? requests.blocks : 1);
      if (s.bytes > most || whole_scratch(s, requests.blocks) > kMostScratch - offset)
        return Error{ErrorCode::kScratch, "the scratch " + s.name + " of " + i.name + " has " +
                                              std::to_string(s.bytes) + " bytes for each of " +
                                              std::to_string(requests.blocks) +
                                              " blocks: more than any GPU has"};
      offsets.push_back(offset);
      requests.scratch = offset + whole_scratch(s, requests.blocks);
    }
  }
  return {};
}

/// The measuring pass: settles grid and scratch.
inline Result<Requests> measure(const LoadedKernel& k, const std::vector<const Argument*>& arguments) {
  Requests requests;
  requests.blocks = k.default_blocks;
  const Block draft(k.launch.parameter_size, k.launch.parameter_align);
  if (!draft.data()) return Error{ErrorCode::kBadArgument, "out of host memory"};
  if (auto done = call_providers(k, arguments, PIPELINK_HOST_MEASURE, 0, draft, requests); !done)
    return done.error();
  if (requests.asked) {
    const std::size_t rounded = round_up(requests.asked, k.cluster_size);
    if (rounded > 0x7fffffffu)
      return Error{ErrorCode::kProvider, "a host provider asks for " + std::to_string(requests.asked) +
                                             " blocks: a grid has at most 2147483647"};
    requests.blocks = static_cast<std::uint32_t>(rounded);
  }
  if (auto done = claim_scratch(k, requests); !done) return done.error();
  return requests;
}

inline Result<void> check_scratch(const LoadedKernel& k, const Requests& requests,
                                  const OpenOptions& options) {
  if (requests.scratch == 0) return {};
  if (options.scratch == 0 || options.scratch_size < requests.scratch)
    return Error{ErrorCode::kScratch, k.launch.composition + " needs " + std::to_string(requests.scratch) +
                                          " bytes of scratch, lent are " +
                                          std::to_string(options.scratch ? options.scratch_size : 0)};
  if (options.scratch % kScratchAlign != 0)
    return Error{ErrorCode::kScratch,
                 "scratch must be aligned to " + std::to_string(kScratchAlign) + " bytes"};
  return {};
}

/// Zeroes what providers and contracts want zeroed, and waits for it: the only work that `open` gives the
/// device.
inline Result<void> zero_scratch(const LoadedKernel& k, const Requests& requests, std::uint64_t scratch) {
  bool any = false;
  Status status = 0;
  for (std::size_t n = 0; n < requests.scratch_zero.size() && status == 0; ++n) {
    if (!requests.scratch_zero[n] || !requests.scratch_bytes[n]) continue;
    any = true;
    status = k.driver.memset8(scratch + requests.scratch_offset[n], 0, requests.scratch_bytes[n]);
  }
  for (std::size_t n = 0; n < k.launch.instances.size(); ++n)
    for (std::size_t s = 0; s < k.launch.instances[n].scratch.size() && status == 0; ++s) {
      const LaunchScratch& claim = k.launch.instances[n].scratch[s];
      if (!claim.zeroed) continue;
      any = true;
      status = k.driver.memset8(scratch + requests.declared[n][s], 0, whole_scratch(claim, requests.blocks));
    }
  if (any && status == 0) status = k.driver.stream_synchronize(nullptr);
  if (status != 0) return k.driver.error(ErrorCode::kScratch, "cannot zero the scratch", status);
  return {};
}

}  // namespace runtime_internal
}  // namespace pipelink
