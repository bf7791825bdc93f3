#!/usr/bin/env python3
"""Times the compositions of attention against their controls and against PyTorch, in one process, alternated; writes records
as JSON. Reads from its own folder what the target gpu_bundle puts there. Clocks are read, never set.

Peers: PyTorch's SDPA with the backends cuDNN and flash, and compiled FlexAttention with its block mask built before; the time to
build it is recorded beside, by `create_block_mask` as it is and compiled. What a peer has no way to compute is left out. A paged
kernel is also compared with the one that has the same mask and K and V at fixed distances, those of a page's.
"""

import argparse
import functools
import os
import random
import statistics
import struct
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import gpu_records
import pipelink

HERE = os.path.dirname(os.path.abspath(__file__))
TILE = 128
CAP = 20  # of attention_soft_cap, as its composition sets it


class Problem:
    """One composition on one shape: [1, heads, keys, dim] in bfloat16, and what masks it."""

    def __init__(self, composition, keys, heads, kv_heads, dim=128, window=0, density=0, shared=False, documents=0, page=0):
        self.composition, self.keys, self.heads, self.kv_heads, self.dim = composition, keys, heads, kv_heads, dim
        self.window, self.density, self.documents, self.page = window, density, documents, page
        self.shared = shared  # the live tiles of one head are those of all
        self.flex_mask_ms = self.flex_mask_plain_ms = None  # to build FlexAttention's block mask, which its time leaves out
        self.causal = density == 0 and composition != "attention_full"
        new = {"device": "cuda", "dtype": torch.bfloat16}
        self.q = torch.randn(1, heads, keys, dim, **new)
        self.k, self.v = (torch.randn(1, kv_heads, keys, dim, **new) for _ in range(2))
        tiles = (keys + TILE - 1) // TILE
        if density:  # so many tiles of each row, at random, the diagonal among them
            patterns = 1 if shared else heads
            scores = torch.rand(patterns, tiles, tiles, device="cuda") + 2 * torch.eye(tiles, device="cuda")
            live = max(1, tiles // density)
            blocks = torch.zeros(patterns, tiles, tiles, dtype=torch.bool, device="cuda")
            blocks.scatter_(2, scores.topk(live, dim=2).indices, True)
            self.blocks = blocks.expand(heads, tiles, tiles).contiguous()
            self.counts = self.blocks.sum(2, dtype=torch.int32).contiguous()
            self.indices = self.blocks.nonzero()[:, 2].to(torch.int32).reshape(heads, tiles, live).contiguous()
        if documents:
            cuts = torch.randperm(keys - 1, device="cuda")[: documents - 1] + 1
            starts = torch.zeros(keys, dtype=torch.int64, device="cuda")
            starts[cuts] = cuts
            self.first = starts.cummax(0).values.to(torch.int32)
        if composition == "attention_alibi":
            self.slopes = torch.exp2(-8 * torch.arange(1, heads + 1, device="cuda") / heads).float()
        if page:
            pages = keys // page
            order = torch.randperm(pages, device="cuda")
            self.table = order.to(torch.int32)
            shape = (pages, page, kv_heads, dim)
            self.paged_k, self.paged_v = torch.empty(shape, **new), torch.empty(shape, **new)
            for paged, plain in ((self.paged_k, self.k), (self.paged_v, self.v)):
                paged[order] = plain[0].transpose(0, 1).reshape(shape)
            self.dense_k, self.dense_v = (x[0].transpose(0, 1).contiguous() for x in (self.k, self.v))

    def name(self):
        parts = [self.composition, f"b=1 s={self.keys} heads={self.heads}/{self.kv_heads} d={self.dim} bf16"]
        if self.window:
            parts.append(f"window={self.window}")
        if self.density:
            parts.append(f"density=1/{self.density}" + (" mask=shared" if self.shared else ""))
        if self.documents:
            parts.append(f"documents={self.documents}")
        return " ".join(parts)

    def mask_mod(self):
        if self.density:
            blocks = self.blocks
            if self.shared:
                blocks = blocks[0]
                return lambda b, h, q, k: blocks[q // TILE, k // TILE]
            return lambda b, h, q, k: blocks[h, q // TILE, k // TILE]
        if self.documents:
            first = self.first
            return lambda b, h, q, k: (k <= q) & (k >= first[q])
        if self.window:
            window = self.window
            return lambda b, h, q, k: (k <= q) & (q - k < window)
        return lambda b, h, q, k: k <= q

    def score_mod(self):
        """What changes the scores, if anything does."""
        if self.composition == "attention_soft_cap":
            return lambda score, b, h, q, k: CAP * torch.tanh(score / CAP)
        if self.composition == "attention_alibi":
            slopes = self.slopes
            return lambda score, b, h, q, k: score + slopes[h] * (k - q)
        return None

    def pairs(self):
        """Of queries and keys that meet, in one head."""
        n = self.keys
        if self.density:
            return self.counts.sum().item() / self.heads * TILE * TILE
        if self.documents:
            return (torch.arange(n, device="cuda") - self.first + 1).sum().item()
        if self.window:
            w = min(self.window, n)
            return w * (w + 1) // 2 + (n - w) * w
        return n * (n + 1) // 2 if self.causal else n * n

    def tiles(self):
        """Of queries and keys that the kernel multiplies, in all heads."""
        last = torch.arange((self.keys + TILE - 1) // TILE, device="cuda")
        if self.density:
            return self.counts.sum().item()
        if self.documents:
            first = self.first[last * TILE] // TILE
        elif self.window:
            first = (last * TILE - self.window + 1).clamp(min=0) // TILE
        else:
            first = torch.zeros_like(last)
            last = last if self.causal else torch.full_like(last, len(last) - 1)
        return (last - first + 1).sum().item() * self.heads

    def flops(self):
        return 4 * self.pairs() * self.dim * self.heads

    def dense(self):
        """The composition with the same mask, without pages."""
        return {"paged_window": "attention_window", "paged_sparse": "attention_sparse"}.get(
            self.composition.removeprefix("attention_"), "attention_causal")

    def open(self, kernel, out):
        h, kh, n, d = self.heads, self.kv_heads, self.keys, self.dim
        shape = struct.pack("<IIIIQ", 1, n, h, n, 0)
        arguments = {"attention_core": {"scale": d**-0.5}}
        store = {"out": out, "rows": n, "heads": h, "row": d, "head": n * d, "sequence": n * h * d}
        if "attention_store_lse" in kernel.layouts:
            arguments["attention_store_lse"] = {**store, "lse": torch.empty(h, n, device="cuda")}
        else:
            arguments["attention_store"] = {**store, "sequences": 1}
        common = {"sequences": 1, "rows": n, "heads": h, "kv_heads": kh, "q": self.q, "q_row": d, "q_head": n * d,
                  "q_sequence": n * h * d}
        if "attention_paged_loader" in kernel.layouts:
            arguments["attention_paged_loader"] = {
                **common, "k": self.paged_k, "v": self.paged_v, "table": self.table, "table_stride": n // self.page,
                "pages": n // self.page, "kv_slot": kh * d, "kv_head": d, "kv_page": self.page * kh * d}
        elif self.page:  # the kernel that a paged one is compared with
            arguments["attention_loader"] = {**common, "k": self.dense_k, "v": self.dense_v, "keys": n, "kv_row": kh * d,
                                             "kv_head": d, "kv_sequence": n * kh * d}
        else:
            arguments["attention_loader"] = {**common, "k": self.k, "v": self.v, "keys": n, "kv_row": d, "kv_head": n * d,
                                             "kv_sequence": n * kh * d}
        if "alibi" in kernel.layouts:
            arguments["alibi"] = {"slopes": self.slopes}
        if self.density:
            arguments["sparse_tiles"] = {"shape": shape, "counts": self.counts, "indices": self.indices,
                                         "stride": self.indices.shape[2]}
        elif self.documents:
            arguments["document_tiles"] = {"shape": shape, "first": self.first}
        elif self.causal:
            arguments["causal_tiles"] = {"shape": shape, "window": self.window}
        else:
            arguments["all_tiles"] = {"sequences": 1, "rows": n, "heads": h, "keys": n, "lengths": None}
        return kernel.open(arguments)

    def reference(self, head, rows):
        """Float32, of some rows of a head."""
        group = self.heads // self.kv_heads
        s = self.q[0, head, rows].float() @ self.k[0, head // group].float().t() * self.dim**-0.5
        k = torch.arange(self.keys, device="cuda")
        if change := self.score_mod():
            s = change(s, 0, head, rows[:, None], k[None, :])
        if self.composition != "attention_full":
            mask = self.mask_mod()
            s.masked_fill_(~mask(0, head, rows[:, None], k[None, :]), float("-inf"))
        return s.softmax(1) @ self.v[0, head // group].float()

    def peers(self, time_masks=True):
        q, k, v, group = self.q, self.k, self.v, self.heads != self.kv_heads
        found = {}
        change = self.score_mod()
        plain = not (self.window or self.density or self.documents or change)
        if plain:
            def sdpa(backend):
                def run():
                    with sdpa_kernel(backend):
                        torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=group)
                return run
            found["cudnn"] = sdpa(SDPBackend.CUDNN_ATTENTION)
            found["torch_flash"] = sdpa(SDPBackend.FLASH_ATTENTION)
        if self.causal or self.density:
            torch._dynamo.reset()  # else a limit on recompilation is met
            shape = (self.mask_mod(), 1, self.heads if self.density and not self.shared else None, self.keys, self.keys)
            build = torch.compile(create_block_mask)
            mask, self.flex_mask_ms = timed(lambda: build(*shape, device="cuda"))
            try:
                if time_masks:
                    _, self.flex_mask_plain_ms = timed(lambda: create_block_mask(*shape, device="cuda"))
            except torch.OutOfMemoryError:
                self.flex_mask_plain_ms = "out of memory"
            torch.cuda.empty_cache()
            flex = torch.compile(flex_attention, dynamic=False)
            found["flex"] = lambda: flex(q, k, v, score_mod=change, block_mask=mask, enable_gqa=group)
        return found


def timed(run):
    """What the second run returns, and how many ms it took."""
    run()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    result = run()
    end.record()
    torch.cuda.synchronize()
    return result, begin.elapsed_time(end)


def captured(run):
    """The launches of `run` as a CUDA graph, so that small problems do not time the host; `run` itself, if it cannot be one."""
    run()
    torch.cuda.synchronize()
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()

        def replay(_=run):  # the graph does not keep what it launches, but its kernel is unloaded with its session
            graph.replay()

        return replay
    except RuntimeError as error:
        print(f"not captured: {str(error).splitlines()[0][:100]}", flush=True)
        torch.cuda.synchronize()
        return run


def launch_timed(run):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    run()
    end.record()
    return begin, end


def alternate(candidates, seconds):
    """Times of each candidate in ms, [round] → mean of two runs, and the clock in MHz.

    In its turn a candidate runs three times, of which the first is not timed. The turns of a round are in random order.
    """
    names = list(candidates)
    torch.cuda.synchronize()
    events = [launch_timed(run) for run in candidates.values()]
    torch.cuda.synchronize()
    once = sum(begin.elapsed_time(end) for begin, end in events)
    times = {name: [] for name in names}
    clocks = []
    for _ in range(min(60, max(12, int(seconds * 1e3 / (3 * once))))):
        random.shuffle(names)
        events = {name: [launch_timed(candidates[name]) for _ in range(3)][1:] for name in names}
        if len(clocks) < 3:  # while the device is busy
            clocks.append(gpu_records.query("clocks.sm"))
        torch.cuda.synchronize()
        for name, pairs in events.items():
            times[name].append(statistics.fmean(begin.elapsed_time(end) for begin, end in pairs))
    clocks = [int(c) for c in clocks if c.isdigit()]
    return times, int(statistics.median(clocks)) if clocks else 0


def paired(candidates, seconds):
    """Times of each candidate in ms, [round] → mean of its runs.

    For ratios near 1: the clock changes by a tenth within a second on long problems. So runs of a round follow each other at once,
    each candidate between the others in one order and then in the other, by which what changes evenly cancels out.
    """
    names = list(candidates)
    torch.cuda.synchronize()
    events = [launch_timed(run) for run in candidates.values()]
    torch.cuda.synchronize()
    once = sum(begin.elapsed_time(end) for begin, end in events)
    repeats = max(1, min(8, int(5 / once)))  # a round of at least 10 ms
    times = {name: [] for name in names}
    for _ in range(max(40, int(seconds * 1e3 / (2 * repeats * once)))):
        random.shuffle(names)
        events = [(name, launch_timed(candidates[name])) for _ in range(repeats) for name in names + names[::-1]]
        torch.cuda.synchronize()
        for name in names:
            times[name].append(statistics.fmean(begin.elapsed_time(end) for n, (begin, end) in events if n == name))
    return times


def load(composition, suffix):
    paged = "_paged_" in composition
    library = os.path.join(HERE, f"lib{'attention_paged_128' if paged else 'attention_full'}.so")  # for its host providers
    base = os.path.join(HERE, f"{composition}.sm_90a")
    return pipelink.load(library, files=(base + suffix, base + ".launch"))


def measure(problem, seconds, with_peers):
    own, outputs = {}, {}
    kernels = [("linked", problem.composition, ".cubin"), ("control", problem.composition, ".control.cubin"),
               ("control_again", problem.composition, ".control.cubin")]
    if problem.page:
        kernels.append(("dense", problem.dense(), ".cubin"))
    for name, composition, suffix in kernels:
        outputs[name] = torch.full_like(problem.q, float("nan"))
        own[name] = problem.open(load(composition, suffix), outputs[name]).launch
        own[name]()
        torch.cuda.synchronize()
    rows = torch.randperm(problem.keys, device="cuda")[:512].sort().values
    errors = []
    for head in (0, problem.heads - 1):
        exact = problem.reference(head, rows)
        errors.append(((outputs["linked"][0, head, rows].float() - exact).norm() / exact.norm()).item())

    def equal(name):
        return torch.equal(outputs["linked"].view(torch.int16), outputs[name].view(torch.int16))

    own = {name: captured(run) for name, run in own.items()}
    candidates = {"linked": own["linked"]}
    for name, run in (problem.peers() if with_peers else {}).items():
        try:
            candidates[name] = captured(run)
            torch.cuda.synchronize()
        except (RuntimeError, torch._dynamo.exc.TorchDynamoException) as error:
            print(f"{name} does not run: {str(error).splitlines()[0][:100]}", flush=True)
    times, clock = alternate(candidates, seconds)
    ms = {name: statistics.median(t) for name, t in times.items()}
    peers = {name: t for name, t in ms.items() if name != "linked"}
    pairs = paired(own, seconds)

    def over(name, other):
        return round(statistics.median(x / y for x, y in zip(pairs[name], pairs[other])), 5)

    found = {
        "config": problem.name(),
        "clock_mhz": clock,
        "linked_ms": round(ms["linked"], 5),
        "linked_tflops": round(problem.flops() / ms["linked"] / 1e9, 1),
        "tiles": problem.tiles(),
        "tile_ns": round(ms["linked"] * 1e6 / problem.tiles(), 4),
        "control_ms": round(statistics.median(pairs["control"]), 5),
        "linked_over_control": over("linked", "control"),
        "control_over_control": over("control_again", "control"),
        "peers": {name: round(t, 5) for name, t in peers.items()},
        "speedup": {name: round(t / ms["linked"], 4) for name, t in peers.items()},
        "rel_err": max(errors),
        "bitwise_equal_to_control": equal("control"),
    }
    if problem.page:
        found |= {"over_dense": over("linked", "dense"), "bitwise_equal_to_dense": equal("dense")}
    for name, build in (("flex_mask_ms", problem.flex_mask_ms), ("flex_mask_plain_ms", problem.flex_mask_plain_ms)):
        if isinstance(build, str):
            found[name] = build
        elif build and "flex" in peers:
            found |= {name: round(build, 4), name.replace("mask_ms", "mask_speedup").replace("plain_ms", "plain_speedup"):
                      round((peers["flex"] + build) / ms["linked"], 4)}
    return found


def problems(which):
    """Those of the set `core` or `all`, made when their turn comes."""
    def of(composition, *shape, **options):
        return functools.partial(Problem, composition, *shape, **options)

    for keys in (8192, 32768, 2048):
        yield of("attention_full", keys, 16, 16)
        yield of("attention_causal", keys, 16, 16)
    if which == "core":
        return
    yield of("attention_full", 32768, 64, 8)
    yield of("attention_causal", 32768, 64, 8)
    for page in (128, 64, 16):
        yield of(f"attention_paged_{page}", 32768, 16, 16, page=page)
    for keys in (8192, 32768):
        yield of("attention_window", keys, 16, 16, window=1024)
    for density in (4, 8, 16, 32):
        yield of("attention_sparse", 32768, 16, 16, density=density)
    for density in (4, 32):  # small enough for create_block_mask without the compiler
        yield of("attention_sparse", 8192, 16, 16, density=density)
        yield of("attention_sparse", 32768, 16, 16, density=density, shared=True)
    yield of("attention_full", 8192, 64, 8)
    yield of("attention_causal", 8192, 64, 8)
    yield of("attention_window", 32768, 16, 16, window=4096)
    yield of("attention_documents", 32768, 64, 8, documents=16)
    yield of("attention_paged_window", 32768, 16, 16, window=4096, page=64)
    yield of("attention_paged_sparse", 32768, 16, 16, density=8, page=128)
    yield of("attention_causal_lse", 8192, 16, 16)
    yield of("attention_causal_64", 8192, 16, 16, dim=64)
    yield of("attention_soft_cap", 8192, 16, 16)
    yield of("attention_alibi", 8192, 16, 16)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="all", choices=("core", "all"))
    parser.add_argument("--only", default="", help='comma-separated: what has one of these, of "attention_full 2048 16/16" and so on')
    parser.add_argument("--seconds", type=float, default=2.0, help="of timed work per configuration, roughly")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--compile-only", action="store_true", help="fill the caches of the peers' compilers, and time nothing")
    gpu_records.add_benchmark_options(parser, HERE)
    options = parser.parse_args()

    torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
    torch.zeros(1, device="cuda")  # the context that the kernels are loaded into
    sanitizers = gpu_records.read(options.sanitizers)  # of each composition
    records = {r["config"]: r for r in gpu_records.read(options.keep)}  # in their order
    for make in problems(options.set):
        composition, keys, heads, kv_heads = make.args
        if not any(word in f"{composition} {keys} {heads}/{kv_heads}" for word in options.only.split(",")):
            continue
        problem = make()
        if options.compile_only:
            for run in problem.peers(time_masks=False).values():
                run()
            continue
        r = measure(problem, options.seconds, not options.no_peers)
        base = os.path.join(HERE, f"{problem.composition}.sm_90a")
        records[r["config"]] = {**r, **gpu_records.origin(options), "text_sha256": gpu_records.text_sha256(base + ".cubin"),
                                "control_text_sha256": gpu_records.text_sha256(base + ".control.cubin"),
                                "sanitizers": dict.fromkeys(gpu_records.SANITIZERS, "not run") | sanitizers.get(problem.composition, {})}
        speedup = " ".join(f"{name} {x:.3f}" for name, x in r["speedup"].items())
        more = "".join(f", {name} {r[name]:.3f}" for name in ("over_dense", "flex_mask_speedup", "flex_mask_plain_speedup")
                       if name in r)
        print(f"{r['config']}: {r['linked_ms']:.4f} ms, {r['linked_tflops']:.1f} TFLOP/s, {r['tile_ns']:.2f} ns a tile, "
              f"l/c {r['linked_over_control']:.4f} c/c {r['control_over_control']:.4f}, {r['clock_mhz']} MHz, "
              f"rel. err {r['rel_err']:.2e}, {'equal' if r['bitwise_equal_to_control'] else 'DIFFERENT'}; times as fast as "
              f"{speedup}{more}", flush=True)
        gpu_records.write(os.path.join(options.out, "nvidia-h200.json"), list(records.values()))
        del problem
        torch.cuda.empty_cache()
    return 0 if all(r["bitwise_equal_to_control"] and r["rel_err"] <= 5e-3 for r in records.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
