"""What the linker relies on and the vendor's documents do not promise, each tried with this toolkit."""
import re
import struct
import sys

import control as whole
import cubin
import fused
from support import ARCH, COMPONENTS, check, equal, fresh, main, members, run
from vendor import NvJitLink, Nvrtc

ROLE = """
PIPELINK_ROLE(run, .warps = 4, .registers = {24, 128})(pipelink::Self self) {
  float* out = parameters(self).out + run.thread(self);
"""
PARAMETERS = """
struct Parameters { float* out; };
PIPELINK_PARAMETERS(probe::Parameters, "probe.h", out);
"""


def probe(tools, body, before=""):
    return tools.package("probe", source=PARAMETERS + before + ROLE + body + "\n}")


def code(package):
    found = members(package)
    return [found[f"code.{n}.ltoir"] for n in range(len(found) - 2)]


def records(tools):
    """Records survive in the PTX twin and vanish from the linked cubin."""
    package = tools.package("relay")
    fatbin = (package.parent / "relay.fatbin").read_bytes()
    check(len(re.findall(rb"pipelink_\w+_record\w*\[", fatbin)) >= 10, "records in the twin")
    contract = members(package)["contract.json"]
    check(b'"rows"' in contract and b'"scratch"' in contract, "records in the contract")
    linked = fused.link(tools)
    for text in (b"pipelink-record", b"pipelink_", b"_record"):
        check(text not in linked.cubin, f"the cubin holds {text.decode()!r}")
    check(".nv.global" not in cubin.Kernel(linked.cubin, linked.name).sections, "the cubin has global variables")


def ltoir_header(tools):
    """Link-time code says its architecture and no toolkit; a fatbin holds it beside PTX."""
    package = tools.package("taps")
    data = code(package)[0]
    equal(struct.unpack_from("<I", data)[0], 0x7F4E43ED, "magic of link-time code")
    fatbin = (package.parent / "taps.fatbin").read_bytes()
    equal(struct.unpack_from("<I", fatbin)[0], 0xBA55ED50, "magic of a fatbin")
    check(b".target sm_90a" in fatbin, "readable PTX in the fatbin")
    check(b"13.0" not in data, "link-time code names a toolkit after all")


def twin(tools):
    """`-Xcicc -O0` concerns the twin alone: the linked cubin is the same, and each inline function keeps its body there. Only
    a __forceinline__ one has none: two of one name are merged unseen."""
    text = """
PIPELINK_BUFFER(room, .bytes = 512);
PIPELINK_EXPORT(f, float, pipelink::Self self, float x) {
  cuda::std::array<float, 4> all{x, x + 1, x + 2, x + 3};
  room.data<float>(self)[threadIdx.x] = __half2float(__float2half(x)) + shared::scaled(x);
  return all[threadIdx.x % 4] + *static_cast<float*>(__cvta_shared_to_generic(__cvta_generic_to_shared(room.data<float>(self))));
}
"""
    shared = "}\nnamespace shared { template <class T> __device__ %sT scaled(T x) { return x * T(%s); } }\nnamespace %s {\n"
    caller = "PIPELINK_IMPORT(f, float, pipelink::Self self, float x);\n"

    def pair(kind, factors):
        one = tools.package("one", source=shared % (kind, factors[0], "one") + text + "#include <cuda_fp16.h>\n#include <cuda/std/array>")
        other = tools.package("probe", source=PARAMETERS + caller + shared % (kind, factors[1], "probe") + ROLE +
                              "*out = f(self, *out) + shared::scaled(*out);\n}")
        return [one, other]

    plain = tools.linked("alike", pair("", (3, 3))).cubin
    check("shared::scaled" in tools.refused("differ", pair("", (3, 5)), "L-ODR"), "L-ODR does not name the function")
    given, tools.twin = tools.twin, ()
    check(tools.linked("alike", pair("", (3, 3))).cubin == plain, "the option changes the linked cubin")
    tools.linked("unseen", pair("", (3, 5)))
    tools.twin = given
    merged = cubin.Kernel(tools.linked("forced", pair("__forceinline__ ", (3, 5))).cubin, "forced").text
    check(merged == cubin.Kernel(tools.linked("forced", pair("__forceinline__ ", (3, 3))).cubin, "forced").text or
          merged == cubin.Kernel(tools.linked("forced", pair("__forceinline__ ", (5, 5))).cubin, "forced").text,
          "__forceinline__ functions are not merged any more: docs/limits is out of date")


