"""`pipelink audit` and what `pack` does of it always: faults that are planted are found, and what is right is left alone."""
import json
import sys

from support import ARCH, check, component_text, equal, fresh, main

CLAIMS = """
PIPELINK_RING(ring, .side = pipelink::kProducer, .stages = {2, 4}, .stage_bytes = 1024, .full_arrivals = 1, .transaction_bytes = 1024, .empty_arrivals = 1);
PIPELINK_BUFFER(room, .bytes = 4096, .align = 16);
PIPELINK_MBARRIERS(ready, .count = 1, .arrivals = 1);
PIPELINK_NAMED_BARRIER(meet, .threads = 128);
struct Parameters { unsigned* at; };
PIPELINK_PARAMETERS(comp::Parameters, "comp.h", at);
"""
HELPERS = """
static __device__ void sync(unsigned id, unsigned threads) { asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
static __device__ void store(unsigned address) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(1) : "memory"); }
static __device__ void arrive(unsigned barrier, unsigned n) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(n) : "memory"); }
static __device__ void init(unsigned barrier) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory"); }
"""
USES = """
  sync(pl__comp__barrier__meet(self.instance), 128);
  store(room.address(self));
  arrive(ready.address(self), 1);
  ring.acquire(self, {});
  pipelink::mbarrier::arrive_expect(ring.full(self, {}), 1024);
"""


def role(body):
    return CLAIMS + HELPERS + "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {\n" + USES + body + "\n}"


def audited(tools, body, status=0):
    done = tools.tool("audit", tools.package("comp", source=role(body)), "--json")
    equal(done.status, status, f"exit status of {done}")
    [found] = json.loads(done.out)["audits"]
    return {s["name"]: s for s in found["instructions"]}, found, done.err


def right(tools):
    """Handles that go through functions and arithmetic are followed; nothing is found."""
    rows, found, err = audited(tools, """
  unsigned at = room.address(self);
  for (int i = 0; i < 7; ++i, at += 4 * (threadIdx.x % 3 + 1)) store(at + 16);
  sync(pl__comp__barrier__meet(self.instance), 64 * 2);""")
    equal(err, "", "diagnostics")
    equal(found["findings"], 0, "findings")
    check(all(claim["used"] for claim in found["claims"]) and len(found["claims"]) == 4, f"claims {found['claims']}")
    equal(sum(row["not_checked"] for row in rows.values()), 0, f"instructions that are not checked in {rows}")
    check(rows["hardware barriers"]["seen"] == 2, f"barriers {rows}")


def inlined(tools):
    """Numbers that reach an instruction through functions: only the optimized code shows them."""
    for body, *expected in (("sync(5, 128);", "P-BARRIER", "role run uses a hardware barrier by its number", "barrier.sync 5, 128, 1 time"),
                            ("store(4096);", "P-OFFSET", "role run uses a fixed address", "[4096]"),
                            ("for (unsigned i = 0; i < 64; ++i) store(1024 + 128 * i);", "P-OFFSET", "role run uses a fixed address"),
                            ("sync(pl__comp__barrier__meet(self.instance), 64);", "P-COUNT", "named barrier meet has 128 threads", "64 threads"),
                            ("arrive(ready.address(self), 2);", "P-COUNT", "mbarriers ready has 1 arrivals", "2 arrivals"),
                            ("arrive(ring.full(self, {}), 3);", "P-COUNT", "ring ring has 1 arrivals", "3 arrivals"),
                            ("pipelink::mbarrier::arrive_expect(ring.full(self, {}), 2048);", "P-COUNT", "ring ring has 1024 bytes", "2048 bytes")):
        _, _, err = audited(tools, body, status=1)
        equal(err.count("error["), 1, f"errors for {body}: {err}")
        for text in expected:
            check(text in err, f"{body} should give {text!r}: {err}")


def untraced(tools):
    """What comes from memory is said to be not checked."""
    rows, found, err = audited(tools, "store(*parameters(self).at); sync(*parameters(self).at % 16, 128);")
    equal((err, found["findings"]), ("", 0), "findings")
    equal([rows[n]["not_checked"] for n in ("hardware barriers", "addresses of shared and tensor memory")], [1, 1], "not checked")
    text = tools.must("audit", tools.package("comp", source=role("store(*parameters(self).at);"))).out
    check("of which 1 not checked" in text, text)


def packed(tools):
    """What a package's own objects show is refused when it is packed."""
    for body, clause, text in (("init(ready.address(self));", "P-MBARRIER", "comp::init(unsigned int) initialises or ends an mbarrier"),
                               ("__syncthreads();", "P-BARRIER", "hardware barrier by its number"),
                               ('asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");', "P-SETMAXNREG", "setmaxnreg.inc.sync.aligned.u32 240"),
                               ('asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");', "P-CLUSTER", "barrier.cluster.wait"),
                               ('asm volatile("{ .reg .b32 at; mov.u32 at, 1024; st.shared.u32 [at], 3; }");', "P-OFFSET", "st.shared.u32 [1024], 3"),
                               ("__shared__ int own[4]; own[threadIdx.x % 4] = 1; *parameters(self).at = own[0];", "P-SHARED", "static shared")):
        err = tools.refused_package("comp", role(body), clause)
        check(text in err, f"{body} should give {text!r}: {err}")


def signatures(tools):
    """A handle that another source declares by hand, with other types."""
    folder = fresh(tools.work / "lie")
    imports = "PIPELINK_IMPORT(f, float, pipelink::Self self, float x);\nvoid __device__ other(pipelink::Self self, double* out);\n"
    (folder / "one.cu").write_text(component_text("comp", imports + """
PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) { double y = f(self, 1.0f); other(self, &y); }"""))
    (folder / "two.cu").write_text("""
#include <pipelink/self.h>
extern "C" __device__ double pl__comp__import__f(pipelink::Self, double);
namespace comp { __device__ void other(pipelink::Self self, double* out) { *out = pl__comp__import__f(self, *out); } }
""")
    for name in ("one", "two"):
        tools.compile(folder / f"{name}.cu", folder / f"{name}.fatbin")
    done = tools.pack("comp", [folder / "one.fatbin", folder / "two.fatbin"], folder / "comp.plk")
    equal(done.status, 1, f"status of {done}")
    for text in ("error[P-SIGNATURE]", "two.fatbin: passes 16 + 8 and returns 8", "comp: says 16 + 4 and returns 4 (comp.cu:"):
        check(text.replace("comp.cu:", "one.cu:") in done.err, f"{text!r} is not in {done.err}")


def unused(tools):
    """A claim that nothing uses is a warning; the status stays 0."""
    done = tools.tool("audit", tools.package("idle", source="PIPELINK_BUFFER(room, .bytes = 64);\n"
                                             "PIPELINK_ROLE(run, .warps = 4)(pipelink::Self self) {}"))
    equal(done.status, 0, f"status of {done}")
    check("warning[P-UNUSED]: no instruction of idle uses buffer room" in done.err and "0 of 1 are used" in done.out, str(done))


def blackwell(tools):
    """An allocation of tensor memory."""
    tools.arch = "sm_100a"
    err = tools.refused_package("comp", role("""
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(room.address(self)) : "memory");"""), "P-COLUMNS")
    check("allocates tensor memory by itself" in err, err)
    tools.arch = ARCH


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (right, inlined, untraced, packed, signatures, unused, blackwell)}, __doc__))
