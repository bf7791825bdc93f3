"""Routes in whole links: which one is taken, that its code has the instructions that were planned and no others, what is refused."""
import collections
import re
import sys

from support import check, equal, find_tool, main, run

ACCUMULATOR = "((4,8,4),(2,2,8)):((2,64,1024),(1,512,8))"
HALF_COLUMNS = "((2,64),32):((2048,1),64)"
HALF_ROWS = "(128,32):(32,1)"


def producer(layout, element="f32", cpp="float", values=32, const="const ", more=""):
    return f"""
struct Parameters {{ const {cpp}* in; }};
PIPELINK_PARAMETERS(give::Parameters, "give.h", in);
PIPELINK_IMPORT(take, void, pipelink::Self self, {const}{cpp} (&tile)[{values}]);
PIPELINK_EXPORT_TENSOR(tile, .element = "{element}", .tile = {{64, 64}}, .layout = "{layout}", .via = "take");
{more}
PIPELINK_ROLE(hold, .warps = 4, .registers = {{24, 240}})(pipelink::Self self) {{
  {cpp} tile[{values}];
#pragma unroll
  for (int v = 0; v < {values}; ++v) tile[v] = parameters(self).in[hold.thread(self) + 128 * v];
  take(self, tile);
}}
"""


def consumer(layout, element="f32", cpp="float", values=32, const="const "):
    return f"""
struct Parameters {{ {cpp}* out; }};
PIPELINK_PARAMETERS(take::Parameters, "take.h", out);
PIPELINK_IMPORT_TENSOR(tile, .element = "{element}", .tile = {{64, 64}}, .layout = "{layout}", .via = "take");
PIPELINK_EXPORT(take, void, pipelink::Self self, {const}{cpp} (&tile)[{values}]) {{
#pragma unroll
  for (int v = 0; v < {values}; ++v) parameters(self).out[threadIdx.x % 128 + 128 * v] = tile[v];
}}
"""


def in_shared(layout, element="f32", bytes_=16384):
    return f"""
struct Parameters {{ float* out; }};
PIPELINK_PARAMETERS(take::Parameters, "take.h", out);
PIPELINK_IMPORT_TENSOR(tile, .element = "{element}", .tile = {{64, 64}}, .space = "shared", .layout = "{layout}", .via = "take",
                       .proxy = "async", .align = 1024);
PIPELINK_EXPORT(take, void, pipelink::Self self, const unsigned char* tile) {{
  if (threadIdx.x % 128 != 0) return;
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], {bytes_};" ::"l"(parameters(self).out),
               "r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}}
"""


def instructions(linked):
    code = run([find_tool("nvdisasm"), *linked.folder.glob("*.cubin")])
    equal(code.status, 0, f"status of nvdisasm: {code.err}")
    return collections.Counter(re.findall(r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9]+)", code.out, re.MULTILINE))


def planned(linked):
    """Instructions of a thread, as the link map counts them."""
    cost = " ".join(linked.map["routes"][0].get("cost", []))
    return {what: int(found[1]) if (found := re.search(rf"(\d+) {what}s?\b", cost)) else 0
            for what in ("shuffle", "store", "load")}


def pair(tools, name, give, take, arch="sm_90a"):
    tools.arch = arch
    packages = [tools.package("give", source=give, variant=name), tools.package("take", source=take, variant=name)]
    linked = tools.linked(name, packages)
    equal(len(linked.map["routes"]), 1, "routes")
    return linked


def kinds(tools):
    """The route of each pair of layouts, and just its instructions in the kernel. Nothing goes to local memory."""
    small = {"element": "u16", "cpp": "unsigned short"}
    cases = {
        "same": (producer(ACCUMULATOR), consumer(ACCUMULATOR), "registers"),
        "renamed": (producer(ACCUMULATOR), consumer("((4,8,4),(8,2,2)):((2,64,1024),(8,512,1))"), "registers, renamed"),
        "shuffled": (producer(ACCUMULATOR), consumer(HALF_ROWS), "shuffle"),
        "staged": (producer(ACCUMULATOR), consumer(HALF_COLUMNS), "staging"),
        "stored": (producer(ACCUMULATOR), in_shared("Sw<3,2,3> o (64,(32,2)):(32,(1,2048))"), "store"),
        "shuffled_halves": (producer(ACCUMULATOR, **small), consumer(HALF_ROWS, **small), "shuffle"),
        "staged_halves": (producer(ACCUMULATOR, **small), consumer(HALF_COLUMNS, **small), "staging"),
        "stored_halves": (producer(ACCUMULATOR, **small), in_shared("Sw<3,3,3> o (64,64):(64,1)", "u16", 8192), "store"),
    }
    for name, (give, take, route) in cases.items():
        linked = pair(tools, name, give, take)
        equal(linked.map["routes"][0]["route"], route, f"route of {name}")
        found, plan = instructions(linked), planned(linked)
        equal([found[local] for local in ("LDL", "STL", "CALL")], [0, 0, 0], f"{name}: local loads, local stores and calls")
        # The dispatch kernel has one shuffle of its own, for the number of a warp, unless it folds.
        check(plan["shuffle"] <= found["SHFL"] <= plan["shuffle"] + 1,
              f"{name}: {found['SHFL']} shuffles in the kernel, {plan['shuffle']} were planned")
        equal(found["STS"] + found["STSM"], plan["store"], f"{name}: stores to shared memory")
        equal(found["LDS"] + found["LDSM"], plan["load"], f"{name}: loads from shared memory")
        if name == "stored_halves":
            check(found["STSM"] > 0, "pairs of 16-bit elements in rows are stored as matrices")


