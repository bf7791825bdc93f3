"""Guarded links, as far as they go without a GPU: the same packages, bands that cover what no claim does, what is not guarded and why;
and links without a guard, which have none of it."""
import re
import shutil
import sys

import fused
from control import control
from support import ARCH, check, equal, main, members
from vocabulary import judge

GUARD = {"guard": True, "guard_ms": 750}
OWN = "kernel:guard"


def bands_of(linked):
    """The ranges that the kernel fills and compares, from its glue."""
    table = re.search(r"pl_guard_bands\[\]\[2\] = \{\n(.*?)\};", linked.text, re.S)
    check(table, "the glue has no table of bands")
    return [(int(a), int(b)) for a, b in re.findall(r"\{ (\d+), (\d+) \}", table[1])]


def check_bands(linked, least=128, exempt=()):
    """Byte by byte, from the map and the glue: a claim, or a band, and never both."""
    placed = linked.placement
    owner = [None] * placed["shared_bytes"]
    for claim in placed["shared"]:
        for at in range(claim["offset"], claim["offset"] + claim["bytes"]):
            check(owner[at] is None, f"{claim['claim']} and {owner[at]} have byte {at}")
            owner[at] = claim["claim"]
    watched = [False] * len(owner)
    for begin, end in bands_of(linked):
        for at in range(begin, end):
            check(not watched[at], f"byte {at} is in two bands")
            watched[at] = True
    for at, name in enumerate(owner):
        check((name is None) == watched[at], f"byte {at} is {name or 'free'} and {'' if watched[at] else 'not '}in a band")
    rows = {row["claim"]: row for row in linked.map["guard"]["claims"]}
    equal(sorted(rows), sorted(c["claim"] for c in placed["shared"] if c["claim"] != OWN), "claims with bands")
    for claim in placed["shared"]:
        if claim["claim"] == OWN:
            equal(claim["offset"], 0, "offset of the guard's own words")
            continue
        row, end = rows[claim["claim"]], claim["offset"] + claim["bytes"]
        before = next((n for n in range(claim["offset"]) if not watched[claim["offset"] - 1 - n]), claim["offset"])
        after = next((n for n in range(len(owner) - end) if not watched[end + n]), len(owner) - end)
        equal((row["before"], row["after"]), (before, after), f"bands around {claim['claim']}")
        if claim["claim"] not in exempt:
            check(min(before, after) >= least, f"bands of {before} and {after} bytes around {claim['claim']}")


def whole(tools):
    """The packages of a link without guard, in one with it."""
    before = {name: plk.read_bytes() for name, plk in fused.packages(tools).items()}
    plain, guarded = fused.link(tools), fused.link(tools, options=GUARD)
    equal({name: plk.read_bytes() for name, plk in fused.packages(tools).items()}, before, "packages")
    equal(guarded.map["inputs"], plain.map["inputs"], "inputs of the map")
    judge(guarded)
    judge(plain)
    check_bands(guarded)
    # Nothing shares bytes or a barrier id, and rings have their least depth; in the plain link it is otherwise.
    equal(guarded.placement["reuse"], [], "reuse in a guarded link")
    check(plain.placement["reuse"], "the plain link reuses nothing: this shows nothing")
    equal(guarded.claim("rings", "drain.queue")["stages"], 2, "stages of a ring of 2 to 4")
    equal(guarded.map["guard"]["milliseconds"], 750, "milliseconds")
    equal(guarded.map["guard"]["waits"], ["drain.queue.full", "drain.queue.empty", "drain.given", "drain.taken", "left.turns", "left.all",
                                          "right.turns", "right.all"], "waits with a limit")
    equal(guarded.map["guard"]["not_guarded"], [], "what is not guarded")
    for line in ("guard: waits of at most 750 ms", "drain.kept", "nothing that is known"):
        check(line in guarded.summary, f"'{line}' in the summary")
    check("guard" not in plain.map and "guard" not in plain.summary, "a guard in the map of a plain link")
    again = fused.link(tools, options=GUARD)
    equal((again.cubin, again.map_bytes, again.launch), (guarded.cubin, guarded.map_bytes, guarded.launch), "the same link twice")
    launch = guarded.launch.decode()
    slot = int(re.search(r"^guard=(\d+) 750$", launch, re.M)[1])
    check(f"parameters.bytes + {slot})" in guarded.text, "the kernel reads the guard's parameter elsewhere")
    for region in guarded.placement["parameters"]["regions"]:
        check(region["offset"] + region["bytes"] <= slot, f"{region['instance']} has the guard's parameter")
    check("guard" not in plain.launch.decode(), "a guard in the description of a plain link")
    tools.must("inspect", guarded.folder / f"{guarded.name}.{ARCH}.map.json", "--html", guarded.folder / "page.html")
    page = (guarded.folder / "page.html").read_text()
    check('<h2 id="guard-h">Guard</h2>' in page and "drain.kept" in page, "the page has no guard")


