"""Each clause, provoked through the command line, and its whole message. PIPELINK_UPDATE_GOLDENS=1 writes them anew."""
import json
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import bad_input
from support import ARCH, Failure, check, component_text, composition, equal, fresh, main, members, write_composition

GOLDEN = HERE / "golden"
RUN = "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {}\n"
TILE = '.element = "f32", .tile = {{16, 64}}, .space = "registers", .scope = "warpgroup", .layout = "{}", .via = "{}", .parameter = 0'
CASES = {}  # name of the golden → (clauses, function)


def case(name, *clauses):
    def enter(function):
        CASES[name] = (list(clauses) or [name], function)
        return function
    return enter


class Bench:
    """One case's folder. `link` and `pack` return what the command did."""

    def __init__(self, tools, name):
        self.tools, self.folder = tools, fresh(tools.work / name)

    def plk(self, name, source):
        return self.tools.package(name, source=source)

    def compose(self, parts, **keys):
        """`parts`: name → source, or a list of (package, instance)."""
        uses = [self.plk(n, s) for n, s in parts.items()] if isinstance(parts, dict) else parts
        return write_composition(self.folder / "fused.json", "fused", uses, **keys)

    def link(self, parts, command="check", **keys):
        file = self.compose(parts, **keys)
        return self.tools.tool(command, file, *([] if command == "check" else ["-o", self.folder / "out", "--quiet"]))

    def edited(self, name, source, change):
        """A package whose contract is another than its source made it, in a folder of its own."""
        package = self.plk(name, source)
        text = bad_input.rebuilt(package, change)
        target = self.folder / package.name
        target.write_bytes(text)
        return target

    def pack(self, source, name="comp", options=(), arch=ARCH, mode=None, pack_options=()):
        file, output = self.folder / f"{name}.cu", self.folder / f"{name}.fatbin"
        file.write_text(component_text(name, source))
        self.tools.compile(file, output, *options, mode=mode)
        return self.tools.tool("pack", "--name", name, "--version", "1.0", "--arch", arch, *pack_options, "-o", self.folder / "x.plk", output)


# ---- inputs and the command line

@case("I-FILE")
def _(b):
    return b.tools.tool("inspect", b.folder / "absent.plk")


@case("I-WRITE")
def _(b):
    (b.folder / "file").write_text("")
    b.tools.package("comp", source=RUN)
    return b.tools.tool("link", b.compose({"comp": RUN}), "-o", b.folder / "file", "--quiet")


@case("I-JSON")
def _(b):
    (b.folder / "fused.json").write_text('{"schema": 1,\n "name": fused}\n')
    return b.tools.tool("check", b.folder / "fused.json")


@case("I-COMPOSITION")
def _(b):
    text = json.dumps(composition("fused", ["a.plk"], counters={}, optoins={}), indent=1)
    (b.folder / "fused.json").write_text(text)
    return b.tools.tool("check", b.folder / "fused.json")


@case("I-PACKAGE")
def _(b):
    (b.folder / "short.plk").write_bytes(b"no package")
    return b.tools.tool("inspect", b.folder / "short.plk")


@case("I-DIGEST")
def _(b):
    data = bytearray(b.plk("comp", RUN).read_bytes())
    data[-2000] ^= 1
    (b.folder / "comp.plk").write_bytes(data)
    done = b.tools.tool("inspect", b.folder / "comp.plk")
    done.err = re.sub(r'sha256 "[0-9a-f]{64}"', 'sha256 "DIGEST"', done.err)
    return done


@case("I-FORMAT")
def _(b):
    return b.tools.tool("inspect", b.edited("comp", RUN, lambda c: c.update(manifest={"format": 9})))


@case("I-LAUNCH")
def _(b):
    (b.folder / "x.launch").write_text("pipelink-launch/9\n")
    return b.tools.tool("host", b.folder / "x.launch", "-o", b.folder)


@case("I-INSTANCE")
def _(b):
    (b.folder / "x.pl").write_text("inst x\nphase a\nbuf b size=-4 align=3 live=c\n")
    return b.tools.tool("place", b.folder / "x.pl")