def claims(tools):
    """What a route claims is placed with everything else, and told."""
    linked = pair(tools, "claimed", producer(ACCUMULATOR), consumer(HALF_COLUMNS))
    claim = linked.claim("shared", "give.tile->take.tile")
    check(claim["bytes"] >= 16384 and claim["owner"] == "take", f"the claim of the route: {claim}")
    check("give.tile->take.tile" in linked.summary, "the summary names it")
    text = tools.must("check", linked.folder.parent / "in" / "composition.json", "--why", "take.tile").out
    for part in ("give.tile->take.tile: staging", "not registers:", "not shuffle:", "the least possible", "named barrier"):
        check(part in text, f"--why says nothing of {part}: {text}")
    asked = tools.tool("check", linked.folder.parent / "in" / "composition.json", "--why", "take.til")
    check(asked.status == 2 and "give.tile->take.tile" in asked.err, f"a wrong name: {asked}")


def refused(tools):
    """What cannot be routed, or would lose something, is refused with the reason."""
    tools.arch = "sm_90a"
    give = tools.package("give", source=producer(ACCUMULATOR, const=""), variant="mutable")
    take = tools.package("take", source=consumer(HALF_ROWS, const=""), variant="mutable")
    text = tools.refused("written", [give, take], "L-ROUTE")
    check("may write to the tile" in text and "as const" in text, f"a tile that is not handed back: {text}")
    other = 'PIPELINK_ROLE(other, .warps = 4, .registers = {24, 64})(pipelink::Self self) {}'
    give = tools.package("give", source=producer(ACCUMULATOR, more=other), variant="two_roles")
    take = tools.package("take", source=consumer(HALF_ROWS), variant="two_roles")
    text = tools.refused("whose", [give, take], "L-ROUTE")
    check("give.hold" in text and "give.other" in text and "PIPELINK_STEPS" in text, f"two roles that may call: {text}")
    steps = other + 'PIPELINK_STEPS(hold, .once = "call take"); PIPELINK_STEPS(other, .once = "");'
    give = tools.package("give", source=producer(ACCUMULATOR, more=steps), variant="steps")
    equal(tools.linked("known", [give, take]).map["routes"][0]["route"], "shuffle", "the route when steps tell the role")


def tensor_memory(tools):
    """On sm_100a: loads of the shape whose fragment is the demand, and their wait."""
    give = """
PIPELINK_TENSOR_MEMORY(store, .columns = 64);
PIPELINK_IMPORT(take, void, pipelink::Self self, unsigned tile);
PIPELINK_EXPORT_TENSOR(tile, .element = "f32", .tile = {128, 64}, .space = "tensor_memory", .layout = "(128,64):(64,1)", .via = "take");
PIPELINK_ROLE(hold, .warps = 4, .registers = {24, 240})(pipelink::Self self) { take(self, store.address(self)); }
"""
    for name, layout, shape in (("lanes", "(128,64):(64,1)", "32x32b"),
                                ("quads", "((4,8,4),(2,2,8,2)):((2,64,2048),(1,512,8,1024))", "16x256b")):
        take = f"""
struct Parameters {{ float* out; }};
PIPELINK_PARAMETERS(take::Parameters, "take.h", out);
PIPELINK_IMPORT_TENSOR(tile, .element = "f32", .tile = {{128, 64}}, .layout = "{layout}", .via = "take");
PIPELINK_EXPORT(take, void, pipelink::Self self, const float (&tile)[64]) {{
#pragma unroll
  for (int v = 0; v < 64; ++v) parameters(self).out[threadIdx.x % 128 + 128 * v] = tile[v];
}}
"""
        linked = pair(tools, f"loaded_{name}", give, take, "sm_100a")
        equal(linked.map["routes"][0]["route"], "tensor memory load", f"route of {name}")
        check(f"tcgen05.ld.sync.aligned.{shape}" in linked.text and "tcgen05.wait::ld" in linked.text, f"the shape of {name}")
        found = instructions(linked)
        check(found["LDTM"] > 0 and found["LDL"] + found["STL"] == 0, f"{name}: {found}")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (kinds, claims, refused, tensor_memory)}, __doc__))
