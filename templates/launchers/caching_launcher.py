#!/usr/bin/env python3
"""Runs `pipelink` commands through a cache, as ccache runs compiles.

    cmake … "-DPIPELINK_LAUNCHER=python3;caching_launcher.py;--cache;FOLDER;--root;$PWD"

`caching_launcher.py --cache FOLDER [--root PROJECT] COMMAND…`: what COMMAND made before from the same arguments, inputs and
toolchain is restored; else it is run, and what it made is kept. Paths below PROJECT are rewritten relative to the current folder,
so that another checkout finds what this one made. `--cache FOLDER --statistics` prints how often that was.
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def relative(word, root):
    """An absolute path at or below `root`, from here."""
    if not root or not os.path.isabs(word):
        return word
    path = os.path.realpath(word)
    return os.path.relpath(path) if os.path.commonpath([path, root]) == root else word


def listed_files(command):
    """{"inputs", "outputs", "toolchain"} of a command, or None: it cannot be listed, and will say itself what is wrong."""
    done = subprocess.run([*command, "--list-files"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def digest_of_toolchain(cache, paths):
    """Of its contents, wherever they lie; remembered by sizes and times, since it has hundreds of megabytes."""
    status = [(path, os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in paths]
    memory = cache / f"toolchain.{hashlib.sha256(json.dumps(status).encode()).hexdigest()}"
    if not memory.exists():
        new = cache / f"toolchain.{os.getpid()}.new"
        new.write_text(json.dumps(sorted(map(digest, paths))), encoding="utf-8")
        os.replace(new, memory)
    return memory.read_text(encoding="utf-8")


def key_of(cache, command, files):
    """Of all that the result depends on."""
    inputs = [(path, digest(path)) for path in files["inputs"]]
    toolchain = digest_of_toolchain(cache, files["toolchain"])
    return hashlib.sha256(json.dumps([command[1:], inputs, toolchain]).encode()).hexdigest()


def restore(entry, outputs):
    for number, path in enumerate(outputs):
        kept, path = entry / str(number), Path(path)
        if path.is_file() and path.read_bytes() == kept.read_bytes():
            continue  # it keeps its time, and what is made of it stays
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        shutil.copyfile(kept, new)
        os.replace(new, path)
    for stream in ("stdout", "stderr"):
        getattr(sys, stream).buffer.write((entry / stream).read_bytes())


def keep(entry, outputs, done):
    """Made whole under a name of its own first: another command may make the same at the same time."""
    new = Path(tempfile.mkdtemp(dir=entry.parent))
    for number, path in enumerate(outputs):
        shutil.copyfile(path, new / str(number))
    (new / "stdout").write_bytes(done.stdout)
    (new / "stderr").write_bytes(done.stderr)
    try:
        os.rename(new, entry)
    except OSError:
        shutil.rmtree(new)


def run(cache, command):
    files = listed_files(command)
    if files is None or not all(map(os.path.isfile, files["inputs"])):
        return subprocess.run(command, check=False).returncode
    entry = cache / key_of(cache, command, files)
    hit = entry.is_dir()
    with open(cache / "log.txt", "a", encoding="utf-8") as log:
        log.write(f"{'hit' if hit else 'miss'} {command[1]} {os.path.basename(files['outputs'][0])}\n")
    if hit:
        restore(entry, files["outputs"])
        return 0
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    if done.returncode == 0:
        keep(entry, files["outputs"], done)
    return done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True, type=Path)
    parser.add_argument("--root", type=os.path.realpath)
    parser.add_argument("--statistics", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    if options.statistics:
        log = options.cache / "log.txt"
        events = [line.split()[0] for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
        print(f"hits {events.count('hit')}, misses {events.count('miss')}")
        return 0
    if not options.command:
        parser.error("no command")
    return run(options.cache, [options.command[0], *(relative(word, options.root) for word in options.command[1:])])


if __name__ == "__main__":
    sys.exit(main())
