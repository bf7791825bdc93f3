"""TileLang's part: a kernel as TileLang lowers it for one architecture, without a GPU. Made for the pinned version of ci/setup."""
from dataclasses import dataclass

import numpy
import tilelang
from tilelang import tvm
from tilelang.backend.module import create_backend_context
from tilelang.engine.lower import device_codegen_without_compile, lower_to_host_device_ir
from tvm import tirx
from tvm.tirx.stmt_functor import ir_transform, pre_order_visit

from . import Refused, last_word
from .layout import layout_text


@dataclass
class Tensor:
    """A parameter's tensor: its extents are numbers or names."""
    name: str
    element: str
    shape: list


@dataclass
class Registers:
    """A tile that the caller hands over: `values` of it in each of the threads."""
    tensor: Tensor
    values: int
    layout: str
    replicas: int


@dataclass
class TensorMap:
    """What one encodes for TMA: texts in C++ over the names of extents."""
    tensor: str
    element: int
    extent: list
    stride: list
    box: list
    swizzle: int


@dataclass
class Lowered:
    source: str
    threads: int
    blocks: str
    shared_bytes: int
    tensors: dict
    scalars: dict
    maps: dict
    registers: object


def version():
    return tilelang.__version__


def _text(expression):
    """An expression over extents in C++."""
    if isinstance(expression, tirx.IntImm):
        return str(int(expression))
    if isinstance(expression, tirx.Var):
        return expression.name
    if isinstance(expression, tirx.Cast):
        return f"std::uint64_t{{{_text(expression.value)}}}" if isinstance(expression.value, tirx.Var) else _text(expression.value)
    for kind, sign in ((tirx.Mul, "*"), (tirx.Add, "+"), (tirx.Sub, "-"), (tirx.FloorDiv, "/"), (tirx.FloorMod, "%")):
        if isinstance(expression, kind):
            return f"({_text(expression.a)} {sign} {_text(expression.b)})"
    raise Refused(f"an extent or stride of a tensor is '{expression}', which this front end cannot compute on the host")


def _value(expression, at):
    """The value of an index; `at` gives numbers or arrays for variables."""
    if isinstance(expression, tirx.IntImm):
        return int(expression)
    if isinstance(expression, tirx.Var):
        if expression not in at:
            raise Refused(f"which element a thread reads depends on '{expression.name}'")
        return at[expression]
    if isinstance(expression, tirx.Cast):
        return _value(expression.value, at)
    binary = {tirx.Add: numpy.add, tirx.Sub: numpy.subtract, tirx.Mul: numpy.multiply, tirx.FloorDiv: numpy.floor_divide,
              tirx.FloorMod: numpy.mod, tirx.Min: numpy.minimum, tirx.Max: numpy.maximum}
    for kind, function in binary.items():
        if isinstance(expression, kind):
            return function(_value(expression.a, at), _value(expression.b, at))
    calls = {"tirx.bitwise_and": numpy.bitwise_and, "tirx.bitwise_or": numpy.bitwise_or, "tirx.bitwise_xor": numpy.bitwise_xor,
             "tirx.shift_left": numpy.left_shift, "tirx.shift_right": numpy.right_shift}
    if isinstance(expression, tirx.Call) and getattr(expression.op, "name", "") in calls:
        return calls[expression.op.name](*(_value(argument, at) for argument in expression.args))
    raise Refused(f"the index '{expression}' of the tile in registers is not understood")


def _inside(statement, kind):
    """All nodes of a kind, in the order of the program; outer ones first."""
    found = []
    pre_order_visit(statement, lambda node: not isinstance(node, kind) or found.append(node) or True)
    return found


def _thread(body):
    for attribute in _inside(body, tirx.AttrStmt):
        if attribute.attr_key == "thread_extent" and attribute.node.thread_tag == "threadIdx.x":
            return attribute.node.var
    raise Refused("uses no threads")


def _reads(body, name):
    """[(load, loops around it)], in the order of the program."""

    def loads(statement):
        return [load for load in _inside(statement, tirx.BufferLoad) if load.buffer.data.name == name]

    if any(store.buffer.data.name == name for store in _inside(body, tirx.BufferStore)):
        raise Refused(f"'{name}' is written; a tile in the caller's registers is only read")
    for condition in _inside(body, tirx.IfThenElse):
        if loads(condition):
            raise Refused(f"'{name}' is read under the condition '{condition.condition}'; a tile in registers is read by all threads")
    loops = [(loop, loads(loop)) for loop in _inside(body, tirx.For)]
    return [(load, [loop for loop, inner in loops if any(load.same_as(other) for other in inner)]) for load in loads(body)]


