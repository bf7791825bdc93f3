"""From lowered kernels to a component in CUDA C++: annotations, functions, parameter structs and the host provider."""
import ast
import re

from . import Component, Refused
from .kernel_text import rewrite

TYPES = {"int32": "int", "uint32": "unsigned", "int64": "long long", "float32": "float", "float64": "double", "bool": "bool",
         "float16": "__half", "bfloat16": "__nv_bfloat16", "int8": "signed char", "uint8": "unsigned char", "int16": "short"}
ELEMENTS = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int32": "s32", "uint32": "u32", "int64": "s64"}
MAP_ELEMENTS = {0: "kU8", 1: "kU16", 2: "kU32", 3: "kI32", 4: "kU64", 5: "kI64", 6: "kF16", 7: "kF32", 8: "kF64", 9: "kBf16"}
HERE = "#line here"
MAP_SWIZZLES = {0: "kNone", 1: "k32B", 2: "k64B", 3: "k128B"}


def _type(name):
    if name not in TYPES:
        raise Refused(f"the type {name} is not known to this front end")
    return TYPES[name]


class Function:
    """One kernel of the component, lowered for each architecture and rewritten."""

    def __init__(self, item, role, name, line, lowered):
        self.item, self.role, self.name, self.line, self.lowered = item, role, name, line, lowered
        self.kernels = {}
        for architecture, one in lowered.items():
            try:
                self.kernels[architecture] = rewrite(one.source, one.threads, role)
            except Refused as refused:
                raise Refused(f"{name} for {architecture}: {refused}") from None
        self.first, self.kernel = next(iter(lowered.values())), next(iter(self.kernels.values()))
        for architecture, kernel in self.kernels.items():
            if self.claims_of(architecture, kernel) != self.claims_of(next(iter(lowered)), self.kernel):
                raise Refused(f"{name} is lowered to other claims for {architecture} than for {next(iter(lowered))}; make it a component "
                              "of its own there")

    def claims_of(self, architecture, kernel):
        one = self.lowered[architecture]
        parts = [(part.first, part.threads, part.registers, part.barriers, part.syncs, part.conditional) for part in kernel.parts]
        return (kernel.parameters, kernel.shared, kernel.arrivals, one.shared_bytes, parts, one.maps, one.registers)


