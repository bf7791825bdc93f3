#!/usr/bin/env python3
"""Runs `pipelink` commands as a remote executor does: in an empty folder that gets the command's inputs and nothing else.

    cmake … "-DPIPELINK_LAUNCHER=python3;remote_launcher.py;--root;$PWD"

`remote_launcher.py --root PROJECT COMMAND…`: paths below PROJECT are rewritten relative to the current folder; the inputs are copied
to the same places below an empty folder, the command is run there, and its outputs are copied back. A remote executor would do this on
another machine, which has the toolchain.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ENVIRONMENT = ("PIPELINK_TOOLKIT_LIBRARY_DIR", "LD_LIBRARY_PATH")  # where the toolchain is


def below(path, root):
    """The place of a path below `root`, without `..` and links; None outside."""
    path = os.path.realpath(path)
    return os.path.relpath(path, root) if os.path.commonpath([path, root]) == root else None


def relative(word, root):
    """An absolute path at or below `root`, from here."""
    return os.path.relpath(os.path.realpath(word)) if os.path.isabs(word) and below(word, root) else word


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def run(root, command):
    listed = subprocess.run([*command, "--list-files"], stdout=subprocess.PIPE, check=False)
    if listed.returncode != 0:  # it has said why
        return listed.returncode
    files = json.loads(listed.stdout)
    for path in files["inputs"] + files["outputs"]:
        if os.path.isabs(path) or below(path, root) is None:
            print(f"error: {path} is not below {root}", file=sys.stderr)
            return 2
    with tempfile.TemporaryDirectory() as empty:
        here = Path(empty, below(".", root))
        here.mkdir(parents=True, exist_ok=True)
        for path in files["inputs"]:
            if os.path.exists(path):  # else the command says what is missing
                copy(path, Path(empty, below(path, root)))
        for path in files["outputs"]:
            Path(empty, below(path, root)).parent.mkdir(parents=True, exist_ok=True)
        environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        status = subprocess.run(command, cwd=here, env=environment, check=False).returncode
        for path in files["outputs"] if status == 0 else []:
            made, old = Path(empty, below(path, root)), Path(path)
            if not (old.is_file() and old.read_bytes() == made.read_bytes()):  # else it keeps its time
                copy(made, old)
        return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, type=os.path.realpath)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("no command")
    return run(options.root, [options.command[0], *(relative(word, options.root) for word in options.command[1:])])


if __name__ == "__main__":
    sys.exit(main())