@case("I-OBJECT")
def _(b):
    (b.folder / "x.fatbin").write_bytes(b"\x50\xed\x55\xba" + b"\0" * 40)
    return b.tools.tool("pack", "--name", "x", "--version", "1", "--arch", ARCH, "-o", b.folder / "x.plk", b.folder / "x.fatbin")


@case("U-USAGE")
def _(b):
    return b.tools.tool("explain", "L-NOTHING")


# ---- the toolchain

@case("T-NVRTC")
def _(b):  # a type that is spelt like one of the language's own but is none
    def change(c):
        c.update({"contract.json": c["contract.json"].replace(b'"name": "int"', b'"name": "int int"')})
    call = "void, pipelink::Self self, int n"
    return b.link([b.edited("callee", f"PIPELINK_EXPORT(f, {call}) {{}}\n", change),
                   b.edited("caller", f"PIPELINK_IMPORT(f, {call});\n" + RUN, change)], "link")


@case("T-NVJITLINK")
def _(b):
    return b.link([b.edited("comp", RUN, lambda c: c.update({"code.0.ltoir": b"\0" * 64}))], "link")


def with_library(b, source, name="libnvrtc.so.13"):
    (b.folder / "lib.cc").write_text(source)
    b.tools.compile(b.folder / "lib.cc", b.folder / name, mode=["-shared", "-Xcompiler=-fPIC", "-cudart=none"])
    return {"PIPELINK_TOOLKIT_LIBRARY_DIR": str(b.folder)}


@case("T-TOOLKIT")
def _(b):
    return b.tools.tool("doctor", env=with_library(b, "int unused;\n"))


@case("T-TOOLKIT.link", "T-TOOLKIT")
def _(b):
    environment = with_library(b, "int unused;\n")
    return b.tools.tool("link", b.compose({"comp": RUN}), "-o", b.folder / "out", "--quiet", env=environment)


DIES = "#include <csignal>\n__attribute__((constructor)) static void die() { raise(SIGSEGV); }\n"


@case("T-CHILD")
def _(b):
    environment = with_library(b, DIES, "libnvJitLink.so.13")
    return b.tools.tool("link", b.compose({"comp": RUN}), "-o", b.folder / "out", "--quiet", env=environment)


@case("T-CHILD.glue", "T-CHILD")
def _(b):
    environment = with_library(b, DIES)
    return b.tools.tool("link", b.compose({"comp": RUN}), "-o", b.folder / "out", "--quiet", env=environment)


# ---- one contract

@case("P-RECORD")
def _(b):
    return b.pack('PIPELINK_DETAIL_RECORD(role, run, w.field("warps", 4LL); w.field("colour", "red");)\n')


@case("P-NAME")
def _(b):
    return b.pack("PIPELINK_BUFFER(two__words, .bytes = 16);\n" + RUN)


@case("P-NAME.foreign", "P-NAME")
def _(b):
    return b.pack("}\n__device__ int helper(int x) { return x + 1; }\nnamespace comp {\n" + RUN)


@case("P-DUPLICATE")
def _(b):
    return b.pack("namespace a { PIPELINK_BUFFER(x, .bytes = 16); }\nnamespace b { PIPELINK_BUFFER(x, .bytes = 32); }\n" + RUN)


@case("P-SYMBOL")
def _(b):
    return b.pack("}\nextern \"C\" __device__ int elsewhere(int);\nnamespace comp {\n"
                  "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { if (elsewhere(3)) __trap(); }\n")


@case("P-SYMBOL.undefined", "P-SYMBOL")
def _(b):
    return b.pack(RUN + "PIPELINK_EXPORT(promised, void, pipelink::Self self);\n")


@case("P-SHARED")
def _(b):
    return b.pack("PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { __shared__ volatile int x[32]; x[threadIdx.x % 32] = 1; }\n")


@case("P-BARRIER")
def _(b):
    return b.pack("static __device__ __noinline__ void meet() { asm volatile(\"{ .reg .pred p; @p bar.sync 3, 128; }\"); __syncwarp(); }\n"
                  "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { __syncthreads(); meet(); __syncthreads(); }\n")