class Writer:
    """The component's files as texts."""

    def __init__(self, name, component, functions, shown):
        self.name, self.component, self.functions, self.shown = name, component, functions, shown
        self.facts = {**component.facts, **component.uses}
        self.tensors, self.scalars, self.pointers, self.maps, self.extents = {}, {}, {}, {}, []
        for function in functions:
            self._collect(function)

    def _collect(self, function):
        """What is neither a parameter of the callable nor a fact is a kernel parameter."""
        one = function.first
        for _, name in function.kernel.parameters:
            if self._is_given(function, name):
                continue
            if name in one.maps:
                self.maps[name] = one.maps[name]
                self._tensor(one.tensors[one.maps[name].tensor])
            elif name in one.tensors:
                self.pointers[name] = one.tensors[name]
                self._tensor(one.tensors[name])
            elif name in one.scalars:
                self.scalars[name] = _type(one.scalars[name])
            else:  # an extent of a tensor
                self.scalars.setdefault(name, "unsigned")
                self.extents += [name] if name not in self.extents else []
        if function.role:
            self.extents += [n for n in re.findall(r"[a-z_]\w*", re.sub(r"std::uint64_t", "", one.blocks)) if n not in self.extents]

    def _tensor(self, tensor):
        if self.tensors.setdefault(tensor.name, tensor).element != tensor.element:
            raise Refused(f"'{tensor.name}' is of {tensor.element} in one kernel and of {self.tensors[tensor.name].element} in another")
        self.extents += [e for e in tensor.shape if isinstance(e, str) and e not in self.extents and re.fullmatch(r"\w+", e)]

    def _is_given(self, function, name):
        return name in self.facts or (not function.role and name in function.item.parameters)

    # ---- the header: what host and device share

    def has_parameters(self):
        return bool(self.maps or self.pointers or self.scalars)

    def has_host(self):
        return bool(self.maps) or any(function.role for function in self.functions)

    def argument_names(self):
        return list(self.tensors) + [n for n in self.scalars if n not in self.extents] + self.extents

    def header(self):
        lines = [*self.banner(), "#pragma once", "", "#include <pipelink/tensor_map.h>", "", f"namespace {self.name} {{", ""]
        if self.has_host():
            lines += ["/// What the caller gives; tensors are row-major and packed.", "struct Arguments {"]
            for tensor in self.tensors.values():
                shape = ", ".join(map(str, tensor.shape))
                lines.append(f"  {self._pointee(tensor)}* {tensor.name};  ///< [{shape}], {tensor.element}")
            lines += [f"  {self.scalars[name]} {name};" for name in self.scalars if name not in self.extents]
            lines += [f"  unsigned {name};" for name in self.extents] + ["};", ""]
        lines += ["/// Read by the kernel.", "struct Parameters {"]
        lines += [f"  pipelink::TensorMap {name};" for name in self.maps]
        lines += [f"  {self._pointee(tensor)}* {name};" for name, tensor in self.pointers.items()]
        lines += [f"  {kind} {name};" for name, kind in self.scalars.items()] + ["};", "", f"}}  // namespace {self.name}"]
        return "\n".join(lines) + "\n"

    def _pointee(self, tensor):
        """The struct is for host code too, which has no types for half precision."""
        kind = TYPES.get(tensor.element, "void")
        written = any((name == tensor.name and not text.startswith("const "))
                      or (name in f.first.maps and f.first.maps[name].tensor == tensor.name and self._stored(f, name))
                      for f in self.functions for text, name in f.kernel.parameters)
        return ("" if written else "const ") + ("void" if kind.startswith("__") else kind)

    @staticmethod
    def _stored(function, name):
        return any(f"tma_store({name}" in line for part in function.kernel.parts for _, line in part.lines)

    # ---- the host provider

    def host(self):
        names = self.argument_names()
        includes = ["#include <pipelink/provider.hpp>", "", "#include <cstdint>", "#include <string>", "", f'#include "{self.name}.h"']
        lines = [*self.banner(), *includes, "", f"PIPELINK_HOST_PROVIDER({self.name}, {self.name}::Arguments, {self.name}::Parameters) {{",
                 f"  const auto [{', '.join(names)}] = arguments;"]
        if self.extents:
            lines.append(f"  if ({' || '.join(f'{name} == 0' for name in self.extents)})")
            lines.append(f"    host.fail(\"{' and '.join(self.extents)} must be at least 1\");")
        for name, one in self.maps.items():
            for stride in (stride for stride in one.stride if not stride.isdigit()):
                lines += [f"  if ({stride} % 16 != 0)", f"    host.fail(\"rows of {one.tensor} are \" + std::to_string({stride}) +",
                          "              \" bytes apart, which is not a multiple of 16\");"]
            extent, stride, box = (", ".join(values) for values in (one.extent, one.stride, one.box))
            pad = " " * len(f"  parameters.{name} = host.tensor_map({{")
            lines += [f"  parameters.{name} = host.tensor_map({{.element = pipelink::Element::{MAP_ELEMENTS[one.element]},"]
            lines += [f"{pad}{text}" for text in (
                f".address = {one.tensor},", f".rank = {len(one.extent)},", f".extent = {{{extent}}},", f".stride = {{{stride}}},",
                f".box = {{{box}}},", f".swizzle = pipelink::Swizzle::{MAP_SWIZZLES[one.swizzle]}}});")]
        lines += [f"  parameters.{name} = static_cast<{self._pointee(self.tensors[name])}*>({name});" for name in self.pointers]
        lines += [f"  parameters.{name} = {name};" for name in self.scalars]
        lines += [f"  host.request_blocks({function.first.blocks});" for function in self.functions if function.role]
        return "\n".join(lines + ["}"]) + "\n"

    # ---- the component

    def banner(self):
        return [f"// Made by PipeLink's front end for TileLang from {self.shown}; do not edit."]

    def at(self, line):
        return f'#line {line} "{self.shown}"'

    def source(self):
        component, name = self.component, self.name
        lines = [*self.banner(), f"#define PIPELINK_COMPONENT {name}", "#include <pipelink/component.h>", "#include <pipelink/tilelang.h>"]
        lines += ["", f'#include "{name}.h"'] if self.has_parameters() else []
        lines += ["", f"namespace {name} {{", "", "namespace tl = ::pipelink::tilelang;"]
        lines += ["using namespace ::pipelink::tilelang::names;", ""]
        fields = [*self.maps, *self.pointers, *self.scalars]
        annotations = []
        if fields:
            annotations.append(f'PIPELINK_PARAMETERS({name}::Parameters, "{name}.h", {", ".join(fields)});')
        if self.has_host():
            annotations.append(f'PIPELINK_HOST({name}::Arguments, "{name}.h", {", ".join(self.argument_names())});')
        annotations += [f"PIPELINK_FACT({fact}, int, {value});" for fact, value in component.facts.items()]
        annotations += [f"PIPELINK_USE_FACT({fact}, int);" if value is None else f"PIPELINK_USE_FACT_OR({fact}, int, {value});"
                        for fact, value in component.uses.items()]
        annotations += [f'PIPELINK_REQUIRE({rule}, "{expression}");' for rule, expression in component.require.items()]
        lines += [text for annotation in annotations for text in (self.at(component.line), annotation)]
        for function in self.functions:
            lines += ["", *self.function_text(function)]
        lines += ["", f"}}  // namespace {name}"]
        # The bodies' own lines, for the compiler's messages; the stamp is the first line.
        lines = [f'#line {i + 3} "lowered/{name}.cu"' if line == HERE else line for i, line in enumerate("\n".join(lines).split("\n"))]
        return "\n".join(lines) + "\n"

    def copies(self, function):
        return range(1) if function.role else range(function.item.copies)

    def claim_annotations(self, function):
        kernel, one, copies = function.kernel, function.first, len(self.copies(function))
        found = []
        if kernel.shared is not None:
            align = kernel.shared[2]
            size = -(-one.shared_bytes // align) * align
            times = f"{copies} * " if copies > 1 else ""
            found.append(f"PIPELINK_BUFFER({function.name}_shared, .bytes = {times}{size}, .align = {align});")
        for first, count, arrivals in self.mbarrier_runs(kernel):
            found.append(f"PIPELINK_MBARRIERS({function.name}_mbarriers{first}, .count = {count}, .arrivals = {arrivals});")
        for barrier in self.barriers(function):
            for copy in self.copies(function):
                found.append(f"PIPELINK_NAMED_BARRIER({self.barrier_name(function, barrier, copy)}, .threads = {barrier.threads});")
        return found

    @staticmethod
    def mbarrier_runs(kernel):
        runs = []
        for i, arrivals in enumerate(kernel.arrivals):
            if runs and runs[-1][2] == arrivals:
                runs[-1][1] += 1
            else:
                runs.append([i, 1, arrivals])
        return runs

    @staticmethod
    def barriers(function):
        found = []
        for part in function.kernel.parts:
            found += [barrier for barrier in part.barriers if barrier not in found]
        return found

    def barrier_name(self, function, barrier, copy):
        which = "all" if barrier.number is None else str(barrier.number)
        return f"{function.name}_{which}" + (f"_{copy}" if len(self.copies(function)) > 1 else "")

    def function_text(self, function):
        lines = [text for claim in self.claim_annotations(function) for text in (self.at(function.line), claim)]
        return lines + (self.role_text(function) if function.role else self.export_text(function))

    def states_steps(self):
        """Steps are stated of all functions or of none; where barriers are met in branches or in turns, of none."""
        parts = [part for function in self.functions for part in function.kernel.parts]
        return not any(f.role for f in self.functions) and all(len(p.barriers) <= 1 and not p.conditional for p in parts)

    def export_text(self, function):
        item, one, part, lines, declared = function.item, function.first, function.kernel.parts[0], [], []
        for name in item.parameters:
            if name == item.registers:
                declared.append(f"{_type(one.registers.tensor.element)} (&{name})[{one.registers.values}]")
            elif name in one.scalars:
                declared.append(f"{_type(one.scalars[name])} {name}")
            elif name in one.tensors:
                raise Refused(f"{function.name}: the tensor '{name}' is a parameter of the callable, so write registers=\"{name}\", or "
                              "leave it out to make it a kernel parameter")
            else:
                raise Refused(f"{function.name} has no parameter '{name}'")
        if one.threads not in (32, 128):
            raise Refused(f"{function.name} is for {one.threads} threads; a callable's kernel has 32 (a warp) or 128 (a warpgroup)")
        if item.registers is not None:
            held = one.registers
            tile = ", ".join(map(str, held.tensor.shape))
            replicas = f", .replicas = {held.replicas}" if held.replicas != 1 else ""
            scope = "warpgroup" if one.threads == 128 else "warp"
            lines += [self.at(function.line),
                      f'PIPELINK_IMPORT_TENSOR({item.registers}, .element = "{ELEMENTS[held.tensor.element]}", .tile = {{{tile}}},',
                      f'                       .scope = "{scope}", .layout = "{held.layout}"{replicas},',
                      f'                       .via = "{function.name}", .parameter = {item.parameters.index(item.registers)});']
        if part.syncs and self.states_steps():
            times = [(barrier, part.syncs.count(barrier)) for barrier in part.barriers]
            steps = [f"sync {self.barrier_name(function, barrier, copy)}" + (f" x {count}" if count > 1 else "")
                     for copy in self.copies(function) for barrier, count in times]
            lines += [self.at(function.line), f'PIPELINK_STEPS({function.name}, .once = "{"; ".join(steps)}");']
        arguments = "".join(f", {text}" for text in declared)
        return lines + [self.at(item.line), f"PIPELINK_EXPORT({function.name}, void, pipelink::Self self{arguments}) {{",
                        f"  [[maybe_unused]] const int pl_thread = static_cast<int>(threadIdx.x % {one.threads});",
                        *self.body(function, 0, item.selector), "}"]

    def role_text(self, function):
        lines, single = [], len(function.kernel.parts) == 1
        for i, part in enumerate(function.kernel.parts):
            role = function.name if single else f"{function.name}_{i}"
            if part.threads % 32:
                raise Refused(f"{role} has {part.threads} threads, which is not a multiple of 32")
            bias = f" + {part.first}" if part.first else ""
            low, high = (part.registers, part.registers) if part.registers is not None else function.item.registers
            lines += [self.at(function.item.line),
                      f"PIPELINK_ROLE({role}, .warps = {part.threads // 32}, .registers = {{{low}, {high}}})(pipelink::Self self) {{",
                      f"  if (blockIdx.x >= {self.blocks(function)}) return;",
                      f"  [[maybe_unused]] const int pl_thread = static_cast<int>({role}.thread(self)){bias};",
                      *self.body(function, i, None), "}", ""]
        return lines[:-1]

    def blocks(self, function):
        return re.sub(r"(?<![\w:])([a-z_]\w*)(?!\w|::)", lambda m: m[0] if m[0] in ("std", "uint64_t") else f"parameters(self).{m[0]}",
                      function.first.blocks)

    def prologue(self, function, part, selector):
        """What the emitted kernel's parameters and block-wide objects are here."""
        kernel, one, lines = function.kernel, function.first, []
        for text, name in kernel.parameters:
            if name in self.component.uses:
                lines.append(f"  [[maybe_unused]] const int {name} = {self.name}::{name}(self);")
            elif name in self.facts or (not function.role and name in function.item.parameters):
                continue  # a constant of this namespace, or the callable's own parameter
            elif name in one.maps:
                lines.append(f"  const pipelink::TensorMap& {name} = parameters(self).{name};")
            elif name in one.tensors:
                lines.append(f"  {text} __restrict__ {name} = static_cast<{text}>(parameters(self).{name});")
            else:
                lines.append(f"  [[maybe_unused]] const {text} {name} = static_cast<{text}>(parameters(self).{name});")
        if kernel.shared is not None:
            name, kind, align = kernel.shared
            size = -(-one.shared_bytes // align) * align
            offset = f" + {selector} * {size}" if selector is not None else ""
            lines += [f"  [[maybe_unused]] {kind}* const {name} =",
                      f"      reinterpret_cast<{kind}*>({function.name}_shared.data(self){offset});"]
        runs = self.mbarrier_runs(kernel)
        if runs:
            choice = f"tl::barrier({function.name}_mbarriers{runs[-1][0]}.address(self, i - {runs[-1][0]}))"
            for first, count, _ in reversed(runs[:-1]):
                choice = f"i < {first + count} ? tl::barrier({function.name}_mbarriers{first}.address(self, i - {first})) : {choice}"
            lines += ["  struct Mbarriers {", "    pipelink::Self self;", "    __device__ tl::Barrier& operator[](unsigned i) const {",
                      f"      return *({choice});", "    }", "  };", f"  const Mbarriers {kernel.mbarriers}{{self}};"]
        for barrier in part.barriers:
            calls = [f"{self.barrier_name(function, barrier, copy)}.sync(self);" for copy in self.copies(function)]
            text = calls[-1]
            for copy in reversed(range(len(calls) - 1)):
                text = f"if ({selector} == {copy}) {calls[copy]} else {text}"
            lines.append(f"  const auto pl_sync_{'all' if barrier.number is None else barrier.number} = [&] {{ {text} }};")
        return lines

    def body(self, function, index, selector):
        """One text for all architectures that are lowered alike."""
        texts, lines = {}, [HERE, *self.prologue(function, function.kernel.parts[index], selector)]
        for architecture, kernel in function.kernels.items():
            texts.setdefault("\n".join(line for _, line in kernel.parts[index].lines), []).append(architecture)
        if len(texts) == 1:
            return lines + [next(iter(texts))]
        for i, (text, architectures) in enumerate(texts.items()):
            condition = " || ".join(f"__CUDA_ARCH__ == {int(a[:-1]) * 10}" for a in architectures)
            lines += [f"#{'el' if i else ''}if {condition}", text]
        return lines + ["#else", '#error "not lowered for this architecture"', "#endif"]


def line_of(tree, function):
    """Where a kernel is defined in the author's file."""
    return next((node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function), 1)


def write(name, component, text, shown, architectures, lower):
    """{file name: text} of a component. `lower(function, architecture, registers)` is lowering.lower."""
    if not isinstance(component, Component):
        raise Refused("`component` is no pipelink_tilelang.Component")
    tree, functions = ast.parse(text), []
    for item, role in [(export, False) for export in component.exports] + [(role, True) for role in component.roles]:
        own = str(item.function.attrs["global_symbol"])
        try:
            lowered = {a: lower(item.function, a, None if role else item.registers) for a in architectures}
        except Refused as refused:
            raise Refused(f"line {line_of(tree, own)}: {own}: {refused}") from None
        functions.append(Function(item, role, own, line_of(tree, own), lowered))
    writer = Writer(name, component, functions, shown)
    files = {f"{name}.cu": writer.source()}
    if writer.has_parameters():
        files[f"{name}.h"] = writer.header()
    if writer.has_host():
        files[f"{name}_host.cc"] = writer.host()
    return files
