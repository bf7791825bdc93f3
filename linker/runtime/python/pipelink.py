"""Runs PipeLink's compositions from Python, on tensors that stay where they are.

    kernel = pipelink.load("libsquares.so")             # what the CMake target squares.shared builds
    session = kernel.open({"fill": {"out": tensor}})    # for each instance, the fields that its component names
    session.launch()                                    # on PyTorch's current stream

One file; it needs Python 3.9 and nothing else. A tensor is an object of any library that speaks DLPack (PyTorch, CuPy,
JAX): its address is taken, nothing is copied. Wrong arguments raise TypeError or ValueError, what the library refuses
raises Error, and a machine without a driver or a GPU for the kernel raises Unavailable.
"""

import ctypes
import operator
import os
import struct
import sys
import weakref

__all__ = ["Error", "Kernel", "Session", "Unavailable", "View", "load", "view"]


class Error(RuntimeError):
    """What the library says, in its words. `code` is the ErrorCode of <pipelink/result.h>."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Unavailable(Error):
    """There is no driver, a driver that is too old, no GPU, or none that the composition was linked for."""


# ---- the C API: linker/runtime/include/pipelink/c_api.h --------------------------------------------------------------


class _Field(ctypes.Structure):  # pipelink_field
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_char_p), ("offset", ctypes.c_size_t), ("size", ctypes.c_size_t)]


class _Layout(ctypes.Structure):  # pipelink_arguments_layout
    _fields_ = [("instance", ctypes.c_char_p), ("component", ctypes.c_char_p), ("type", ctypes.c_char_p),
                ("size", ctypes.c_size_t), ("align", ctypes.c_size_t), ("fields", ctypes.POINTER(_Field)),
                ("field_count", ctypes.c_size_t)]


class _Argument(ctypes.Structure):  # pipelink_argument
    _fields_ = [("instance", ctypes.c_char_p), ("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _Provider(ctypes.Structure):  # pipelink_provider
    _fields_ = [("symbol", ctypes.c_char_p), ("function", ctypes.c_void_p)]


_POINTER, _SIZE, _TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
_OUT = ctypes.POINTER(ctypes.c_void_p)
_FUNCTIONS = {  # name: (result, parameters)
    "pipelink_load_file": (ctypes.c_int, [_TEXT, _TEXT, ctypes.POINTER(_Provider), _SIZE, ctypes.c_int, _OUT]),
    "pipelink_close_kernel": (None, [_POINTER]),
    "pipelink_kernel_arch": (_TEXT, [_POINTER]),
    "pipelink_kernel_device": (ctypes.c_int, [_POINTER]),
    "pipelink_arguments_count": (_SIZE, [_POINTER]),
    "pipelink_arguments": (ctypes.c_int, [_POINTER, _SIZE, ctypes.POINTER(_Layout)]),
    "pipelink_scratch_bytes": (ctypes.c_int, [_POINTER, ctypes.POINTER(_Argument), _SIZE, ctypes.POINTER(_SIZE)]),
    "pipelink_open": (ctypes.c_int, [_POINTER, ctypes.POINTER(_Argument), _SIZE, ctypes.c_uint64, _SIZE, _OUT]),
    "pipelink_launch": (ctypes.c_int, [_POINTER, _POINTER]),
    "pipelink_session_blocks": (ctypes.c_uint32, [_POINTER]),
    "pipelink_guard_report": (_TEXT, [_POINTER]),
    "pipelink_close_session": (None, [_POINTER]),
    "pipelink_last_error": (_TEXT, []),
}


class _Library:
    def __init__(self, path):
        try:
            self.functions = ctypes.CDLL(path)
        except OSError as error:
            raise FileNotFoundError(f"cannot load the library of a composition: {error}") from None
        for name, (result, parameters) in _FUNCTIONS.items():
            function = self.symbol(name)
            function.restype, function.argtypes = result, parameters
            setattr(self, name.removeprefix("pipelink_"), function)

    def symbol(self, name):
        try:
            return getattr(self.functions, name)
        except AttributeError:
            raise ValueError(f"{self.functions._name} has no function {name}: build it with the CMake target "
                             "COMPOSITION.shared of this PipeLink") from None

    def check(self, status):
        if status != 0:
            raise (Unavailable if status <= 4 else Error)(status, self.last_error().decode(errors="replace"))


# ---- tensors: DLPack -------------------------------------------------------------------------------------------------


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_CUDA_DEVICES = (2, 13)  # kDLCUDA, kDLCUDAManaged
_DEVICE_NAMES = {1: "the CPU", 3: "the CPU (pinned)", 10: "a ROCm device"}
_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


class View:
    """A contiguous tensor in a GPU's memory: its address, dtype ("bfloat16"), shape and GPU. Keeps the tensor alive."""

    def __init__(self, owner, address, dtype, shape, device, size):
        self.owner, self.address, self.dtype, self.shape, self.device, self.size = owner, address, dtype, shape, device, size


