"""Compares recorded results with today's code, and with what they are to reach.

usage: check_results.py RESULTS.json MAP.json...
Each record must be of today's text of the composition that its `config` begins with. Exit status 77 (a skip) names the stale
ones, so that nobody takes them for this build's.
"""
import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "e2e"))
from cubin import Kernel  # the reader that shares nothing with the linker

ORIGIN = ("device", "driver", "toolkit", "date", "commit")
LONG = (8192, 32768)  # keys: the lengths for which the bars against cuDNN hold
OVER_DENSE = {"attention_paged_128": 1.03, "attention_paged_16": 1.10}
TILES = 8  # of keys for each tile of queries, in the mean: from these on, time is proportional to their number
SAME = 0.002  # a kernel and its control are the same bytes: their times differ by no more


def words(record):
    return dict(word.split("=") for word in record["config"].split() if "=" in word)


def misses(records):
    """What does not reach its bar, in words."""
    found = []

    def bar(record, what, value, least):
        if value < least:
            found.append(f"{record['config']}: {what} {value:.3f}, below {least}")

    sanitized = {r["config"].split()[0] for r in records if set(r["sanitizers"].values()) == {"clean"}}
    for name in sorted({r["config"].split()[0] for r in records} - sanitized):
        found.append(f"{name}: not run under all sanitizers, or not clean")
    tile_ns = {}  # of a composition on one shape of problem, at several numbers of tiles
    for r in records:
        name, words_of = r["config"].split()[0], words(r)
        if missing := [key for key in ORIGIN if r.get(key, "unknown") == "unknown"]:
            found.append(f"{r['config']}: does not say its {', '.join(missing)}")
        if not (r["bitwise_equal_to_control"] and r["text_sha256"] == r["control_text_sha256"]):
            found.append(f"{r['config']}: not what the control is")
        if r["rel_err"] > 5e-3:
            found.append(f"{r['config']}: error {r['rel_err']:.1e}")
        if not set(r["sanitizers"].values()) <= {"clean", "not run"}:
            found.append(f"{r['config']}: sanitizers say {r['sanitizers']}")
        if name in ("attention_full", "attention_causal") and int(words_of["s"]) in LONG:
            bar(r, "times as fast as cuDNN:", r["speedup"]["cudnn"], 0.97 if name == "attention_full" else 1.0)
        if "flex" in r["speedup"]:
            bar(r, "times as fast as FlexAttention:", r["speedup"]["flex"], 1.5)
            mask_speedup = r.get("flex_mask_speedup", 0)  # its building compiled; by the plain call, if the memory suffices
            bar(r, "times as fast as FlexAttention with its mask's building:", mask_speedup, r["speedup"]["flex"])
        if name == "attention_window" or name == "attention_sparse" and ("mask" in words_of or int(words_of["s"]) < 32768):
            bar(r, "times as fast as FlexAttention with its mask's building:", r.get("flex_mask_plain_speedup", 0), 5)
        if name in OVER_DENSE and not r.get("over_dense", 2) <= OVER_DENSE[name]:
            found.append(f"{r['config']}: {r.get('over_dense')} of the dense kernel's time, above {OVER_DENSE[name]}")
        each = r["tiles"] / (int(words_of["heads"].split("/")[0]) * int(words_of["s"]) / 128)
        if name in ("attention_window", "attention_sparse") and each >= TILES:
            tile_ns.setdefault((name, words_of["s"]), []).append(r["tile_ns"])
    for (name, keys), times in ((key, times) for key, times in tile_ns.items() if len(times) > 1):  # proportional: within a tenth of what their mean says
        mean = sum(times) / len(times)
        off = max(abs(t / mean - 1) for t in times)
        print(f"{name} s={keys}: time for each of its tiles within {100 * off:.1f}% of the mean, {len(times)} configurations")
        if not off <= 0.1:
            found.append(f"{name} s={keys}: time is not proportional to the number of tiles, by {100 * off:.1f}%")
    for r in records:
        if not abs(r["linked_over_control"] - 1) <= SAME:
            found.append(f"{r['config']}: linked/control {r['linked_over_control']:.4f}, control/control {r['control_over_control']:.4f}")
    return found


SHOWN = (  # rows of README.md's first table
    ("attention_full", "all keys, 2048 to 32768 of them, 16/16 and 64/8 heads", "cudnn", "cuDNN"),
    ("attention_causal", "causal, the same", "cudnn", "cuDNN"),
    ("attention_causal", "causal, the same", "flex", "FlexAttention"),
    ("attention_window", "sliding windows of 1024 and 4096 keys", "flex", "FlexAttention"),
    ("attention_sparse", "block-sparse, 1/4 to 1/32 of 8192² and 32768²", "flex", "FlexAttention"),
    ("attention_documents", "16 packed documents, 64/8 heads", "flex", "FlexAttention"),
    ("attention_soft_cap", "causal with a soft cap, 8192 keys", "flex", "FlexAttention"),
    ("attention_alibi", "causal with ALiBi, 8192 keys", "flex", "FlexAttention"),
)
MASKED = (  # and of its second: a composition, what `config` is to have and what not
    ("attention_window", "sliding windows", "", ()),
    ("attention_documents", "documents", "", ()),
    ("attention_sparse", "block-sparse, 8192²", "s=8192", ()),
    ("attention_sparse", "block-sparse, 32768², alike in all heads", "mask=shared", ()),
    ("attention_sparse", "block-sparse, 32768², each head its own", "s=32768", ("mask=shared",)),
)


def span(values, digits):
    least, most = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return least if least == most else f"{least} to {most}"


def shown(records):
    """What is to stand in README.md: the tables' rows, and what pages cost."""
    over = [f"{r['over_dense']:.3f}" for page in (128, 64, 16) for r in records if r["config"].startswith(f"attention_paged_{page} ")]
    yield f"Pages of 128, 64 and 16 keys take {over[0]}, {over[1]} and {over[2]} of the time"
    for composition, what, peer, name in SHOWN:
        speedups = [r["speedup"][peer] for r in records if r["config"].split()[0] == composition]
        yield f"| {what} | {name} | {span(speedups, 2)} |"
    for composition, what, having, lacking in MASKED:
        chosen = [r for r in records if {composition, *having.split()} <= set(r["config"].split()) and
                  not set(lacking) & set(r["config"].split())]
        plain = [r["flex_mask_plain_speedup"] for r in chosen if "flex_mask_plain_speedup" in r]
        compiled = [r["flex_mask_speedup"] for r in chosen]
        yield f"| {what} | {span(plain, 1) if plain else 'out of memory'} | {span(compiled, 1)} |"


def main():
    records, today = json.loads(Path(sys.argv[1]).read_text()), {}
    for path in map(Path, sys.argv[2:]):
        name = json.loads(path.read_text())["name"]
        image = path.with_name(path.name.replace(".map.json", ".cubin")).read_bytes()
        today[name] = hashlib.sha256(Kernel(image, name).text).hexdigest()
    unknown = [r["config"] for r in records if r["config"].split()[0] not in today]
    if unknown or not records:
        sys.exit(f"there is no composition for: {'; '.join(unknown)}" if unknown else "there are no records")
    readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    found = misses(records) + [f"README.md does not have: {row}" for row in shown(records) if row not in readme]
    if found:
        sys.exit("\n".join(found))
    stale = [r["config"] for r in records if r["text_sha256"] != today[r["config"].split()[0]]]
    if stale:
        print(f"SKIPPED: {len(stale)} of {len(records)} records are of other code: {'; '.join(stale)}")
        sys.exit(77)
    print(f"all {len(records)} records are of today's code")


main()
