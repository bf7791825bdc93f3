"""Components in TileLang: what the front end makes of emitted kernels, what it refuses, and that the kept sources are what it makes."""
import hashlib
import importlib
import os
import sys
from pathlib import Path

from support import Failure, Skip, check, equal, fresh, main, run

ROOT = Path(__file__).resolve().parents[2]
FRONT_END = ROOT / "packager/tilelang"
sys.path.insert(0, str(FRONT_END))
front_end = importlib.import_module("pipelink_tilelang")
kernel_text = importlib.import_module("pipelink_tilelang.kernel_text")
layout = importlib.import_module("pipelink_tilelang.layout")

# All components whose lowered source is kept: file and architectures.
KEPT = {ROOT / "components/swiglu_tilelang/swiglu_tilelang.py": "90a 100a 103a 120a", ROOT / "tests/e2e/tilelang/scale_rows.py": "90a 120a"}


def emitted(body, parameters="int n", before=""):
    """A kernel as TileLang emits it."""
    head = f'extern "C" __global__ void f_kernel({parameters})'
    lines = "\n".join("  " + line for line in body.strip("\n").splitlines())
    return f"#include <tl_templates/cuda/intrin.h>\n{before}\n{head};\n{head.replace('void', 'void __launch_bounds__(256, 1)')} {{\n{lines}\n}}\n"


def refused(what, *fragments):
    try:
        what()
    except front_end.Refused as refusal:
        for fragment in fragments:
            check(fragment in str(refusal), f"'{refusal}' does not say '{fragment}'")
        return
    raise Failure(f"not refused: {fragments}")


DIVIDED = """
extern __shared__ __align__(1024) float tile[];
__shared__ __align__(16) uint64_t mbarrier_mem[3];
auto mbarrier = reinterpret_cast<Barrier*>(mbarrier_mem);
float held[4];
if (tl::tl_shuffle_elect<0>()) {
  tl::prefetch_tma_descriptor(x_desc);
}
if (tl::tl_shuffle_elect<0>()) {
  mbarrier[0].init(1);
  mbarrier[1].init(1);
  mbarrier[2].init(128);
}
tl::fence_barrier_init();
__syncthreads();
if (((int)threadIdx.x) < 128) {
  tl::warpgroup_reg_dealloc<24>();
  mbarrier[2].wait(1);
  if (tl::tl_shuffle_elect<128>()) {
    mbarrier[0].arrive_and_expect_tx(32768);
    tl::tma_load(x_desc, mbarrier[0], (&(tile[0])), 0, 0);
  }
} else {
  tl::warpgroup_reg_alloc<240>();
  mbarrier[0].wait(0);
  held[0] = tile[((int)threadIdx.x)];
  tl::__sync_thread_partial(3, 128);
  mbarrier[2].arrive();
}
"""


def rewriting(_):
    """What belongs to the block comes out as claims; what is left names threads by the kernel's own number."""
    kernel = kernel_text.rewrite(emitted(DIVIDED, "__grid_constant__ const CUtensorMap x_desc, float* __restrict__ y"), 256, True)
    equal(kernel.parameters, [("const CUtensorMap", "x_desc"), ("float*", "y")], "parameters")
    equal((kernel.shared, kernel.mbarriers, kernel.arrivals), (("tile", "float", 1024), "mbarrier", [1, 1, 128]), "claims")
    first, second = kernel.parts
    equal([(p.first, p.threads, p.registers) for p in kernel.parts], [(0, 128, 24), (128, 128, 240)], "parts")
    equal([(b.number, b.threads) for b in second.barriers], [(3, 128)], "named barriers")
    text = ["\n".join(line for _, line in part.lines) for part in kernel.parts]
    for word in ("init(", "setmaxnreg", "reg_alloc", "threadIdx", "__syncthreads", "__shared__", "fence_barrier_init"):
        check(word not in text[0] + text[1], f"{word} is left")
    check("tl_shuffle_elect<128>(pl_thread)" in text[0] and "prefetch" in text[0] and "prefetch" not in text[1], "who does what")
    check("tile[pl_thread]" in text[1] and "pl_sync_3();" in text[1] and "float held[4]" in text[1], "the second part")
    callable_ = kernel_text.rewrite(emitted("__syncthreads();\nif (n == 0) {\n  __syncthreads();\n}"), 128, False)
    part = callable_.parts[0]
    equal((len(part.syncs), part.conditional, part.barriers[0].threads), (2, True, 128), "barriers of a callable")


