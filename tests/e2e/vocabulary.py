"""Every annotation of the authoring SDK, through compiler, packager and linker: what was placed, bound and folded."""
import re
import sys

import cubin
import fused
import tensor_memory
from control import control
from support import ARCH, COMPONENTS, check, component_text, equal, find_tool, fresh, main, run, write_composition


def overlap(a, b):
    return a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]


def judge(linked):
    """The gate's rows, and the same figures read by another reader."""
    kernel, placed = cubin.Kernel(linked.cubin, linked.name), linked.placement
    sets = any(r != placed["entry_registers"] for r in placed["warpgroup_registers"])
    most = 255 if placed["entry_registers"] == 248 else placed["entry_registers"]  # the compiler's word for 248 and more
    for what, (planned, found) in linked.gate().items():
        if what == "registers at entry":
            check(int(found) == most if sets else int(found) <= most, f"gate row {what}: {found}, planned {planned}")
        elif found != "unused":
            equal(found, planned, f"gate row {what}")
    equal(kernel.functions, [linked.name], "functions of the cubin")
    equal(kernel.threads, placed["threads"], "threads of the cubin")
    check(kernel.registers == most if sets else 0 < kernel.registers <= most, f"{kernel.registers} registers of the cubin at entry")
    named = [] if "guard" in linked.map else [row["id"] for row in placed["named_barriers"]]  # those of a guarded link are in memory
    equal(kernel.barriers, max(named, default=0) + 1, "barriers of the cubin")
    used = linked.gate()["shared bytes"][1] != "unused"
    equal(kernel.shared_bytes, placed["shared_bytes"] if used else 0, "shared bytes of the cubin")
    equal(kernel.shared_align, placed["shared_align"] if used else 0, "shared alignment of the cubin")
    equal(kernel.sets_registers, sets, "setmaxnreg in the cubin")
    return kernel


SIGNALS = """
struct Parameters { unsigned* word; };
PIPELINK_PARAMETERS(signals::Parameters, "signals.h", word);
PIPELINK_GRID(.resident = true);
PIPELINK_COUNTER(done, .field = "word", .initial = 0, .arrivals = 1, .scope = "device");
PIPELINK_STEPS(run, .once = "arrive done");
PIPELINK_ROLE(run, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  if (run.thread(self) == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(parameters(self).word) : "memory");
}
"""
WAITS = """
struct Parameters { const unsigned* flag; unsigned* out; };
PIPELINK_PARAMETERS(waits::Parameters, "waits.h", flag, out);
PIPELINK_IMPORT_COUNTER(done, .field = "flag", .arrivals = 1, .scope = "device");
PIPELINK_STEPS(run, .once = "wait done");
PIPELINK_ROLE(run, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  unsigned seen = 0;
  while (seen == 0) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(parameters(self).flag) : "memory");
  parameters(self).out[run.thread(self)] = seen;
}
"""


OWNER = """
struct Parameters { float* partial; float* out; };
PIPELINK_PARAMETERS(owner::Parameters, "owner.h", partial, out);
PIPELINK_FACT(scale, float, 0.1f);
PIPELINK_TEXT(tile, "(64,32)");
PIPELINK_SETTABLE_TEXT(reduction, "sum", "max");
PIPELINK_SETTABLE_REAL(cap, float, .value = 50, .least = 0.5, .most = 1000);
PIPELINK_SETTABLE_FACT(rows, int, .value = 4, .domain = {4, 8});
PIPELINK_SCRATCH(partials, .field = "partial", .bytes = "rows * 100", .per_block = true, .align = 128, .zeroed = true);
PIPELINK_ROLE(run, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  float* own = partials.data<float>(self) + run.thread(self);
  switch (reduction(self)) {
    case 0: *own += scale; break;
    default: *own = *own > scale ? *own : scale;
  }
  parameters(self).out[run.thread(self)] = *own < cap(self) ? *own : cap(self);
}
"""
READER = """
struct Parameters { float* out; };
PIPELINK_PARAMETERS(reader::Parameters, "reader.h", out);
PIPELINK_USE_FACT(scale, float);
PIPELINK_USE_TEXT(tile, "(32,32)", "(64,32)");
PIPELINK_ROLE(run, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  parameters(self).out[run.thread(self)] = scale(self) * (tile(self) == 1 ? 64 : 32);
}
"""


