#!/usr/bin/env python3
"""Times gemm_swiglu against its control and what else computes the same, in one process, alternated; writes records as JSON.

For each number of rows the composition is the one that tuned.json names. With --tune, times the variants that tune.py linked
instead and writes which is best for each number of rows. Reads from its own folder and its neighbours what the target gpu_bundle
puts there. Clocks are read, never set.
"""

import argparse
import os
import random
import statistics
import sys
import types

import torch

import gpu_records
import hand_fused
import pipelink
from gemm_swiglu import open_gemm_swiglu

HERE = os.path.dirname(os.path.abspath(__file__))
HIDDEN, INTERMEDIATE = 5120, 25600  # Qwen3-32B
INPUT_SETS = 3  # rotated: none is in the L2 cache when its turn comes
OWN = ("linked", "control", "control_again")
HAND = "hand_fused"
GEMM = "cublas_gemm_only"
TOLERANCE = 2e-3  # ‖result − exact‖ / ‖exact‖; rounding to bfloat16 alone gives 1.7e-3


def swiglu(h):
    gate, up = h[:, :INTERMEDIATE], h[:, INTERMEDIATE:]
    return torch.nn.functional.silu(gate) * up


def reference(a, w):
    """float32 accumulation and float32 SwiGLU, in slices of the rows."""
    parts = []
    for rows in a.split(1024):
        parts.append(swiglu(torch.mm(rows, w.t(), out_dtype=torch.float32)))
    return torch.cat(parts)


def alternate(candidates, rounds):
    """Times of each candidate in ms, [round] → mean of two runs, and what the device says of itself meanwhile.

    In its turn a candidate runs three times, of which the first is not timed. The turns of a round are in random order: where the
    device is at its power limit, a kernel is quicker after one that left it cool. Every other round is the one before in reverse:
    the clock falls within a round, and over the two it has fallen for all alike.
    """
    for run in candidates.values():
        for i in range(INPUT_SETS):
            run(i)
    times = {name: [] for name in candidates}
    states = []
    step, order = 0, None
    for number in range(rounds):
        if order is None:
            turns = random.sample(list(candidates), len(candidates))
            order = turns[::-1]
        else:
            turns, order = order, None
        torch.cuda._sleep(1_000_000)  # half a millisecond, in which the host gets ahead: device time is measured
        events = {}
        for name in turns:
            events[name] = []
            for timed in (False, True, True):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                candidates[name](step % INPUT_SETS)
                end.record()
                step += 1
                if timed:
                    events[name].append((begin, end))
        if number >= rounds - 5:  # while the device is busy, and has been for a while
            states.append(gpu_records.query("clocks.sm,power.draw.instant,clocks_event_reasons.sw_power_cap").split(", "))
        torch.cuda.synchronize()
        for name, pairs in events.items():
            times[name].append(statistics.fmean(begin.elapsed_time(end) for begin, end in pairs))
    states = [s for s in states if len(s) == 3 and s[0].isdigit()]
    return times, {
        "clock_mhz": int(statistics.median(int(s[0]) for s in states)) if states else 0,
        "power_w": statistics.median(float(s[1]) for s in states) if states else 0,
        "power_capped": any(s[2] == "Active" for s in states),
    }


def quack():
    """QuACK's GEMM with an activation; None if it is not here."""
    try:
        from quack.gemm_interface import gemm_act
    except ImportError:
        return None
    return gemm_act


def library_peers(a, weights, compiled, out):
    """What users run instead: name → run(i). A library that is not here is left out. Those in `out` write their result there."""
    m = a[0].shape[0]
    h = torch.empty(m, 2 * INTERMEDIATE, device="cuda", dtype=torch.bfloat16)

    def gemm(i):
        torch.mm(a[i], weights[i].t(), out=h)

    def gemm_and_compiled(i):
        gemm(i)
        compiled(h)

    peers = {GEMM: gemm, "cublas_compiled_swiglu": gemm_and_compiled}
    if gemm_act := quack():

        def quack_gemm_act(i):  # tuned by its own tuner, with the weights as the checkpoint has them: all gates, then all ups
            gemm_act(a[i], weights[i].t(), activation="swiglu", store_preact=False, postact_out=out[i], concat_layout=("B",))

        peers["quack_gemm_act"] = quack_gemm_act
    try:
        from liger_kernel.ops.swiglu import LigerSiLUMulFunction
    except ImportError:
        return peers
    gate, up = torch.empty(2, m, INTERMEDIATE, device="cuda", dtype=torch.bfloat16)

    def liger_two_gemms(i):
        torch.mm(a[i], weights[i][:INTERMEDIATE].t(), out=gate)
        torch.mm(a[i], weights[i][INTERMEDIATE:].t(), out=up)
        LigerSiLUMulFunction.apply(gate, up)

    def liger_halves(i):  # which copies both
        gemm(i)
        LigerSiLUMulFunction.apply(h[:, :INTERMEDIATE], h[:, INTERMEDIATE:])

    return {**peers, "cublas_liger_two_gemms": liger_two_gemms, "cublas_liger_halves": liger_halves}


