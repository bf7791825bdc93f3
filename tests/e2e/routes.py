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


def giver(layout, element="f32", cpp="float", values=32, warps=4, more=""):
    """Hands its tiles to another role."""
    return f"""
struct Parameters {{ const {cpp}* in; }};
PIPELINK_PARAMETERS(give::Parameters, "give.h", in);
PIPELINK_IMPORT(put, void, pipelink::Self self, const {cpp} (&tile)[{values}]);
PIPELINK_EXPORT_TENSOR(tile, .element = "{element}", .tile = {{64, 64}}, .layout = "{layout}", .via = "put");
{more}
PIPELINK_ROLE(hold, .warps = {warps}, .registers = {{24, 128}})(pipelink::Self self) {{
#pragma unroll 1
  for (int t = 0; t < 4; ++t) {{
    {cpp} tile[{values}];
#pragma unroll
    for (int v = 0; v < {values}; ++v) tile[v] = parameters(self).in[hold.thread(self) + 256 * (v + {values} * t)];
    put(self, tile);
  }}
}}
"""


def taker(layout, element="f32", cpp="float", values=32, warps=4, more=""):
    return f"""
struct Parameters {{ {cpp}* out; }};
PIPELINK_PARAMETERS(take::Parameters, "take.h", out);
PIPELINK_IMPORT(get, void, pipelink::Self self, {cpp} (&tile)[{values}]);
PIPELINK_IMPORT_TENSOR(tile, .element = "{element}", .tile = {{64, 64}}, .layout = "{layout}", .via = "get");
{more}
PIPELINK_ROLE(use, .warps = {warps}, .registers = {{24, 128}})(pipelink::Self self) {{
#pragma unroll 1
  for (int t = 0; t < 4; ++t) {{
    {cpp} tile[{values}];
    get(self, tile);
#pragma unroll
    for (int v = 0; v < {values}; ++v) parameters(self).out[use.thread(self) + 256 * (v + {values} * t)] = tile[v];
  }}
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


def barriers(linked):
    """{(sync or arrive, id): how often} in the glue."""
    return collections.Counter(re.findall(r"barrier\.(sync|arrive) (\d+), ", linked.text))


def pair(tools, name, give, take, arch="sm_90a", guard=False):
    tools.arch = arch
    packages = [tools.package("give", source=give, variant=name), tools.package("take", source=take, variant=name)]
    linked = tools.linked(name, packages, **({"options": {"guard": True}} if guard else {}))
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
    steps = tools.must("check", linked.folder.parent / "in" / "composition.json", "--why", "take.tile", "--steps").out
    head, count = re.fullmatch(r"(.*\n)  (\d+) steps, which --steps lists\n", text, re.DOTALL).groups()
    check(steps.startswith(head) and len(head.splitlines()) < 9, f"a summary by default: {text}")
    equal(len(re.findall(r"^      ", steps, re.MULTILINE)), int(count), "steps that --steps lists")
    asked = tools.tool("check", linked.folder.parent / "in" / "composition.json", "--steps")
    check(asked.status == 2 and "--why" in asked.err, f"--steps without --why: {asked}")
    asked = tools.tool("check", linked.folder.parent / "in" / "composition.json", "--why", "take.til")
    check(asked.status == 2 and "give.tile->take.tile" in asked.err, f"a wrong name: {asked}")


def refused(tools):
    """What cannot be routed, or would lose something, is refused with the reason."""
    tools.arch = "sm_90a"
    give = tools.package("give", source=producer(ACCUMULATOR, const=""), variant="mutable")
    take = tools.package("take", source=consumer(HALF_ROWS, const=""), variant="mutable")
    text = tools.refused("written", [give, take], "L-ROUTE")
    check("may write to the tile" in text and "as const" in text, f"a tile that is not handed back: {text}")
    keeps = '''
PIPELINK_BUFFER(rows, .bytes = 32768);
PIPELINK_IMPORT(take, void, pipelink::Self self, const unsigned char* tile);
PIPELINK_EXPORT_TENSOR(tile, .element = "f32", .tile = {64, 64}, .space = "shared", .layout = "(64,64):(64,1)", .generations = 2, .via = "take");
PIPELINK_ROLE(hold, .warps = 4, .registers = {24, 240})(pipelink::Self self) { take(self, rows.data<unsigned char>(self)); }
'''
    reads = in_shared("(64,64):(1,64)").replace('.via = "take",', '.generations = 2, .via = "take",')
    text = tools.refused("kept", [tools.package("give", source=keeps, variant="keeps"), tools.package("take", source=reads, variant="reads")], "L-ROUTE")
    check("reads a tile for 2 calls, and what goes by store is there for one" in text, f"a copy that is read twice: {text}")
    other = 'PIPELINK_ROLE(other, .warps = 4, .registers = {24, 64})(pipelink::Self self) {}'
    give = tools.package("give", source=producer(ACCUMULATOR, more=other), variant="two_roles")
    take = tools.package("take", source=consumer(HALF_ROWS), variant="two_roles")
    text = tools.refused("whose", [give, take], "L-ROUTE")
    check("give.hold" in text and "give.other" in text and "PIPELINK_STEPS" in text, f"two roles that may call: {text}")
    # Elements that share a byte: their bytes can be routed, they cannot.
    give = tools.package("give", source=producer("((4,8,4),(2,2,8)):((2,64,1024),(1,512,8))", "u4", "unsigned char", 16), variant="nibbles")
    packed = tools.package("take", source=consumer(HALF_ROWS, "u4", "unsigned char", 16), variant="nibbles")
    text = tools.refused("nibbles", [give, packed], "L-ROUTE")
    equal(text.count("error["), 1, "messages")
    check("tile has 32 values of u4 in a thread, and its parameter const unsigned char (&)[16] has 16 bytes, less than one for each; whole bytes "
          "are moved" in text, f"values that share bytes: {text}")
    give = tools.package("give", source=keeps.replace('"f32"', '"u4"').replace(".generations = 2, ", ""), variant="nibbles_kept")
    packed = tools.package("take", source=in_shared("(64,64):(1,64)", "u4"), variant="nibbles_shared")
    text = tools.refused("nibbles_shared", [give, packed], "L-ROUTE")
    check("an element u4 of tile has 4 bits; whole bytes are moved" in text, f"values that share bytes in memory: {text}")
    steps = other + 'PIPELINK_STEPS(hold, .once = "call take"); PIPELINK_STEPS(other, .once = "");'
    give = tools.package("give", source=producer(ACCUMULATOR, more=steps), variant="steps")
    equal(tools.linked("known", [give, take]).map["routes"][0]["route"], "shuffle", "the route when steps tell the role")


def between_roles(tools):
    """A tile from one role to another: staged, in a buffer that is reused, with a barrier each way for each tile side by side."""
    small = {"element": "u16", "cpp": "unsigned short"}
    for name, more, both in (("one", {}, {}), ("halves", {}, small), ("two", {"warps": 8}, {})):
        linked = pair(tools, f"roles_{name}", giver(ACCUMULATOR, **more, **both), taker(HALF_COLUMNS, **more, **both))
        row = linked.map["routes"][0]
        equal((row["route"], row["roles"]), ("staging", {"gives": "give.hold", "takes": "take.use"}), f"route of {name}")
        groups = 2 if name == "two" else 1
        full, empty = ([linked.claim("named_barriers", f"give.tile->take.tile.{which}[{g}]")["id"] for g in range(groups)]
                       for which in ("full", "empty"))
        # The dispatch kernel arrives for the first tile as well.
        equal(barriers(linked), {**{("sync", str(b)): 1 for b in full + empty}, **{("arrive", str(b)): 1 for b in full},
                                 **{("arrive", str(b)): 2 for b in empty}}, f"barriers of {name}")
        found, plan = instructions(linked), planned(linked)
        equal([found[local] for local in ("LDL", "STL", "CALL", "SHFL")], [0, 0, 0, found["SHFL"] and 1], f"{name}: no spills, no shuffles")
        equal((found["STS"] + found["STSM"], found["LDS"] + found["LDSM"]), (plan["store"], plan["load"]), f"{name}: accesses")
        text = tools.must("check", linked.folder.parent / "in" / "composition.json", "--why", "take.tile", "--steps").out
        check("give.hold gives by put, take.use takes by get: as often" in text and "arrive empty" in text, f"--why of {name}: {text}")
        equal([b["kind"] for b in linked.map["bindings"]], ["handover", "tensor"], "bindings")
    linked = pair(tools, "roles_guarded", giver(ACCUMULATOR), taker(HALF_COLUMNS), guard=True)
    check(len(re.findall(r"pl__guard__barrier\(\d+u, 256u, (?:true|false)\)", linked.text)) == 5, "barriers of a guarded link")


def roles_on_blackwell(tools):
    """From tensor memory to the registers of another role."""
    give = """