def view(tensor, name="tensor", *, dtype=None, shape=None, device=None):
    """The View of a tensor, or an error that says what is wrong with the tensor called `name`.

    `shape` has a number or None (any) for each dimension; None for shape, dtype ("bfloat16", "float32", "int32", …) or
    device (a GPU's number) accepts any. The tensor must be row-major without gaps.
    """
    if not hasattr(tensor, "__dlpack__") or not hasattr(tensor, "__dlpack_device__"):
        raise TypeError(f"{name} is of type {type(tensor).__name__}, which is no tensor: it has no __dlpack__")
    kind, number = (int(x) for x in tensor.__dlpack_device__())
    if kind not in _CUDA_DEVICES:
        raise ValueError(f"{name} is on {_DEVICE_NAMES.get(kind, f'a device of DLPack type {kind}')}, not on a CUDA GPU")
    if device is not None and number != device:
        raise ValueError(f"{name} is on GPU {number}, but the kernel is loaded on GPU {device}")
    try:
        capsule = tensor.__dlpack__(stream=-1)  # no synchronisation: launches follow in the order of their stream
    except BufferError as error:
        raise TypeError(f"{name} cannot be lent: {error}") from None
    if not _capsule_is_valid(capsule, b"dltensor"):
        raise TypeError(f"{name}: its __dlpack__ returned no capsule named dltensor")
    found = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    if found.lanes != 1:
        raise TypeError(f"{name} has elements of {found.lanes} lanes; 1 was expected")
    found_dtype = "bool" if found.code == 6 else f"{_CODES.get(found.code, f'dlpack-{found.code}-')}{found.bits}"
    if dtype is not None and found_dtype != dtype:
        raise TypeError(f"{name} has dtype {found_dtype}; {dtype} was expected")
    extents = tuple(found.shape[i] for i in range(found.ndim))
    if shape is not None and (len(shape) != len(extents) or any(w is not None and w != e for w, e in zip(shape, extents))):
        wanted = ", ".join("any" if w is None else str(w) for w in shape)
        raise ValueError(f"{name} has shape {list(extents)}; [{wanted}] was expected")
    count = 1
    for i in reversed(range(found.ndim)):
        if found.strides and extents[i] != 1 and found.strides[i] != count and 0 not in extents:
            raise ValueError(f"{name} is not contiguous: dimension {i} of shape {list(extents)} has stride "
                             f"{found.strides[i]}, not {count}; make it so with .contiguous()")
        count *= extents[i]
    return View(tensor, (found.data or 0) + found.byte_offset, found_dtype, extents, number, (count * found.bits + 7) // 8)


# ---- arguments -------------------------------------------------------------------------------------------------------


def _fill_field(name, field, value, device, lent):
    """The bytes of one field. Tensors are appended to `lent`."""
    kind, size = field
    if kind == "pointer":
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            value = value or 0
            if not 0 <= value < 1 << 64:
                raise ValueError(f"{name} is {value}, which is no address")
            return struct.pack("<Q", value)
        lent.append(value if isinstance(value, View) else view(value, name, device=device))
        if lent[-1].device != device:
            raise ValueError(f"{name} is on GPU {lent[-1].device}, but the kernel is loaded on GPU {device}")
        return struct.pack("<Q", lent[-1].address)
    if kind == "boolean":
        if not isinstance(value, bool):
            raise TypeError(f"{name} is {value!r}; True or False was expected")
        return bytes([value])
    if kind in ("signed", "unsigned"):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{name} is {value!r}; an int was expected")
        try:
            return operator.index(value).to_bytes(size, "little", signed=kind == "signed")
        except OverflowError:
            raise ValueError(f"{name} is {value}, which {size} bytes ({kind}) cannot hold") from None
    if kind == "real":
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{name} is {value!r}; a float was expected")
        try:
            return struct.pack("<f" if size == 4 else "<d", value)
        except OverflowError:
            raise ValueError(f"{name} is {value}, which {size} bytes (real) cannot hold") from None
    data = bytes(value) if isinstance(value, (bytes, bytearray, ctypes.Structure)) else None
    if data is None or len(data) != size:
        raise TypeError(f"{name} is a C++ object: give its {size} bytes")
    return data


class _Arguments:
    """The array for pipelink_open, with what it points to."""

    def __init__(self, layouts, values, device):
        self.lent, self.blocks = [], []
        for instance in values:
            if instance not in layouts:
                raise ValueError(f"no instance {instance} takes arguments; there are: {', '.join(layouts) or 'none'}")
        missing = [instance for instance in layouts if instance not in values]
        if missing:
            raise ValueError(f"arguments are missing for: {', '.join(missing)}")
        for instance, given in values.items():
            self.blocks.append((instance.encode(), self.block(instance, layouts[instance], given, device)))
        self.array = (_Argument * len(self.blocks))(
            *(_Argument(name, ctypes.cast(block, ctypes.c_void_p), len(block)) for name, block in self.blocks))

    def block(self, instance, layout, given, device):
        if isinstance(given, (bytes, bytearray, ctypes.Structure)):
            data = bytes(given)
        elif not layout["fields"]:
            raise TypeError(f"the author of {layout['component']} listed no fields of {layout['type']}: give the struct of "
                            f"{instance} as bytes or as a ctypes.Structure")
        elif not isinstance(given, dict):
            raise TypeError(f"{instance} needs a dict of {', '.join(layout['fields'])}, not {type(given).__name__}")
        else:
            if set(given) != set(layout["fields"]):
                raise ValueError(f"{instance} ({layout['type']}) has the fields {', '.join(layout['fields'])}; given are "
                                 f"{', '.join(map(str, given)) or 'none'}")
            data = bytearray(layout["size"])
            for name, (offset, kind, size) in layout["fields"].items():
                data[offset:offset + size] = _fill_field(f"{instance}.{name}", (kind, size), given[name], device, self.lent)
        if layout["size"] and len(data) != layout["size"]:
            raise ValueError(f"the arguments of {instance} have {len(data)} bytes; {layout['type']} has {layout['size']}")
        return ctypes.create_string_buffer(bytes(data), len(data))


# ---- kernels and sessions --------------------------------------------------------------------------------------------


def load(path, *, device=None, composition=None, files=None):
    """Loads the composition of a shared library, built by the CMake target COMPOSITION.shared.

    device       the GPU's number; None: that of the thread's current context, else GPU 0
    composition  its name; None: that in the library's file name, libNAME.so
    files        (cubin, launch): these files instead of the library's images; its host providers serve them
    """
    path = os.fspath(path)
    name = composition or os.path.basename(path).split(".")[0].removeprefix("lib")
    number = -1 if device is None else _device_number(device)
    library = _Library(path if os.sep in path else os.path.join(os.curdir, path))
    handle = ctypes.c_void_p()
    if files is None:
        function = library.symbol(f"pipelink_{name}_load")
        function.restype, function.argtypes = ctypes.c_int, [ctypes.c_int, _OUT]
        library.check(function(number, ctypes.byref(handle)))
    else:
        cubin, launch = (os.fspath(file) for file in files)
        providers = _providers(library, launch)
        library.check(library.load_file(cubin.encode(), launch.encode(), providers, len(providers), number,
                                        ctypes.byref(handle)))
    return Kernel(library, handle)


def _device_number(device):
    """What C takes: another number would be cut to it."""
    if isinstance(device, bool) or not hasattr(device, "__index__"):
        raise TypeError(f"device is {device!r}; the number of a GPU was expected")
    if not 0 <= operator.index(device) < 1 << 31:
        raise ValueError(f"device is {device!r}; the number of a GPU was expected")
    return operator.index(device)


def _providers(library, launch):
    try:
        with open(launch, encoding="utf-8") as file:
            symbols = sorted({line.split("=", 1)[1].split()[0] for line in file if line.startswith("provider=")})
    except (UnicodeDecodeError, IndexError):
        raise ValueError(f"{launch} is no launch description: link wrote it as NAME.ARCH.launch") from None
    return (_Provider * len(symbols))(
        *(_Provider(s.encode(), ctypes.cast(library.symbol(s), ctypes.c_void_p)) for s in symbols))


class Kernel:
    """A loaded composition. `device` is its GPU's number, `arch` the image that was chosen ("sm_90a"), `layouts` what each
    instance takes: component, type, size and fields, which are name → (offset, kind, bytes)."""

    def __init__(self, library, handle):
        self._library, self._handle = library, handle
        # At exit nothing is unloaded: other libraries may still hold graphs with this kernel.
        weakref.finalize(self, library.close_kernel, handle).atexit = False
        self.device, self.arch = library.kernel_device(handle), library.kernel_arch(handle).decode()
        self.layouts = {}
        for index in range(library.arguments_count(handle)):
            found = _Layout()
            library.check(library.arguments(handle, index, ctypes.byref(found)))
            fields = (found.fields[i] for i in range(found.field_count))
            self.layouts[found.instance.decode()] = {
                "component": found.component.decode(), "type": found.type.decode(), "size": found.size,
                "fields": {f.name.decode(): (f.offset, f.kind.decode(), f.size) for f in fields}}

    def scratch_bytes(self, arguments):
        """The device memory that open wants lent for these arguments."""
        made, wanted = _Arguments(self.layouts, arguments, self.device), ctypes.c_size_t()
        self._library.check(self._library.scratch_bytes(self._handle, made.array, len(made.array), ctypes.byref(wanted)))
        return wanted.value

    def open(self, arguments, *, scratch=None):
        """Binds arguments: for each instance a dict of its fields, or the struct as bytes or a ctypes.Structure.

        A pointer takes a tensor, a View, an address or None. `scratch` is a tensor of at least scratch_bytes(…) bytes,
        aligned to 256. Tensors stay referenced as long as the session; what addresses point to is the caller's business.
        """
        made = _Arguments(self.layouts, arguments, self.device)
        memory = None if scratch is None else view(scratch, "scratch", device=self.device)
        handle = ctypes.c_void_p()
        self._library.check(self._library.open(self._handle, made.array, len(made.array), memory.address if memory else 0,
                                               memory.size if memory else 0, ctypes.byref(handle)))
        return Session(self, handle, [*made.lent, memory])


class Session:
    """A kernel with its arguments bound. A CUDA graph that holds a launch needs the session until it is destroyed."""

    def __init__(self, kernel, handle, lent):
        self.kernel, self._library, self._handle, self._lent = kernel, kernel._library, handle, lent
        weakref.finalize(self, self._library.close_session, handle).atexit = False

    @property
    def blocks(self):
        """Of the grid."""
        return self._library.session_blocks(self._handle)

    def guard_report(self):
        """What a guarded kernel found so far, a line for each finding; "" if nothing, or if the link is not guarded.

        It waits for nothing: synchronise with the stream first. A kernel that found something is not launched again.
        """
        return self._library.guard_report(self._handle).decode()

    def launch(self, stream=None):
        """Enqueues the kernel; allocates no device memory and waits for nothing, so it can be captured in a CUDA graph.

        `stream` is a stream of PyTorch or a handle (cudaStream_t) as an int; None: PyTorch's current stream on this GPU, which
        within torch.cuda.graph is the one that is captured.
        """
        if stream is None:
            torch = sys.modules.get("torch")
            if torch is None:
                raise TypeError("launch needs a stream: PyTorch, whose current stream is the default, is not imported")
            stream = torch.cuda.current_stream(self.kernel.device)
        handle = getattr(stream, "cuda_stream", stream)
        if not isinstance(handle, int) or isinstance(handle, bool) or not 0 <= handle < 1 << 64:
            raise TypeError(f"{stream!r} is neither a stream of PyTorch nor a handle")
        self._library.check(self._library.launch(self._handle, handle))
