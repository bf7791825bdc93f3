// NVRTC and nvJitLink, loaded at run time. Used in the child only.
#pragma once

#include <nvJitLink.h>
#include <nvrtc.h>

#include <memory>
#include <string>
#include <string_view>

namespace pipelink {

/// Whether a library was not loaded for want of memory, by the `error` of open() and load().
bool lacks_address_space(std::string_view error);

/// A library that stays loaded as long as the process.
class SharedLibrary {
 public:
  /// Tries the folder found when PipeLink was built, then the loader's own search. `error` says why there is
  /// none.
  static SharedLibrary open(const char* file, std::string& error);
  explicit operator bool() const { return handle_ != nullptr; }
  void* symbol(const char* name) const;
  /// Loads another library of the same folder, if there is one, so that this one finds it by its name.
  void preload(const std::string& file) const;

 private:
  std::string folder_;
  void* handle_ = nullptr;
};

struct Nvrtc {
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) error_string = nullptr;
  decltype(&::nvrtcCreateProgram) create = nullptr;
  decltype(&::nvrtcCompileProgram) compile = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
  decltype(&::nvrtcGetLTOIRSize) ltoir_size = nullptr;
  decltype(&::nvrtcGetLTOIR) ltoir = nullptr;
  static bool load(Nvrtc& api, std::string& error);
};

struct NvJitLink {
  nvJitLinkResult (*version)(unsigned*, unsigned*) = nullptr;
  nvJitLinkResult (*create)(nvJitLinkHandle*, std::uint32_t, const char**) = nullptr;
  nvJitLinkResult (*add)(nvJitLinkHandle, nvJitLinkInputType, const void*, std::size_t,
                         const char*) = nullptr;
  nvJitLinkResult (*complete)(nvJitLinkHandle) = nullptr;
  nvJitLinkResult (*error_size)(nvJitLinkHandle, std::size_t*) = nullptr;
  nvJitLinkResult (*error)(nvJitLinkHandle, char*) = nullptr;
  nvJitLinkResult (*info_size)(nvJitLinkHandle, std::size_t*) = nullptr;
  nvJitLinkResult (*info)(nvJitLinkHandle, char*) = nullptr;
  nvJitLinkResult (*cubin_size)(nvJitLinkHandle, std::size_t*) = nullptr;
  nvJitLinkResult (*cubin)(nvJitLinkHandle, void*) = nullptr;
  nvJitLinkResult (*ptx_size)(nvJitLinkHandle, std::size_t*) = nullptr;
  nvJitLinkResult (*ptx)(nvJitLinkHandle, char*) = nullptr;
  static bool load(NvJitLink& api, std::string& error);
};

}  // namespace pipelink
