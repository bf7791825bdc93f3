"""From the kernel that TileLang emits to the body of a callable or a role.

What belongs to a block as a whole is taken out and comes back as a handle: the dynamic shared memory, the mbarriers with their
initialisation, `__syncthreads()` and numbered barriers, `threadIdx`, setmaxnreg. Whatever else the kernel uses must be known: what
pipelink/tilelang.h has, or the functions of CUDA listed here. Anything else is refused by its line.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

from . import Refused

HEADER = "pipelink/tilelang.h"
ELECTED = "if (tl::tl_shuffle_elect<0>()) {"
CUDA_FUNCTIONS = set("""
    make_float2 make_float4 make_int2 make_int4 make_uint2 make_uint4 make_ushort4 make_double2 expf exp2f logf log2f sqrtf rsqrtf
    sinf cosf tanhf powf fabsf fmaxf fminf floorf ceilf roundf truncf erff fmodf max min abs __expf __exp10f __logf __log2f __log10f
    __sinf __cosf __tanf __fdividef __frcp_rn __fsqrt_rn __frsqrt_rn __fadd_rn __fmul_rn __fmaf_rn __float22bfloat162_rn
    __float22half2_rn __bfloat1622float2 __half22float2 __float2bfloat16 __bfloat162float __float2half __half2float __float2half_rn
    __float2bfloat16_rn __ldg __shfl_sync __shfl_xor_sync __shfl_down_sync __shfl_up_sync __syncwarp __ballot_sync __popc __clz __ffs
""".split())
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "reinterpret_cast", "static_cast", "else", "do"}
# What a linked kernel cannot have in a component's code, and what to do instead.
FORBIDDEN = {
    r"\bthreadIdx\.[yz]\b": "threads are counted in one dimension: use T.Kernel(…, threads=<number>)",
    r"\bblockDim\b": "the block has other components' threads too",
    r"\bgridDim\b": "the grid is the composition's",
    r"\bblockIdx\.[yz]\b": "the grid of a linked kernel has one dimension",
    r"\basm\b": "PipeLink cannot see what it uses",
    r"__shared__": "only one dynamic array and TileLang's mbarriers become handles; use T.alloc_shared without scope=\"shared\"",
    r"\bcooperative_groups\b": "a grid-wide barrier is no part of a linked kernel",
    r"\bgoto\b": "not in emitted code",
    r"__syncthreads_(count|and|or)": "a barrier that also counts has no handle",
}


@dataclass
class Barrier:
    """A named barrier: of all the kernel's threads (number None), or one that the kernel names by a number."""
    number: object
    threads: int


@dataclass
class Part:
    """The code for some of the kernel's threads, counted from `first`. Lines are texts."""
    first: int
    threads: int
    lines: list
    registers: object = None
    barriers: list = field(default_factory=list)
    syncs: list = field(default_factory=list)  # the order in which barriers are met
    conditional: bool = False  # whether one of them is met in a branch or a loop


@dataclass
class Kernel:
    parameters: list  # (type, name)
    parts: list
    shared: object = None  # (name, type, alignment)
    arrivals: list = field(default_factory=list)  # of each mbarrier
    mbarriers: str = ""


def header_functions():
    """The functions of namespace tl that the header defines."""
    for folder in Path(__file__).resolve().parents:
        for place in (folder / "sdk" / "include" / HEADER, folder / "include" / "pipelink-sdk" / HEADER):
            if place.is_file():
                return set(re.findall(r"PIPELINK_TILELANG\b[^;{(]*?(\w+)\(", place.read_text()))
    raise Refused(f"the header {HEADER} is not beside this front end")


class Text:
    """The emitted lines; a refusal names the one that is looked at."""

    def __init__(self, source):
        lines = source.splitlines()
        starts = [i for i, line in enumerate(lines) if line.startswith('extern "C" __global__') and line.endswith("{")]
        if len(starts) != 1:
            raise Refused(f"the emitted source has {len(starts)} kernels")
        self.head = lines[starts[0]]
        end = max(i for i, line in enumerate(lines) if line == "}")
        self.lines = [(i + 1, line) for i, line in enumerate(lines) if starts[0] < i < end]
        for i, line in enumerate(lines):
            if (i < starts[0] and not re.match(r"\s*$|#|extern \"C\" __global__", line)) or i > end and line.strip():
                self.refuse(i + 1, line, "code outside the kernel")

    @staticmethod
    def refuse(number, line, why):
        raise Refused(f"line {number} of the emitted kernel, `{line.strip()}`: {why}")


