"""Reads the blocks of a documentation page, Markdown or reStructuredText.

A block is shown to a reader as something to write or something to run, so it has a language and, if it is to be
written, the name of its file: in Markdown a comment `<!-- file: NAME -->` on the line before the fence, in
reStructuredText the block's `:caption:`; `literalinclude` names a file of the project. A name that ends in ` (continued)` adds to the file. A page that goes on with
the files of another says so in a comment: `builds-on: PAGE`.
"""
import re
from dataclasses import dataclass
from pathlib import Path

FILES = {"cmake", "cuda", "c++", "python", "json", "text"}
COMMANDS = {"sh", "console"}
INCLUDED = "literalinclude"


class Failure(Exception):
    pass


@dataclass
class Block:
    page: str
    line: int
    language: str
    file: str  # empty: none was named
    text: str

    @property
    def where(self):
        return f"{self.page}:{self.line}"


@dataclass
class Page:
    name: str
    text: str
    blocks: list
    builds_on: str


def dedent(lines):
    """Without blank lines at both ends and the indentation that all lines share."""
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "".join(line[margin:].rstrip() + "\n" for line in lines)


def markdown_blocks(page, text):
    lines, found, at = text.split("\n"), [], 0
    while at < len(lines):
        fence = re.match(r"^( *)(```+|~~~+)\s*(\S*)\s*$", lines[at])
        if fence:
            end = at + 1
            while end < len(lines) and lines[end].strip() != fence[2]:
                end += 1
            if end == len(lines):
                raise Failure(f"{page}:{at + 1}: the fence is never closed")
            marker = re.match(r"^\s*<!-- file: (.+?) -->\s*$", lines[at - 1]) if at else None
            found.append(Block(page, at + 1, fence[3], marker[1] if marker else "", dedent(lines[at + 1:end])))
            at = end
        elif re.match(r"^(    |\t)\S", lines[at]) and (at == 0 or not lines[at - 1].strip()) and not in_list(lines, at):
            found.append(Block(page, at + 1, "", "", lines[at].strip() + "\n"))
            while at + 1 < len(lines) and (not lines[at + 1].strip() or lines[at + 1].startswith(("    ", "\t"))):
                at += 1
        at += 1
    return found


def in_list(lines, at):
    """Whether an indented line goes on with a list item."""
    while at >= 0 and (not lines[at].strip() or lines[at].startswith((" ", "\t"))):
        at -= 1
    return at >= 0 and re.match(r"^([-*+]|\d+\.)\s", lines[at]) is not None


def rst_blocks(page, text):
    lines, found, at = text.split("\n"), [], 0
    while at < len(lines):
        directive = re.match(r"^(\s*)\.\. (code-block|code|sourcecode|literalinclude|parsed-literal)::\s*(\S*)\s*$", lines[at])
        literal = not directive and re.match(r"^\s*(?!\.\. )\S.*::\s*$|^\s*::\s*$", lines[at])
        if directive or literal:
            margin = len(lines[at]) - len(lines[at].lstrip())
            end, options = at + 1, {}
            if directive:
                while end < len(lines) and (option := re.match(r"^\s+:(\w[\w-]*):\s*(.*)$", lines[end])):
                    options[option[1]] = option[2].strip()
                    end += 1
            start = end
            while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > margin):
                end += 1
            language = directive[3] if directive and directive[2] == "code-block" else ""
            if directive and directive[2] == "literalinclude":  # a file of the project, which has tests of its own
                found.append(Block(page, at + 1, INCLUDED, directive[3], ""))
            else:
                found.append(Block(page, at + 1, language, options.get("caption", ""), dedent(lines[start:end])))
            at = end
        else:
            at += 1
    return found


def read_page(path):
    path = Path(path)
    text = path.read_text()
    blocks = (markdown_blocks if path.suffix == ".md" else rst_blocks)(path.name, text)
    builds_on = re.search(r"^(?:<!--|\.\.) builds-on: (\S+)", text, re.MULTILINE)
    return Page(path.name, text, blocks, builds_on[1] if builds_on else "")


def commands_of(block):
    """[(command, lines shown after it)] of an `sh` block (nothing is shown) or a `console` block (`$ command`)."""
    lines = block.text.rstrip("\n").split("\n")
    if block.language == "sh":
        text, commands = "", []
        for line in lines:
            text += line + "\n"
            if not line.endswith("\\") and line.strip():
                commands.append((re.sub(r"\s+# .*$", "", text.strip()), None))
                text = ""
        return [c for c in commands if not c[0].startswith("#")]
    if not lines[0].startswith("$ "):
        raise Failure(f"{block.where}: a console block begins with `$ command`")
    commands = []
    for line in lines:
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands[-1][0].endswith("\\"):
            commands[-1] = (commands[-1][0] + "\n" + line, [])
        else:
            commands[-1][1].append(line)
    return commands


def matches(shown, found):
    """Whether what is shown is what was found. `...` stands for any text in its line; alone on a line, for any lines."""
    pattern = ""
    for line in shown:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    text = "".join(line.rstrip() + "\n" for line in found.strip("\n").split("\n")) if found.strip() else ""
    return re.fullmatch(pattern, text) is not None
