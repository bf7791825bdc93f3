"""Help, manual page and completions say the same: all are made of one definition of the command line."""
import os
import re
import shutil
import subprocess
import sys
import time

from support import Skip, check, equal, fresh, main, run

WIDTH = 120


def subcommands(tools):
    listed = tools.must("--help").out.split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+)", listed, re.MULTILINE)


def options_of(text):
    part = text.split("Options:\n")[1].split("\n\n")[0]
    return [option for line in re.findall(r"^  (-[^ ]+)", part, re.MULTILINE) for option in line.split(",")]


def helps(tools):
    """Each has a title, a text, values that say what they are, an example that names the command, and its exit status."""
    for name in subcommands(tools):
        text = tools.must(name, "--help").out
        title, rest = text.split("\n", 1)
        check(not title.endswith(".") and len(title) < 70, f"{name}: the title is '{title}'")
        check(rest.startswith("\n") and len(rest.split("Usage:")[0]) > 40, f"{name}: there is no text below the title")
        check(f"Usage: pipelink {name}" in text, f"{name}: no usage")
        check(re.search(r"^Exit status:\n  0  ", text, re.MULTILINE), f"{name}: no exit status")
        if name != "doctor":
            check(re.search(rf"^Examples?:\n  .*pipelink (--format json )?{name}\b", text, re.MULTILINE), f"{name}: no example")
        for kind in ("TEXT", "UINT", "INT"):
            check(not re.search(rf"\b{kind}\b", text), f"{name}: a value is only called {kind}")
        for line in text.split("\n"):
            check(len(line) <= WIDTH, f"{name}: a line of {len(line)} characters: {line}")
    check("text|json|sarif=text" in tools.must("--help").out, "the formats and their default")
    check("FOLDER=." in tools.must("link", "--help").out, "the default of a link's folder")


def commands_that_are_none(tools):
    for word, help in (("frobnicate", "the commands are "), ("linkk", "do you mean `pipelink link`?")):
        done = tools.tool(word)
        equal(done.status, 2, f"the exit status of `pipelink {word}`")
        check(f"error[U-USAGE]: there is no command '{word}'" in done.err and help in done.err, done.err)
    check(tools.must("explain", "l-layout").out == tools.must("explain", "L-LAYOUT").out, "a clause in small letters")
    for word, help in (("L-UNBOND", "do you mean L-UNBOUND? pipelink explain --list"), ("frobnicate", "help: pipelink explain --list")):
        done = tools.tool("explain", word)
        check(done.status == 2 and f"there is no clause '{word}'" in done.err and help in done.err, f"{done}")


def manual(tools):
    """man(1) shows every command and option, and finds no fault."""
    page = tools.work / "pipelink.1"
    page.write_text(tools.must("manual").out)
    if shutil.which("groff") is None:
        raise Skip("there is no groff")
    done = run(["groff", "-man", "-Tutf8", "-ww", "-rLL=200n", "-rHY=0", page])
    equal((done.status, done.err), (0, ""), "what groff says")
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.out).replace("\u2010", "-").replace("\u2212", "-")
    flat = " ".join(shown.split())
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMON OPTIONS", "COMMANDS", "EXIT STATUS"):
        check(re.search(rf"^{heading}", shown, re.MULTILINE), f"no heading {heading}")
    for name in subcommands(tools):
        text = tools.must(name, "--help").out
        check(f" pipelink {name} {text.split(chr(10))[0]}." in flat, f"the manual has no section {name}")
        for option in options_of(text):
            check(option in flat, f"the manual lacks {option} of {name}")
        example = re.search(r"^Examples?:\n  (.*)", text, re.MULTILINE)
        if example:
            check(" ".join(example[1].split()) in flat, f"the manual lacks the example {example[1]}")


def folder_of_files(tools):
    folder = fresh(tools.work / "files")
    for name in ("k.json", "k l.json", "a.plk", "k.map.json", "out.launch", "p.pl", "notes.txt", "o.fatbin"):
        (folder / name).write_text("")
    (folder / "sub").mkdir()
    return folder


CASES = [  # the words on the line, the last one to be completed → what is offered, or must be among it
    (["lin"], ["link"]),
    (["c"], ["check", "completion"]),
    (["link", "--ou"], ["--output"]),
    (["link", "--l"], ["--list-files"]),
    (["--format", "s"], ["sarif"]),
    (["--format", "json", "expl"], ["explain"]),
    (["link", "--format", ""], ["json", "sarif", "text"]),
    (["explain", "L-REG"], ["L-REGS"]),
    (["completion", ""], ["bash", "fish", "zsh"]),
    (["link", ""], ["k l.json", "k.json", "k.map.json", "sub"]),
    (["inspect", ""], ["a.plk", "k.map.json", "sub"]),
    (["diff", "a"], ["a.plk"]),
    (["diff", "a.plk", "a"], ["a.plk"]),
    (["place", "p"], ["p.pl"]),
    (["host", "o"], ["out.launch"]),
    (["link", "k.json", "-o", ""], ["sub"]),
    (["pack", "o"], ["o.fatbin", "out.launch"]),
    (["pack", "--name", ""], []),
    (["link", "--nothing"], []),
]


