// Running a composition: load its image, open a session on the caller's buffers, launch.
//
//     auto kernel = pipelink::gemm_swiglu::load();
//     if (!kernel) return report(kernel.error().message);
//     auto session = pipelink::gemm_swiglu::open(*kernel, {.gemm = {…}});
//     session->launch(stream);
//
// C++20, header-only; needs no CUDA toolkit. The driver is loaded when it is first used: without a GPU or a
// driver every function returns an Error. Link with dlopen (${CMAKE_DL_LIBS}).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipelink/loaded_kernel.h"

namespace pipelink {

/// A composition with its buffers bound: the parameter block in host memory, the grid, the cluster.
/// Move-only. `launch` may be called from several threads.
class Session {
 public:
  /// Enqueues the kernel. Allocates nothing and never synchronises; on a capturing stream it becomes a graph
  /// node. The driver copies the parameter block, so the session may end while the kernel runs; the lent
  /// buffers may not.
  /// A guarded kernel that found a fault is not launched again (kGuard): load it anew.
  Result<void> launch(Stream stream) const {
    const State& s = *state_;
    const runtime_internal::Driver& driver = s.kernel->driver;
    if (s.kernel->guard_records && s.kernel->guard_records->kind != 0) {
      const std::string report = guard_report();
      return Error{ErrorCode::kGuard,
                   s.kernel->launch.composition +
                       " is guarded, and an earlier launch failed: " + report.substr(0, report.find('\n'))};
    }
    runtime_internal::CurrentContext current(driver, s.kernel->device.context);
    runtime_internal::Status status = current.status();
    if (status == 0) {
      runtime_internal::LaunchConfig config = s.config;
      config.stream = stream;
      void* parameters[] = {s.block.data()};
      status = driver.launch(&config, s.kernel->function, s.block.size() ? parameters : nullptr, nullptr);
    }
    if (status == 0) return {};
    return driver.error(ErrorCode::kLaunch, "cannot launch " + s.kernel->launch.composition, status);
  }

  /// What a guarded kernel found in the launches of all its sessions, a line for each finding; empty:
  /// nothing, or the link is not guarded. Waits for nothing: synchronise with the stream first. It can also
  /// be asked while the kernel runs, and after a launch that ended with an error.
  std::string guard_report() const { return state_->kernel->guard_report(); }

  std::uint32_t blocks() const { return state_->config.grid[0]; }
  std::uint32_t threads() const { return state_->config.block[0]; }
  /// The parameter block as the kernel gets it.
  std::span<const std::byte> parameters() const { return {state_->block.data(), state_->block.size()}; }

 private:
  friend class Kernel;
  struct State {
    std::shared_ptr<const runtime_internal::LoadedKernel> kernel;
    runtime_internal::Block block;
    runtime_internal::LaunchAttribute cluster{};
    runtime_internal::LaunchConfig config{};
  };
  explicit Session(std::unique_ptr<State> state) : state_(std::move(state)) {}

  std::unique_ptr<State> state_;
};

/// A composition loaded into a context. Copies share it; it is unloaded with the last copy or session. Const
/// functions may be called from several threads.
class Kernel {
 public:
  /// Chooses the image for the device: the one for exactly its architecture, else the nearest that runs
  /// there.
  static Result<Kernel> load(std::span<const Image> images, const LoadOptions& options = {}) {
    using namespace runtime_internal;
    auto k = std::make_shared<LoadedKernel>();
    if (options.driver) {
      k->driver = *options.driver;
    } else {
      const auto machine = machine_driver();
      if (!machine) return machine.error();
      k->driver = **machine;
    }
    auto device = open_device(k->driver, options.device);
    if (!device) return device.error();
    k->device = *device;

    std::vector<std::string_view> archs;
    for (const Image& image : images) archs.push_back(image.arch);
    const auto chosen = choose_arch(archs, composition_of(images), k->device);
    if (!chosen) return chosen.error();
    const Image& image = images[*chosen];
    auto launch = parse_launch(image.launch);
    if (!launch) return launch.error();
    k->launch = std::move(*launch);
    const std::string subject = k->launch.composition + " for " + std::string(image.arch);
    if (k->launch.arch != image.arch)
      return Error{ErrorCode::kBadImage, "image and launch description of " + subject +
                                             " disagree: the description is for " + k->launch.arch};
    if (image.size < 64 || !image.data || std::memcmp(image.data, "\177ELF", 4) != 0)
      return Error{ErrorCode::kBadImage, "the image of " + subject + " is not a cubin"};
    if (auto done = resolve_providers(*k, options.providers); !done) return done.error();

    CurrentContext current(k->driver, k->device.context);
    if (current.status() != 0)
      return k->driver.error(ErrorCode::kNoDevice, "cannot use GPU " + k->device.name, current.status());
    if (const Status s = k->driver.module_load(&k->module, image.data); s != 0)
      return k->driver.error(ErrorCode::kBadImage, "cannot load " + subject, s);
    if (const Status s = k->driver.module_function(&k->function, k->module, k->launch.entry.c_str()); s != 0)
      return k->driver.error(ErrorCode::kBadImage,
                             "the image of " + subject + " has no kernel " + k->launch.entry, s);
    if (auto done = plan_grid(*k); !done) return done.error();
    if (auto done = prepare_guard(*k); !done) return done.error();
    return Kernel(std::move(k));
  }

