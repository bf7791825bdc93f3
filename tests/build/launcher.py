"""Stands in for a compiler launcher: `launcher.py LOG COMMAND...` notes in LOG what COMMAND makes, then runs it.

A line is `compile FILE`, `ld FILE`, `pack PACKAGE` or `link CUBIN`.
"""
import os
import subprocess
import sys

SOURCES = (".cu", ".cc", ".cpp", ".c")


def describe(command):
    tool, arguments = os.path.basename(command[0]), command[1:]
    if tool == "pipelink" and arguments[:1] == ["pack"]:
        name, arch = (arguments[arguments.index(option) + 1] for option in ("--name", "--arch"))
        return f"pack {name}.{arch}"
    if tool == "pipelink" and arguments[:1] == ["link"]:
        return "link " + os.path.basename(arguments[1]).removesuffix(".composition.json")
    sources = [a for a in arguments if a.endswith(SOURCES)]
    if "-c" in arguments and sources:
        return "compile " + os.path.basename(sources[-1])
    return "ld " + os.path.basename(arguments[arguments.index("-o") + 1])


def main():
    log, command = sys.argv[1], sys.argv[2:]
    with open(log, "a", encoding="utf-8") as out:
        out.write(describe(command) + "\n")
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