def texts_reals_and_scratch(tools):
    """A real is the same in both codes, a text is a number to its reader, and scratch has a size and an address."""
    owner, reader = tools.package("owner", source=OWNER), tools.package("reader", source=READER)
    linked = tools.linked("worded", [owner, reader])
    check("pl__reader__fact__scale(unsigned) { return static_cast<float>(0.10000000149011612); }" in linked.text, f"the real: {linked.text}")
    check("pl__reader__fact__tile(unsigned) { return 1u; }" in linked.text, f"the text: {linked.text}")
    check("pl__owner__fact__reduction(unsigned) { return 0u; }" in linked.text, f"the default text: {linked.text}")
    region = re.search(r"\ninstance=owner\n.*?region=(\d+)", linked.launch.decode(), re.S)[1]
    check(f"reinterpret_cast<unsigned char* const*>(self.parameters + {region}) + blockIdx.x * 512ull;" in linked.text, f"the scratch: {linked.text}")
    check(b"\nscratch=partials 0 512 1 1\n" in linked.launch, f"the launch description: {linked.launch}")
    equal([{k: row[k] for k in ("claim", "bytes", "per_block", "align", "zeroed", "field")} for row in linked.map["scratch"]],
          [{"claim": "owner.partials", "bytes": 512, "per_block": True, "align": 128, "zeroed": True, "field": "partial"}], "scratch in the map")
    other = tools.linked("worded", [owner, reader], set={"owner.reduction": "max", "owner.rows": 8})
    check("pl__owner__fact__reduction(unsigned) { return 1u; }" in other.text, f"the text that was set: {other.text}")
    equal(other.map["scratch"][0]["bytes"], 896, "scratch for eight rows")
    check(other.cubin != linked.cubin, "another text is the same code")
    check("pl__owner__fact__cap(unsigned) { return static_cast<float>(50.0); }" in linked.text, f"the default real: {linked.text}")
    capped = tools.linked("worded", [owner, reader], set={"owner.cap": 30.25})
    check("pl__owner__fact__cap(unsigned) { return static_cast<float>(30.25); }" in capped.text, f"the real that was set: {capped.text}")
    check(capped.cubin != linked.cubin, "another real is the same code")
    row = next(row for row in capped.map["facts"] if row["fact"] == "owner.cap")
    equal([row[key] for key in ("value", "set", "least", "most")], ["30.25", True, "0.5", "1000"], "a real in the map")
    file = write_composition(tools.work / "numbers" / "worded.json", "worded", [owner, reader], set={"owner.cap": "VALUE"})
    text = file.read_text()
    for value, what in (("1e400", "1e400"), ("-" + "7" * 311, "-7+" + re.escape("... (312 bytes)")), ("1e-400", "0"), ("-0", "-0"), ("1001", "1001")):
        said = []
        for written in (value, f'"{value}"'):  # as JSON has a number, and as CMake writes it
            file.write_text(text.replace('"VALUE"', written))
            said.append(tools.tool("check", file))
        equal([done.status for done in said], [1, 1], f"a real of {value[:20]}")
        equal(said[0].err, said[1].err, f"messages about {value[:20]}")
        check(re.search(rf"^error\[L-FACT-DOMAIN\].*\n  composition: SET owner.cap=.* \(.*worded.json:\d+\)\n  owner: lets it be a number from 0.5 to 1000 "
                        rf".*\n  = reason: {what} is no such number\n  = help: SET owner.cap=(0.5|1000)\n$", said[0].err), f"the message: {said[0].err}")
    summary = tools.must("inspect", capped.folder / f"worded.{ARCH}.map.json").out
    check("set here, from 0.5 to 1000" in summary, f"the summary: {summary}")
    text = tools.refused("worded", [owner, reader], "L-FACT-DOMAIN", set={"owner.cap": 1000.5})
    for word in ("1000.5 is no such number", "lets it be a number from 0.5 to 1000", "help: SET owner.cap=1000"):
        check(word in text, f"L-FACT-DOMAIN lacks {word!r}: {text}")
    for stated, literal in ((0.5, "0.5"), (0.7, "0.699999988079071"), ("1e3", "1000.0")):
        text = tools.linked("worded", [owner, reader], set={"owner.cap": stated}).text
        check(f"fact__cap(unsigned) {{ return static_cast<float>({literal}); }}" in text, f"{stated} as a float: {text}")
    signed = tools.package("owner", source=OWNER.replace(".value = 50, .least = 0.5, .most = 1000", ".value = -1, .least = -1e30, .most = 0"), variant="signed")
    for stated, literal in (("-0", "-0.0"), (-9223372036854775808, "-9223372036854775808.0"), ("-18446744073709551616", "-18446744073709551616.0")):
        text = tools.linked("worded", [signed, reader], set={"owner.cap": stated}).text
        check(f"fact__cap(unsigned) {{ return static_cast<float>({literal}); }}" in text, f"{stated} as a float: {text}")
    text = tools.refused_package("owner", OWNER.replace(".least = 0.5", ".least = 2000"), "P-VALUE")
    check("2000 is more than 1000, the most" in text, text)
    text = tools.refused("worded", [owner, reader], "L-FACT-TYPE", set={"owner.cap": "much"})
    check("SET owner.cap to a number from 0.5 to 1000" in text, text)
    text = tools.refused_package("owner", OWNER.replace(".most = 1000", ".most = 10"), "P-VALUE")
    check("50 is not from 0.5 to 10" in text, text)
    narrow = tools.package("reader", source=READER.replace(', "(64,32)"', ""), variant="narrow")
    text = tools.refused("worded", [owner, narrow], "L-FACT-DOMAIN")
    check("owner.cu:" in text and "reader.cu:" in text, f"L-FACT-DOMAIN names no places: {text}")
    text = tools.refused_package("owner", OWNER.replace('.field = "partial"', '.field = "partials"'), "P-VALUE")
    check("no pointer among" in text, text)
    listed = tools.must("inspect", owner).out
    for word in ("rows * 100 bytes for each block, aligned to 128, through partial, zeroed", "settable to sum, max", "settable from 0.5 to 1000", "= 0.10000000149011612"):
        check(word in listed, f"inspect lacks {word!r}: {listed}")
    tools.must("inspect", linked.folder / f"worded.{ARCH}.map.json", "--html", linked.folder / "page.html")
    done = tools.must("audit", owner)
    check("warning[" not in done.err, f"the audit of what is right: {done}")


