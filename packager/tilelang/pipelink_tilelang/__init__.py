"""PipeLink's front end for TileLang: what a component's Python file says beside its kernels.

    import pipelink_tilelang as pipelink
    import tilelang.language as T

    @T.prim_func
    def scale(acc: T.Tensor((64, 128), "float32"), factor: T.float32, out: T.Tensor((rows, 128), "float32")): ...

    component = pipelink.Component(exports=[pipelink.Export(scale, "acc", "factor", registers="acc")])

Of a kernel's parameters, those that an export lists are the callable's, in that order; those that are named like a fact are the
fact; the others are the component's kernel parameters. A tensor that is named as `registers` is the caller's, in registers: what
each thread reads of it says which elements the thread must have. `T.Kernel(1, threads=128)` is a warpgroup, which may be anywhere
in the block.
"""
import sys
from dataclasses import dataclass, field


class Refused(Exception):
    """What cannot become a component: one message, as it is shown."""


def _line_of_caller(frames):
    """Where the author's file calls, so many frames above the caller of this."""
    return sys._getframe(frames + 1).f_lineno


def last_word(error):
    """What TileLang's exception says; the rest is where in its code."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((line for line in reversed(lines) if "Error" in line or "Check failed" in line), lines[-1])


class Export:
    """A callable made of a kernel. `registers` names the tensor that is a tile in the callers' registers.

    `copies` = {"warpgroup": 2}: as many callers run it at the same time, and that parameter, from 0, says which; each has shared
    memory and a barrier of its own.
    """

    def __init__(self, function, *parameters, registers=None, copies=None):
        self.function, self.parameters, self.registers = function, parameters, registers
        self.line = _line_of_caller(1)
        if registers is not None and registers not in parameters:
            raise Refused(f"line {self.line}: registers=\"{registers}\" is none of the callable's parameters")
        if copies is not None and (len(copies) != 1 or list(copies)[0] not in parameters or list(copies.values())[0] < 1):
            raise Refused(f"line {self.line}: copies= is one parameter of the callable and how many there are: {{\"warpgroup\": 2}}")
        self.selector, self.copies = next(iter(copies.items())) if copies else (None, 1)


class Role:
    """A role made of a kernel, or one for each side of a kernel that TileLang has divided among warps.

    `registers` = (least, most) per thread, where the kernel itself does not set them.
    """

    def __init__(self, function, registers=(24, 240)):
        self.function, self.registers = function, registers
        self.line = _line_of_caller(1)


@dataclass
class Component:
    """`facts` are this component's, `uses` those of others: {"tile_n": None}, or with the value where nobody owns it.

    `require` = {name: expression over facts}.
    """

    exports: list = field(default_factory=list)
    roles: list = field(default_factory=list)
    facts: dict = field(default_factory=dict)
    uses: dict = field(default_factory=dict)
    require: dict = field(default_factory=dict)
    line: int = 0

    def __post_init__(self):
        self.line = _line_of_caller(2) if self.line == 0 else self.line
        if not self.exports and not self.roles:
            raise Refused(f"line {self.line}: a component has exports or roles")