def bash(tools):
    """The script in a real bash: `complete -F` calls it as here."""
    if shutil.which("bash") is None:
        raise Skip("there is no bash")
    folder, script = folder_of_files(tools), tools.work / "completion.bash"
    script.write_text(tools.must("completion", "bash").out)
    if shutil.which("shellcheck"):
        equal(run(["shellcheck", "-s", "bash", script]).out, "", "what shellcheck says")
    for words, expected in CASES:
        driver = ("compopt() { :; }\nsource \"$1\"; shift\n"  # it is for an interactive line alone
                  "complete -p pipelink > /dev/null || exit 3\n"
                  "COMP_WORDS=(pipelink \"$@\"); COMP_CWORD=$#\n_pipelink\n"
                  "printf '%s\\n' \"${COMPREPLY[@]}\"\n")
        done = run(["bash", "--norc", "-uc", driver, "bash", script, *words], cwd=folder)
        equal((done.status, done.err), (0, ""), f"bash on {words}")
        equal(sorted(filter(None, done.out.split("\n"))), sorted(expected), f"what bash offers for {words}")
    done = run(["bash", "--norc", "-c", f"source <({tools.pipelink} completion bash) && complete -p pipelink"])
    equal((done.status, done.out), (0, "complete -F _pipelink pipelink\n"), "as the help shows it")
    done = run(["bash", "--norc", "-c", f"source {script}; COMP_WORDS=(pipelink --format = js); COMP_CWORD=3; _pipelink; echo $COMPREPLY"])
    equal(done.out, "json\n", "a value after =")


def fish(tools):
    if shutil.which("fish") is None:
        raise Skip("there is no fish")
    folder, script = folder_of_files(tools), tools.work / "completion.fish"
    script.write_text(tools.must("completion", "fish").out)
    equal(run(["fish", "--no-execute", script]).err, "", "what fish says of the script")
    for words, expected in CASES:
        if words[-1] == "" or any(" " in w for w in expected):
            continue
        line = " ".join(["pipelink", *words])
        done = run(["fish", "-c", f"source {script}; complete -C '{line}'"], cwd=folder, env={"HOME": str(tools.work)})
        offered = [text.split("\t")[0] for text in done.out.splitlines()]
        for word in expected:
            check(word in offered, f"fish offers {offered} for {words}, without {word}: {done}")


def zsh(tools):
    """In an interactive zsh on a terminal of its own: its completion runs nowhere else."""
    if shutil.which("zsh") is None:
        raise Skip("there is no zsh")
    folder, script = folder_of_files(tools), tools.work / "completion.zsh"
    script.write_text(tools.must("completion", "zsh").out)
    equal(run(["zsh", "-n", script]).err, "", "what zsh says of the script")
    home, completed = fresh(tools.work / "zsh home"), tools.work / "completed.txt"
    (home / ".zshrc").write_text(f"""
PROMPT= RPS1=
autoload -Uz compinit && compinit -u -D
source {script}
complete-and-tell() {{ zle complete-word; print -r -- $BUFFER >> {completed}; BUFFER= }}
zle -N complete-and-tell
bindkey '^I' complete-and-tell
print ready >> {completed}
""")
    completed.write_text("")
    single = [(words, expected) for words, expected in CASES if len(expected) == 1 and words[-1] != ""]
    control, terminal = os.openpty()
    environment = dict(os.environ, TERM="dumb", ZDOTDIR=str(home), PATH=f"{tools.pipelink.parent}:{os.environ['PATH']}")
    with subprocess.Popen(["zsh", "-i"], stdin=terminal, stdout=terminal, stderr=terminal, cwd=folder, env=environment,
                          start_new_session=True) as process:
        for number, words in enumerate([None, *(words for words, _ in single)]):
            if words is not None:
                os.write(control, (" ".join(["pipelink", *words]) + "\t").encode())
            end = time.monotonic() + 20
            while completed.read_text().count("\n") <= number and time.monotonic() < end:
                time.sleep(0.02)
        process.kill()
    os.close(terminal)
    os.close(control)
    lines = completed.read_text().splitlines()
    equal(lines[1:], [" ".join(["pipelink", *words[:-1], expected[0], ""]) for words, expected in single], "what zsh completes")


def unknown(tools):
    done = tools.tool("completion", "tcsh")
    equal((done.status, done.out), (2, ""), f"an unknown shell: {done}")
    check("error[U-USAGE]" in done.err and "bash, zsh and fish" in done.err, f"an unknown shell: {done}")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (helps, commands_that_are_none, manual, bash, fish, zsh, unknown)}, __doc__))