@case("P-OFFSET")
def _(b):
    return b.pack('PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { asm volatile("{ .reg .b32 at; mov.u32 at, 1024; st.shared.u32 [at], 3; }"); }\n')


@case("P-COUNT")
def _(b):
    return b.pack("PIPELINK_NAMED_BARRIER(meet, .threads = 128);\n"
                  "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {\n"
                  '  asm volatile("barrier.sync %0, 64;" ::"r"(pl__comp__barrier__meet(self.instance)) : "memory");\n}\n')


@case("P-MBARRIER")
def _(b):
    return b.pack("PIPELINK_MBARRIERS(ready, .count = 1, .arrivals = 1);\n"
                  "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {\n"
                  '  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(ready.address(self)) : "memory");\n}\n')


@case("P-SETMAXNREG")
def _(b):
    return b.pack('PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { asm volatile("setmaxnreg.inc.sync.aligned.u32 240;"); }\n')


@case("P-COLUMNS")
def _(b):
    b.tools.arch = "sm_100a"
    done = b.pack("PIPELINK_BUFFER(word, .bytes = 4);\n"
                  "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {\n"
                  '  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(word.address(self)) : "memory");\n}\n',
                  arch="sm_100a")
    b.tools.arch = ARCH
    return done


@case("P-CLUSTER")
def _(b):
    return b.pack('PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"); }\n')


@case("P-UNUSED")
def _(b):
    return b.tools.tool("audit", b.plk("comp", "PIPELINK_BUFFER(room, .bytes = 64);\n" + RUN))


@case("P-SIGNATURE-OBJECT", "P-SIGNATURE")
def _(b):
    (b.folder / "other.cu").write_text("#include <pipelink/self.h>\n"
                                       'extern "C" __device__ double pl__comp__import__f(pipelink::Self, double);\n'
                                       "namespace comp { __device__ void other(pipelink::Self self, double* out) { *out = pl__comp__import__f(self, *out); } }\n")
    b.tools.compile(b.folder / "other.cu", b.folder / "other.fatbin")
    return b.pack("PIPELINK_IMPORT(f, float, pipelink::Self self, float x);\n__device__ void other(pipelink::Self self, double* out);\n"
                  "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { double y = f(self, 1.0f); other(self, &y); }\n",
                  pack_options=[b.folder / "other.fatbin"])


@case("P-LTOIR")
def _(b):
    return b.pack(RUN, mode=["-rdc=true", "-fatbin", "--compress-mode=none", "--generate-code=arch=compute_90a,code=[compute_90a,sm_90a]"])


@case("P-ARCH")
def _(b):
    return b.pack(RUN, arch="sm_100a")


@case("P-VALUE")
def _(b):
    return b.pack("PIPELINK_ROLE(run, .warps = 4, .registers = {20, 300})(pipelink::Self self) {}\n"
                  "PIPELINK_BUFFER(x, .bytes = 16, .align = 48, .live = \"never\");\n")


@case("P-LAYOUT")
def _(b):
    return b.pack("PIPELINK_EXPORT_TENSOR(t, " + TILE.format("(128,8):(8,2)", "f") + ");\n"
                  "PIPELINK_IMPORT(f, void, pipelink::Self self, float (&t)[8]);\n" + RUN)


@case("P-SIGNATURE")
def _(b):
    return b.pack("struct Pair { float a, b; };\nPIPELINK_EXPORT(f, void, pipelink::Self self, int n, Pair pair) {}\n" + RUN)


@case("P-STATE")
def _(b):
    package = b.plk("state", "static __device__ int calls;\n"
                    "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { atomicAdd(&calls, 1); }\n")
    done = b.link([(package, "one"), (package, "two")])
    done.err = re.sub(r"`static:[^`]*calls\w*`", "`static:CALLS`", done.err)
    return done


@case("P-EXPRESSION")
def _(b):
    return b.pack('PIPELINK_FACT(n, int, 4);\nPIPELINK_BUFFER(x, .bytes = "n * (2 +");\nPIPELINK_REQUIRE(r, "n > m");\n' + RUN)


@case("P-HOST")
def _(b):
    return b.pack('struct A {};\nPIPELINK_HOST(comp::A, "comp.h");\n' + RUN)


