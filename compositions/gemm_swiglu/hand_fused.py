#!/usr/bin/env python3
"""Launches hand_fused.cu, the same algorithm fused by hand, on PyTorch's tensors. Uses the driver alone, nothing of PipeLink.

As a program, checks every element of ragged problems and of large ones for each of its kernels, rows past the end too. Exit
status: 0 right, 1 wrong or failed.
"""

import ctypes
import functools
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGE = os.path.join(HERE, "hand_fused.cubin")
# tile_m, tile_n, group_m: what hand_fused.cu has kernels for, each with its bytes of shared memory.
KERNELS = {(64, 208, 16): 225376, (128, 208, 16): 204864, (128, 160, 16): 217168, (128, 224, 16): 213056, (128, 240, 16): 221248,
           (128, 256, 8): 229440, (128, 256, 16): 229440}
GROUP = 8  # gate rows, then up rows
MIN_K_BLOCKS = 3  # the first warpgroup is two ahead of the second
MAX_DYNAMIC_SHARED_SIZE_BYTES = 8  # of CUfunction_attribute
BFLOAT16, INTERLEAVE_NONE, L2_PROMOTION_128B, FILL_ZEROS = 9, 0, 2, 0  # of cuTensorMapEncodeTiled
SWIZZLE_NONE, SWIZZLE_128B = 0, 3


@functools.cache
def driver():
    return ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    cuda = driver()
    status = getattr(cuda, name)(*arguments)
    if status != 0:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{name}: {(text.value or b'an unknown error').decode()}")


def tensor_map(address, extent, strides, box, swizzle):
    """A CUtensorMap of bfloat16; extent, strides in bytes (of all dimensions but the first) and box, innermost first."""
    rank = len(extent)
    memory = ctypes.create_string_buffer(128 + 64)
    result = (ctypes.c_char * 128).from_buffer(memory, -ctypes.addressof(memory) % 64)
    call("cuTensorMapEncodeTiled", ctypes.byref(result), BFLOAT16, ctypes.c_uint32(rank), ctypes.c_void_p(address),
         (ctypes.c_uint64 * rank)(*extent), (ctypes.c_uint64 * max(rank - 1, 1))(*strides), (ctypes.c_uint32 * rank)(*box),
         (ctypes.c_uint32 * rank)(*[1] * rank), INTERLEAVE_NONE, swizzle, L2_PROMOTION_128B, FILL_ZEROS)
    return result


class Kernel:
    """One of the kernels, in PyTorch's context of the current device."""

    def __init__(self, tile_m, tile_n, group_m, image=IMAGE, name=""):
        import torch

        self.tile_m, self.tile_n = tile_m, tile_n
        self.shared_bytes = KERNELS[tile_m, tile_n, group_m]
        self.blocks = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        with open(image, "rb") as file:
            call("cuModuleLoadData", ctypes.byref(self.module), file.read())
        self.name = name or f"hand_fused_{tile_m}_{tile_n}_{group_m}"
        call("cuModuleGetFunction", ctypes.byref(self.function), self.module, self.name.encode())
        call("cuFuncSetAttribute", self.function, MAX_DYNAMIC_SHARED_SIZE_BYTES, self.shared_bytes)

    def open(self, a, w, out):
        """A function that computes out = silu(a @ w[:i].T) * (a @ w[i:].T) on the current stream, for contiguous a [m, k],
        w [2 * i, k] and out [m, i], bfloat16; i and k are multiples of 8."""
        import torch

        (m, k), n = a.shape, w.shape[0]
        if w.shape != (n, k) or out.shape != (m, n // 2) or n % (2 * GROUP) != 0 or k % 8 != 0:
            raise ValueError(f"shapes {tuple(a.shape)}, {tuple(w.shape)}, {tuple(out.shape)}")
        if any(t.dtype != torch.bfloat16 or not t.is_contiguous() or not t.is_cuda for t in (a, w, out)):
            raise ValueError("not contiguous bfloat16 of a GPU")
        row, rest = k * 2, self.tile_n % 128 // 2
        maps = [
            tensor_map(a.data_ptr(), (k, m), (row,), (64, self.tile_m), SWIZZLE_128B),
            tensor_map(w.data_ptr(), (k, GROUP, 2, n // (2 * GROUP)), (row, n // 2 * row, GROUP * row),
                       (64, GROUP, 2, self.tile_n // (2 * GROUP)), SWIZZLE_128B),
            tensor_map(out.data_ptr(), (n // 2, m), (n,), (64, 64), SWIZZLE_128B),
            tensor_map(out.data_ptr(), (n // 2, m), (n,), (rest or 64, 64), SWIZZLE_NONE if rest else SWIZZLE_128B),
        ]
        m_tiles, n_tiles = -(-m // self.tile_m), -(-n // self.tile_n)
        numbers = [ctypes.c_uint(x) for x in (m_tiles, n_tiles, max(-(-k // 64), MIN_K_BLOCKS))]
        pointers = (ctypes.c_void_p * 7)(*(ctypes.addressof(x) for x in (*maps, *numbers)))
        blocks = min(self.blocks, m_tiles * n_tiles)

        def launch(keep=(a, w, out, maps, numbers)):  # which the pointers are of
            call("cuLaunchKernel", self.function, blocks, 1, 1, 384, 1, 1, self.shared_bytes,
                 ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), pointers, None)

        return launch


def check(kernel, m, hidden, intermediate):
    import torch

    guard = 8  # rows after the output that must stay as they were
    a = torch.randn(m, hidden, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(2 * intermediate, hidden, device="cuda", dtype=torch.bfloat16) * hidden**-0.5
    whole = torch.full((m + guard, intermediate), float("nan"), device="cuda", dtype=torch.bfloat16)
    out = whole[:m]
    kernel.open(a, w, out)()
    torch.cuda.synchronize()
    wrong, largest = 0, 0.0
    for rows, result in zip(a.split(2048), out.split(2048)):
        gate, up = torch.mm(rows, w.t(), out_dtype=torch.float32).chunk(2, dim=1)
        expected = torch.nn.functional.silu(gate) * up
        error = (result.float() - expected).abs()
        wrong += (~(error <= expected.abs() / 256 + 1e-3)).sum().item()  # NaN is wrong
        largest = max(largest, error.max().item())
    past = (~whole[m:].isnan()).sum().item()
    return wrong == 0 and past == 0, f"{wrong} of {out.numel()} elements wrong, {past} written past the end, largest error {largest:.1e}"


def main():
    import torch

    torch.zeros(1, device="cuda")  # the context that the kernels are loaded into
    good = True
    for tile_m, tile_n, group_m in KERNELS:
        kernel = Kernel(tile_m, tile_n, group_m)
        for m, hidden, intermediate in ((1, 1096, 3000), (63, 328, 8192), (200, 1096, 3000), (1000, 96, 3000), (2100, 5120, 25600)):
            right, what = check(kernel, m, hidden, intermediate)
            good &= right
            if not right or m > 2000:
                print(f"hand_fused_{tile_m}_{tile_n}_{group_m}, m={m}: {what}", flush=True)
    print("hand-fused: all right" if good else "hand-fused: WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
