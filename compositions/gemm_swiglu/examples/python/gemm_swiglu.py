#!/usr/bin/env python3
"""Runs GEMM + SwiGLU on PyTorch's tensors, without copies; compares with PyTorch; captures the launch in a CUDA graph and
replays it.

Needs pipelink.py on PYTHONPATH or beside this file, and the library that the CMake target gemm_swiglu.shared builds.
Exit status: 0 right, 1 wrong or failed, 2 usage, 77 no PyTorch, or no GPU here that the composition was linked for.
"""

import argparse
import sys

import pipelink

NOTHING_RUN = 77


def open_gemm_swiglu(kernel, a, w, out):
    """A session that computes out = silu(a @ w[:i].T) * (a @ w[i:].T) for a [m, k], w [2 * i, k], out [m, i], all bfloat16."""
    a = pipelink.view(a, "a", dtype="bfloat16", shape=(None, None))
    m, k = a.shape
    w = pipelink.view(w, "w", dtype="bfloat16", shape=(None, k))
    n = w.shape[0]
    if n % 2 != 0:
        raise ValueError(f"w has {n} rows; gates and ups are equally many")
    out = pipelink.view(out, "out", dtype="bfloat16", shape=(m, n // 2))
    return kernel.open({"tma_loader": {"a": a, "b": w, "m": m, "n": n, "k": k},
                        "swiglu": {"out": out, "rows": m, "columns": n // 2}})


def agrees(out, a, w, what):
    """Whether every element is within bfloat16's rounding of PyTorch's float32."""
    import torch

    gate, up = (a.float() @ w.float().t()).chunk(2, dim=1)
    expected = torch.nn.functional.silu(gate) * up
    error = (out.float() - expected).abs()
    wrong = (~(error <= expected.abs() / 256 + 1e-3)).sum().item()  # NaN is wrong
    print(f"{what}: {wrong} of {out.numel()} elements are wrong, the largest error is {error.max().item():.2e}")
    return wrong == 0


def run(kernel, m, hidden, intermediate):
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False  # the reference is float32
    device = torch.device("cuda", kernel.device)
    new = {"device": device, "dtype": torch.bfloat16}
    a, other_a = torch.randn(m, hidden, **new), torch.randn(m, hidden, **new)
    w = torch.randn(2 * intermediate, hidden, **new) * hidden**-0.5
    out = torch.full((m, intermediate), float("nan"), **new)
    session = open_gemm_swiglu(kernel, a, w, out)

    session.launch()
    good = agrees(out, a, w, "launched")
    launched = out.clone()

    # Within torch.cuda.graph the current stream is the one that is captured, and launch goes there.
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        session.launch()
    out.fill_(float("nan"))
    graph.replay()
    equal = torch.equal(out, launched)
    print(f"replayed: {'equal to what was launched' if equal else 'DIFFERENT from what was launched'}")
    good &= equal

    a.copy_(other_a)  # the graph reads the tensor, not what was in it
    out.fill_(float("nan"))
    graph.replay()
    good &= agrees(out, other_a, w, "replayed with other input")
    if found := session.guard_report():  # of a link with LINK_OPTIONS guard
        print(f"the guard found\n{found}", end="")
        good = False
    graph.reset()  # before the session, which the captured launch needs
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libgemm_swiglu.so")
    parser.add_argument("--m", type=int, default=300)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--intermediate", type=int, default=2048)
    options = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"gemm_swiglu.py: nothing was run: PyTorch cannot be imported ({error})", file=sys.stderr)
        return NOTHING_RUN
    try:
        kernel = pipelink.load(options.library)
    except pipelink.Unavailable as error:
        print(f"gemm_swiglu.py: nothing was run: {error}", file=sys.stderr)
        return NOTHING_RUN
    if not torch.cuda.is_available():
        print("gemm_swiglu.py: nothing was run: this PyTorch was built without CUDA, or cannot use the GPU", file=sys.stderr)
        return NOTHING_RUN
    print(f"gemm_swiglu for {kernel.arch} on {torch.cuda.get_device_name(kernel.device)}: m {options.m}, "
          f"hidden {options.hidden}, intermediate {options.intermediate}")
    good = run(kernel, options.m, options.hidden, options.intermediate)
    print("PASS" if good else "FAIL")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