@case("P-TOOLKIT")
def _(b):
    def change(c):
        c.update({"contract.json": c["contract.json"].replace(b'"toolkit": "13.0"', b'"toolkit": "13"')})
        c.update(manifest={"toolkit": "13"})
    return b.tools.tool("inspect", b.edited("comp", RUN, change))


# ---- contracts against each other

@case("L-NAME")
def _(b):
    package = b.plk("comp", RUN)
    return b.link([package, package])


@case("L-UNBOUND")
def _(b):
    return b.link({"caller": "PIPELINK_IMPORT(f, void, pipelink::Self self, int n);\n" + RUN,
                   "callee": "PIPELINK_EXPORT(g, void, pipelink::Self self, float n) {}\n"})


@case("L-AMBIGUOUS")
def _(b):
    package = b.plk("callee", "PIPELINK_EXPORT(f, void, pipelink::Self self) {}\n")
    return b.link([b.plk("caller", "PIPELINK_IMPORT(f, void, pipelink::Self self);\n" + RUN), (package, "one"), (package, "two")])


@case("L-SIGNATURE")
def _(b):
    return b.link({"caller": "PIPELINK_IMPORT(f, void, pipelink::Self self, float (&acc)[64], unsigned row);\n" + RUN,
                   "callee": "PIPELINK_EXPORT(f, int, pipelink::Self self, float (&acc)[32], unsigned row, int more) { return 0; }\n"})


RING = ".stages = {2, 4}, .stage_bytes = 1024, .full_arrivals = 1, .empty_arrivals = 2"


@case("L-RING")
def _(b):
    return b.link({"owner": f"PIPELINK_RING(q, .side = pipelink::kConsumer, {RING});\n" + RUN,
                   "user": "PIPELINK_IMPORT_RING(q, .side = pipelink::kProducer, .stage_bytes = 1024, .full_arrivals = 4);\n" + RUN})


@case("L-LAYOUT")
def _(b):
    f = "void, pipelink::Self self, float (&t)[8]"
    layout = TILE.format("(128,8):(8,1)", "f")
    return b.link({"source": f"PIPELINK_EXPORT_TENSOR(t, {layout});\nPIPELINK_IMPORT(f, {f});\n" + RUN,
                   "sink": f"PIPELINK_IMPORT_TENSOR(t, {layout.replace('16, 64', '64, 16')});\nPIPELINK_EXPORT(f, {f}) {{}}\n"})


@case("L-ROUTE")
def _(b):
    f = "void, pipelink::Self self, float (&t)[8]"
    return b.link({"source": f"PIPELINK_EXPORT_TENSOR(t, {TILE.format('(128,8):(8,1)', 'f')});\nPIPELINK_IMPORT(f, {f});\n" + RUN,
                   "sink": f"PIPELINK_IMPORT_TENSOR(t, {TILE.format('(128,8):(1,128)', 'f')});\nPIPELINK_EXPORT(f, {f}) {{}}\n"})


@case("L-FACT-MISSING")
def _(b):
    return b.link({"reader": "PIPELINK_USE_FACT(tile_m, int);\n" + RUN, "other": "PIPELINK_FACT(tile_n, int, 64);\n" + RUN})


@case("L-FACT-OWNERS")
def _(b):
    return b.link({"reader": "PIPELINK_USE_FACT(tile, int);\n" + RUN, "one": "PIPELINK_FACT(tile, int, 64);\n" + RUN,
                   "two": "PIPELINK_FACT(tile, int, 128);\n" + RUN})


OWNER = "PIPELINK_FACT(fixed, int, 64);\nPIPELINK_SETTABLE_FACT(group, int, .value = 4, .domain = {2, 4, 8});\n" + RUN


@case("L-FACT-FIXED")
def _(b):
    return b.link({"owner": OWNER}, set={"owner.fixed": 128})


@case("L-FACT-DOMAIN")
def _(b):
    return b.link({"owner": OWNER}, set={"owner.group": 7})


@case("L-FACT-TYPE")
def _(b):
    return b.link({"owner": OWNER, "reader": "PIPELINK_USE_FACT(group, bool);\n" + RUN})


@case("L-SET")
def _(b):
    return b.link({"owner": OWNER}, set={"owner.grop": 8})


