"""What pipelink.py refuses, and the bytes that it makes. Tensors are producers of DLPack capsules, as PyTorch's are."""
import _ctypes  # a shared library that is there
import ctypes
import os
import struct
import tempfile
import unittest

import pipelink
from pipelink import view

new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))


class Producer:
    """A tensor as DLPack describes one; its memory is never read."""

    def __init__(self, shape=(4, 8), *, code=4, bits=16, lanes=1, device=(2, 0), strides=None, data=0x7f0000001000, offset=0,
                 name=b"dltensor"):
        self.device, self.name, self.streams = device, name, []
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        self.managed = pipelink._DLTensor(
            data, *device, len(shape), code, bits, lanes, ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64)),
            ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64)) if self.strides else None, offset)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return new_capsule(ctypes.addressof(self.managed), self.name, None)


class Unlendable(Producer):
    def __dlpack__(self, stream=None):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")


class Tensors(unittest.TestCase):
    def refused(self, error, text, tensor, *arguments, **named):
        with self.assertRaises(error) as caught:
            view(tensor, *arguments, **named)
        self.assertEqual(str(caught.exception), text)

    def test_accepted(self):
        producer = Producer(offset=32, data=0x1000)
        found = view(producer, dtype="bfloat16", shape=(None, 8), device=0)
        self.assertEqual((found.address, found.dtype, found.shape, found.device, found.size), (0x1020, "bfloat16", (4, 8), 0, 64))
        self.assertIs(found.owner, producer)
        self.assertEqual(producer.streams, [-1])  # no synchronisation
        self.assertEqual(view(Producer((2, 1, 3), strides=(3, 77, 1))).shape, (2, 1, 3))  # a single element's stride is any
        self.assertEqual(view(Producer((0, 5), data=None)).address, 0)
        self.assertEqual(view(Producer((3,), code=6, bits=8)).dtype, "bool")
        self.assertEqual(view(Producer((3,), code=1, bits=4)).size, 2)

    def test_no_tensor(self):
        self.refused(TypeError, "a is of type list, which is no tensor: it has no __dlpack__", [1], "a")
        self.refused(TypeError, "a: its __dlpack__ returned no capsule named dltensor", Producer(name=b"used_dltensor"), "a")
        self.refused(TypeError, "a cannot be lent: Can't export tensors that require gradient, use tensor.detach()",
                     Unlendable(), "a")

    def test_device(self):
        self.refused(ValueError, "a is on the CPU, not on a CUDA GPU", Producer(device=(1, 0)), "a")
        self.refused(ValueError, "a is on a device of DLPack type 7, not on a CUDA GPU", Producer(device=(7, 0)), "a")
        self.refused(ValueError, "a is on GPU 1, but the kernel is loaded on GPU 0", Producer(device=(2, 1)), "a", device=0)

    def test_dtype(self):
        self.refused(TypeError, "a has dtype float16; bfloat16 was expected", Producer(code=2), "a", dtype="bfloat16")
        self.refused(TypeError, "a has dtype int64; int32 was expected", Producer(code=0, bits=64), "a", dtype="int32")
        self.refused(TypeError, "a has dtype dlpack-10-8; float32 was expected", Producer(code=10, bits=8), "a", dtype="float32")
        self.refused(TypeError, "a has elements of 4 lanes; 1 was expected", Producer(lanes=4), "a")

    def test_shape(self):
        self.refused(ValueError, "a has shape [4, 8]; [any, 9] was expected", Producer(), "a", shape=(None, 9))
        self.refused(ValueError, "a has shape [4, 8]; [32] was expected", Producer(), "a", shape=(32,))
        self.refused(ValueError, "a is not contiguous: dimension 1 of shape [4, 8] has stride 4, not 1; make it so with "
                     ".contiguous()", Producer(strides=(1, 4)), "a")
        self.refused(ValueError, "a is not contiguous: dimension 0 of shape [4, 8] has stride 16, not 8; make it so with "
                     ".contiguous()", Producer(strides=(16, 1)), "a")


LAYOUTS = {
    "load": {"component": "loader", "type": "loader::Arguments", "size": 40, "fields": {
        "data": (0, "pointer", 8), "rows": (8, "unsigned", 4), "shift": (12, "signed", 2), "on": (14, "boolean", 1),
        "scale": (16, "real", 4), "exact": (24, "real", 8), "tag": (32, "bytes", 4)}},
    "raw": {"component": "old", "type": "old::Arguments", "size": 0, "fields": {}},
}
GIVEN = {"data": 0x1234, "rows": 7, "shift": -2, "on": True, "scale": 0.5, "exact": 0.1, "tag": b"abcd"}


