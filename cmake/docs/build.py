"""Builds the documentation: `build.py --root SOURCE --tool PIPELINK --output FOLDER`.

FOLDER/source gets the written and the generated pages, FOLDER/html what Sphinx makes of them. Warnings are errors. Run by a
Python that has Sphinx (requirements.txt); without one it ends with 77.
"""
import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import generate

HERE = Path(__file__).resolve().parent


def gather(root, tool, source):
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for path in [HERE / "conf.py", *sorted(HERE.glob("*.rst"))]:
        shutil.copy(path, source)
        for name in re.findall(r"^\.\. literalinclude:: (\S+)$", path.read_text(), re.MULTILINE):  # of the sources, from the root
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, source / name)
    generate.write_all(root, tool, source)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args()
    if importlib.util.find_spec("sphinx") is None:
        print("SKIPPED: this Python has no Sphinx; ./ci/setup installs it")
        return 77
    source, html = options.output / "source", options.output / "html"
    try:
        gather(options.root, options.tool, source)
    except generate.Fault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    shutil.rmtree(html, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", "-b", "html", "-d", options.output / "doctrees"]
    status = subprocess.run([*command, source, html], check=False).returncode
    if status == 0:
        print(f"documentation: {html / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
