"""Does what a page shows: `run_page.py PAGE --pipelink BUILD --tool TOOL --nvcc NVCC --root SOURCE --work FOLDER`.

All blocks of a page, in order, in one folder: blocks that name a file write it, `sh` and `console` blocks are run, and
what a console block shows is compared with what comes out. A block that is neither is a failure, and so is a file that
nothing uses.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from pages import COMMANDS, FILES, INCLUDED, Failure, commands_of, matches, read_page


def write_file(folder, block):
    name = block.file.removesuffix(" (continued)")
    path = folder / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise Failure(f"{block.where}: '{name}' is not a file below the project")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = block.text
    if name != block.file:
        if not path.exists():
            raise Failure(f"{block.where}: '{name}' is continued before it begins")
        text = path.read_text() + "\n" + text
    path.write_text(text)
    return name


def run_in_checkout(root, block, command):
    """The project's own scripts run whole builds and these tests: they are not run within one, but must be there."""
    script = root / command.split()[0]
    if not (script.is_file() and os.access(script, os.X_OK)):
        raise Failure(f"{block.where}: there is no script {command.split()[0]}")
    if subprocess.run(["bash", "-n", script], check=False).returncode != 0:
        raise Failure(f"{block.where}: {command.split()[0]} is no shell script")


def run_command(options, folder, block, command, shown, last_status):
    tool = str(options.tool.parent)
    environment = dict(os.environ, NO_COLOR="1", PIPELINK=str(options.pipelink), CUDACXX=str(options.nvcc),
                       CMAKE_BUILD_PARALLEL_LEVEL="2",
                       PATH=os.pathsep.join([tool, str(options.nvcc.parent), os.environ["PATH"]]))
    for name in ("CMAKE_GENERATOR", "DESTDIR", "CMAKE_PREFIX_PATH"):
        environment.pop(name, None)
    done = subprocess.run(["bash", "-c", f"(exit {last_status})\n{command}"], cwd=folder, env=environment, text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=400)
    print(f"{block.where}: $ {command}\n{done.stdout}", flush=True)
    if shown is not None and not matches(shown, done.stdout):
        raise Failure(f"{block.where}: `{command}` is shown with\n" + "\n".join(shown) + "\nbut printed\n" + done.stdout)
    return done.returncode


def run_block(options, folder, block):
    commands = commands_of(block)
    status = 0
    for position, (command, shown) in enumerate(commands):
        if command.startswith("./ci/"):
            run_in_checkout(options.root, block, command)
            continue
        status = run_command(options, folder, block, command, shown, status)
        is_asked_for = position + 1 < len(commands) and commands[position + 1][0] == "echo $?"
        if status != 0 and not is_asked_for:
            raise Failure(f"{block.where}: `{command}` ended with {status}")


def check_used(page, files, texts):
    """Each file is named by another one or by a command; a project is built."""
    for name in files:
        others = [text for other, text in texts.items() if other != name]
        if Path(name).name == "CMakeLists.txt":
            if not any(str(Path(name).parent) in text for text in others):  # `.`, or the folder of a second project
                raise Failure(f"{page.name}: nothing uses the file {name}")
            if not any("cmake --build" in text for text in others):
                raise Failure(f"{page.name}: the project is never built")
        elif not any(Path(name).name in text for text in others):
            raise Failure(f"{page.name}: nothing uses the file {name}")


def read_with_bases(path):
    """The page, and the file blocks of the pages that it builds on."""
    page = read_page(path)
    if not page.builds_on:
        return page, []
    base, earlier = read_with_bases(path.parent / (page.builds_on + path.suffix))
    return page, earlier + [block for block in base.blocks if block.language in FILES]


def run_page(options):
    page, earlier = read_with_bases(options.page)
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    for block in earlier:
        write_file(options.work, block)
    files, texts = [], {}
    for block in page.blocks:
        if block.language in FILES and block.file:
            name = write_file(options.work, block)
            files.append(name)
        elif block.language == INCLUDED:
            if not block.file.startswith(("components/", "tests/")) or not (options.root / block.file).is_file():
                raise Failure(f"{block.where}: '{block.file}' is no source of components/ or tests/, which are compiled")
        elif block.language in COMMANDS and not block.file:
            run_block(options, options.work, block)
            texts[f"commands at {block.line}"] = block.text
        else:
            raise Failure(f"{block.where}: a block of language '{block.language}' with file name '{block.file}' is neither a "
                          "named file nor commands, so nothing tests it")
    for path in options.work.glob("**/*"):
        if path.suffix in (".cu", ".cc", ".h", ".txt", ".json") and "build" not in path.relative_to(options.work).parts:
            texts[str(path.relative_to(options.work))] = path.read_text()
    check_used(page, files, texts)
    print(f"{page.name}: {len(page.blocks)} blocks")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--pipelink", required=True, type=Path, help="PipeLink's build tree")
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--nvcc", required=True, type=Path)
    parser.add_argument("--root", required=True, type=Path, help="PipeLink's source tree")
    parser.add_argument("--work", required=True, type=Path)
    options = parser.parse_args()
    try:
        run_page(options)
    except (Failure, subprocess.TimeoutExpired) as failure:
        print(f"FAILED: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
