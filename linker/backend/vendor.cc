#include "linker/backend/vendor.h"

#include <dlfcn.h>

#include <cstdlib>

namespace pipelink {

SharedLibrary SharedLibrary::open(const char* file, std::string& error) {
  SharedLibrary library;
  std::string tried;
  const char* chosen = std::getenv("PIPELINK_TOOLKIT_LIBRARY_DIR");
  for (const char* folder : {chosen, static_cast<const char*>(PIPELINK_BUILD_TOOLKIT_LIBRARY_DIR), ""}) {
    if (folder == nullptr) continue;
    const std::string path = *folder != '\0' ? std::string(folder) + "/" + file : std::string(file);
    library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ == nullptr) continue;
    library.folder_ = folder;
    return library;
  }
  error = std::string(file) + " cannot be loaded from the CUDA toolkit's library folder";
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