def is_control(tools):
    """The guard does not come between a link and its control."""
    source = "PIPELINK_MBARRIERS(turns, .count = 2, .arrivals = 128);\nPIPELINK_ROLE(run, .warps = 4, .registers = {24, 64})" \
             "(pipelink::Self self) { turns.arrive(self, 0); turns.wait(self, 0, 0); }"
    linked = tools.linked("small", [tools.package("part", source=source)], options=GUARD)
    check(control(tools, linked, [("part", source)]).text == judge(linked).text, "the guarded code is not that of one unit")


def none_of_it(tools):
    """A link without guard is that of an SDK that knows of none."""
    now = judge(fused.link(tools)).text
    bare = tools.work / "sdk"
    shutil.copytree(tools.include, bare, dirs_exist_ok=True)
    asked = 0
    for file in ("device.h", "component.h"):
        text = (bare / "pipelink" / file).read_text()
        less = re.sub(r"^ *if \(pl__guard__\w+\([^;]*\)\) return; *\\?\n", "", text, flags=re.M)
        asked += len(text.splitlines()) - len(less.splitlines())
        (bare / "pipelink" / file).write_text(less)
    equal(asked, 3, "questions to the guard in the SDK")
    include, tools.include = tools.include, bare
    try:
        packages = {c: tools.package(c, "-DWITHOUT_GUARD") for c in fused.COMPONENTS}
    finally:
        tools.include = include
    for name, plk in packages.items():
        code = b"".join(data for member, data in members(plk).items() if member.endswith(".ltoir"))
        check(b"pl__guard__" not in code, f"{name} still asks the guard")
    linked = tools.linked(fused.NAME, fused.uses(packages), **fused.KEYS)
    check(judge(linked).text == now, "the question to the guard has left something in the code")


RAW = """
PIPELINK_MBARRIERS(own, .count = 1, .arrivals = 128);
PIPELINK_NAMED_BARRIER(all, .threads = 128);
PIPELINK_RING(queue, .side = pipelink::kConsumer, .stages = {2, 4}, .stage_bytes = 128, .align = 128, .full_arrivals = 1, .empty_arrivals = 128);
struct Parameters { unsigned* flag; };
PIPELINK_PARAMETERS(raw::Parameters, "raw.h", flag);
PIPELINK_ROLE(run, .warps = 4, .registers = {24, 64})(pipelink::Self self) {
  pipelink::RingCursor at;
  queue.wait(self, at);
  own.arrive(self);
  own.wait(self, 0, 0);
  all.sync(self);
  while (!pipelink::mbarrier::try_wait(own.address(self), 1)) {}
  unsigned value;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(parameters(self).flag) : "memory");
    __nanosleep(100);
  } while (value == 0);
}
"""
FILLER = """
PIPELINK_IMPORT_RING(queue, .side = pipelink::kProducer, .stage_bytes = 128, .align = 128, .full_arrivals = 1, .empty_arrivals = 128);
PIPELINK_ROLE(fill, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  unsigned done;
  do
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(queue.empty(self, {})) : "memory");
  while (!done);
  pipelink::mbarrier::arrive(queue.full(self, {}));
}
"""


