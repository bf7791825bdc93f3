#!/usr/bin/env python3
"""Runs a product with another epilogue and compares every element with PyTorch's, computed in float32.

usage: check.py libgemm_EPILOGUE.so     Exit status: 0 right, 1 wrong, 77 no PyTorch or no GPU here.
"""

import os
import sys

import pipelink

NOTHING_RUN = 77


def cases(torch, product, rows, columns):
    """epilogue → (its arguments but the output's, the output's type, what is right, a unit in the last place relative to it)."""
    bias = torch.randn(columns, device="cuda")
    residual = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    scale = torch.tensor([37.5], device="cuda")
    return {
        "bias_gelu": ({"bias": bias}, torch.bfloat16, torch.nn.functional.gelu(product + bias), 2**-8),
        "residual_add": ({"residual": residual}, torch.bfloat16, product + residual.float(), 2**-8),
        "scale_fp8": ({"scale": scale}, torch.float8_e4m3fn, (product * scale).clamp(-448, 448), 2**-4),
    }


def main():
    library = sys.argv[1]
    epilogue = os.path.basename(library).removeprefix("libgemm_").removesuffix(".so")
    try:
        import torch

        kernel = pipelink.load(library)
    except (ImportError, pipelink.Unavailable) as error:
        print(f"SKIPPED: {error}")
        return NOTHING_RUN
    torch.backends.cuda.matmul.allow_tf32 = False
    good = True
    for rows, columns, k in [(1, 8, 8), (129, 1000, 328), (500, 4096, 1096), (4096, 5120, 5120)]:
        a = torch.randn(rows, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(columns, k, device="cuda", dtype=torch.bfloat16) * k**-0.5
        arguments, dtype, exact, unit = cases(torch, a.float() @ b.float().t(), rows, columns)[epilogue]
        out = torch.full((rows + 1, columns), float("nan"), device="cuda", dtype=torch.float32).to(dtype)
        session = kernel.open({
            "tma_loader": {"a": a, "b": b, "m": rows, "n": columns, "k": k},
            epilogue: {"out": out[:rows], **arguments, "rows": rows, "columns": columns},
        })
        session.launch()
        torch.cuda.synchronize()
        error = (out[:rows].float() - exact).abs()
        wrong = (~(error <= exact.abs() * unit + 2e-3)).sum().item()  # NaN is wrong
        beyond = (~out[rows:].float().isnan()).sum().item()
        print(f"{epilogue} {rows} x {columns} x {k}: {wrong} elements are wrong, {beyond} were written past the end, "
              f"the largest error is {error.max().item():.2e}")
        good &= wrong == 0 and beyond == 0
    print("PASS" if good else "FAIL")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