@case("L-FACT-CYCLE")
def _(b):
    def fact(a, c):
        return (f'PIPELINK_USE_FACT({c}, int);\nPIPELINK_DETAIL_RECORD(fact, {a}, w.field("direction", "export"); w.field("type", "integer"); '
                f'w.field("cpp_type", "int"); w.field("settable", 0LL); w.field("value", "{c} + 1");)\n' + RUN)
    return b.link({"left": fact("x", "y"), "right": fact("y", "x")})


@case("L-REQUIRE")
def _(b):
    return b.link({"owner": OWNER, "reader": 'PIPELINK_USE_FACT(group, int);\nPIPELINK_REQUIRE(wide, "group >= 8");\n' + RUN})


@case("L-ARCH")
def _(b):
    return b.link({"comp": RUN}, arch="sm_100a")


def of_toolkit(version):
    def change(c):
        c.update({"contract.json": re.sub(rb'"toolkit": "[0-9.]+"', b'"toolkit": "%s"' % version.encode(), c["contract.json"])})
        c.update(manifest={"toolkit": version})
    return change


@case("L-TOOLKIT")
def _(b):
    return b.link([b.plk("comp", RUN), b.edited("older", RUN, of_toolkit("12.9"))])


@case("L-TOOLKIT.linker", "L-TOOLKIT")
def _(b):
    done = b.link([b.edited("comp", RUN, of_toolkit("13.99"))], "link")
    done.err = re.sub(r"nvJitLink is of 13\.\d+", "nvJitLink is of VERSION", done.err)
    return done


@case("L-BIND")
def _(b):
    return b.link({"caller": "PIPELINK_IMPORT(f, void, pipelink::Self self);\n" + RUN,
                   "callee": "PIPELINK_EXPORT(g, void, pipelink::Self self) {}\n"}, bind=[["caller.f", "callee.h"]])


@case("L-SMEM")
def _(b):
    return b.link({"one": "PIPELINK_BUFFER(x, .bytes = 150000);\n" + RUN, "two": "PIPELINK_BUFFER(y, .bytes = 100000);\n" + RUN})


@case("L-BARRIERS")
def _(b):
    return b.link({"comp": "".join(f"PIPELINK_NAMED_BARRIER(b{n}, .threads = 128);\n" for n in range(16)) + RUN})


@case("L-WARPS")
def _(b):
    role = "PIPELINK_ROLE(run, .warps = 20)(pipelink::Self self) {}\n"
    return b.link({"one": role, "two": role})


@case("L-REGS")
def _(b):
    role = "PIPELINK_ROLE(run, .warps = 8, .registers = {208, 240})(pipelink::Self self) {}\n"
    return b.link({"one": role, "two": role})


@case("L-COLUMNS")
def _(b):
    (b.folder / "x.pl").write_text("inst x\nphase a\ntmem one.a cols=512 live=a\ntmem two.b cols=32 live=a\n")
    return b.tools.tool("place", b.folder / "x.pl")


@case("L-UNKNOWN")
def _(b):  # less than the buffers need, more than the claims that are live at one time add up to
    text = (HERE.parent / "data" / "placement" / "gap12_0.pl").read_text()
    (b.folder / "x.pl").write_text(text.replace("smem=232448", "smem=102300"))
    return b.tools.tool("place", b.folder / "x.pl", "--limit", "1")


@case("L-GATE")
def _(b):
    return b.link({"comp": "static __device__ __noinline__ float f(float x) { return x + 1; }\n"
                           "PIPELINK_ROLE(run, .warps = 4, .registers = {24, 248})(pipelink::Self self) { if (f(threadIdx.x) > 3) __trap(); }\n"}, "link")


@case("L-GATE-RUNTIME", "L-GATE")
def _(b):
    return b.link({"comp": '#include <cstdio>\nPIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { printf("%u", threadIdx.x); }\n'}, "link")


