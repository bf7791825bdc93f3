"""A composition that uses the whole authoring vocabulary, from the components of components/."""
NAME = "fused"
COMPONENTS = ["drain", "feeder", "relay", "taps", "tile_sink", "tile_source"]
KEYS = {
    "bind": [["left.transform", "taps.first"], ["right.transform", "taps.second"]],
    "set": {"left.width": 4},
    "rings": {"drain.queue": {"tier": 1, "weight": 2}},
    "launch": {"cluster": [1, 1, 1], "blocks_per_sm": 1},
    "options": {"guard": False},
}


def uses(packages):
    """`packages`: component → .plk. Two instances of relay, one of each other."""
    return [(packages[c], i) if i else packages[c] for c, i in
            (("relay", "left"), ("relay", "right"), *((c, None) for c in COMPONENTS if c != "relay"))]


def packages(tools):
    return {c: tools.package(c) for c in COMPONENTS}


def link(tools, **changes):
    return tools.linked(NAME, uses(packages(tools)), **{**KEYS, **changes})
