"""Full links of damaged packages: each ends in time, with a message and exit status 1 or 2 or with a linked kernel, and leaves
nothing half-written. PIPELINK_DAMAGED_LINKS is their number.

Half of the packages are damaged in the file; of the others the digests are right, so that the damage reaches the vendor's tools.
"""
import os
import random
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import bad_input
from support import check, fresh, main, write_composition

COUNT = int(os.environ.get("PIPELINK_DAMAGED_LINKS", "60"))
SECONDS = 10
OWNER = """PIPELINK_FACT(tile, int, 64);
PIPELINK_RING(tiles, .side = pipelink::kConsumer, .stages = {2, 4}, .stage_bytes = "tile * 4", .align = 128, .full_arrivals = 32,
              .empty_arrivals = 1);
PIPELINK_IMPORT(scaled, float, pipelink::Self self, float x);
PIPELINK_BUFFER(sums, .bytes = "tile * 4", .align = 16);
PIPELINK_ROLE(add, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  pipelink::RingCursor at;
  tiles.wait(self, at);
  const float* stage = reinterpret_cast<const float*>(tiles.data(self, at));
  sums.data<float>(self)[add.thread(self)] = scaled(self, stage[add.thread(self)]);
  if (add.thread(self) == 0) tiles.release(self, at);
}"""
LOADER = """PIPELINK_USE_FACT(tile, int);
PIPELINK_IMPORT_RING(tiles, .side = pipelink::kProducer, .stage_bytes = "tile * 4", .full_arrivals = 32);
PIPELINK_EXPORT(scaled, float, pipelink::Self self, float x) { return 3 * x; }
PIPELINK_ROLE(load, .warps = 1, .registers = {24, 40})(pipelink::Self self) {
  pipelink::RingCursor at;
  tiles.acquire(self, at);
  float* stage = reinterpret_cast<float*>(tiles.data(self, at));
  for (int i = load.thread(self); i < tile(self); i += 32) stage[i] = i;
  pipelink::mbarrier::arrive(tiles.full(self, at));
}"""


def damage(data, chance):
    """Flipped bits, a stretch that is repeated, zeroed or missing, or an end that is missing."""
    data = bytearray(data)
    where, length = chance.randrange(len(data)), chance.choice((1, 4, 64, 700))
    kind = chance.randrange(8)
    if kind < 4:
        for _ in range(chance.choice((1, 1, 1, 3, 20))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == 4:
        data[where:where + length] = bytes(len(data[where:where + length]))
    elif kind == 5:
        del data[where:where + length]
    elif kind == 6:
        data[where:where] = data[where:where + length]
    else:
        del data[where:]
    return bytes(data)


def damaged_links(tools):
    packages = [tools.package("total", source=OWNER), tools.package("loader", source=LOADER)]
    chance = random.Random(1)
    ends = {}
    slowest = 0
    for number in range(COUNT):
        folder = fresh(tools.work / "link")
        victim = chance.choice(packages)
        if number % 2:
            bad = damage(victim.read_bytes(), chance)
        else:
            bad = bad_input.rebuilt(victim, lambda c: c.update({"code.0.ltoir": damage(c["code.0.ltoir"], chance)}))
        (folder / victim.name).write_bytes(bad)
        uses = [folder / p.name if p == victim else p for p in packages]
        file = write_composition(folder / "fused.json", "fused", uses)
        done = tools.tool("link", file, "-o", folder / "out", "--quiet", "--seconds", SECONDS)
        elapsed = done.seconds
        slowest = max(slowest, elapsed)
        keep = tools.work / f"kept.{number}.plk"
        keep.write_bytes(bad)
        what = f"link {number} ({keep.name}) ended with {done.status} after {elapsed:.1f} s: {done.err[:600]}"
        check(elapsed < SECONDS + 5, what)
        check(done.status in (0, 1, 2), what)
        written = sorted(p.name for p in (folder / "out").glob("*")) if (folder / "out").exists() else []
        if done.status == 0:
            check(any(name.endswith(".cubin") for name in written), what)
        else:
            check(re.match(r"error\[[A-Z]+-[A-Z0-9-]+\]: ", done.err) is not None and not written, f"{what}\nwritten: {written}")
        keep.unlink()
        clause = "linked" if done.status == 0 else re.match(r"error\[([A-Z0-9-]+)\]", done.err)[1]
        ends[clause] = ends.get(clause, 0) + 1
    print(f"{COUNT} damaged links, slowest {slowest:.1f} s: " + ", ".join(f"{k} {ends[k]}" for k in sorted(ends)))


if __name__ == "__main__":
    sys.exit(main({"damaged_links": damaged_links}, __doc__))
