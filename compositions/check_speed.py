"""How long the tool takes to bind, check and place a composition: processor time, the best of some runs.

usage: check_speed.py PIPELINK COMPOSITION.json MILLISECONDS
The whole process is measured, with reading the packages and printing the placement.
"""
import resource
import subprocess
import sys

tool, composition, most = sys.argv[1:]


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (usage.ru_utime + usage.ru_stime)


times = []
for _ in range(7):
    before = spent()
    subprocess.run([tool, "check", composition], check=True, stdout=subprocess.DEVNULL)
    times.append(spent() - before)
print(f"{min(times):.1f} ms of {most} (all: {', '.join(f'{t:.1f}' for t in times)})")
sys.exit(min(times) > float(most))
