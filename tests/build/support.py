"""What the build tests share: a copy of a project in a folder of its own, configured and built with a given CMake."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Failure(Exception):
    pass


class Skip(Exception):
    """What is needed is not here: the reason."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def expect_match(pattern, text, what):
    """CMake wraps its messages: white space counts as one blank on both sides."""
    flat = " ".join(text.split())
    check(re.search(pattern, flat), f"{what}: expected /{pattern}/ in\n{text}")


def run(command, cwd=None, env=None):
    """Returns (status, stdout and stderr together)."""
    merged = dict(os.environ, **(env or {}))
    merged.pop("DESTDIR", None)
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=merged, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def must_run(command, cwd=None, env=None):
    status, text = run(command, cwd, env)
    check(status == 0, "failed: " + " ".join(map(str, command)) + "\n" + text)
    return text


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


class Project:
    """`source` copied to FOLDER/src and built in FOLDER/build; what each build ran is noted by launcher.py."""

    def __init__(self, options, folder, source, generator="Ninja", prefix=None):
        self.options, self.generator = options, generator
        fresh(folder)
        self.source, self.build_dir, self.log = folder / "src", folder / "build", folder / "ran.txt"
        shutil.copytree(HERE / source, self.source)
        self.prefix = prefix or options.pipelink

    @property
    def config(self):
        return ["--config", "Release"] if self.generator == "Ninja Multi-Config" else []

    def configure_command(self, *definitions):
        launcher = f"{sys.executable};{HERE / 'launcher.py'};{self.log}"
        prefixes = self.prefix if isinstance(self.prefix, (list, tuple)) else [self.prefix]
        return [self.options.cmake, "-S", self.source, "-B", self.build_dir, "-G", self.generator, "-Wno-dev",
                "-DCMAKE_PREFIX_PATH=" + ";".join(map(str, prefixes)),
                f"-DCMAKE_CUDA_COMPILER_LAUNCHER={launcher}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}", f"-DPIPELINK_LAUNCHER={launcher}", *definitions]

    def configure(self, *definitions):
        return must_run(self.configure_command(*definitions))

    def configure_fails(self, pattern, *definitions):
        status, text = run(self.configure_command(*definitions))
        check(status != 0, f"configuring succeeded, but /{pattern}/ was expected")
        expect_match(pattern, text, "the message")

    def build(self, target="all"):
        """What ran, sorted."""
        self.log.write_text("")
        must_run([self.options.cmake, "--build", self.build_dir, "--target", target, "--parallel", "2", *self.config])
        return sorted(self.log.read_text().splitlines())

    def build_fails(self):
        status, text = run([self.options.cmake, "--build", self.build_dir, *self.config])
        check(status != 0, "the build succeeded")
        return text

    def expect(self, what, expected, target="all"):
        ran = self.build(target)
        check(ran == sorted(expected), f"{what} ran\n    {ran}\n  but should have run\n    {sorted(expected)}")
        again = self.build(target)
        check(again == [], f"the build after `{what}` is not a no-op; it ran {again}")
        print(f"ok: {what}: {len(ran)} steps", flush=True)

    def edit(self, file, old, new):
        path = self.source / file
        text = path.read_text()
        check(old in text, f"{file} does not hold {old!r}")
        path.write_text(text.replace(old, new))
        newer(path)

    def touch(self, file):
        newer(self.source / file)

    def install(self, prefix):
        must_run([self.options.cmake, "--install", self.build_dir, "--prefix", prefix, *self.config])


def newer(path):
    """Makes the time stamp later than that of everything built so far."""
    now = time.time()
    os.utime(path, (now, now))


def main(tests):
    """Runs the test named on the command line: `SCRIPT --pipelink BUILD --work FOLDER TEST`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--pipelink", required=True, type=Path, help="PipeLink's build tree")
    parser.add_argument("--work", required=True, type=Path, help="a folder for the tests' files")
    parser.add_argument("test", choices=sorted(tests))
    options = parser.parse_args()
    try:
        tests[options.test](options)
    except Skip as reason:
        print(f"SKIPPED: {options.test}: {reason}", flush=True)
        return 77
    except Failure as failure:
        print(f"FAILED: {failure}", flush=True)
        return 1
    return 0
