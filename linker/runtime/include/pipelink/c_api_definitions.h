// Defines the functions of c_api.h. The generated source of a composition includes it; all definitions are
// weak.
#pragma once

#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipelink/c_api.h"
#include "pipelink/runtime.h"

struct pipelink_kernel {
  pipelink::Kernel kernel;
  std::vector<std::vector<pipelink_field>>
      fields;  // of the instances that take arguments; views into `kernel`
  std::vector<pipelink_arguments_layout> arguments;
};

struct pipelink_session {
  pipelink::Session session;
};

#define PIPELINK_C_FUNCTION extern "C" __attribute__((weak, visibility("default")))

namespace pipelink::c_api_internal {

inline thread_local std::string last_error;
inline thread_local std::string last_report;

inline int fail(const Error& error) {
  last_error = error.message;
  return static_cast<int>(error.code);
}

/// No exception crosses the C boundary.
template <class Body>
int guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& e) {
    try {
      return fail({ErrorCode::kBadArgument, e.what(), 0});
    } catch (...) {
      return static_cast<int>(ErrorCode::kBadArgument);
    }
  } catch (...) {
    return static_cast<int>(ErrorCode::kBadArgument);
  }
}

inline int null_argument(const char* name) {
  return fail({ErrorCode::kBadArgument, std::string("`") + name + "` is null", 0});
}

inline Result<std::string> read_file(const char* path) {
  constexpr std::size_t kMost = std::size_t{256} << 20;  // a device may have no end
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "rb"), std::fclose);
  if (!file) return Error{ErrorCode::kFile, std::string("cannot open ") + path, 0};
  std::string bytes;
  char part[1 << 16];
  while (const std::size_t n = std::fread(part, 1, sizeof part, file.get())) {
    if (bytes.size() + n > kMost)
      return Error{ErrorCode::kFile, std::string(path) + " has more than 256 MiB: no link writes such a file",
                   0};
    bytes.append(part, n);
  }
  if (std::ferror(file.get())) return Error{ErrorCode::kFile, std::string("cannot read ") + path, 0};
  return bytes;
}

inline int give(Result<Kernel> kernel, pipelink_kernel** out) {
  if (!kernel) return fail(kernel.error());
  auto made = std::make_unique<pipelink_kernel>(pipelink_kernel{*std::move(kernel), {}, {}});
  for (const LaunchInstance& i : made->kernel.launch().instances) {
    if (!i.takes_arguments()) continue;
    const bool region = i.provider.empty();
    auto& fields = made->fields.emplace_back();
    for (const LaunchField& f : region ? i.fields : i.arguments)
      fields.push_back({f.name.c_str(), f.kind.c_str(), f.offset, f.size});
    made->arguments.push_back({i.name.c_str(), i.component.c_str(),
                               (region ? i.region_type : i.arguments_type).c_str(),
                               region ? i.region_size : i.arguments_size,
                               region ? i.region_align : i.arguments_align, fields.data(), fields.size()});
  }
  *out = made.release();
  return 0;
}

inline int give(Result<Session> session, pipelink_session** out) {
  if (!session) return fail(session.error());
  *out = new pipelink_session{*std::move(session)};
  return 0;
}

inline int load(std::span<const Image> images, const pipelink_provider* providers, std::size_t provider_count,
                int device, pipelink_kernel** out) {
  std::vector<Provider> table;
  for (std::size_t i = 0; providers && i < provider_count; ++i)
    table.push_back({providers[i].symbol, providers[i].function});
  LoadOptions options;
  options.device = device;
  options.providers = table;
  return give(Kernel::load(images, options), out);
}

inline std::vector<Argument> convert(const pipelink_argument* arguments, std::size_t count) {
  std::vector<Argument> out;
  for (std::size_t i = 0; arguments && i < count; ++i)
    out.push_back(
        {arguments[i].instance ? arguments[i].instance : "", arguments[i].data, arguments[i].size, false});
  return out;
}

}  // namespace pipelink::c_api_internal

// One translation unit includes this header: that is what it is for.
// NOLINTBEGIN(misc-definitions-in-headers)
PIPELINK_C_FUNCTION const char* pipelink_last_error(void) {
  return pipelink::c_api_internal::last_error.c_str();
}

PIPELINK_C_FUNCTION int pipelink_load(const pipelink_image* images, size_t image_count,
                                      const pipelink_provider* providers, size_t provider_count, int device,
                                      pipelink_kernel** kernel) {
  using namespace pipelink::c_api_internal;
  return guarded([&] {
    if (!kernel) return null_argument("kernel");
    *kernel = nullptr;
    std::vector<pipelink::Image> list;
    for (size_t i = 0; images && i < image_count; ++i)
      list.push_back({images[i].arch ? images[i].arch : "", images[i].data, images[i].size,
                      images[i].launch ? images[i].launch : ""});
    return load(list, providers, provider_count, device, kernel);
  });
}