def counters(tools):
    """A counter is bound and compared; the host is told that all blocks must be there."""
    signals, waits = tools.package("signals", source=SIGNALS), tools.package("waits", source=WAITS)
    linked = tools.linked("counted", [signals, waits])
    rows = [(row["import"], row["export"]) for row in linked.map["bindings"] if row["kind"] == "counter"]
    equal(rows, [("waits.done", "signals.done")], "bindings of counters")
    equal(linked.map["protocol_order"], {"checked": [], "not_checked": [
        {"protocol": "signals.done", "why": "other blocks, or the host, take part in it"}]}, "whose waits are checked")
    check(b"\nresident=1\n" in linked.launch, "resident in the launch description")
    listing = tools.must("inspect", signals).out
    for word in ("through word, from 0, 1 for each wait, scope device", "all blocks on the device at one time", "once: arrive done"):
        check(word in listing, f"inspect lacks {word!r}: {listing}")
    tools.must("inspect", linked.folder / f"counted.{ARCH}.map.json", "--html", linked.folder / "page.html")
    text = tools.refused("counted", [signals, tools.package("waits", source=WAITS.replace('"device"', '"system"'), variant="2")], "L-SCOPE")
    check("signals.cu:" in text and "waits.cu:" in text, f"L-SCOPE names no places: {text}")