def _parameters(head):
    inner = head[head.index("(", head.index("_kernel")) + 1:head.rindex(")")]
    found = []
    for text in filter(None, (part.strip() for part in inner.split(","))):
        match = re.match(r"(.*?)\s*(?:__restrict__ )?(\w+)$", text)
        found.append((match[1].replace("__grid_constant__ ", ""), match[2]))
    return found


def _take_claims(text, role):
    """Shared memory, mbarriers and their initialisation are taken out of the lines."""
    kernel, kept, lines = Kernel(_parameters(text.head), []), [], text.lines
    i = 0

    def prefetched(lines, i):
        stripped = lines[i][1].strip() if i < len(lines) else ""
        return stripped if stripped.startswith("tl::prefetch_tma_descriptor(") else None

    while i < len(lines):
        number, line = lines[i]
        stripped = line.strip()
        if match := re.match(r"extern __shared__ __align__\((\d+)\) (\w+) (\w+)\[\];$", stripped):
            kernel.shared = (match[3], match[2], int(match[1]))
        elif match := re.match(r"__shared__ __align__\(\d+\) uint64_t (\w+)_mem\[(\d+)\];$", stripped):
            if kernel.mbarriers:
                text.refuse(number, line, "a second array of mbarriers")
            kernel.mbarriers, kernel.arrivals = match[1], [0] * int(match[2])
        elif kernel.mbarriers and stripped == f"auto {kernel.mbarriers} = reinterpret_cast<Barrier*>({kernel.mbarriers}_mem);":
            pass
        elif stripped == ELECTED and re.match(r"\s*\w+\[\d+\]\.init\(", lines[i + 1][1]):
            i += 1
            while lines[i][1].strip() != "}":
                match = re.match(rf"\s*{kernel.mbarriers}\[(\d+)\]\.init\((\d+)\);$", lines[i][1])
                if not match:
                    text.refuse(*lines[i], "something else is done where mbarriers are initialised, which the linked kernel does")
                kernel.arrivals[int(match[1])] = int(match[2])
                i += 1
        elif not role and [text.strip() for _, text in lines[i:i + 3]] == [ELECTED, prefetched(lines, i + 1), "}"]:
            i += 2  # once for each kernel is right, not once for each call
        elif stripped == "tl::fence_barrier_init();":  # the linked kernel's, with the barrier behind it
            if i + 1 < len(lines) and lines[i + 1][1].strip() == "__syncthreads();":
                i += 1
        else:
            kept.append((number, line))
        i += 1
    if 0 in kernel.arrivals:
        raise Refused(f"mbarrier {kernel.arrivals.index(0)} of the emitted kernel is not initialised")
    return kernel, kept


def _split(text, lines, threads):
    """The parts of a kernel that TileLang has divided among its warps: its last statement is `if (threadIdx.x < n) { … } else { … }`."""
    for start, (_, line) in enumerate(lines):
        match = re.match(r"  if \(\(\(int\)threadIdx\.x\) < (\d+)\) \{$", line)
        if not match or lines[-1][1] != "  }":
            continue
        middle = [i for i in range(start, len(lines)) if lines[i][1] == "  } else {"]
        if len(middle) != 1 or not any("warpgroup_reg_" in inner for _, inner in lines[start:]):
            continue
        border, before = int(match[1]), lines[:start]
        first = Part(0, border, before + lines[start + 1:middle[0]])
        # What precedes the division is done by threads of one side: it is in the elected thread's, which is the first.
        second = Part(border, threads - border, [item for item in _without_elected(text, before)] + lines[middle[0] + 1:-1])
        return [first, second]
    return [Part(0, threads, lines)]