class Fields(unittest.TestCase):
    def refused(self, error, text, load=None, raw=b"xyz", **changed):
        values = {"load": {**GIVEN, **changed} if load is None else load, "raw": raw}
        with self.assertRaises(error) as caught:
            pipelink._Arguments(LAYOUTS, values, 0)
        self.assertEqual(str(caught.exception), text)

    def test_bytes(self):
        made = pipelink._Arguments(LAYOUTS, {"load": GIVEN, "raw": b"xyz"}, 0)
        self.assertEqual([(name, bytes(block)) for name, block in made.blocks],
                         [(b"load", struct.pack("<QIh?xf4xd4s4x", 0x1234, 7, -2, True, 0.5, 0.1, b"abcd")), (b"raw", b"xyz")])
        self.assertEqual([(a.instance, a.size) for a in made.array], [(b"load", 40), (b"raw", 3)])

    def test_tensors(self):
        producer = Producer(data=0x5000)
        made = pipelink._Arguments(LAYOUTS, {"load": {**GIVEN, "data": producer}, "raw": b""}, 0)
        self.assertEqual(bytes(made.blocks[0][1])[:8], struct.pack("<Q", 0x5000))
        self.assertEqual([v.owner for v in made.lent], [producer])
        self.refused(ValueError, "load.data is on GPU 1, but the kernel is loaded on GPU 0", data=Producer(device=(2, 1)))
        self.refused(ValueError, "load.data is on GPU 1, but the kernel is loaded on GPU 0", data=view(Producer(device=(2, 1))))
        self.refused(TypeError, "load.data is of type float, which is no tensor: it has no __dlpack__", data=0.5)
        self.refused(ValueError, "load.data is -1, which is no address", data=-1)

    def test_scalars(self):
        self.refused(TypeError, "load.rows is 1.0; an int was expected", rows=1.0)
        self.refused(TypeError, "load.rows is True; an int was expected", rows=True)
        self.refused(ValueError, "load.rows is -1, which 4 bytes (unsigned) cannot hold", rows=-1)
        self.refused(ValueError, "load.rows is 4294967296, which 4 bytes (unsigned) cannot hold", rows=1 << 32)
        self.refused(ValueError, "load.shift is 32768, which 2 bytes (signed) cannot hold", shift=1 << 15)
        self.refused(TypeError, "load.on is 1; True or False was expected", on=1)
        self.refused(TypeError, "load.scale is '1'; a float was expected", scale="1")
        self.refused(ValueError, "load.scale is 1e+39, which 4 bytes (real) cannot hold", scale=1e39)
        self.refused(TypeError, "load.tag is a C++ object: give its 4 bytes", tag=b"abc")

    def test_names(self):
        names = "data, rows, shift, on, scale, exact, tag"
        self.refused(ValueError, f"load (loader::Arguments) has the fields {names}; given are {names}, extra", extra=1)
        self.refused(ValueError, f"load (loader::Arguments) has the fields {names}; given are none", load={})
        self.refused(TypeError, f"load needs a dict of {names}, not int", load=3)
        self.refused(ValueError, "the arguments of load have 3 bytes; loader::Arguments has 40", load=b"abc")
        self.refused(TypeError, "the author of old listed no fields of old::Arguments: give the struct of raw as bytes or as a "
                     "ctypes.Structure", raw={"a": 1})
        for values, text in [({"load": GIVEN}, "arguments are missing for: raw"),
                             ({"lod": GIVEN}, "no instance lod takes arguments; there are: load, raw")]:
            with self.assertRaisesRegex(ValueError, f"^{text}$"):
                pipelink._Arguments(LAYOUTS, values, 0)


class Files(unittest.TestCase):
    def test_no_library(self):
        with self.assertRaisesRegex(FileNotFoundError, "^cannot load the library of a composition: .*libnone.so"):
            pipelink.load("libnone.so")

    def test_other_library(self):
        with self.assertRaisesRegex(ValueError, r"has no function pipelink_\w+: build it with the CMake target"):
            pipelink.load(_ctypes.__file__, composition="c")

    def test_device(self):
        for device, error in ((0.5, TypeError), ("0", TypeError), (True, TypeError), (-1, ValueError), (1 << 32, ValueError)):
            with self.assertRaises(error) as caught:
                pipelink.load(_ctypes.__file__, device=device, composition="c")
            self.assertEqual(str(caught.exception), f"device is {device!r}; the number of a GPU was expected")

    def test_no_launch_description(self):
        with tempfile.TemporaryDirectory() as folder:
            launch = os.path.join(folder, "k.launch")
            for data in (b"\x7fELF\xbe\xff", b"pipelink-launch/1\nprovider=\n"):
                with open(launch, "wb") as file:
                    file.write(data)
                with self.assertRaises(ValueError) as caught:
                    pipelink._providers(None, launch)
                self.assertEqual(str(caught.exception), f"{launch} is no launch description: link wrote it as NAME.ARCH.launch")


class Streams(unittest.TestCase):
    def test_handles(self):
        session = pipelink.Session.__new__(pipelink.Session)
        for stream in (True, -1, 1 << 64, 1.0, "0"):
            with self.assertRaisesRegex(TypeError, "is neither a stream of PyTorch nor a handle$"):
                session.launch(stream)


if __name__ == "__main__":
    unittest.main()
