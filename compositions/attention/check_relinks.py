"""Links every variant of attention from packages that are there, two at a time, and takes the processor time of it.

usage: check_relinks.py PIPELINK SECONDS COMPOSITION.json...
No compiler may be called: PATH has but an nvcc that records its calls. Each link must give the cubin that lies beside its
composition. The time is half of what all links spend, as on two processors that have nothing else to do.
"""
import concurrent.futures
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

JOBS = 2
PR_SET_CHILD_SUBREAPER = 36


def wait_for_orphans():
    """The tool does not wait for its compilers to exit: they become this process's children, and their time is counted as such."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def main():
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("the time of orphans cannot be taken")
    tool, most, compositions = sys.argv[1], float(sys.argv[2]), [Path(p) for p in sys.argv[3:]]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        called = folder / "called"
        trap = folder / "bin" / "nvcc"
        trap.parent.mkdir()
        trap.write_text(f'#!/bin/sh\necho "$@" >> "{called}"\nexit 1\n')
        trap.chmod(0o755)
        environment = {k: v for k, v in os.environ.items() if k not in ("CUDACXX", "NVCC", "CUDA_HOME", "CUDA_PATH")}
        environment["PATH"] = str(trap.parent)

        def link(composition):
            out = folder / composition.name
            done = subprocess.run([tool, "link", composition, "-o", out, "--quiet"], env=environment, capture_output=True,
                                  text=True, check=False)
            name = composition.name.replace(".composition.json", ".cubin")
            if done.returncode != 0:
                return f"{name}: {done.stderr}"
            if (out / name).read_bytes() != composition.with_name(name).read_bytes():
                return f"{name} is another than the one that was built"
            return ""

        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            faults = [fault for fault in pool.map(link, compositions) if fault]
        wait_for_orphans()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = (usage.ru_utime + usage.ru_stime) / JOBS
        if called.exists():
            faults.append(f"nvcc was called: {called.read_text()}")
    if seconds > most:
        faults.append(f"{seconds:.1f} s are more than {most:.0f}")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(compositions)} links: {seconds:.1f} s of processor time on each of {JOBS} processors, at most {most:.0f}; no nvcc")


main()