def refusals(_):
    """What cannot become handles is refused by its line and its name."""

    def line(text, *fragments, role=True, parameters="int n", before=""):
        refused(lambda: kernel_text.rewrite(emitted(text, parameters, before), 256 if role else 128, role), *fragments)

    line("int a = 0;\na = threadIdx.y;", "line 6 of the emitted kernel, `a = threadIdx.y;`", "one dimension")
    line("tl::wgmma_ss<1, 2>(a, b);", "`tl::wgmma_ss` is not among", "pipelink/tilelang.h")
    line('asm volatile("bar.sync 1;");', "`asm`")
    line("__shared__ float more[4];", "`__shared__`")
    line("n = gridDim.x;", "`gridDim`")
    line("n = blockIdx.y;", "`blockIdx.y`")
    line("n = threadIdx.x;", "`threadIdx` in an unknown form")
    line("tl::__sync_thread_partial(n, 128);", "computed")
    line("tl::__sync_thread_partial(3, 64);\ntl::__sync_thread_partial(3, 128);", "barrier 3 is for 64 threads elsewhere")
    line("tl::__named_barrier_arrive(3, 128);", "arrive without waiting")
    line("if (__syncthreads_or(n)) {\n}", "`__syncthreads_or`")
    line("n = ((int)blockIdx.x);", "a callable is no block", role=False)
    line("tl::warpgroup_reg_alloc<240>();", "its caller's", role=False)
    line(DIVIDED, "phases would go on from call to call", role=False)
    line("n = 1;", "code outside the kernel", before="__device__ int table[4];")
    line(DIVIDED.replace("  mbarrier[1].init(1);\n", ""), "mbarrier 1", "not initialised")
    line(DIVIDED.replace("  mbarrier[1].init(1);\n", "  mbarrier[1].init(1);\n  held[0] = 1;\n"), "something else is done")
    line(DIVIDED.replace("  mbarrier[2].wait(1);\n", "  __syncthreads();\n"), "divided among its warps")
    line(DIVIDED.replace("if (((int)threadIdx.x) < 128) {", "held[0] = tile[((int)threadIdx.x)];\nif (((int)threadIdx.x) < 128) {"),
         "is done by all threads before")


