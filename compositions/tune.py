#!/usr/bin/env python3
"""Links variants of a composition in parallel: every combination of the values that its settable facts are given.

Nothing is compiled. The first value of each fact is the composition's own; a variant is named by the others. A variant that a
contract or the gate refuses is left out, with the clause that says why. FOLDER gets a folder for each linked variant, and
variants.json: what each one sets. What times them reads that. Exit status 1: none is linked; 2: usage, input or toolchain.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

REFUSED, FAULT = 1, 2  # exit statuses, also pipelink's


def fact(text):
    name, _, values = text.partition("=")
    values = values.split(",")
    if not re.fullmatch(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*", name) or not all(re.fullmatch(r"-?\d+|[a-z]\w*", v) for v in values):
        raise argparse.ArgumentTypeError(f"'{text}' is not OWNER.FACT=VALUE,VALUE,…")
    return name, [int(v) if re.fullmatch(r"-?\d+", v) else v for v in values]


def link(pipelink, composition, source, folder, settings):
    """The clause that refuses the variant; None if it is linked."""
    folder.mkdir(parents=True, exist_ok=True)
    variant = json.loads(json.dumps(composition))
    variant["set"] = {**variant.get("set", {}), **settings}
    for component in variant["components"]:
        component["package"] = os.path.relpath(source.parent / component["package"], folder)
    path = folder / "composition.json"
    path.write_text(json.dumps(variant, indent=2) + "\n", encoding="utf-8")
    done = subprocess.run([pipelink, "link", path, "-o", folder, "--quiet"], text=True, check=False, capture_output=True)
    if done.returncode == 0:
        return None
    clause = re.search(r"error\[([A-Z-]+)\]", done.stderr + done.stdout)
    if done.returncode != REFUSED or not clause:
        raise RuntimeError(f"{path}: {done.stderr}{done.stdout}")
    for file in folder.iterdir():  # nothing of an earlier run is taken for this one's
        file.unlink()
    folder.rmdir()
    return clause.group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipelink", help="the tool")
    parser.add_argument("composition", type=Path, help="COMPOSITION.json")
    parser.add_argument("folder", type=Path, help="for the variants")
    parser.add_argument("--set", dest="facts", type=fact, action="append", required=True, metavar="OWNER.FACT=VALUE,VALUE,…")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    try:
        composition = json.loads(options.composition.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        parser.error(f"{options.composition} cannot be read: {error}")
    names = [name for name, _ in options.facts]
    if len(set(names)) != len(names):
        parser.error("a fact is given twice")
    variants = {}
    for values in itertools.product(*(values for _, values in options.facts)):
        others = [f"{name.split('.')[1]}{value}" for (name, own), value in zip(options.facts, values) if value != own[0]]
        settings = {name: value for (name, own), value in zip(options.facts, values) if value != own[0]}
        variants["_".join([composition["name"], *others])] = settings
    linked = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = {name: pool.submit(link, options.pipelink, composition, options.composition, options.folder / name, settings)
                for name, settings in variants.items()}
        for name, done in work.items():
            try:
                refused = done.result()
            except RuntimeError as error:
                pool.shutdown(cancel_futures=True)
                print(f"tune.py: {error}", file=sys.stderr)
                return FAULT
            print(f"{name}: {f'refused by {refused}' if refused else 'linked'}", flush=True)
            if not refused:
                linked.append({"name": name, "set": variants[name]})
    (options.folder / "variants.json").write_text(json.dumps(linked, indent=2) + "\n", encoding="utf-8")
    print(f"{len(linked)} of {len(variants)} variants are linked")
    return 0 if linked else REFUSED


if __name__ == "__main__":
    sys.exit(main())