def handles(tools):
    """Handles fold: the barriers in use are those planned. An id that is computed makes the cubin claim all sixteen."""
    barriers = "PIPELINK_NAMED_BARRIER(a, .threads = 128);\nPIPELINK_NAMED_BARRIER(b, .threads = 128);\n"
    linked = tools.linked("folds", [probe(tools, "if (*out > 0) a.sync(self); else b.sync(self);", barriers)])
    equal(cubin.Kernel(linked.cubin, "folds").barriers, 3, "barriers of the cubin")
    text = tools.refused("computes", [probe(tools, """
  const unsigned id = *out > 0 ? pl__probe__barrier__a(self.instance) + threadIdx.x / 128 : pl__probe__barrier__b(self.instance);
  asm volatile("barrier.sync %0, 128;" ::"r"(id) : "memory");""", barriers)], "L-GATE")
    check("as planned: barriers" in text and "found in the cubin: 16" in text, f"the gate does not see 16 barriers: {text}")


def large_shared(tools):
    """A static shared array of 227 KB is accepted, and the cubin says its size."""
    linked = tools.linked("large", [probe(tools, "big.data<float>(self)[threadIdx.x] = *out; a.sync(self); *out = big.data<float>(self)[127 - threadIdx.x];",
                                          "PIPELINK_BUFFER(big, .bytes = 232448, .align = 1024);\nPIPELINK_NAMED_BARRIER(a, .threads = 128);\n")])
    kernel = cubin.Kernel(linked.cubin, "large")
    equal((kernel.shared_bytes, kernel.shared_align), (232448, 1024), "shared bytes and alignment of the cubin")
    equal(linked.map["free"], 0, "free bytes")


def set_registers(tools):
    """setmaxnreg is honoured in a link, and dropped in silence where the code is not link-time code."""
    linked = fused.link(tools)
    check(cubin.Kernel(linked.cubin, linked.name).sets_registers, "setmaxnreg in the linked cubin")
    folder = fresh(tools.work / "classic")
    (folder / "glue.cu").write_text(linked.text)
    objects, log = [], ""
    for source in [COMPONENTS / f"{c}.cu" for c in fused.COMPONENTS] + [folder / "glue.cu"]:
        objects.append(folder / f"{source.stem}.o")
        log += tools.compile(source, objects[-1], "--resource-usage", mode=["-dc", "--generate-code=arch=compute_90a,code=sm_90a"]).err
    done = run([tools.nvcc, "--generate-code=arch=compute_90a,code=sm_90a", "-dlink", "-cubin", "-o", folder / "classic.cubin", *objects])
    equal(done.status, 0, f"status of {done}")
    kernel = cubin.Kernel((folder / "classic.cubin").read_bytes(), linked.name)
    check(re.search(r"C75\d\d", log + done.err), f"no word of a dropped setmaxnreg: {log}{done.err}")
    check(not kernel.sets_registers, "setmaxnreg survives in objects without link-time code")


def glue_order(tools):
    """With the glue last the linked code is the control's; with the glue first it is not."""
    linked = fused.link(tools)
    kernel = cubin.Kernel(linked.cubin, linked.name)
    control = whole.control(tools, linked, fused.COMPONENTS)
    vendor, glue = NvJitLink(tools.nvcc), Nvrtc(tools.nvcc).ltoir(linked.text)
    inputs = [data for component in fused.COMPONENTS for data in code(fused.packages(tools)[component])]
    last, _ = vendor.link([*inputs, glue], linked.name)
    first, _ = vendor.link([glue, *inputs], linked.name)
    check(last is not None and first is not None, "nvJitLink failed")
    last, first = (cubin.Kernel(c, linked.name) for c in (last, first))
    check(last.text == kernel.text, "linked here, the code is not that of `pipelink link`")
    check(control.text == kernel.text, "the linked code is not the control's")
    check(first.text != kernel.text, "the order of the glue makes no difference any more: the linker's comment is out of date")


