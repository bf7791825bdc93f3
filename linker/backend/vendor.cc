#include "linker/backend/vendor.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>

namespace pipelink {

constexpr std::string_view kNoRoom = " does not fit into the address space that its process may have";

bool lacks_address_space(std::string_view error) {
  return error.ends_with(kNoRoom);
}

/// Whether the process may still map what the larger of the libraries takes. The loader's own words do not
/// tell a limit from a file that must not be executed.
static bool has_room() {
  constexpr std::size_t kLibrary = std::size_t{256} << 20;
  void* const at = mmap(nullptr, kLibrary, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  munmap(at, kLibrary);
  return true;
}

SharedLibrary SharedLibrary::open(const char* file, std::string& error) {
  SharedLibrary library;
  bool no_room = false;
  const char* chosen = std::getenv("PIPELINK_TOOLKIT_LIBRARY_DIR");
  for (const char* folder : {chosen, static_cast<const char*>(PIPELINK_BUILD_TOOLKIT_LIBRARY_DIR), ""}) {
    if (folder == nullptr) continue;
    const std::string path = *folder != '\0' ? std::string(folder) + "/" + file : std::string(file);
    library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ == nullptr) {
      const char* said = dlerror();
      const std::string why = said != nullptr ? said : "";
      const bool there = why.find("cannot open shared object file") == std::string::npos;
      no_room = no_room || (there && !has_room());
      continue;
    }
    library.folder_ = folder;
    return library;
  }
  error =
      file + (no_room ? std::string(kNoRoom) : " cannot be loaded from the CUDA toolkit's library folder");
  return library;
}

void SharedLibrary::preload(const std::string& file) const {
  if (!folder_.empty()) dlopen((folder_ + "/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
}

void* SharedLibrary::symbol(const char* name) const {
  return dlsym(handle_, name);
}

namespace {

template <class F>
bool find(const SharedLibrary& library, const char* name, F& function, std::string& error) {
  function = reinterpret_cast<F>(library.symbol(name));
  if (function == nullptr) error = std::string("the library has no ") + name;
  return function != nullptr;
}

}  // namespace

bool Nvrtc::load(Nvrtc& api, std::string& error) {
  const SharedLibrary library = SharedLibrary::open("libnvrtc.so.13", error);
  const bool whole = library && find(library, "nvrtcVersion", api.version, error) &&
                     find(library, "nvrtcGetErrorString", api.error_string, error) &&
                     find(library, "nvrtcCreateProgram", api.create, error) &&
                     find(library, "nvrtcCompileProgram", api.compile, error) &&
                     find(library, "nvrtcGetProgramLogSize", api.log_size, error) &&
                     find(library, "nvrtcGetProgramLog", api.log, error) &&
                     find(library, "nvrtcGetLTOIRSize", api.ltoir_size, error) &&
                     find(library, "nvrtcGetLTOIR", api.ltoir, error);
  if (!whole) return false;
  // NVRTC opens this one by its bare name, and only the system's own folders are searched for it.
  int major = 0, minor = 0;
  api.version(&major, &minor);
  library.preload("libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor));
  return true;
}

bool NvJitLink::load(NvJitLink& api, std::string& error) {
  const SharedLibrary library = SharedLibrary::open("libnvJitLink.so.13", error);
  return library && find(library, "nvJitLinkVersion", api.version, error) &&
         find(library, "nvJitLinkCreate", api.create, error) &&
         find(library, "nvJitLinkAddData", api.add, error) &&
         find(library, "nvJitLinkComplete", api.complete, error) &&
         find(library, "nvJitLinkGetErrorLogSize", api.error_size, error) &&
         find(library, "nvJitLinkGetErrorLog", api.error, error) &&
         find(library, "nvJitLinkGetInfoLogSize", api.info_size, error) &&
         find(library, "nvJitLinkGetInfoLog", api.info, error) &&
         find(library, "nvJitLinkGetLinkedCubinSize", api.cubin_size, error) &&
         find(library, "nvJitLinkGetLinkedCubin", api.cubin, error) &&
         find(library, "nvJitLinkGetLinkedPtxSize", api.ptx_size, error) &&
         find(library, "nvJitLinkGetLinkedPtx", api.ptx, error);
}

}  // namespace pipelink
