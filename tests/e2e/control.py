"""The control of a composition: its components and its glue in one unit, compiled whole and without link-time optimisation."""
import cubin
from support import ARCH, COMPONENTS, component_text

HEAD = "#define PIPELINK_CONTROL 1\n"


def unit(sources, glue):
    """`sources`: names in components/, or (name, text), in the order of the link: sorted by name."""
    parts = [HEAD]
    for source in sources:
        if isinstance(source, tuple):
            parts += [component_text(*source), "#undef PIPELINK_COMPONENT\n"]
        else:
            parts += [f'#include "{COMPONENTS / source}.cu"\n#undef PIPELINK_COMPONENT\n']
    return "".join(parts) + glue


def control(tools, linked, sources, *options):
    """The kernel of the control of `linked`."""
    folder = linked.folder
    source = folder / "control.cu"
    source.write_text(unit(sources, linked.text))
    tools.compile(source, folder / "control.cubin", *options, mode=["-cubin", f"-arch={ARCH}"])
    return cubin.Kernel((folder / "control.cubin").read_bytes(), linked.name)
