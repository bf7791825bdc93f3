"""Counts what the components that come with PipeLink state: annotation statements and lines of source, by component.

usage: annotations.py [LIMIT COMPONENT…]     of these components, one that states more than the limit is a failure

A component in TileLang is counted twice: its file, with what `Component` lists, and the source that is made of it.
"""
import ast
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def statements(source):
    """PIPELINK_…( at the beginning of a line is one."""
    return len(re.findall(r"^PIPELINK_[A-Z_]+\(", source, re.MULTILINE))


def listed(source):
    """What the call of `Component` in a TileLang file lists."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "Component"]
    return sum(len(getattr(keyword.value, "elts", None) or keyword.value.keys) for call in calls for keyword in call.keywords)


def rows():
    for folder in sorted(path for path in HERE.iterdir() if (path / "CMakeLists.txt").exists()):
        for path in sorted([*folder.glob("*.cu"), *folder.glob("*.py"), *folder.glob("lowered/*.cu")]):
            text = path.read_text()
            yield str(path.relative_to(HERE)), listed(text) if path.suffix == ".py" else statements(text), len(text.splitlines())


def main():
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    found = list(rows())
    print(f"{'source':50} {'statements':>10} {'lines':>6}")
    for name, count, lines in found:
        print(f"{name:50} {count:10} {lines:6}")
    if not found:
        sys.exit("there is no component")
    judged = [(name, count) for name, count, _ in found if name.split("/")[0] in sys.argv[2:]]
    missing = set(sys.argv[2:]) - {name.split("/")[0] for name, _ in judged}
    if missing:
        sys.exit(f"there is no component {', '.join(sorted(missing))}")
    above = [name for name, count in judged if count > limit]
    if above:
        sys.exit(f"more than {limit} statements: {', '.join(above)}")


if __name__ == "__main__":
    main()