PIPELINK_TENSOR_MEMORY(store, .columns = 64);
PIPELINK_IMPORT(put, void, pipelink::Self self, unsigned tile);
PIPELINK_EXPORT_TENSOR(tile, .element = "f32", .tile = {128, 64}, .space = "tensor_memory", .layout = "(128,64):(64,1)", .via = "put");
PIPELINK_ROLE(hold, .warps = 4, .registers = {24, 240}, .align_warps = 4)(pipelink::Self self) { put(self, store.address(self)); }
"""
    take = """
struct Parameters { float* out; };
PIPELINK_PARAMETERS(take::Parameters, "take.h", out);
PIPELINK_IMPORT(get, void, pipelink::Self self, float (&tile)[64]);
PIPELINK_IMPORT_TENSOR(tile, .element = "f32", .tile = {128, 64}, .layout = "((4,8,4),(2,2,8,2)):((2,64,2048),(1,512,8,1024))", .via = "get");
PIPELINK_ROLE(use, .warps = 4, .registers = {24, 240})(pipelink::Self self) {
  float tile[64];
  get(self, tile);
#pragma unroll
  for (int v = 0; v < 64; ++v) parameters(self).out[use.thread(self) + 128 * v] = tile[v];
}
"""
    linked = pair(tools, "roles_tensor_memory", give, take, "sm_100a")
    check("tcgen05.ld.sync" in linked.text and "tcgen05.wait::ld" in linked.text, "tensor memory is loaded by the role that gives")
    found, plan = instructions(linked), planned(linked)
    equal((linked.text.count("st.shared."), linked.text.count("ld.shared.")), (plan["store"], plan["load"]), "accesses in the glue")
    equal(found["LDL"] + found["STL"], 0, "local loads and stores")
    equal(linked.map["routes"][0]["route"], "staging", "the route")


def refused_roles(tools):
    """Roles that cannot meet."""
    tools.arch = "sm_90a"
    give = tools.package("give", source=giver(ACCUMULATOR), variant="meets")
    take = tools.package("take", source=taker(HALF_COLUMNS, warps=8), variant="uneven")
    text = tools.refused("uneven", [give, take], "L-ROUTE")
    check("give.hold has 128 threads, which hold 1 tile" in text and "take.use has 256 threads, which hold 2 tiles" in text, text)
    other = "PIPELINK_ROLE(other, .warps = 1, .registers = {24, 64})(pipelink::Self self) {}"
    take = tools.package("take", source=taker(HALF_COLUMNS, more=other), variant="whose")
    text = tools.refused("whose_roles", [give, take], "L-ROUTE")
    check("take.other" in text and "PIPELINK_STEPS" in text, text)
    barriers_ = "".join(f"PIPELINK_NAMED_BARRIER(b{i}, .threads = 128);" for i in range(14))
    take = tools.package("take", source=taker(HALF_COLUMNS, more=barriers_), variant="barriers")
    text = tools.refused("barriers", [give, take], "L-BARRIERS")
    check("give.tile->take.tile" in text, f"the route is among the claims: {text}")
    take = tools.package("take", source=taker(HALF_COLUMNS, more=barriers_.replace("PIPELINK_NAMED_BARRIER(b13, .threads = 128);", "")),
                         variant="fifteen")
    tools.linked("fifteen", [give, take])
    text = tools.refused("alone", [give], "L-UNBOUND")
    check("give.put" in text, text)
    take = tools.package("take", source=taker(HALF_COLUMNS), variant="partner")
    text = tools.refused("two_partners", [give, (take, "a"), (take, "b")], "L-AMBIGUOUS")
    check("BIND a.get=give.put" not in text and "a: imports callable `get`" in text, text)
    same = f"""{giver(ACCUMULATOR).replace("PIPELINK_ROLE", "PIPELINK_IMPORT(get, void, pipelink::Self self, float (&tile)[32]);"
        f'PIPELINK_IMPORT_TENSOR(taken, .element = "f32", .tile = {{64, 64}}, .layout = "{HALF_ROWS}", .via = "get");' + chr(10) + "PIPELINK_ROLE")
        .replace("put(self, tile);", "put(self, tile); float got[32]; get(self, got); const_cast<float*>(parameters(self).in)[t] = got[0];")}"""
    alone = tools.package("give", source=same, variant="itself")
    text = tools.refused("itself", [alone], "L-ROUTE", bind=[["give.put", "give.get"]])
    check("are both called by role give.hold, whose threads would wait for themselves" in text, text)


def several(tools):
    """One call of several consumers: each in the order of the BINDs, each by its own route; a broadcast among them."""
    tools.arch = "sm_90a"
    give = tools.package("give", source=producer(ACCUMULATOR), variant="several")
    layouts = {"same": ACCUMULATOR, "rows": HALF_ROWS, "columns": HALF_COLUMNS}
    packages = {name: tools.package(name, source=consumer(layout).replace("take::", f"{name}::").replace("take.h", f"{name}.h"))
                for name, layout in layouts.items()}
    # Every thread has all of a column: two threads have each.
    packages["each"] = tools.package("each", source=consumer("((64,2),64):((1,0),64)", values=64).replace("take::", "each::")
                                    .replace('.via = "take"', '.replicas = 2, .via = "take"').replace("take.h", "each.h"))
    every = list(packages)
    for order in (every, every[::-1]):
        linked = tools.linked("several", [give, *packages.values()], bind=[["give.take", f"{name}.take"] for name in order])
        equal(re.findall(r"^    pl__(\w+)__export__take\(pipelink::Self\{0, self\.parameters\}", linked.text, re.MULTILINE), order, "the order of calls")
        equal({row["to"]: row["route"] for row in linked.map["routes"]},
              {"same.tile": "registers", "rows.tile": "shuffle", "columns.tile": "staging", "each.tile": "staging"}, "routes")
        found = instructions(linked)
        equal([found[local] for local in ("LDL", "STL", "CALL")], [0, 0, 0], "local loads, local stores and calls")
        cost = [re.search(r"(\d+) stores?", " ".join(row.get("cost", []))) for row in linked.map["routes"]]
        equal(found["STS"] + found["STSM"], sum(int(c[1]) for c in cost if c), "stores to shared memory")
    text = tools.refused("two", [give, packages["same"], packages["rows"]], "L-AMBIGUOUS")
    check("BIND give.take=rows.take or BIND give.take=same.take" in text, text)
    # One that may write to the tile is called last.
    give = tools.package("give", source=producer(ACCUMULATOR, const=""), variant="may_write")
    write = tools.package("writes", source=consumer(ACCUMULATOR, const="").replace("take::", "writes::").replace("take.h", "writes.h"))
    text = tools.refused("written_first", [give, write, packages["rows"]], "L-ROUTE", bind=[["give.take", "writes.take"], ["give.take", "rows.take"]])
    check("writes.take may write to the tile" in text and "which rows.take is given after it" in text, text)
    check("or let its BIND be the last" in text, text)
    # Of two that may, only one can be the last.
    other = tools.package("also", source=consumer(ACCUMULATOR, const="").replace("take::", "also::").replace("take.h", "also.h"))
    text = tools.refused("written_twice", [give, write, other], "L-ROUTE", bind=[["give.take", "writes.take"], ["give.take", "also.take"]])
    check("help: take the tile as const in writes.take; only the last may write" in text, text)
    # What one of several cannot take is left out, not given once more.
    halves = tools.package("halves", source=consumer(ACCUMULATOR, "f16").replace("take::", "halves::").replace("take.h", "halves.h"))
    text = tools.refused("halves", [give, packages["same"], halves], "L-LAYOUT", bind=[["give.take", "same.take"], ["give.take", "halves.take"]])
    check("help: remove BIND give.take=halves.take" in text, text)
    tools.linked("written_last", [give, write, packages["rows"]], bind=[["give.take", "rows.take"], ["give.take", "writes.take"]])


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


def instances(tools):
    """Two instances of a package do what each is bound to, and nothing of the other's."""
    tools.arch = "sm_90a"
    give, take = (tools.package(name, source=source, variant="instances")
                  for name, source in (("give", giver(ACCUMULATOR)), ("take", taker(HALF_COLUMNS))))
    linked = tools.linked("instances", [(give, "g1"), (give, "g2"), (take, "t1"), (take, "t2")], bind=[["g1.put", "t1.get"], ["g2.put", "t2.get"]])
    for name in ("pl__give__import__put", "pl__take__import__get"):
        text = linked.text[linked.text.index(f"void {name}("):]
        check(re.search(r"case 0: \{\n[^{}]*(\{[^{}]*\}[^{}]*)*break;\n    \}\n    default:", text[:text.index("\n}")]), f"{name} goes on with the next case: {text}")
    # One of each for each instance, and two arrivals before the consumers' roles.
    equal(sorted(barriers(linked).values()), [1] * 6 + [2] * 2 if len(barriers(linked)) == 8 else [], f"barriers {barriers(linked)}")
    one = tools.package("give", source=producer(ACCUMULATOR), variant="one")
    consumers = {name: tools.package(name, source=consumer(ACCUMULATOR).replace("take::", f"{name}::").replace("take.h", f"{name}.h"), variant="one")
                 for name in ("ca", "cb", "cc")}
    linked = tools.linked("several_instances", [(one, "g1"), (one, "g2"), *consumers.values()],
                          bind=[["g1.take", "ca.take"], ["g1.take", "cb.take"], ["g2.take", "cc.take"]])
    check(re.search(r"cb__export__take\([^\n]*\n *\}\n *break;\n *\}\n *default:", linked.text), f"two calls, then the next case: {linked.text}")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (kinds, claims, refused, between_roles, roles_on_blackwell, refused_roles, several, instances, tensor_memory)}, __doc__))