def layouts(_):
    """The element that each thread reads becomes shape:stride, or is refused."""
    quads = [[(t // 32 * 16 + t % 32 // 4 + v % 4 // 2 * 8) * 16 + v // 4 * 8 + t % 4 * 2 + v % 2 for v in range(8)] for t in range(128)]
    equal(layout.layout_text(quads, 1024), ("((4,8,4),(2,2,2)):((2,16,256),(1,128,8))", 1), "an accumulator")
    equal(layout.layout_text([[t % 32] for t in range(128)], 32), ("((32,4),1):((1,0),0)", 4), "a replicated row")
    equal(layout.layout_text([[3 * t + v for v in range(3)] for t in range(32)], 96), ("(32,3):(3,1)", 1), "extents that are no powers of 2")
    refused(lambda: layout.layout_text([[t ^ (t // 8)] for t in range(64)], 64), "shape:stride")
    refused(lambda: layout.layout_text([[t, t + 32] for t in range(32)], 128), "is read 0 times")
    refused(lambda: layout.layout_text([[t + 1] for t in range(32)], 32), "of 32 is read")
    refused(lambda: layout.layout_text([[t, (t + 1) % 32] for t in range(32)], 32), "different patterns")


def roles(tools):
    """A kernel that TileLang divided among its warps: two roles, mbarriers by handle; packed, audited without a word, linked, gated."""
    folder = fresh(tools.work / "roles")
    kept = ROOT / "tests/e2e/tilelang/lowered"
    object_, library, package = folder / "scale_rows.fatbin", folder / "scale_rows.host.a", folder / "scale_rows.sm_90a.plk"
    tools.compile(kept / "scale_rows.cu", object_, "-I", ROOT / "linker/runtime/include")
    library.write_bytes(b"!<arch>\n")  # the packager records name and digest only
    done = tools.pack("scale_rows", [object_], package, "--host-library", library)
    equal((done.status, done.err), (0, ""), f"pack: {done}")
    audit = tools.must("audit", package)
    check("warning" not in audit.out + audit.err, f"audit: {audit}")
    linked = tools.linked("scaled", [package])
    equal([linked.claim("roles", f"scale_rows.scale_{i}")["registers"] for i in (0, 1)], [24, 240], "registers of the roles")
    equal(linked.gate()["setmaxnreg"], ("honoured", "honoured"), "setmaxnreg of the kernel, which TileLang wrote into the roles")
    names = sorted(row["claim"] for row in linked.placement["shared"])
    equal([name for name in names if "mbarriers" in name], ["scale_rows.scale_mbarriers0", "scale_rows.scale_mbarriers2"], "mbarriers")


def kept_sources(_):
    """A kept source was made of its file: the digest in its first line says so. The file is as short as is claimed."""
    for file, architectures in KEPT.items():
        first = (file.parent / "lowered" / f"{file.stem}.cu").read_text().splitlines()[0]
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        check(first.startswith(f"// pipelink-tilelang 1 {digest} {architectures} tilelang "), f"{file.name} was changed since it was lowered")
    lines = len((ROOT / "components/swiglu_tilelang/swiglu_tilelang.py").read_text().splitlines())
    check(lines <= 56, f"swiglu in TileLang has {lines} lines, not at most 56")


def python_with_tilelang():
    for place in (os.environ.get("PIPELINK_TILELANG_PYTHON"), ROOT / ".pipelink/tilelang/bin/python"):
        if place and Path(place).exists():
            return place
    raise Skip("TileLang is not installed; ./ci/setup --tilelang installs it")


def lower(file, name, architectures, out, shown):
    return run([python_with_tilelang(), "-B", "-m", "pipelink_tilelang", file, "--name", name, "--architectures", *architectures.split(), "--shown",
                shown, "--out", out], timeout=300, env={"PYTHONPATH": str(FRONT_END), "CUDA_VISIBLE_DEVICES": ""})


def lowered_anew(tools):
    """TileLang, where it is installed, gives the kept sources again, byte for byte, without a GPU."""
    for file, architectures in KEPT.items():
        out = fresh(tools.work / "anew" / file.stem)
        done = lower(file, file.stem, architectures, out, str(file.relative_to(ROOT)))
        equal(done.status, 0, f"lowering: {done}")
        kept = file.parent / "lowered"
        equal(sorted(p.name for p in out.iterdir()), sorted(p.name for p in kept.iterdir()), f"files of {file.name}")
        for path in out.iterdir():
            check(path.read_bytes() == (kept / path.name).read_bytes(), f"{path.name} is not what is kept; see the target {file.stem}.lower")


BAD = {
    "reads_half": ("acc[i, j % 32]", "'acc'", "read 2 times", "32 0 times"),
    "divides": ("T.call_extern(\"float32\", \"my_function\", acc[i, j])", "`my_function` is not among"),
    "no_such_name": ("undefined_name[i, j]", "line 9", "undefined_name"),
}


def refused_by_lowering(tools):
    """What TileLang lowers and a link cannot take, or TileLang does not lower, is one message with the author's file; nothing is written."""
    python_with_tilelang()
    for name, (read, *fragments) in BAD.items():
        folder = fresh(tools.work / "bad" / name)
        (folder / f"{name}.py").write_text(f'''import pipelink_tilelang as pipelink
import tilelang.language as T

@T.prim_func
def take(acc: T.Tensor((64, 64), "float32"), out: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128):
        held = T.alloc_fragment((64, 64), "float32")
        for i, j in T.Parallel(64, 64):
            held[i, j] = {read}
        T.copy(held, out)

component = pipelink.Component(exports=[pipelink.Export(take, "acc", registers="acc")])
''')
        done = lower(folder / f"{name}.py", name, "90a", folder / "out", f"{name}.py")
        equal(done.status, 2, f"{name}: {done}")
        last = done.err.strip().splitlines()[-1]
        check(last.startswith(f"error: {name}.py: ") and "Traceback" not in done.err, f"{name}: {done}")
        for fragment in fragments:
            check(fragment in last, f"{name}: '{last}' does not say '{fragment}'")
        check(not (folder / "out").exists(), f"{name}: something was written")


if __name__ == "__main__":
    cases = (rewriting, refusals, layouts, roles, kept_sources, lowered_anew, refused_by_lowering)
    sys.exit(main({f.__name__: f for f in cases}, __doc__))