  /// Calls the providers and builds the parameter block. Each argument is copied from; what it points to
  /// stays lent until the last launch has run.
  Result<Session> open(std::span<const Argument> arguments, const OpenOptions& options = {}) const {
    using namespace runtime_internal;
    std::vector<const Argument*> matched;
    if (auto done = match_arguments(*state_, arguments, matched); !done) return done.error();
    CurrentContext current(state_->driver, state_->device.context);
    if (current.status() != 0)
      return state_->driver.error(ErrorCode::kNoDevice, "cannot use GPU " + state_->device.name,
                                  current.status());
    auto requests = measure(*state_, matched);
    if (!requests) return requests.error();
    if (auto done = check_resident(*state_, requests->blocks); !done) return done.error();
    if (auto done = check_scratch(*state_, *requests, options); !done) return done.error();
    auto session = new_session(requests->blocks);
    if (!session->block.data()) return Error{ErrorCode::kBadArgument, "out of host memory"};
    if (auto done =
            call_providers(*state_, matched, PIPELINK_HOST_FILL, options.scratch, session->block, *requests);
        !done)
      return done.error();
    if (auto done = zero_scratch(*state_, *requests, options.scratch); !done) return done.error();
    tell_guard(*session);
    return Session(std::move(session));
  }

  /// For callers that fill the parameter block themselves: no provider is called. `blocks` 0: the persistent
  /// default.
  Result<Session> open_raw(std::span<const std::byte> parameters, std::uint32_t blocks = 0) const {
    const LaunchDescription& d = state_->launch;
    if (parameters.size() != d.parameter_size)
      return Error{ErrorCode::kBadArgument, "the parameter block of " + d.composition + " has " +
                                                std::to_string(d.parameter_size) + " bytes, given are " +
                                                std::to_string(parameters.size())};
    if (blocks % state_->cluster_size != 0)
      return Error{ErrorCode::kBadArgument, std::to_string(blocks) +
                                                " blocks are not a multiple of the cluster of " +
                                                std::to_string(state_->cluster_size)};
    if (auto done = runtime_internal::check_resident(*state_, blocks); !done) return done.error();
    auto session = new_session(blocks ? blocks : state_->default_blocks);
    if (!session->block.data()) return Error{ErrorCode::kBadArgument, "out of host memory"};
    if (!parameters.empty()) std::memcpy(session->block.data(), parameters.data(), parameters.size());
    tell_guard(*session);
    return Session(std::move(session));
  }

  /// How much device memory `open` wants lent for these arguments.
  Result<std::size_t> scratch_bytes(std::span<const Argument> arguments) const {
    std::vector<const Argument*> matched;
    if (auto done = runtime_internal::match_arguments(*state_, arguments, matched); !done)
      return done.error();
    runtime_internal::CurrentContext current(state_->driver, state_->device.context);
    auto requests = runtime_internal::measure(*state_, matched);
    if (!requests) return requests.error();
    return requests->scratch;
  }

  const LaunchDescription& launch() const { return state_->launch; }
  const Device& device() const { return state_->device; }
  /// Blocks of a grid that fills the device once.
  std::uint32_t default_blocks() const { return state_->default_blocks; }

 private:
  explicit Kernel(std::shared_ptr<const runtime_internal::LoadedKernel> state) : state_(std::move(state)) {}

  /// For messages: an image's text may be damaged, so its heading is not parsed in full.
  static std::string_view composition_of(std::span<const Image> images) {
    if (images.empty()) return "the composition";
    constexpr std::string_view key = "\ncomposition=";
    const std::string_view text = images.front().launch;
    const std::size_t start = text.find(key);
    if (start == std::string_view::npos) return "the composition";
    const std::size_t name = start + key.size();
    return text.substr(name, text.find('\n', name) - name);
  }

  /// Where the kernel's findings go is a parameter of its own.
  void tell_guard(Session::State& session) const {
    if (state_->launch.guard)
      std::memcpy(session.block.data() + state_->launch.guard->parameter, &state_->guard_address,
                  sizeof state_->guard_address);
  }

  std::unique_ptr<Session::State> new_session(std::uint32_t blocks) const {
    auto session = std::make_unique<Session::State>();
    session->kernel = state_;
    session->block = runtime_internal::Block(state_->launch.parameter_size, state_->launch.parameter_align);
    session->cluster = state_->cluster_attribute();
    session->config = state_->config(blocks, &session->cluster);
    return session;
  }

  std::shared_ptr<const runtime_internal::LoadedKernel> state_;
};

}  // namespace pipelink
