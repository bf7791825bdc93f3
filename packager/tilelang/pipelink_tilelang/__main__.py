"""python -m pipelink_tilelang FILE.py --name NAME --architectures 90a … --shown PATH --out FOLDER

Lowers a component that is written in TileLang, without a GPU, and writes NAME.cu, NAME.h and NAME_host.cc (those that it has) into
the folder. Exit status 0: done; 2: refused, or TileLang failed. Nothing is written unless all of it is.
"""
import argparse
import hashlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path

from . import Refused, last_word
from .component_text import write

FORMAT = 1  # of the kept files; PipeLinkTileLang.cmake compares it


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stamp(text, architectures, version):
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"// pipelink-tilelang {FORMAT} {digest} {' '.join(architectures)} tilelang {version}\n"


def run(options):
    try:
        from .lowering import lower, version
    except ImportError as error:
        raise Refused(f"TileLang cannot be imported by {sys.executable}: {error}; ./ci/setup --tilelang installs it") from None
    text = options.file.read_text()
    try:
        module = load(options.file)
    except Refused:
        raise
    except Exception as error:  # of the author's code, or of TileLang's on it
        frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == options.file]
        raise Refused(f"line {frames[-1] if frames else 1}: {last_word(error)}") from None
    if not hasattr(module, "component"):
        raise Refused("the file defines no `component`")
    files = write(options.name, module.component, text, options.shown, options.architectures, lower)
    files[f"{options.name}.cu"] = stamp(text, options.architectures, version()) + files[f"{options.name}.cu"]
    options.out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (options.out / f"{name}.new").write_text(content)
    for name in files:
        os.replace(options.out / f"{name}.new", options.out / name)


def main():
    parser = argparse.ArgumentParser(prog="pipelink_tilelang", description=__doc__.splitlines()[2])
    parser.add_argument("file", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--architectures", required=True, nargs="+")
    parser.add_argument("--shown", required=True, help="the file's name in the contract")
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    try:
        run(options)
    except Refused as refused:
        print(f"error: {options.shown}: {refused}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
