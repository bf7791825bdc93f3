"""Runs a libFuzzer target, in chunks whose findings do not end the others, and counts.

campaign.py --target NAME --binary FILE --runs N --max-length BYTES --work FOLDER --seeds FOLDER --regressions FOLDER
            [--jobs N]                 chunks side by side, each job with a corpus of its own
campaign.py --totals FOLDER            what all targets whose results lie there have done

A run is an input that was not run before: those of the corpus, which every process begins with, are not
counted. The result of a target is FOLDER/NAME.json, written after every chunk. Exit status 1 if an input
crashed, took more than 10 s, leaked, or used more than 2 GiB.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CHUNK = 20_000
# Without libFuzzer's statistics of rare features and counts of edges, which take more time than the runs do, and an
# allocation remembers one frame, not thirty: what is found is found again with all of them.
FAST = ["-entropic=0", "-reduce_inputs=0", "-use_counters=0"]
SANITIZER = "malloc_context_size=1:quarantine_size_mb=64:max_malloc_fill_size=0"
SLOWEST_MS = 10_000  # of processor time
LOADED = 12  # how much longer that may take where others want the processor; libFuzzer's limit is on the clock
MAX_FOUND = 20  # a target that fails all the time is not worth the rest
NOT_COUNTED = {"number_of_executed_units", "average_exec_per_sec", "new_units_added", "slowest_unit_time_sec", "slowest_ms", "peak_rss_mb",
               "runs"}


def chunk(arguments, corpus, number, runs):
    """Runs one process; its statistics, and whether it was well."""
    command = [arguments.binary, f"-runs={runs}", f"-seed={number}", f"-timeout={10 * LOADED}", "-rss_limit_mb=2048",
               f"-max_len={arguments.max_length}", "-detect_leaks=1", "-print_final_stats=1", "-verbosity=0", "-print_funcs=0",
               "-mutate_depth=2", *FAST, f"-artifact_prefix={arguments.work}/{arguments.target}-", corpus, arguments.seeds]
    done = subprocess.run(command, env=dict(os.environ, ASAN_OPTIONS=SANITIZER), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    stats = {key: float(value) for key, value in re.findall(r"^stat::(\w+):\s+([\d.]+)", done.stderr, re.M)}
    return done.returncode == 0, stats, done.stderr


class Campaign:
    """What all jobs have done together; a job asks for its next chunk and hands in what came of it."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.lock = threading.Lock()
        self.left = arguments.runs
        self.chunks = 0
        self.begin = time.monotonic()
        self.result = {"target": arguments.target, "runs": 0, "seconds": 0.0, "slowest_ms": 0.0, "peak_mib": 0, "found": [], "passes": {}}

    def known(self):
        """Inputs that once did harm."""
        files = sorted(path for path in Path(self.arguments.regressions).glob("*") if path.is_file())
        if not files:
            return
        done = subprocess.run([self.arguments.binary, *files], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode != 0:
            print(done.stderr)
            self.result["found"].append("a known input")

    def next(self):
        """(number, runs) of a chunk, or None."""
        with self.lock:
            if self.left <= 0 or len(self.result["found"]) >= MAX_FOUND:
                return None
            runs = min(CHUNK, self.left, -(-self.arguments.runs // self.arguments.jobs))
            self.left -= runs
            self.chunks += 1
            return self.chunks, runs

    def ended(self, runs, well, stats, text):
        with self.lock:
            result = self.result
            result["runs"] += runs
            result["seconds"] = round(time.monotonic() - self.begin, 1)
            result["slowest_ms"] = max(result["slowest_ms"], stats.get("slowest_ms", 0))
            result["peak_mib"] = max(result["peak_mib"], int(stats.get("peak_rss_mb", 0)))
            if stats.get("slowest_ms", 0) > SLOWEST_MS:
                result["found"].append(f"an input that took {stats['slowest_ms'] / 1000:.1f} s")
            for key in stats.keys() - NOT_COUNTED:
                result["passes"][key] = result["passes"].get(key, 0) + int(stats[key])
            if not well:
                artifact = re.search(r"Test unit written to (\S+)", text)
                result["found"].append(Path(artifact[1]).name if artifact else "no input was kept")
                print(text[-20000:])
            write_whole(Path(self.arguments.work) / f"{self.arguments.target}.json", json.dumps(result) + "\n")

    def job(self, number):
        corpus = Path(self.arguments.work) / "corpus" / self.arguments.target / str(number)
        corpus.mkdir(parents=True, exist_ok=True)
        while (part := self.next()) is not None:
            before = sum(1 for folder in (corpus, Path(self.arguments.seeds)) for _ in folder.iterdir()) + 1  # and the empty input
            well, stats, text = chunk(self.arguments, corpus, part[0], part[1] + before)
            self.ended(max(0, int(stats.get("number_of_executed_units", 0)) - before), well, stats, text)


def write_whole(path, text):
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text)
    temporary.replace(path)


def run(arguments):
    campaign = Campaign(arguments)
    campaign.known()
    with ThreadPoolExecutor(arguments.jobs) as jobs:
        for job in [jobs.submit(campaign.job, number) for number in range(arguments.jobs)]:
            job.result()
    print(line(campaign.result))
    return 1 if campaign.result["found"] else 0


def line(result):
    per_second = result["runs"] / max(result["seconds"], 0.1)
    text = (f"{result['target']:<12} {result['runs']:>9,} runs {result['seconds']:>8,.0f} s {per_second:>7,.0f}/s   "
            f"slowest {result['slowest_ms']:,.0f} ms, {result['peak_mib']:,} MiB, found: {len(result['found'])}")
    for key, count in sorted(result["passes"].items(), key=lambda item: -item[1]):
        text += f"\n{'':<12} {count:>9,} {key.replace('_', ' ')}, those of the corpus again in each process"
    return text


def totals(folder):
    results = [json.loads(file.read_text()) for file in sorted(Path(folder).glob("*.json"))]
    for result in results:
        print(line(result))
    print(f"{'all':<12} {sum(r['runs'] for r in results):>9,} runs {sum(r['seconds'] for r in results):>8,.0f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--totals")
    for name in ("target", "binary", "work", "seeds", "regressions"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--max-length", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.totals:
        totals(arguments.totals)
        return 0
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