def _move_to_registers(function, tensor, threads):
    """Reads of a tensor become reads of the thread's own array, whose values are numbered in the order of the program."""
    thread, numbers, columns, changed = _thread(function.body), numpy.arange(threads), [], []
    for load, loops in _reads(function.body, tensor.name):
        index = load.indices[0]
        lanes = int(index.lanes) if isinstance(index, tirx.Ramp) else 1
        base, step = (index.base, int(index.stride)) if isinstance(index, tirx.Ramp) else (index, 0)
        place, total = tirx.IntImm("int32", len(columns)), 1
        for loop in reversed(loops):  # the innermost counts fastest
            if not isinstance(loop.extent, tirx.IntImm) or loop.kind != tirx.ForKind.UNROLLED:
                raise Refused(f"'{tensor.name}' is read in a loop over '{loop.loop_var.name}' that is not unrolled; registers have no "
                              "index")
            place = place + (loop.loop_var - loop.min) * (total * lanes)
            total *= int(loop.extent)
        for turn in range(total):
            at, rest = {thread: numbers}, turn
            for loop in reversed(loops):
                at[loop.loop_var] = int(loop.min) + rest % int(loop.extent)
                rest //= int(loop.extent)
            columns += [numpy.broadcast_to(_value(base, at) + lane * step, numbers.shape) for lane in range(lanes)]
        changed.append((load, tirx.BufferLoad(load.buffer, [tirx.Ramp(place, 1, lanes) if lanes > 1 else place])))
    if not columns:
        raise Refused(f"'{tensor.name}' is not read")

    def replace(node):
        return next((new for old, new in changed if old.same_as(node)), None)

    function = function.with_body(ir_transform(function.body, replace, None, ["tirx.BufferLoad"]))
    try:
        layout, replicas = layout_text([list(map(int, row)) for row in zip(*columns)], int(numpy.prod(tensor.shape)))
    except Refused as refused:
        raise Refused(f"'{tensor.name}': {refused}") from None
    return function, Registers(tensor, len(columns), layout, replicas)


def _tensor_map(name, arguments):
    if not str(arguments[0].value).endswith("create_tiled"):
        raise Refused(f"'{name}' is loaded with {arguments[0].value}, and only tiled tensor maps are made")
    element, rank = int(arguments[2]), int(arguments[3])
    tensor, rest = arguments[4].name, list(arguments[5:])
    extent, stride, box, steps = (rest[i * rank:(i + 1) * rank] for i in range(4))
    interleave, swizzle, _, fill = map(int, rest[4 * rank:4 * rank + 4])
    if interleave != 0 or fill != 0 or any(int(step) != 1 for step in steps):
        raise Refused(f"the tensor map of '{tensor}' has element strides, interleaving or a fill value, which are not supported")
    return TensorMap(tensor, element, [_text(e) for e in extent], [_text(s) for s in stride[1:]], [_text(b) for b in box], swizzle)


def lower(function, architecture, registers=None):
    """One kernel for an architecture such as `90a`. `registers` is the name of the tensor that callers hold in registers."""
    target = tvm.target.Target({"kind": "cuda", "arch": f"sm_{architecture}"})
    tensors, scalars = {}, {}
    for parameter in function.params:
        if parameter in function.buffer_map:
            buffer = function.buffer_map[parameter]
            shape = [int(e) if isinstance(e, tirx.IntImm) else _text(e) for e in buffer.shape]
            tensors[buffer.name] = Tensor(buffer.name, str(buffer.dtype), shape)
        else:
            scalars[parameter.name] = str(parameter.dtype)
    with target:
        context = create_backend_context(target, None, "auto")
        try:
            host, device, _, _, _ = lower_to_host_device_ir(function, context)
        except Exception as error:
            raise Refused(f"TileLang does not lower it for sm_{architecture}: {last_word(error)}") from None
        names = [variable.name_hint for variable in device.functions]
        if len(names) != 1:
            raise Refused(f"is lowered to {len(names)} kernels ({', '.join(sorted(names))}); a component's kernel is one")
        kernel = device[names[0]]
        extents = {str(tag): extent for tag, extent in kernel.attrs["thread_extent"].items()}
        if any(int(extents.get(f"threadIdx.{axis}", 1)) != 1 for axis in "yz"):
            raise Refused("has threads in more than one dimension")
        if any(f"blockIdx.{axis}" in extents and str(extents[f"blockIdx.{axis}"]) != "1" for axis in "yz"):
            raise Refused("has a grid of more than one dimension; a linked kernel's grid has one")
        threads, held = int(extents["threadIdx.x"]), None
        if registers is not None:
            kernel, held = _move_to_registers(kernel, tensors[registers], threads)
            device = tvm.IRModule({names[0]: kernel})
        maps = {}
        for host_function in host.functions.values():
            for variable, arguments in dict(host_function.attrs.get("tma_descriptor_args", {})).items():
                maps[variable.name] = _tensor_map(variable.name, arguments)
        source = device_codegen_without_compile(device, context).inspect_source()
    shared_bytes = int(kernel.attrs.get("dyn_shared_memory_buf", 0))
    return Lowered(source, threads, _text(extents["blockIdx.x"]), shared_bytes, tensors, scalars, maps, held)