def _without_elected(text, lines):
    """Declarations alone: the code of the elected thread of the block is left to the part that has it."""
    depth = 0
    for number, line in lines:
        if line == "  if (tl::tl_shuffle_elect<0>()) {":
            depth = 1
        elif depth == 1 and line == "  }":
            depth = 0
        elif depth == 0:
            if not re.match(r"  [\w ]+\*? \w+(\[\d+\])?( = \(\(void\*\)\(\(char\*\)\w+ \+ \d+\)\))?;$", line):
                text.refuse(number, line, "is done by all threads before the kernel is divided among its warps")
            yield number, line


def _barrier(part, number, threads):
    barrier = next((b for b in part.barriers if b.number == number), None)
    if barrier is None:
        barrier = Barrier(number, threads)
        part.barriers.append(barrier)
    return barrier


def _rewrite(text, part, known, divided):
    depth_of_line, out = 0, []
    for number, line in part.lines:
        stripped = line.strip()
        sync = None
        if match := re.match(r"tl::warpgroup_reg_(?:de)?alloc<(\d+)>\(\);$", stripped):
            part.registers = int(match[1])
            continue
        if stripped == "__syncthreads();":
            if divided:
                text.refuse(number, line, "all threads meet where the kernel is divided among its warps")
            sync = _barrier(part, None, part.threads)
        elif match := re.match(r"tl::(__sync_thread_partial|__named_barrier_arrive)\((.*), (.*)\);$", stripped):
            if match[1] != "__sync_thread_partial":
                text.refuse(number, line, "a barrier at which threads arrive without waiting is not turned into a handle")
            if not (match[2].isdigit() and match[3].isdigit()):
                text.refuse(number, line, "the number of a barrier is computed; a linked kernel would claim all sixteen")
            sync = _barrier(part, int(match[2]), int(match[3]))
            if sync.threads != int(match[3]):
                text.refuse(number, line, f"barrier {match[2]} is for {sync.threads} threads elsewhere")
        if sync is not None:
            part.syncs.append(sync)
            part.conditional = part.conditional or depth_of_line > 0
            indent = line[:len(line) - len(line.lstrip())]
            out.append((number, f"{indent}pl_sync_{'all' if sync.number is None else sync.number}();"))
            continue
        code = re.sub(r"/\*.*?\*/", "", line)
        for pattern, why in FORBIDDEN.items():
            if match := re.search(pattern, code):
                text.refuse(number, line, f"`{match[0]}`: {why}")
        for match in re.finditer(r"(?<![\w.>])((?:\w+::)*)(\w+)\s*(?:<[^;(){}]*>)?\(", code):
            name = match[2]
            if name in KEYWORDS or name.isdigit() or (match[1] == "" and name in CUDA_FUNCTIONS) or name in known:
                continue
            text.refuse(number, line, f"`{match[1]}{name}` is not among what {HEADER} and this front end know")
        depth_of_line += code.count("{") - code.count("}")
        code = re.sub(r"\(\(int\)threadIdx\.x\)", "pl_thread", code)
        code = re.sub(r"tl::tl_shuffle_elect<(\d+)>\(\)", r"tl::tl_shuffle_elect<\1>(pl_thread)", code)
        if "threadIdx" in code:
            text.refuse(number, line, "`threadIdx` in an unknown form")
        out.append((number, code))
    part.lines = out


def rewrite(source, threads, role):
    """The Kernel of an emitted source. A callable is one part, without blockIdx, mbarriers and setmaxnreg."""
    text, known = Text(source), header_functions()
    kernel, lines = _take_claims(text, role)
    kernel.parts = _split(text, lines, threads) if role else [Part(0, threads, lines)]
    for part in kernel.parts:
        _rewrite(text, part, known, len(kernel.parts) > 1)
        if part.first and any("tl_shuffle_elect<0>" in line for _, line in part.lines):
            text.refuse(*next(item for item in part.lines if "tl_shuffle_elect<0>" in item[1]),
                        "the block's first thread is in another role")
    if not role:
        for number, line in kernel.parts[0].lines:
            if "blockIdx" in line:
                text.refuse(number, line, "a callable is no block: write T.Kernel(1, …), or make it a role")
        if kernel.mbarriers:
            raise Refused("the emitted kernel of a callable has mbarriers, whose phases would go on from call to call; make it a role, or "
                          "copy without T.Pipelined")
        if kernel.parts[0].registers is not None:
            raise Refused("the emitted kernel of a callable sets the number of registers, which is its caller's")
    return kernel