PIPELINK_C_FUNCTION int pipelink_load_file(const char* cubin_path, const char* launch_path,
                                           const pipelink_provider* providers, size_t provider_count,
                                           int device, pipelink_kernel** kernel) {
  using namespace pipelink::c_api_internal;
  return guarded([&] {
    if (!kernel) return null_argument("kernel");
    *kernel = nullptr;
    if (!cubin_path) return null_argument("cubin_path");
    if (!launch_path) return null_argument("launch_path");
    auto cubin = read_file(cubin_path);
    if (!cubin) return fail(cubin.error());
    auto launch = read_file(launch_path);
    if (!launch) return fail(launch.error());
    const auto parsed = pipelink::parse_launch(*launch);
    if (!parsed)
      return fail({parsed.error().code, std::string(launch_path) + ": " + parsed.error().message, 0});
    const pipelink::Image image{parsed->arch, cubin->data(), cubin->size(), *launch};
    return load({&image, 1}, providers, provider_count, device, kernel);
  });
}

PIPELINK_C_FUNCTION void pipelink_close_kernel(pipelink_kernel* kernel) {
  delete kernel;
}

PIPELINK_C_FUNCTION const char* pipelink_kernel_arch(const pipelink_kernel* kernel) {
  return kernel ? kernel->kernel.launch().arch.c_str() : "";
}

PIPELINK_C_FUNCTION int pipelink_kernel_device(const pipelink_kernel* kernel) {
  return kernel ? kernel->kernel.device().ordinal : -1;
}

PIPELINK_C_FUNCTION size_t pipelink_arguments_count(const pipelink_kernel* kernel) {
  return kernel ? kernel->arguments.size() : 0;
}

PIPELINK_C_FUNCTION int pipelink_arguments(const pipelink_kernel* kernel, size_t index,
                                           pipelink_arguments_layout* layout) {
  using namespace pipelink::c_api_internal;
  return guarded([&] {
    if (!layout) return null_argument("layout");
    *layout = {};
    if (!kernel) return null_argument("kernel");
    if (index >= kernel->arguments.size())
      return fail({pipelink::ErrorCode::kBadArgument,
                   "there are " + std::to_string(kernel->arguments.size()) +
                       " instances with arguments, numbered from 0; " + std::to_string(index) +
                       " is none of them",
                   0});
    *layout = kernel->arguments[index];
    return 0;
  });
}

PIPELINK_C_FUNCTION int pipelink_scratch_bytes(const pipelink_kernel* kernel,
                                               const pipelink_argument* arguments, size_t argument_count,
                                               size_t* bytes) {
  using namespace pipelink::c_api_internal;
  return guarded([&] {
    if (!kernel) return null_argument("kernel");
    if (!bytes) return null_argument("bytes");
    const auto found = kernel->kernel.scratch_bytes(convert(arguments, argument_count));
    if (!found) return fail(found.error());
    *bytes = *found;
    return 0;
  });
}

PIPELINK_C_FUNCTION int pipelink_open(const pipelink_kernel* kernel, const pipelink_argument* arguments,
                                      size_t argument_count, uint64_t scratch, size_t scratch_size,
                                      pipelink_session** session) {
  using namespace pipelink::c_api_internal;
  return guarded([&] {
    if (!session) return null_argument("session");
    *session = nullptr;
    if (!kernel) return null_argument("kernel");
    return give(kernel->kernel.open(convert(arguments, argument_count), {scratch, scratch_size}), session);
  });
}

PIPELINK_C_FUNCTION int pipelink_open_raw(const pipelink_kernel* kernel, const void* parameters, size_t size,
                                          uint32_t blocks, pipelink_session** session) {
  using namespace pipelink::c_api_internal;
  return guarded([&] {
    if (!session) return null_argument("session");
    *session = nullptr;
    if (!kernel) return null_argument("kernel");
    if (!parameters && size) return null_argument("parameters");
    return give(kernel->kernel.open_raw({static_cast<const std::byte*>(parameters), size}, blocks), session);
  });
}

PIPELINK_C_FUNCTION int pipelink_launch(const pipelink_session* session, void* stream) {
  using namespace pipelink::c_api_internal;
  return guarded([&] {
    if (!session) return null_argument("session");
    const auto done = session->session.launch(static_cast<pipelink::Stream>(stream));
    return done ? 0 : fail(done.error());
  });
}

PIPELINK_C_FUNCTION uint32_t pipelink_session_blocks(const pipelink_session* session) {
  return session ? session->session.blocks() : 0;
}

PIPELINK_C_FUNCTION const char* pipelink_guard_report(const pipelink_session* session) {
  using namespace pipelink::c_api_internal;
  if (guarded([&] {
        last_report = session ? session->session.guard_report() : std::string();
        return 0;
      }) != 0)
    return "";
  return last_report.c_str();
}

PIPELINK_C_FUNCTION void pipelink_close_session(pipelink_session* session) {
  delete session;
}
// NOLINTEND(misc-definitions-in-headers)