@case("L-HOST")
def _(b):
    done = b.link({"comp": 'struct Parameters { int n; };\nPIPELINK_PARAMETERS(comp::Parameters, "comp.h", n);\n' + RUN}, "link")
    equal(done.status, 0, f"status of {done}")
    for name, kind in (("a", "comp::Parameters"), ("b", "comp::Other")):
        text = (b.folder / "out" / f"fused.{ARCH}.launch").read_text().replace("comp::Parameters", kind)
        (b.folder / f"{name}.launch").write_text(text if name == "a" else text.replace(ARCH, "sm_100a"))
    return b.tools.tool("host", b.folder / "a.launch", b.folder / "b.launch", "-o", b.folder / "host")


@case("L-ODR")
def _(b):
    def shared(body):
        return (f"}}\nnamespace shared {{ inline __device__ float f(float x) {{ {body} }} }}\nnamespace {{NAME}} {{\n"
                "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { if (shared::f(threadIdx.x) > 3) __trap(); }\n")
    done = b.link({n: shared(t).replace("{NAME}", n) for n, t in (("one", "return x + 1;"), ("two", "return x * 2;"))})
    done.err = re.sub(r"has the body [0-9a-f]{12}", "has the body DIGEST", done.err)
    return done


@case("L-ISOLATED")
def _(b):
    return b.link({"comp": RUN, "idle": "PIPELINK_EXPORT(f, void, pipelink::Self self) {}\n"})


# ---- the tests

# Clauses that no input of the command line provokes, and why.
UNPROVOKED = {
    "I-CUBIN": "the toolkit would have to write a damaged cubin; tests/unit/codegen damages one",
    "L-VERIFY": "the solver would have to be wrong; tests/unit/place shows the verifier wrong placements",
    "T-TEMPLATE": "a template of PipeLink would have to be wrong; tests/unit/runtime renders wrong ones",
}


def normal(text, bench):
    """Without what differs between machines and runs."""
    text = re.sub(r"_INTERNAL_[0-9a-f]{8}_(\d+_\w+?_cu)_[0-9a-f]{8}", r"_INTERNAL_HASH_\1_HASH", text)  # of a path
    return text.replace(str(bench.folder), "FOLDER").replace(str(bench.tools.work), "WORK")


def provoke(tools, name):
    bench = Bench(tools, name)
    done = CASES[name][1](bench)
    return normal(done.err, bench), done


def goldens(tools):
    """Every case: its clauses and no others, its exit status, its whole text."""
    update, wrong = os.environ.get("PIPELINK_UPDATE_GOLDENS", "") not in ("", "0"), []
    GOLDEN.mkdir(exist_ok=True)
    for name, (clauses, _) in CASES.items():
        try:
            text, done = provoke(tools, name)
        except Failure as failure:
            wrong.append(f"{name}: {failure}")
            continue
        found = re.findall(r"^(error|warning|note)\[([A-Z-]+)\]", text, re.M)
        if sorted({c for _, c in found}) != sorted(clauses):
            wrong.append(f"{name}: provokes {sorted({c for _, c in found})}\n{done}")
            continue
        expected = max([0] + [1 if c[0] in "PL" else 2 for s, c in found if s == "error"])
        if done.status != expected:
            wrong.append(f"{name}: status {done.status}, expected {expected}\n{text}")
        file = GOLDEN / f"{name}.txt"
        if update:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            wrong.append(f"{name}: differs from its golden (PIPELINK_UPDATE_GOLDENS=1 writes it anew)\n"
                         f"---- expected\n{file.read_text() if file.exists() else ''}---- found\n{text}")
    if update:
        for file in GOLDEN.glob("*.txt"):
            if file.stem not in CASES:
                file.unlink()
    equal(sorted(p.stem for p in GOLDEN.glob("*.txt")), sorted(CASES), "golden files")
    check(not wrong, f"{len(wrong)} of {len(CASES)} goldens\n" + "\n".join(wrong))
    print(f"   {len(CASES)} messages, {len({c for cs, _ in CASES.values() for c in cs})} clauses")


