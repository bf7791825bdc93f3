"""Times what a user of a composition waits for. See `bench-link`; docs of the keys are in `measure`.

Each composition is built in a copy of its sources, against PipeLink's build tree, so that edits hurt nobody; for its first
architecture, or the one that is asked for.
Times are medians of wall-clock times in milliseconds.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(bench VERSION 1.0.0 LANGUAGES CXX CUDA)
find_package(PipeLink REQUIRED)
add_subdirectory(components)
add_subdirectory(compositions)
"""


def run(command, cwd=None):
    """Returns (milliseconds, megabytes at most of the command or one that it started)."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen([str(c) for c in command], cwd=cwd, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        elapsed = (time.perf_counter() - begin) * 1000
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            output.seek(0)
            sys.exit("failed: " + " ".join(map(str, command)) + "\n" + output.read().decode(errors="replace"))
    return elapsed, usage.ru_maxrss / 1024


def median(values):
    return round(statistics.median(values), 1)


def only(lists, arch):
    """A CMakeLists.txt with the words for one architecture where it is among those named."""
    lists = re.sub(r"\b(\d+[a-z]):(\w+)", lambda word: word[2] if word[1] == arch else "", lists)
    return re.sub(r"\bARCHITECTURES((?: \d+\w*)+)",
                  lambda words: f"ARCHITECTURES {arch}" if arch in words[1].split() else words[0], lists)


class Bench:
    def __init__(self, options, name):
        self.name, self.repeat = name, options.repeat
        self.source, self.build_dir = options.work / name / "src", options.work / name / "build"
        shutil.rmtree(options.work / name, ignore_errors=True)
        self.source.mkdir(parents=True)
        shutil.copytree(options.root / "components", self.source / "components")
        shutil.copytree(options.root / "compositions", self.source / "compositions")
        (self.source / "CMakeLists.txt").write_text(PROJECT)
        self.arch = options.arch or self.first_architecture()
        for lists in [*self.source.glob("components/*/CMakeLists.txt"), *self.source.glob("compositions/*/CMakeLists.txt")]:
            lists.write_text(only(lists.read_text(), self.arch))
        self.tool = next(p for p in options.pipelink.rglob("pipelink") if p.is_file() and os.access(p, os.X_OK))
        run(["cmake", "-S", self.source, "-B", self.build_dir, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DCMAKE_PREFIX_PATH={options.pipelink}"])
        self.composition = next(self.build_dir.rglob(f"{name}.sm_{self.arch}.composition.json"), None)
        if not self.composition:
            sys.exit(f"{name} is not linked for {self.arch}")
        described = json.loads(self.composition.read_text())
        self.lists = (self.source / "compositions" / name / "CMakeLists.txt").read_text()
        self.edits = 0
        self.packages = [(self.composition.parent / c["package"]).resolve() for c in described["components"]]
        self.build()
        self.settable = self.settable_fact()

    def build(self):
        return run(["cmake", "--build", self.build_dir, "--target", f"{self.name}.cubin"])[0]

    def build_after(self, edit):
        """The time of the build that follows an edit alone: what was done by hand before it is built first."""
        self.build()
        edit()
        return self.build()

    def first_architecture(self):
        lists = (self.source / "compositions" / self.name / "CMakeLists.txt").read_text()
        return re.search(r"\bARCHITECTURES (\d+\w*)", lists)[1]

    def link(self):
        """The link command: its time, its memory with that of nvJitLink's process, and what it says of its passes."""
        with tempfile.TemporaryDirectory() as folder:
            elapsed, peak = run([self.tool, "link", self.composition, "-o", folder, "--quiet", "--timings", f"{folder}/timings.json"])
            passes = json.loads(Path(folder, "timings.json").read_text())
        return {**{key: passes[key] for key in ("nvjitlink_ms", "check_ms", "place_ms")}, "link_ms": elapsed,
                "max_rss_mb": max(peak, passes["nvjitlink_peak_mib"])}

    def compile_command(self, ending):
        for entry in json.loads((self.build_dir / "compile_commands.json").read_text()):
            if entry["file"].endswith(ending):
                return shlex.split(entry["command"])
        sys.exit(f"compile_commands.json has no file that ends in {ending}")

    def time_compile(self, ending):
        return run(self.compile_command(ending), cwd=self.build_dir)[0]

    def component(self, package):
        return package.name.split(".")[0]

    def source_of(self, component):
        return next(self.source.rglob(f"{component}.cu"))

    def time_pack(self, package):
        plan = package.with_name(package.name + ".plan").read_text().splitlines()
        with tempfile.TemporaryDirectory() as folder:
            return run([self.tool, *plan, "-o", f"{folder}/{package.name}"])[0]

    def rebuild_after_editing(self, components):
        """The edit gives each component a new fact, so that its package changes."""
        def edit():
            for component in components:
                path = self.source_of(component)
                self.edits += 1
                path.write_text(path.read_text() + f"namespace {component} {{ PIPELINK_FACT(bench_{self.edits}, int, 1); }}\n")
        return self.build_after(edit)

    def settable_fact(self):
        for package in self.packages:
            text = subprocess.run([self.tool, "inspect", package, "--json"], check=True, capture_output=True, text=True)
            for fact in json.loads(text.stdout)["contract"].get("facts", []):
                if fact.get("settable") and len(fact.get("domain", [])) > 1:
                    return self.component(package), fact["name"], fact["domain"]
        return None

    def rebuild_after_setting(self, round_number):
        """With CMake's own run, which notices the edit. None if no fact is settable."""
        if not self.settable:
            return None
        owner, fact, domain = self.settable
        path = self.source / "compositions" / self.name / "CMakeLists.txt"
        # The domain's values in turn, so that each differs from the one before.
        lists = re.sub(r"(pipelink_add_composition\(\s*" + self.name + r"\b)",
                       rf"\1\n  SET {owner}.{fact}={domain[round_number % len(domain)]}", self.lists, count=1)
        return self.build_after(lambda: path.write_text(lists))

    def whole_program(self):
        """The control: all sources in one unit, compiled by nvcc. None if the composition has none."""
        unit = f"{self.name}.sm_{self.arch}.control.cu"
        if not (self.composition.parent / unit).exists():
            return None
        run(["cmake", "--build", self.build_dir, "--target", f"{self.name}.control"])
        return self.time_compile("/" + unit)

    def measure(self):
        """Rounds of everything: what is compared is then measured under the same load."""
        owner = self.packages[0]
        name = self.component(owner)
        everyone = [self.component(p) for p in dict.fromkeys(self.packages)]
        self.rebuild_after_setting(-1)
        rounds = []
        for n in range(self.repeat):
            rounds.append({**self.link(), "compile_ms": self.time_compile(f"/{name}.cu"), "pack_ms": self.time_pack(owner),
                           "rebuild_set_ms": self.rebuild_after_setting(n), "whole_program_nvcc_ms": self.whole_program(),
                           "rebuild_owner_ms": self.rebuild_after_editing([name]),
                           "rebuild_all_ms": self.rebuild_after_editing(everyone)})
        line = {"composition": self.name, "arch": f"sm_{self.arch}", "owner": name, "rounds": self.repeat}
        for key in rounds[0]:
            line[key] = None if rounds[0][key] is None else median(one[key] for one in rounds)
        # Differences are taken within a round.
        line["over_nvjitlink_ms"] = median(one["link_ms"] - one["nvjitlink_ms"] for one in rounds)
        if rounds[0]["rebuild_set_ms"] is not None:
            line["set_over_link_ms"] = median(one["rebuild_set_ms"] - one["link_ms"] for one in rounds)
        line["owner_over_parts_ms"] = median(one["rebuild_owner_ms"] - one["compile_ms"] - one["pack_ms"] - one["link_ms"]
                                             for one in rounds)
        return line


def composition_names(folder):
    """Of the compositions that are called as the folder that declares them; others are variants of one, and named if wanted."""
    lists = sorted(folder.glob("*/CMakeLists.txt"))
    return [p.parent.name for p in lists if re.search(rf"^pipelink_add_composition\({p.parent.name}\s", p.read_text(), re.MULTILINE)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--pipelink", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--arch", default="", help="90a, …; the composition's first if left out")
    parser.add_argument("compositions", nargs="*")
    options = parser.parse_args()
    for name in options.compositions or composition_names(options.root / "compositions"):
        print(json.dumps(Bench(options, name).measure()), flush=True)


if __name__ == "__main__":
    main()
