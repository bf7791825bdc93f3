"""Checks what holds in every variant of attention: one core package, its output in registers, bytes shared as meant, few
annotations.

usage: check_variants.py COMPONENTS MAP.json...     the folder of the components' sources, and the maps of the links
"""
import json
import re
import sys
from pathlib import Path

MOST_ANNOTATIONS = 20
MOST_LINES_OF_SCORES = 40


def check(condition, message):
    if not condition:
        sys.exit(message)


def check_table(maps):
    """README.md's table of variants: what its cells name is what is linked; an empty one is as in the first row."""
    rows = re.findall(r"^\| (`attention_.*) \|$", Path(__file__).with_name("README.md").read_text(), re.MULTILINE)
    linked = {m["name"]: {p["component"] for p in m["inputs"]} for m in maps}
    first, listed = None, set()
    for row in rows:
        names, *cells = [re.findall(r"`(\w+)`", cell) for cell in row.split("|")]
        names = [names[0].rsplit("_", 1)[0] + n if n.startswith("_") else n for n in names]
        first = first or cells
        cells = [cell or above for cell, above in zip(cells, first, strict=True)]
        for n, name in enumerate(names):
            shown = {cell[n if len(cell) == len(names) else 0] for cell in cells} | {"attention_core"}
            check(shown == linked.get(name), f"README.md's table says that {name} is of {sorted(shown)}, and it is of {sorted(linked.get(name, []))}")
        listed |= set(names)
    check(listed == set(linked), f"README.md's table does not have {sorted(set(linked) - listed)}")


def main():
    components, maps = Path(sys.argv[1]), [json.loads(Path(p).read_text()) for p in sys.argv[2:]]
    check(maps, "no map was given")
    cores = set()
    for link_map in maps:
        name = link_map["name"]
        cores |= {p["sha256"] for p in link_map["inputs"] if p["component"] == "attention_core"}
        check(link_map["cubin"]["stack_bytes"] == 0, f"{name} has a stack")
        routes = {r["route"] for r in link_map["routes"]}
        check(routes == {"registers"}, f"{name}: the output goes by {routes}")
        claims = {c["claim"]: c for c in link_map["placement"]["shared"]}
        queries = claims["attention_core.queries"]
        if "attention_store.stage" in claims:
            stage = claims["attention_store.stage"]
            check(queries["offset"] <= stage["offset"] and
                  stage["offset"] + stage["bytes"] <= queries["offset"] + queries["bytes"],
                  f"{name}: the stage of the output is not within the queries' ring")
        print(f"ok: {name}")
    check(len(cores) == 1, f"there are {len(cores)} packages of attention_core")

    sources = sorted(components.glob("attention_*/*.cu"))
    check(sources, f"there are no sources in {components}")
    for source in sources:
        text = source.read_text()
        count = len(re.findall(r"^PIPELINK_[A-Z_]+\(", text, re.MULTILINE))
        check(0 < count <= MOST_ANNOTATIONS, f"{source.name} has {count} annotations")
        if source.parent.name == "attention_scores":
            check(text.count("\n") < MOST_LINES_OF_SCORES, f"{source.name} has {text.count(chr(10))} lines")
        print(f"{source.name}: {count} annotations")
    shown = re.search(r"```cuda\n(.*?)```", Path(__file__).with_name("README.md").read_text(), re.DOTALL).group(1)
    check(shown == (components / "attention_scores/soft_cap.cu").read_text(), "README.md shows another soft_cap.cu than there is")
    check_table(maps)
    core = " ".join((components / "attention_core/attention_core.cu").read_text().split())
    shown = re.findall(r"^- `(\w+)\(self, (.*?)\)`", (components / "attention_core/README.md").read_text(), re.MULTILINE | re.DOTALL)
    check([name for name, _ in shown] == ["score", "mask", "epilogue"], f"README.md of attention_core shows {shown}")
    for name, parameters in shown:
        imported = re.search(rf"PIPELINK_IMPORT(?:_IN)?\({name}, .*?pipelink::Self self, (.*?)\);", core).group(1)
        check(" ".join(parameters.split()) == imported, f"README.md of attention_core shows {name}({parameters}), and it is {name}({imported})")
    exports = re.findall(r"^PIPELINK_EXPORT\((.*?)\);", (components / "attention_tiles/README.md").read_text(), re.MULTILINE | re.DOTALL)
    check(len(exports) == 2, f"README.md of attention_tiles shows {len(exports)} exports")
    loader = " ".join((components / "attention_loader/attention_loader.cu").read_text().split())
    for export in exports:
        export = " ".join(export.split())
        check(f"PIPELINK_IMPORT({export});" in loader, f"attention_loader does not import what README.md of attention_tiles shows: {export}")


main()
