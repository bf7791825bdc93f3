"""A composition with the shape of a fused mixture-of-experts layer: seven components, 49 claims, nine phases that one
component orders and the others run through in its calls. The code only touches what it claims."""
NAME = "mixture"

# Phases of the component `schedule`: name, the phases of the same iteration that come before.
PHASES = {"route": "", "dispatch": "route", "gu_prefetch": "dispatch", "gateup": "gu_prefetch", "swiglu": "gateup",
          "down": "swiglu", "sendrecv": "dispatch", "comb_pre": "down,sendrecv", "combine": "comb_pre"}

# Component → buffers (name, bytes, alignment, live in), mbarriers (name, count) and named barriers (name, live in).
PARTS = {
    "disp": ([("topk", 1776, 16, "route dispatch"), ("hist", 1152, 128, "route"), ("offs", 3040, 16, "route dispatch gateup"),
              ("perm", 12288, 16, "dispatch gateup swiglu"), ("tok", 34816, 128, "dispatch gu_prefetch gateup"),
              ("send", 31616, 128, "sendrecv")], [("tokbar", 4), ("sendbar", 3)], [("sorted", "route dispatch")]),
    "gu": ([("sfa", 5504, 128, "gu_prefetch gateup"), ("sfb", 2688, 128, "gu_prefetch gateup"),
            ("tile", 272, 16, "dispatch gu_prefetch gateup")], [("accbar", 4)], [("begun", "gu_prefetch gateup")]),
    "sw": ([("gate", 33792, 1024, "gateup swiglu"), ("up", 29824, 128, "gateup swiglu"), ("out", 31744, 1024, "swiglu down"),
            ("scale", 5808, 16, "swiglu down"), ("amax", 640, 16, "swiglu")], [("bar", 2)],
           [("half", "swiglu"), ("scaled", "down")]),
    "dn": ([("sf", 9344, 128, "swiglu down"), ("wt", 2816, 16, "down comb_pre combine")], [], [("done", "down")]),
    "cb": ([("red", 23552, 1024, "comb_pre combine"), ("idx", 8448, 16, "comb_pre combine"),
            ("flag", 216, 8, "comb_pre combine sendrecv")], [("arrived", 2)], [("summed", "comb_pre combine")]),
}
# Rings: owner → (name, stages, bytes of a stage, live in, tier). The owner consumes, in the phase named last.
RINGS = {"gu": ("experts", (2, 6), 25600, "gu_prefetch gateup", 0), "dn": ("weights", (2, 6), 30720, "swiglu down", 0),
         "cb": ("rows", (2, 8), 23552, "down comb_pre", 1)}
PRODUCERS = {"gu": "loader", "dn": "loader", "cb": "sender"}


def claims(name):
    """Component `name` as its source."""
    buffers, mbarriers, barriers = PARTS[name]
    ring = RINGS.get(name)
    phases = [p for p in PHASES if any(p in b[3].split() for b in buffers) or any(p in b[1].split() for b in barriers)
              or (ring and p in ring[3].split())]
    text = [f"PIPELINK_PHASE({p});" for p in phases]
    text += [f'PIPELINK_BUFFER({b}, .bytes = {size}, .align = {align}, .live = "{",".join(live.split())}");'
             for b, size, align, live in buffers]
    text += [f"PIPELINK_MBARRIERS({m}, .count = {count}, .arrivals = 128);" for m, count in mbarriers]
    text += [f'PIPELINK_NAMED_BARRIER({b}, .threads = 128, .live = "{",".join(live.split())}");' for b, live in barriers]
    if ring:
        r, (least, most), stage, live, tier = ring
        text += [f"PIPELINK_FACT({r}_bytes, int, {stage});",
                 f"PIPELINK_RING({r}, .side = pipelink::kConsumer, .stages = {{{least}, {most}}}, .stage_bytes = {stage}, "
                 f'.align = 1024, .full_arrivals = 32, .empty_arrivals = 128, .tier = {tier}, .live = "{",".join(live.split())}");']
    for p in phases:
        body = [f"  {b}.data<unsigned>(self)[threadIdx.x % 32] = threadIdx.x;" for b, _, _, live in buffers if p in live.split()]
        body += [f"  {b}.sync(self);" for b, live in barriers if p in live.split()]
        if p == phases[-1]:
            body += [f"  pipelink::mbarrier::arrive({m}.address(self, 0));" for m, _ in mbarriers]
        if ring and p == ring[3].split()[-1]:
            body += ["  pipelink::RingCursor at;", f"  {ring[0]}.wait(self, at);", f"  {ring[0]}.release(self, at);"]
        text += [f'PIPELINK_EXPORT_IN({name}_{p}, "{p}", void, pipelink::Self self) {{', *body, "}"]
    if name == "sw":
        text.append("PIPELINK_EXPORT(sw_statistics, unsigned, pipelink::Self self) { return amax.data<unsigned>(self)[0]; }")
    return "\n".join(text), phases


def schedule():
    order = list(PHASES)
    text = [f'PIPELINK_PHASE({p}{f", .after = {chr(34)}{before}{chr(34)}" if before else ""}'
            f'{", .after_previous = " + chr(34) + order[-1] + chr(34) if p == order[0] else ""});' for p, before in PHASES.items()]
    text.append("PIPELINK_SETTABLE_FACT(rounds, int, .value = 8, .domain = {1, 2, 4, 8, 16});")
    calls = []
    for p in PHASES:
        for part in PARTS:
            if p in claims(part)[1]:
                text.append(f'PIPELINK_IMPORT_IN({part}_{p}, "{p}", void, pipelink::Self self);')
                calls.append(f"    {part}_{p}(self);")
    text += ["PIPELINK_ROLE(run, .warps = 4, .registers = {96, 240})(pipelink::Self self) {",
             "  for (int i = 0; i < rounds(self); ++i) {", *calls, "  }", "}"]
    return "\n".join(text)


def producer(name):
    """Fills the rings that are its own to fill, one warp for each."""
    text = ["PIPELINK_USE_FACT(rounds, int);"]
    for owner, by in PRODUCERS.items():
        if by != name:
            continue
        ring, stage = RINGS[owner][0], RINGS[owner][2]
        text += [f"PIPELINK_USE_FACT({ring}_bytes, int);",
                 f"PIPELINK_IMPORT_RING({ring}, .side = pipelink::kProducer, .stage_bytes = {stage}, .full_arrivals = 32, "
                 ".empty_arrivals = 128);",
                 f"PIPELINK_ROLE(fill_{ring}, .warps = 1, .registers = {{24, 96}})(pipelink::Self self) {{",
                 "  pipelink::RingCursor at;",
                 "  for (int i = 0; i < rounds(self); ++i) {", f"    {ring}.acquire(self, at);",
                 f"    for (int k = 0; k < {ring}_bytes(self); k += 512) {ring}.data(self, at)[k] = 1;",
                 f"    pipelink::mbarrier::arrive({ring}.full(self, at));", f"    at.advance({ring}.stages(self));", "  }", "}"]
    return "\n".join(text)


def sources():
    """Component → its text, for Tools.package."""
    out = {name: claims(name)[0] for name in PARTS}
    out["schedule"] = schedule()
    out.update({name: producer(name) for name in sorted(set(PRODUCERS.values()))})
    return out


def link(tools):
    return tools.linked(NAME, [tools.package(name, source=text) for name, text in sources().items()])