def every_annotation(tools):
    """The components here, and those of tensor_memory.py, use each macro that the SDK documents."""
    header = (tools.include / "pipelink" / "component.h").read_text()
    macros = set(re.findall(r"^#define (PIPELINK_(?!DETAIL)\w+)\(", header, re.M))
    check(len(macros) > 15, f"found only {sorted(macros)} in component.h")
    used = set(re.findall(r"PIPELINK_\w+", tensor_memory.CELLS + SIGNALS + WAITS + OWNER + READER))
    for component in fused.COMPONENTS:
        used |= set(re.findall(r"PIPELINK_\w+", (COMPONENTS / f"{component}.cu").read_text()))
    equal(sorted(macros - used), [], "annotations that no component here uses")


def placement(tools):
    linked = fused.link(tools)
    file = linked.folder.parent / "in" / "composition.json"
    text = tools.must("check", file, "--why", "drain.queue").out
    check(text.startswith("drain.queue: "), f"why a ring is not deeper: {text}")
    equal(tools.must("check", file, "--why", "feeder.queue").out, text, "the same by the ring's other end")
    judge(linked)
    placed = linked.placement
    # Roles: a warpgroup of its own for four warps; single warps share one.
    for role in ("drain.consume", "tile_source.produce"):
        equal(linked.claim("roles", role)["first_warp"] % 4, 0, f"first warp of {role}, modulo 4")
    singles = [linked.claim("roles", r)["first_warp"] for r in ("feeder.feed", "left.run", "right.run")]
    equal(len(set(singles)), 3, f"distinct warps among {singles}")
    equal(len({w // 4 for w in singles}), 1, f"warpgroups of the single warps {singles}")
    equal(placed["threads"], 384, "threads")
    shared = {r["claim"]: r["registers"] for r in placed["roles"] if r["claim"] in ("feeder.feed", "left.run", "right.run")}
    equal(len(set(shared.values())), 1, f"one budget for the roles of one warpgroup: {shared}")
    # Sizes are expressions over facts, which differ between the instances.
    equal(linked.claim("shared", "left.scratch")["bytes"], 2048, "left.scratch")
    equal(linked.claim("shared", "right.scratch")["bytes"], 1024, "right.scratch")
    for claim in placed["shared"]:
        equal(claim["offset"] % claim["align"], 0, f"offset of {claim['claim']} modulo its alignment")
        check(claim["offset"] + claim["bytes"] <= placed["shared_bytes"], f"{claim['claim']} reaches beyond the array")
    # Mbarriers with the arrivals of their instance.
    for instance, arrivals in (("left", 4), ("right", 2)):
        offset = linked.claim("shared", f"{instance}.turns")["offset"]
        check(f"pl_mbarriers({offset}, 2, {arrivals});  // {instance}.turns" in linked.text, f"initialisation of {instance}.turns")
    # The ring: its depth is as large as may be, and both its sides see it.
    ring = linked.claim("rings", "drain.queue")
    equal((ring["stages"], ring["stage_bytes"], ring["full_arrivals"], ring["empty_arrivals"]), (4, 1024, 32, 128), "drain.queue")
    for side in ("drain", "feeder"):
        check(re.search(rf"pl__{side}__ring__queue__stages\(unsigned\) {{ return 4u; }}", linked.text), f"stages for {side}")
        check(f"pl__{side}__ring__queue__data(unsigned) {{ return pl_shared + {ring['data']}; }}" in linked.text, f"data for {side}")
    # What is never live at one time shares bytes and barrier ids; also across a call that carries its caller's phase.
    kept, results, staging = (linked.claim("shared", c) for c in ("drain.kept", "drain.results", "feeder.staging"))
    check(overlap(kept, results), f"drain.kept and drain.results do not share bytes: {kept}, {results}")
    check(overlap(kept, staging), f"drain.kept and feeder.staging do not share bytes: {kept}, {staging}")
    check(not overlap(results, staging), f"drain.results and feeder.staging share bytes: {results}, {staging}")
    equal(linked.claim("named_barriers", "drain.taken")["id"], linked.claim("named_barriers", "drain.given")["id"],
          "barrier ids of drain.taken and drain.given")
    always = [row for row in placed["shared"] if not row["live"]]
    for i, one in enumerate(always):
        for other in placed["shared"]:
            check(one is other or not overlap(one, other), f"{one['claim']} and {other['claim']} share bytes")
    ids = [linked.claim("named_barriers", f"{i}.all")["id"] for i in ("left", "right")]
    check(ids[0] != ids[1] and 0 not in ids, f"barrier ids of left.all and right.all: {ids}")
    # Parameters: one region for each instance that has some, disjoint and aligned.
    regions = {r["instance"]: r for r in placed["parameters"]["regions"]}
    equal(sorted(regions), ["feeder", "left", "right", "tile_source"], "parameter regions")
    spans = sorted((r["offset"], r["offset"] + r["bytes"]) for r in regions.values())
    check(all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), f"parameter regions overlap: {spans}")
    for name, region in regions.items():
        check(f"parameter {name}" in linked.launch.decode() or name in linked.launch.decode(), f"{name} in the launch description")
        equal(region["offset"] % 8, 0, f"offset of the parameters of {name}, modulo 8")
    # Facts, and what became of them.
    facts = {row["fact"]: row for row in linked.map["facts"]}
    equal((facts["left.width"]["value"], facts["left.width"]["set"]), (4, True), "left.width")
    equal((facts["right.width"]["value"], facts["right.width"]["set"]), (2, False), "right.width")
    equal(facts["taps.scale"]["readers"], ["left", "right"], "readers of taps.scale")
    equal(facts["left.bias"]["value"], 3, "left.bias, which nobody owns")
    equal(facts["drain.stage_rows"]["readers"], ["feeder"], "readers of drain.stage_rows")
    equal(linked.map["dropped"], [], "dropped exports")
    bindings = {(row["kind"], row["import"]): row["export"] for row in linked.map["bindings"]}
    equal(bindings, {("callable", "drain.deliver"): "feeder.deliver", ("callable", "drain.next"): "feeder.next",
                     ("callable", "left.transform"): "taps.first", ("callable", "right.transform"): "taps.second",
                     ("callable", "tile_source.consume"): "tile_sink.consume", ("ring", "feeder.queue"): "drain.queue",
                     ("tensor", "tile_sink.tile"): "tile_source.tile"}, "bindings")
    for claim in ("drain.kept", "left.turns", "feeder.feed", "drain.queue"):
        check(claim in linked.summary, f"{claim} in the summary")
    files = {row["claim"]: (row["file"], row["line"]) for row in placed["roles"]}
    source = (COMPONENTS / "relay.cu").read_text().splitlines()
    equal(files["left.run"], ("relay.cu", next(i for i, l in enumerate(source, 1) if "PIPELINK_ROLE(run" in l)), "place of left.run")


def instances(tools):
    """Each of two instances calls the export that it is bound to."""
    apart = fused.link(tools)
    check(re.search(r"case 0: \{\s+return pl__taps__export__first\(.*\s+\}\s+default: \{\s+return pl__taps__export__second\(", apart.text),
          "the trampoline of relay.transform")
    alike = fused.link(tools, bind=[["left.transform", "taps.first"], ["right.transform", "taps.first"]])
    equal(alike.map["dropped"], ["taps.second"], "dropped exports")
    judge(alike)
    kernels = [cubin.Kernel(l.cubin, l.name).text for l in (apart, alike)]
    check(kernels[0] != kernels[1], "another binding gave the same code")


def single(tools, *options, **keys):
    """One relay with its callee."""
    return tools.linked("solo", [tools.package("relay", *options), tools.package("taps")], bind=[["relay.transform", "taps.first"]], **keys)


def settable(tools):
    """SET folds: another value is other code, and equals that of a constant."""
    texts = {}
    for width in (1, 2, 4):
        linked = single(tools, set={"relay.width": width})
        texts[width] = judge(linked).text
        fixed = single(tools, f"-DWIDTH={width}")
        check(judge(fixed).text == texts[width], f"SET width={width} is not the code of the constant {width}")
    equal(len({*texts.values()}), 3, "different codes for three values")
    check(judge(single(tools)).text == texts[2], "the default, 2, is not the code of SET 2")


def reals_without_value(tools):
    """A real that its type does not hold is refused where it stands, by one plain message each."""
    folder = fresh(tools.work / "reals")
    source, ranges = folder / "reals.cu", "are finite in its type"
    facts = [("SETTABLE_REAL(a, float, .value = 1, .least = 0, .most = 1e39)", ranges), ("SETTABLE_REAL(b, float, .value = INFINITY, .most = 1)", ranges),
             ("SETTABLE_REAL(c, double, .value = NAN, .most = 1)", ranges), ("SETTABLE_REAL(d, double, .least = -INFINITY, .most = 1)", ranges),
             ("SETTABLE_REAL(e, float, .value = 1, .most = 3.4028235e38)", None), ("SETTABLE_REAL(f, double, .most = 1.7976931348623157e308)", None),
             ("FACT(g, float, INFINITY)", "the value of a fact is finite in its type"),
             ("USE_FACT_OR(h, double, NAN)", "the value of a fact is finite in its type")]
    source.write_text(component_text("reals", "".join(f"PIPELINK_{fact};\n" for fact, _ in facts)).replace("namespace reals {", "#include <math.h>\nnamespace reals {"))
    lines = source.read_text().splitlines()
    done = run([tools.nvcc, "-std=c++20", "-I", tools.include, "-rdc=true", "-fatbin", "--generate-code=arch=compute_90a,code=lto_90a", "-o",
                folder / "reals.fatbin", source], 120)
    found = re.findall(r'^(.*)\((\d+)\): error: static assertion failed with ".*?((?:are|the value).*)"$', done.err + done.out, re.MULTILINE)
    equal([(lines[int(line) - 1].split("PIPELINK_")[1].rstrip(";"), text) for _, line, text in found], [(f, t) for f, t in facts if t], "the messages")
    equal(len(re.findall(r"error:", done.err + done.out)), len(found), "errors in all")


def layouts(tools):
    """A tile goes to a consumer of the same layout, and to one that orders a thread's values otherwise."""
    source = tools.package("tile_source")
    straight = tools.linked("tiles", [source, tools.package("tile_sink")])
    renamed = tools.linked("tiles", [source, tools.package("tile_sink", "-DREVERSED")])
    expected = {"from": "tile_source.tile", "to": "tile_sink.tile", "route": "registers"}
    equal(straight.map["routes"], [expected], "the route between equal layouts")
    order = [0, 4, 2, 6, 1, 5, 3, 7]
    equal(renamed.map["routes"], [{**expected, "route": "registers, renamed", "permutation": order}], "the route between permuted layouts")
    for value, place in enumerate(order):
        check(f"pl_move<4>(&t1_out, {place}, &a1, {value});" in renamed.text and
              f"pl_move<4>(&a1, {value}, &t1_out, {place});" in renamed.text, f"value {value}")
    equal(len(judge(straight).text), len(judge(renamed).text), "bytes of code: renaming registers costs nothing")
    for linked in (straight, renamed):
        equal(scaled_elements(linked), {4 * e: 3 * e + 1 for e in range(1, 8)}, "factor by byte offset of an element")


def scaled_elements(linked):
    """Reads the machine code: a value loaded from, and stored to, this offset was multiplied by that factor."""
    done = run([find_tool("nvdisasm"), "-c", linked.folder / f"{linked.name}.{ARCH}.cubin"])
    loaded, factor, found = {}, {}, {}
    for line in done.out.splitlines():
        if load := re.search(r"LDG\.E (R\d+), desc\[\w+\]\[R\d+\.64(?:\+0x([0-9a-f]+))?\]", line):
            loaded[load[1]] = int(load[2] or "0", 16)
        elif product := re.search(r"FMUL (R\d+), (R\d+), (\d+) ;", line):
            factor[product[1]] = (loaded[product[2]], int(product[3]))
        elif store := re.search(r"STG\.E desc\[\w+\]\[R\d+\.64(?:\+0x([0-9a-f]+))?\], (R\d+)", line):
            offset = int(store[1] or "0", 16)
            if store[2] in factor:
                equal(factor[store[2]][0], offset, f"where the value stored at {offset} came from")
                found[offset] = factor[store[2]][1]
    return found


def state(tools):
    """Static data that can be written: one instance, and no second."""
    package = tools.package("state")
    judge(tools.linked("counter", [package]))
    text = tools.refused("counters", [(package, "one"), (package, "two")], "P-STATE")
    check("instance `one`" in text and "instance `two`" in text and "calls" in text, f"P-STATE names too little: {text}")
    text = tools.must("inspect", package).out
    check("one instance only" in text, f"inspect does not say that one instance is the limit: {text}")


CALLEE = """
#include "exchange.h"
PIPELINK_EXPORT(combine, float, pipelink::Self self, const exchange::Large& large, float (&row)[4], const double* __restrict__ from,
                bool negate, float2 pair, exchange::Sample (&samples)[2], exchange::Large* __restrict__ out,
                const exchange::Sample* const last, unsigned long long stamp, signed char small) {
  const float sum = static_cast<float>(large.values[7] + from[1]) + row[3] + pair.y + samples[1].value;
  row[0] = sum * static_cast<float>(stamp + small);
  samples[0].tag = last->tag;
  out->values[0] = sum;
  return negate ? -sum : sum;
}
PIPELINK_EXPORT(wait, bool, pipelink::Self self, unsigned x) { return x > 7; }
"""
CALLER = """
#include "exchange.h"
struct Parameters { float* out; };
PIPELINK_PARAMETERS(caller::Parameters, "caller.h", out);
PIPELINK_IMPORT(combine, float, pipelink::Self self, const exchange::Large& large, float (&row)[4], const double* __restrict__ from,
                bool negate, float2 pair, exchange::Sample (&samples)[2], exchange::Large* __restrict__ out,
                const exchange::Sample* const last, unsigned long long stamp, signed char small);
PIPELINK_IMPORT(wait, bool, pipelink::Self self, unsigned x);
PIPELINK_ROLE(run, .warps = 4, .registers = {24, 128})(pipelink::Self self) {
  float* out = parameters(self).out + run.thread(self) * 4;
  float row[4] = {out[0], out[1], out[2], out[3]};
  exchange::Large large{}, result{};
  large.values[7] = out[1];
  exchange::Sample samples[2] = {{1.0f, 2u}, {out[1], 3u}};
  const exchange::Sample last{0.0f, threadIdx.x};
  const double from[2] = {1.0, out[2]};
  out[0] = combine(self, large, row, from, wait(self, threadIdx.x), make_float2(1.0f, out[0]), samples, &result, &last, 7ull, 3);
  out[1] = row[0] + static_cast<float>(result.values[0]) + static_cast<float>(samples[0].tag);
}
"""


def signatures(tools):
    """Structures by reference and pointer, arrays, restricted pointers, vectors and booleans: all calls are inlined."""
    linked = tools.linked("types", [tools.package("callee", source=CALLEE), tools.package("caller", source=CALLER)])
    kernel = judge(linked)
    check(control(tools, linked, [("callee", CALLEE), ("caller", CALLER)]).text == kernel.text,
          "the linked code is not that of one translation unit")


def shared_warpgroups(tools):
    """Roles of 1, 2, 3 and 4 warps, several in one warpgroup: each warp runs its role, as in one translation unit."""
    sources = []
    for number, warps in enumerate((1, 2, 1, 3, 1, 2, 4)):
        name = f"part{number}"
        sources.append((name, f"""
struct Parameters {{ float* out; }};
PIPELINK_PARAMETERS({name}::Parameters, "{name}.h", out);
PIPELINK_NAMED_BARRIER(all, .threads = {32 * warps});
PIPELINK_ROLE(run, .warps = {warps}, .registers = {{24, 64}})(pipelink::Self self) {{
  parameters(self).out[run.thread(self)] = {number + 2}.0f * run.warp(self);
  all.sync(self);
}}"""))
    linked = tools.linked("parts", [tools.package(name, source=text) for name, text in sources])
    kernel = judge(linked)
    taken = []
    for row in linked.placement["roles"]:
        span = range(row["first_warp"], row["first_warp"] + row["warps"])
        check(row["warps"] > 4 or span[0] // 4 == span[-1] // 4, f"{row['claim']} lies in two warpgroups: {span}")
        taken += span
    equal(len(taken), len(set(taken)), "warps taken, each once")
    equal(linked.placement["threads"], 512, "threads of 14 warps")
    check(control(tools, linked, sources).text == kernel.text, "the linked code is not that of one translation unit")


def one_namespace(tools):
    """Two components that write into one namespace keep handles of their own."""
    body = ("PIPELINK_BUFFER(buf, .bytes = 1024);\nPIPELINK_ROLE(work, .warps = 4, .registers = {{24, 64}})(pipelink::Self self) "
            "{{ buf.data<int>(self)[threadIdx.x % 128] = {}; }}")
    shared = [tools.package(name, source="}\nnamespace kernels {\n" + body.format(value)) for name, value in (("ga", 17), ("gb", 34))]
    own = [tools.package(name, source=body.format(value)) for name, value in (("ga", 17), ("gb", 34))]
    linked = tools.linked("kernels", shared)
    kernel = cubin.Kernel(linked.cubin, "kernels")
    check(linked.claim("shared", "ga.buf")["offset"] != linked.claim("shared", "gb.buf")["offset"], "one place for two buffers")
    equal(cubin.Kernel(tools.linked("kernels", own).cubin, "kernels").text, kernel.text, "the code in one namespace")


def unused_barrier(tools):
    """A barrier of an export that nobody calls is placed and not used: no fault of the kernel's."""
    tools.linked("unused", [tools.package("unused", source="""PIPELINK_NAMED_BARRIER(group, .threads = 128);
PIPELINK_BUFFER(buf, .bytes = 1024);
PIPELINK_ROLE(work, .warps = 4, .registers = {24, 64})(pipelink::Self self) { buf.data<int>(self)[threadIdx.x % 128] = 1; }
PIPELINK_EXPORT(flush, void, pipelink::Self self) { group.sync(self); }""")])


def cluster(tools):
    """A kernel of a cluster without named barriers uses no barrier of its block."""
    linked = tools.linked("clustered", [tools.package("idle", source="PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {}")],
                          launch={"cluster": [2, 1, 1], "blocks_per_sm": 1})
    equal(linked.gate()["barriers"], ("1", "0"), "barriers")


def aliases(tools):
    """A fact's type may be spelt by an alias."""
    linked = tools.linked("aliases", [
        tools.package("owner", source="PIPELINK_SETTABLE_FACT(tile, std::int32_t, .value = 8, .domain = {8, 16});\n"
                      "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { if (tile(self) == 16) __trap(); }"),
        tools.package("reader", source="PIPELINK_USE_FACT(tile, std::int32_t);\n"
                      "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { if (tile(self) == 8) __trap(); }")])
    check("int pl__reader__fact__tile" in linked.text, "the glue has another type")


def by_value(tools):
    """What only its own headers define cannot be passed by value: refused by name when it is packed."""
    for what, signature, body in (("parameter 1 is `exchange::Wide`", "float, pipelink::Self self, int n, exchange::Wide wide", "return wide.lanes[n];"),
                                  ("parameter 0 is `exchange::Mode`", "float, pipelink::Self self, exchange::Mode mode", "return 1;"),
                                  ("result is `exchange::Sample`", "exchange::Sample, pipelink::Self self", "return {};")):
        text = tools.refused_package("callee", '#include "exchange.h"\n' + f"PIPELINK_EXPORT(f, {signature}) {{ {body} }}",
                                     "P-SIGNATURE")
        check(what in text and "callee.cu:" in text, f"the message does not name {what}: {text}")


def foreign_types(tools):
    """Types of one name in two namespaces are two types."""
    own = "struct Large { double values[8]; };"
    text = tools.refused("types", [
        tools.package("callee", source=own + "\nPIPELINK_EXPORT(take, void, pipelink::Self self, Large& large) {}"),
        tools.package("caller", source=own + "\nPIPELINK_IMPORT(take, void, pipelink::Self self, Large& large);\n"
                      "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { Large large{}; take(self, large); }")], "L-SIGNATURE")
    check("callee::Large" in text and "caller::Large" in text, f"L-SIGNATURE does not name both types: {text}")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (every_annotation, counters, texts_reals_and_scratch, placement, instances, settable, reals_without_value, layouts, state, signatures, shared_warpgroups, one_namespace,
                                           unused_barrier, cluster, aliases, by_value,
                                           foreign_types)}, __doc__))
