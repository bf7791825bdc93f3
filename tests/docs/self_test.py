"""What the checks of the pages must refuse: each fault is provoked once."""
import sys
import tempfile
from argparse import Namespace
from pathlib import Path

from pages import Failure, matches, read_page
from run_page import run_page

ROOT = Path(__file__).resolve().parents[2]
FAULTS = {
    "a block without a language": ("a.md", "```\nx\n```\n", "neither"),
    "a block of another language": ("a.md", "```python\nx\n```\n", "neither"),
    "an indented block": ("a.md", "Text:\n\n    code\n", "neither"),
    "a file without a name": ("a.md", "```cuda\nx\n```\n", "neither"),
    "a literal block": ("a.rst", "Text::\n\n  x\n", "neither"),
    "a code block without a caption": ("a.rst", ".. code-block:: cuda\n\n  x\n", "neither"),
    "an included file that nothing compiles": ("a.rst", ".. literalinclude:: x.cu\n", "no source of"),
    "a file that nothing uses": ("a.md", "<!-- file: a.cu -->\n```cuda\nx\n```\n", "nothing uses"),
    "a project that is never built": ("a.md", "<!-- file: CMakeLists.txt -->\n```cmake\nx\n```\n```sh\ntest -d .\n```\n", "never built"),
    "a folder that nothing uses": ("a.md", "<!-- file: b/CMakeLists.txt -->\n```cmake\nx\n```\n", "nothing uses"),
    "a command that fails": ("a.md", "```sh\nfalse\n```\n", "ended with 1"),
    "another output": ("a.md", "```console\n$ echo a\nb\n```\n", "but printed"),
    "output that is not shown": ("a.md", "```console\n$ echo a\n```\n", "but printed"),
    "another exit status": ("a.md", "```console\n$ false\n$ echo $?\n2\n```\n", "but printed"),
    "a script that is not there": ("a.md", "```sh\n./ci/nothing\n```\n", "no script"),
    "a file outside": ("a.md", "<!-- file: ../a.cu -->\n```cuda\nx\n```\n", "not a file below"),
    "an open fence": ("a.md", "```sh\ntrue\n", "never closed"),
}
GOOD = """Text.

<!-- file: a.json -->
```json
{}
```
<!-- file: a.json (continued) -->
```json
{}
```
- item

  ```console
  $ cat a.json
  {}
  ...
  $ false
  $ echo $?
  1
  ```
```sh
test -f a.json # there
./ci/test -R docs
```
"""


def run(name, text):
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / name
        page.write_text(text)
        nowhere = Path(folder) / "none"
        run_page(Namespace(page=page, pipelink=nowhere, tool=nowhere / "t", nvcc=nowhere / "n", root=ROOT,
                           work=Path(folder) / "work"))
        return read_page(page)


def main():
    for what, (name, text, expected) in FAULTS.items():
        try:
            run(name, text)
        except Failure as failure:
            assert expected in str(failure), f"{what}: {failure}"
        else:
            raise AssertionError(f"{what} was accepted")
    assert len(run("a.md", GOOD).blocks) == 4
    assert matches(["a ... c", "...", "end"], "a b c\nx\ny\nend\n")
    assert not matches(["a"], "a\nb\n") and not matches(["..."[:2]], "abc\n")
    print(f"{len(FAULTS)} faults were refused")


if __name__ == "__main__":
    sys.exit(main())
