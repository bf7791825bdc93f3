"""NVRTC and nvJitLink through ctypes: what the linker does with them, done again without it."""
import ctypes
from pathlib import Path

from support import Skip

LTOIR = 3
OPTIONS = ["-arch=sm_90a", "-lto", "-O3", "-optimize-unused-variables", "-Xptxas=--warn-on-spills"]


def _library(nvcc, name):
    root = Path(nvcc).resolve().parent.parent
    for folder in ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"):
        for file in (root / folder / name, root.parent / folder / name):
            if file.exists():
                return ctypes.CDLL(str(file))
    raise Skip(f"there is no {name} beside the compiler")


class NvJitLink:
    def __init__(self, nvcc):
        self.library = _library(nvcc, "libnvJitLink.so.13")

    def _function(self, name):
        for suffix in ("", "_13_0", "_12_0"):
            found = getattr(self.library, f"nvJitLink{name}{suffix}", None) or getattr(
                self.library, f"__nvJitLink{name}{suffix}", None)
            if found:
                return found
        raise Skip(f"nvJitLink has no {name}")

    def link(self, inputs, kernel, *more):
        """(cubin or None, log) of LTO-IR inputs, in this order."""
        options = [o.encode() for o in (*OPTIONS, f"-kernels-used={kernel}", *more)]
        handle = ctypes.c_void_p()
        array = (ctypes.c_char_p * len(options))(*options)
        status = self._function("Create")(ctypes.byref(handle), ctypes.c_uint32(len(options)), array)
        for number, data in enumerate(inputs):
            status = status or self._function("AddData")(handle, LTOIR, data, ctypes.c_size_t(len(data)),
                                                         f"input{number}".encode())
        status = status or self._function("Complete")(handle)
        log = self._text(handle, "ErrorLog") + self._text(handle, "InfoLog")
        cubin = None
        if not status:
            size = ctypes.c_size_t()
            self._function("GetLinkedCubinSize")(handle, ctypes.byref(size))
            buffer = ctypes.create_string_buffer(size.value)
            self._function("GetLinkedCubin")(handle, buffer)
            cubin = buffer.raw
        self._function("Destroy")(ctypes.byref(handle))
        return cubin, log

    def _text(self, handle, what):
        size = ctypes.c_size_t()
        if self._function(f"Get{what}Size")(handle, ctypes.byref(size)) or size.value == 0:
            return ""
        buffer = ctypes.create_string_buffer(size.value)
        self._function(f"Get{what}")(handle, buffer)
        return buffer.value.decode(errors="replace")


class Nvrtc:
    def __init__(self, nvcc):
        self.library = _library(nvcc, "libnvrtc.so.13")
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        # Opened by its bare name later, and only in the system's own folders.
        self.builtins = _library(nvcc, f"libnvrtc-builtins.so.{major.value}.{minor.value}")

    def ltoir(self, source):
        program = ctypes.c_void_p()
        options = [b"--gpu-architecture=sm_90a", b"-dlto", b"-rdc=true", b"-std=c++20"]
        call = self.library
        status = call.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"glue.cu", 0, None, None)
        status = status or call.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        size = ctypes.c_size_t()
        if status:
            call.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            call.nvrtcGetProgramLog(program, log)
            raise RuntimeError(log.value.decode(errors="replace"))
        call.nvrtcGetLTOIRSize(program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        call.nvrtcGetLTOIR(program, data)
        return data.raw
