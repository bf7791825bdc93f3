"""Registers that do not suffice: the needs are measured, everything is placed once more, and only then is it an error."""
import re
import sys

import cubin
from support import check, equal, main

PARAMETERS = """
struct Parameters { float* out; };
PIPELINK_PARAMETERS(NAME::Parameters, "NAME.h", out);
"""

LIGHT = PARAMETERS.replace("NAME", "light") + """
PIPELINK_ROLE(run, .warps = 4, .registers = {24, 240})(pipelink::Self self) { parameters(self).out[run.thread(self)] = 1.0f; }
"""


def heavy(values, registers, warps=4):
    """A role that keeps `values` numbers alive."""
    return PARAMETERS.replace("NAME", "heavy") + f"""
PIPELINK_ROLE(run, .warps = {warps}, .registers = {{{registers}}})(pipelink::Self self) {{
  float* out = parameters(self).out + run.thread(self);
  float x[{values}];
#pragma unroll
  for (int i = 0; i < {values}; ++i) x[i] = out[i * 1024];
  for (unsigned n = 0; n < threadIdx.x; ++n) {{
#pragma unroll
    for (int i = 0; i < {values}; ++i) x[i] = x[i] * x[(i + 37) % {values}] + 1.0f;
  }}
#pragma unroll
  for (int i = 0; i < {values}; ++i) out[i * 1024] = x[i];
}}"""


def components(tools, values, registers):
    return [*((tools.package("light", source=LIGHT), f"light{n}") for n in range(3)),
            tools.package("heavy", source=heavy(values, registers))]


def placed_again(tools):
    """Four warpgroups get 128 registers each; the one that needs more gets it once that is known."""
    linked = tools.linked("measured", components(tools, 140, "24, 240"))
    needs = linked.map["measured_registers"]
    check(needs["heavy.run"] > 128 and all(needs[f"light{n}.run"] <= 32 for n in range(3)), f"needs {needs}")
    budgets = {r["claim"]: r["registers"] for r in linked.map["placement"]["roles"]}
    check(budgets["heavy.run"] >= needs["heavy.run"] + 8, f"budgets {budgets} for needs {needs}")
    check(sum(budgets.values()) <= 512, f"budgets {budgets} exceed the pool")
    check(cubin.Kernel(linked.cubin, "measured").sets_registers, "setmaxnreg in the cubin")
    fits = tools.linked("enough", components(tools, 60, "24, 240"))
    check("measured_registers" not in fits.map, "measured without need")


def too_narrow(tools):
    """The contract allows less than the code needs: role, need and pool are named, and what to write instead."""
    text = tools.refused("narrow", components(tools, 140, "24, 128"), "L-REGS")
    need = re.search(r"role heavy\.run needs (\d+) registers per thread, or it spills \(measured\); its contract allows 24 to 128", text)
    check(need and int(need[1]) > 128, f"role and need: {text}")
    check("the pool is 4 warpgroups x 128 = 512 registers per thread" in text, f"pool: {text}")
    check(f"help: raise registers.max of role heavy.run to {need[1]} or more" in text, f"help: {text}")
    widened = tools.linked("widened", components(tools, 140, f"24, {int(need[1]) + 8}"))
    equal(widened.map["measured_registers"]["heavy.run"], int(need[1]), "the same need again")


def too_many(tools):
    """Two roles that each fit alone and not together."""
    parts = [(tools.package("heavy", source=heavy(140, "24, 240", 8)), "a"), (tools.package("heavy", source=heavy(140, "24, 240", 8)), "b")]
    text = tools.refused("together", parts, "L-REGS")
    for name in ("a.run", "b.run"):
        check(f"role {name} needs " in text, f"{name}: {text}")
    check("= 512 registers per thread; " in text, f"pool: {text}")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (placed_again, too_narrow, too_many)}, __doc__))