def rounds_for(m, seconds, candidates, least=20):
    estimate = max(0.15e-3, 0.8e-6 * m)  # seconds per run, roughly
    return max(least, int(seconds / (estimate * 3 * candidates)) // 2 * 2)


def both_ways(times):
    """Of each two rounds, of which the second is the first in reverse, the mean."""
    return [(x + y) / 2 for x, y in zip(times[::2], times[1::2])]


def new_inputs(m):
    return [torch.randn(m, HIDDEN, device="cuda", dtype=torch.bfloat16) for _ in range(INPUT_SETS)]


def launcher(kernel, a, weights, out):
    sessions = [open_gemm_swiglu(kernel, a[i], weights[i], out[i]) for i in range(INPUT_SETS)]
    return lambda i: sessions[i].launch()


def result_of(kernel, a, w, opener=open_gemm_swiglu):
    result = torch.full((a.shape[0], INTERMEDIATE), float("nan"), device="cuda", dtype=torch.bfloat16)
    opener(kernel, a, w, result).launch()
    torch.cuda.synchronize()
    return result


def relative_error(result, exact):
    return ((result.float() - exact).norm() / exact.norm()).item()


def choices():
    """tuned.json: the number of rows → its entry."""
    return {entry["m"]: entry for entry in gpu_records.read(os.path.join(HERE, "tuned.json"))}


def hand_fused_kernel(settings):
    """The kernel of hand_fused.cu with the shape that tuned.json sets."""
    return hand_fused.Kernel(settings.get("wgmma_gemm.tile_m", 128), settings.get("wgmma_gemm.tile_n", 256),
                             settings.get("tma_loader.group_m", 16))


def open_hand_fused(kernel, a, w, out):
    return types.SimpleNamespace(launch=kernel.open(a, w, out))


def measure(m, weights, linked, control, hand, compiled, seconds):
    a = new_inputs(m)
    out = [torch.empty(m, INTERMEDIATE, device="cuda", dtype=torch.bfloat16) for _ in range(INPUT_SETS)]
    exact = reference(a[0], weights[0])
    outputs = {name: result_of(kernel, a[0], weights[0]) for name, kernel in (("linked", linked), ("control", control))}
    errors = {name: relative_error(result, exact) for name, result in outputs.items()}
    equal = torch.equal(outputs["linked"].view(torch.int16), outputs["control"].view(torch.int16))
    errors[HAND] = relative_error(result_of(hand, a[0], weights[0], open_hand_fused), exact)
    del outputs

    own = {
        "linked": launcher(linked, a, weights, out),
        "control": launcher(control, a, weights, out),
        "control_again": launcher(control, a, weights, out),
    }
    fused = [open_hand_fused(hand, a[i], weights[i], out[i]) for i in range(INPUT_SETS)]
    own[HAND] = lambda i: fused[i].launch()
    libraries = library_peers(a, weights, compiled, out)
    if "quack_gemm_act" in libraries:
        out[0].fill_(float("nan"))
        libraries["quack_gemm_act"](0)  # its tuner runs here
        errors["quack_gemm_act"] = relative_error(out[0], exact)
    del exact
    if not all(error <= TOLERANCE for error in errors.values()):  # NaN is not
        sys.exit(f"benchmark: for m={m} the relative errors are {errors}")
    torch.cuda.empty_cache()
    candidates = {**own, **libraries}
    times, state = alternate(candidates, rounds_for(m, seconds, len(candidates), 30))
    ms = {name: statistics.median(t) for name, t in times.items()}
    peers = {name: t for name, t in ms.items() if name not in OWN}
    # What differs by little once more, without the others between.
    own[GEMM] = libraries[GEMM]
    close, _ = alternate(own, rounds_for(m, seconds, len(own), 120))

    def ratio(times, name, base):
        return statistics.median(x / y for x, y in zip(both_ways(times[name]), both_ways(times[base])))

    return {
        "config": f"m={m} n={2 * INTERMEDIATE} k={HIDDEN} bf16",
        **state,
        "linked_ms": round(ms["linked"], 5),
        "control_ms": round(ms["control"], 5),
        "linked_over_control": round(ratio(close, "linked", "control"), 5),
        "control_over_control": round(ratio(close, "control_again", "control"), 5),
        "linked_over_hand_fused": round(ratio(close, "linked", HAND), 5),
        "peers": {name: round(t, 5) for name, t in peers.items()},
        "speedup": {name: round(ratio(close if name in own else times, name, "linked"), 4) for name in peers},
        "rel_err": errors["linked"],
        "peers_rel_err": {name: error for name, error in errors.items() if name not in OWN},
        "bitwise_equal_to_control": equal,
    }


def rows_of(record):
    return int(record["config"].split()[0].removeprefix("m="))


def relative(times, name):
    """The median time, were the clock that of the median round."""
    rounds = [statistics.fmean(t) for t in zip(*(both_ways(t) for t in times.values()))]
    return statistics.median(t / r for t, r in zip(both_ways(times[name]), rounds)) * statistics.median(rounds)


def tune(folder, sizes, weights, load, seconds, out):
    """Times the variants of variants.json for each number of rows. Of those within 0.3% of the best, the one that sets least is
    taken."""
    variants = gpu_records.read(os.path.join(folder, "variants.json"))
    kernels = {v["name"]: load(os.path.join(folder, v["name"], "gemm_swiglu.sm_90a.cubin")) for v in variants}
    best = []
    for m in sizes:
        a = new_inputs(m)
        results = [torch.empty(m, INTERMEDIATE, device="cuda", dtype=torch.bfloat16) for _ in range(INPUT_SETS)]
        exact = reference(a[0], weights[0])
        for name, kernel in kernels.items():
            if not relative_error(result_of(kernel, a[0], weights[0]), exact) <= TOLERANCE:
                sys.exit(f"benchmark: {name} is wrong for m={m}")
        del exact
        # A short round of all, then a longer one of those that may be best.
        candidates = {name: launcher(kernel, a, weights, results) for name, kernel in kernels.items()}
        times, _ = alternate(candidates, 4)
        quickest = sorted(candidates, key=lambda name: relative(times, name))[:6]
        candidates = {name: candidates[name] for name in quickest}
        times, state = alternate(candidates, rounds_for(m, seconds, len(candidates)))
        ms = {name: relative(times, name) for name in quickest}
        near = [v for v in variants if v["name"] in ms and ms[v["name"]] <= 1.003 * min(ms.values())]
        chosen = min(near, key=lambda v: (len(v["set"]), ms[v["name"]]))
        best.append({"m": m, "composition": chosen["name"], "set": chosen["set"], "ms": round(ms[chosen["name"]], 5),
                     "clock_mhz": state["clock_mhz"], "others": {n: round(t, 5) for n, t in sorted(ms.items(), key=lambda x: x[1])}})
        print(f"m={m}: {chosen['name']}; {best[-1]['others']}", flush=True)
        gpu_records.write(os.path.join(out, "tuned.json"), best)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--m", default="64,128,256,512,1024,2048,4096,8192,16384", help="comma-separated")
    parser.add_argument("--seconds", type=float, default=6.0, help="of timed work per size, roughly")
    gpu_records.add_benchmark_options(parser, HERE)
    parser.add_argument("--tune", metavar="FOLDER", help="time tune.py's variants in FOLDER and write tuned.json")
    options = parser.parse_args()
    sizes = [int(x) for x in options.m.split(",")]

    torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
    torch.zeros(1, device="cuda")  # the context that the kernels are loaded into
    library = os.path.join(HERE, "libgemm_swiglu.so")

    def load(cubin):  # a control has the placement of its linked kernel, so also its launch description
        return pipelink.load(library, files=(cubin, cubin.removesuffix(".cubin").removesuffix(".control") + ".launch"))

    weights = [torch.randn(2 * INTERMEDIATE, HIDDEN, device="cuda", dtype=torch.bfloat16) * HIDDEN**-0.5 for _ in range(INPUT_SETS)]
    if options.tune:
        tune(options.tune, sizes, weights, load, options.seconds, options.out)
        return 0

    best = choices()
    torch._dynamo.config.recompile_limit = len(sizes) + 1  # else the last ones would not be compiled
    compiled = torch.compile(swiglu, dynamic=False)
    sanitizers = dict.fromkeys(gpu_records.SANITIZERS, "not run") | gpu_records.read(options.sanitizers)
    records = [r for r in gpu_records.read(options.keep) if rows_of(r) not in sizes]
    for m in sizes:
        chosen = best.get(m, {"composition": "gemm_swiglu", "set": {}})
        name, hand = chosen["composition"], hand_fused_kernel(chosen["set"])
        base = os.path.join(os.path.dirname(HERE), name, f"{name}.sm_90a")
        linked, control = base + ".cubin", base + ".control.cubin"
        r = measure(m, weights, load(linked), load(control), hand, compiled, options.seconds)
        texts = {"text_sha256": linked, "control_text_sha256": control}
        records.append({**r, "composition": name, **{key: gpu_records.text_sha256(path) for key, path in texts.items()},
                        HAND: hand.name, "hand_fused_text_sha256": gpu_records.text_sha256(hand_fused.IMAGE, hand.name),
                        **gpu_records.origin(options), "sanitizers": sanitizers})
        print(f"m={m} {name}: linked {r['linked_ms']:.4f} ms, over control {r['linked_over_control']:.4f} (control over itself "
              f"{r['control_over_control']:.4f}), over hand-fused {r['linked_over_hand_fused']:.4f}, {r['clock_mhz']} MHz, {r['power_w']:.0f} W, rel. error {r['rel_err']:.2e}, "
              f"{'equal' if r['bitwise_equal_to_control'] else 'DIFFERENT'}")
        for peer, ms in r["peers"].items():
            print(f"    {peer:24} {ms:9.4f} ms  {r['speedup'][peer]:.4f}", flush=True)
        gpu_records.write(os.path.join(options.out, "nvidia-h200.json"), sorted(records, key=rows_of))
    return 0 if all(r["bitwise_equal_to_control"] for r in records) else 1


if __name__ == "__main__":
    sys.exit(main())
