"""Claims of tensor memory: placed by lifetime, allocated and freed by the kernel, refused where there is none."""
import re
import sys

from support import check, equal, find_tool, main, run

CELLS = """
struct Parameters { unsigned* out; };
PIPELINK_PARAMETERS(cells::Parameters, "cells.h", out);
PIPELINK_PHASE(first, .after_previous = "second");
PIPELINK_PHASE(second, .after = "first");
PIPELINK_SETTABLE_FACT(size, int, .value = 128, .domain = {64, 128, 512});
PIPELINK_TENSOR_MEMORY(left, .columns = 128, .live = "first");
PIPELINK_TENSOR_MEMORY(right, .columns = 64, .live = "second");
PIPELINK_TENSOR_MEMORY(always, .columns = "size");
PIPELINK_ROLE(run, .warps = 4, .registers = {24, 64})(pipelink::Self self) {
  unsigned* out = parameters(self).out + 3 * run.thread(self);
  out[0] = left.address(self);
  out[1] = right.address(self);
  out[2] = always.address(self);
}
"""


def blackwell(tools):
    tools.arch = "sm_100a"
    return tools.package("cells", source=CELLS)


def placed(tools):
    """Claims that are never live at one time share columns; the block allocates a power of two."""
    linked = tools.linked("cells", [blackwell(tools)])
    memory = linked.placement["tensor_memory"]
    rows = {row["claim"]: (row["column"], row["columns"]) for row in memory["claims"]}
    equal((memory["allocated"], memory["capacity"]), (256, 512), "columns of the block")
    equal(rows["cells.left"][0], rows["cells.right"][0], "columns of claims that take turns")
    equal(sorted((rows["cells.left"], rows["cells.always"])), [(0, 128), (128, 128)], "columns of claims that do not")
    check("tensor memory: 256 of 512 columns allocated" in linked.summary, "the summary")
    word = linked.claim("shared", "kernel:tensor_memory")
    equal((word["bytes"], word["owner"]), (4, "kernel"), "where the kernel keeps the address")
    code = run([find_tool("nvdisasm"), "-c", linked.folder / "cells.sm_100a.cubin"])
    equal(code.status, 0, f"status of nvdisasm: {code.err}")
    text = code.out
    equal(len(re.findall(r"UTCATOMSWS\.AND", text)), 1, "frees in the code")
    check("UTCATOMSWS.FIND_AND_SET" in text, "an allocation in the code")
    listing = tools.must("inspect", tools.package("cells", source=CELLS)).out
    check("tensor memory" in listing and "right" in listing and "64 columns" in listing, f"inspect: {listing}")


def instances(tools):
    """Two instances have columns of their own, until there are none left."""
    package = blackwell(tools)
    linked = tools.linked("pair", [(package, "a"), (package, "b")])
    memory = linked.placement["tensor_memory"]
    taken = sorted((row["column"], row["columns"]) for row in memory["claims"] if not row["claim"].endswith(".right"))
    equal(taken, [(0, 128), (128, 128), (256, 128), (384, 128)], "columns of two instances")
    check("pl__cells__tensor_memory__left(unsigned instance) { switch (instance)" in linked.text, "the handle")
    half = tools.linked("half", [package], launch={"cluster": [1, 1, 1], "blocks_per_sm": 2}).placement["tensor_memory"]
    equal((half["allocated"], half["capacity"]), (256, 256), "columns of one of two blocks")
    text = tools.refused("many", [(package, "a"), (package, "b")], "L-COLUMNS", set={"a.size": 512})
    check("cells" in text and "512" in text, f"L-COLUMNS names too little: {text}")
    text = tools.refused("shared", [package], "L-COLUMNS", launch={"cluster": [1, 1, 1], "blocks_per_sm": 4})
    check("of 128" in text, f"L-COLUMNS does not know that four blocks share an SM: {text}")


def elsewhere(tools):
    """An architecture without tensor memory: the claims are named, with what there is."""
    tools.arch = "sm_90a"
    text = tools.refused("cells", [tools.package("cells", source=CELLS)], "L-COLUMNS")
    check(re.search(r"cells\.\w+ takes \d+ columns", text) and "cells.cu:" in text, f"L-COLUMNS names no claim: {text}")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (placed, instances, elsewhere)}, __doc__))