def raw_waits(tools):
    """Waits that do not go through the SDK are listed, those that do are not."""
    packages = [tools.package("raw", source=RAW), tools.package("filler", source=FILLER)]
    folder = tools.work / "raw_link"
    linked = tools.linked("rawly", packages, output=folder, options=GUARD)
    check_bands(linked)
    only = ": only waits of the SDK have a limit"
    equal([(row["owner"], row["what"], row["why"]) for row in linked.map["guard"]["not_guarded"]],
          [("filler", "role fill of filler", "mbarrier.test_wait of its own, 1 time" + only),
           ("raw", "role run of raw", "mbarrier.try_wait of its own, 1 time" + only),
           ("raw", "role run of raw", "nanosleep, as in a loop that waits, 1 time" + only),
           ("raw", "role run of raw", "reads of what others write (acquire or volatile), 1 time" + only)], "what is not guarded")
    done = tools.link(folder / "in" / "composition.json", folder / "again")
    equal(done.status, 0, f"status of {done}")
    check(done.err.startswith("note[L-GUARD]: the guard does not see everything\n  filler: role fill of filler: mbarrier.test_wait"),
          f"the note: {done}")
    plain = tools.linked("rawly", packages)
    check("guard" not in plain.map, "a plain link speaks of a guard")


def no_room(tools):
    """What no longer fits: bands first, those of the largest alignment first; then reuse; then a refusal."""
    body = "PIPELINK_ROLE(run, .warps = 4, .registers = {24, 64})(pipelink::Self self) { small.data(self)[0] = 1; }\n"
    tight = "".join(f"PIPELINK_BUFFER(big{n}, .bytes = 32768, .align = 1024);\n" for n in range(7)) + \
        "PIPELINK_BUFFER(small, .bytes = 100, .align = 16);\n" + body
    linked = tools.linked("tight", [tools.package("tight", source=tight)], options=GUARD)
    judge(linked)
    lost = [row["what"].split(".")[-1] for row in linked.map["guard"]["not_guarded"]]
    check(lost and all(name.startswith("big") for name in lost), f"without bands are {lost}")
    equal({row["why"] for row in linked.map["guard"]["not_guarded"]}, {"there is no room for a band"}, "why")
    check_bands(linked, exempt={f"tight.{name}" for name in lost})

    phases = 'PIPELINK_PHASE(one, .after_previous = "two");\nPIPELINK_PHASE(two, .after = "one");\n'
    shares = phases + "".join(f'PIPELINK_BUFFER(b{n}, .bytes = 150000, .align = 128, .live = "{phase}");\n'
                              for n, phase in enumerate(("one", "two"))) + "PIPELINK_BUFFER(small, .bytes = 100, .align = 16);\n" + body
    linked = tools.linked("shares", [tools.package("shares", source=shares)], options=GUARD)
    judge(linked)
    equal([row["what"] for row in linked.map["guard"]["not_guarded"]], ["shares.b0", "shares.b1"], "claims that share bytes")

    full = "PIPELINK_BUFFER(small, .bytes = 232448, .align = 128);\n" + body
    package = tools.package("full", source=full)
    tools.linked("full", [package])
    text = tools.refused("full", [package], "L-SMEM", options=GUARD)
    check("the guard itself takes 256 bytes" in text, f"the refusal does not say what the guard takes: {text}")


def options(tools):
    """Times that are none are refused."""
    package = tools.package("part", source="PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {}")
    for bad in ({"guard": True, "guard_ms": 0}, {"guard": True, "guard_ms": 3600001}, {"guard_ms": 5}, {"guard": True, "guard_ms": "5"}):
        tools.refused("part", [package], "I-COMPOSITION", options=bad)


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (whole, is_control, none_of_it, raw_waits, no_room, options)}, __doc__))