def catalog(tools):
    """Every clause of the catalog is emitted by source code, has a golden or a reason for none, and is explained."""
    listed = [line.split()[0] for line in tools.must("explain", "--list").out.splitlines() if line.strip()]
    equal(listed, sorted(set(listed)), "order of the list")
    root = HERE.parents[1]
    sources = [p for top in ("packager", "linker") for p in sorted((root / top).rglob("*.cc"))]
    text = "\n".join(p.read_text() for p in sources)
    emitted = set(re.findall(r'"([ITUPL]-[A-Z][A-Z-]*[A-Z])"', text))
    equal(sorted(set(listed) - emitted), [], "clauses that no source emits")
    equal(sorted(emitted - set(listed)), [], "clauses that the catalog lacks")
    provoked = {c for clauses, _ in CASES.values() for c in clauses}
    equal(sorted(set(listed) - provoked - set(UNPROVOKED)), [], "clauses without a golden")
    equal(sorted(set(UNPROVOKED) & provoked), [], "clauses with a golden and a reason for none")
    for clause in listed:
        out = tools.must("explain", clause).out
        for word in ("  rule    ", "  reason  ", "  help    "):
            lines = [line for line in out.splitlines() if line.startswith(word)]
            check(lines and len(lines[0]) > len(word) + 8, f"explain {clause} has no {word.strip()}")
        check(out.startswith(f"{clause}: "), f"explain {clause} begins with {out[:40]!r}")
        title = out.splitlines()[0].split(": ", 1)[1]
        check(not title.endswith(".") and title[0] == title[0].lower() or title.startswith("CUDA"), f"the title of {clause}: {title}")


def formats(tools):
    """The same error as JSON and as SARIF."""
    bench = Bench(tools, "formats")
    file = bench.compose({"owner": OWNER, "reader": 'PIPELINK_USE_FACT(group, int);\nPIPELINK_REQUIRE(wide, "group >= 8");\n' + RUN})
    text = tools.tool("check", file).err
    done = tools.tool("--format", "json", "check", file)
    equal(done.status, 1, "status")
    found = json.loads(done.err)["diagnostics"]
    equal(len(found), 1, "diagnostics")
    one = found[0]
    equal(sorted(one), ["clause", "facts", "help", "reason", "severity", "title"], "keys of a diagnostic")
    equal((one["severity"], one["clause"]), ("error", "L-REQUIRE"), "severity and clause")
    for part in (one["title"], one["reason"], one["help"], *(f["text"] for f in one["facts"])):
        check(part and part in text, f"the text lacks {part!r}")
    facts = {f["owner"]: f for f in one["facts"]}
    equal(sorted(facts), ["owner", "reader"], "owners")
    equal([sorted(f) for f in one["facts"]], [["file", "line", "owner", "text"]] * 2, "keys of a fact")
    equal((facts["reader"]["file"], facts["reader"]["line"]), ("reader.cu", 5), "place of the requirement")

    done = tools.tool("check", file, "--format", "sarif")
    equal(done.status, 1, "status")
    sarif = json.loads(done.err)
    equal((sarif["version"], len(sarif["runs"])), ("2.1.0", 1), "version and runs")
    check(sarif["$schema"].startswith("https://"), "schema")
    one = sarif["runs"][0]
    driver, results = one["tool"]["driver"], one["results"]
    equal((driver["name"], [r["id"] for r in driver["rules"]]), ("pipelink", ["L-REQUIRE"]), "tool and rules")
    for rule in driver["rules"]:
        check(rule["shortDescription"]["text"] and rule["fullDescription"]["text"] and rule["help"]["text"], "texts of the rule")
    equal([(r["ruleId"], r["ruleIndex"], r["level"]) for r in results], [("L-REQUIRE", 0, "error")], "results")
    places = results[0]["locations"] + results[0]["relatedLocations"]
    for place in places:
        physical = place["physicalLocation"]
        check(re.fullmatch(r"(owner|reader)\.cu", physical["artifactLocation"]["uri"]) and physical["region"]["startLine"] > 0, f"{physical}")
    equal(len(places), 2, "locations")
    for format_name, empty in (("json", {"diagnostics": []}), ("sarif", None)):
        done = tools.tool("--format", format_name, "check", bench.compose({"owner": OWNER}))
        equal(done.status, 0, "status of what is right")
        value = json.loads(done.err)
        check(value == empty if empty else value["runs"][0]["results"] == [], f"{format_name} of no diagnostics: {value}")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (goldens, catalog, formats)}, __doc__))