def spills(tools):
    """Code that needs more registers than its role may have is an error, and never a slow kernel."""
    text = tools.refused("spilling", [tools.package("probe", source=PARAMETERS + """
PIPELINK_ROLE(run, .warps = 32, .registers = {24, 64})(pipelink::Self self) {
  float* out = parameters(self).out + run.thread(self);
  float x[100];
#pragma unroll
  for (int i = 0; i < 100; ++i) x[i] = out[i * 1024];
  for (unsigned n = 0; n < threadIdx.x; ++n) {
#pragma unroll
    for (int i = 0; i < 100; ++i) x[i] = x[i] * x[(i + 37) % 100] + 1.0f;
  }
#pragma unroll
  for (int i = 0; i < 100; ++i) out[i * 1024] = x[i];
}""")], "L-REGS")
    check("spill" in text, f"L-REGS does not show the compiler's line: {text}")


def not_inlined(tools):
    """A function that stays a function is caught, and named."""
    text = tools.refused("calls", [probe(tools, "*out = twice(*out);",
                                         "static __device__ __noinline__ float twice(float x) { return x * 2.0f + 1.0f; }\n")], "L-GATE")
    check("other functions" in text and "twice" in text, f"the gate does not name the function: {text}")
    linked = tools.linked("divides", [probe(tools, "*out = 1.0f / *out;")])
    check(cubin.Kernel(linked.cubin, "divides").functions, "a division links")


def bulk_copies(tools):
    """On sm_120a a bulk tensor copy to .shared::cluster becomes a call, and one to .shared::cta does not."""
    tools.arch = "sm_120a"
    copy = """
  const unsigned to = room.address(self), done = ready.address(self);
  asm volatile("cp.async.bulk.tensor.2d.shared::%s.global.tile.mbarrier::complete_tx::bytes [%%0], [%%1, {%%3, %%3}], [%%2];" ::"r"(to),
               "l"(out), "r"(done), "r"(0) : "memory");"""
    claims = "PIPELINK_BUFFER(room, .bytes = 4096, .align = 1024);\nPIPELINK_MBARRIERS(ready, .count = 1, .arrivals = 1);\n"
    tools.linked("block", [probe(tools, copy % "cta", claims)])
    text = tools.refused("cluster", [probe(tools, copy % "cluster", claims)], "L-GATE")
    check("__cuda_syscall_cp_async_bulk_tensor" in text, f"the gate does not name the call: {text}")
    tools.arch = "sm_90a"


def unchecked(tools):
    """What nvJitLink lets pass, and the linker therefore checks: signatures, and one name of two bodies."""
    vendor = NvJitLink(tools.nvcc)
    text = 'extern "C" __device__ float f(%s);\nextern "C" __global__ void k(float* p) { *p = f(%s); }'
    body = 'extern "C" __device__ float f(float x) { return x + 1.0f; }'
    nvrtc = Nvrtc(tools.nvcc)
    for arguments, values in (("int", "3"), ("float, float", "1.0f, 2.0f")):
        image, log = vendor.link([nvrtc.ltoir(text % (arguments, values)), nvrtc.ltoir(body)], "k")
        check(image is not None, f"nvJitLink refuses f({arguments}) for f(float) now: {log}")
    image, _ = vendor.link([nvrtc.ltoir(body.replace('extern "C"', "inline").replace("f(", "g(") + '\nextern "C" __global__ void k(float* p) { *p = g(*p); }')], "none")
    check(image is not None, "an unknown kernel is an error now")
    check("k" not in cubin.functions(image).values(), "a kernel that is not asked for is kept")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (records, ltoir_header, twin, handles, large_shared, set_registers, glue_order, spills, not_inlined, bulk_copies,
                                           unchecked)}, __doc__))
