"""Mistakes in calls and projects: each is refused when configuring, by name."""
import json
import re
import stat
import sys

from support import HERE, Project, Skip, fresh, main, check, expect_match, run

KERNEL = "a.cu"
BASE = f"pipelink_add_component(a SOURCES {KERNEL})\npipelink_add_component(b SOURCES {KERNEL})\n"

NEAR = "".join(f"pipelink_add_component({name} SOURCES {KERNEL})\n" for name in ("scale_rows", "sum_rows", "sum_columns"))

LIMIT = "set(PIPELINK_ARCHITECTURES 120a)\n"
WIDE = f"pipelink_add_component(w SOURCES {KERNEL} ARCHITECTURES 90a 120a)\n"

# A component in TileLang where there is no TileLang, and its lowered source for 90a.
NO_TILELANG = "set(PIPELINK_TILELANG_PYTHON \"\")\nfile(WRITE ${CMAKE_CURRENT_SOURCE_DIR}/t.py \"\")\n"
KEPT_LOWERED = NO_TILELANG + """file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/t.py digest)
file(WRITE ${CMAKE_CURRENT_SOURCE_DIR}/lowered/t.cu "// pipelink-tilelang 1 ${digest} 90a tilelang 1\\n")
"""

# (what is written, the message as a regular expression over its text with single blanks)
COMPONENT_CASES = [
    ("pipelink_add_component(a SOURCES a.cu HEADERS a.h)", r"component\(a\): unknown keyword 'HEADERS' \(after SOURCES\)"),
    ("pipelink_add_component(a a.cu)", r"component\(a\): unknown argument 'a.cu'"),
    ("pipelink_add_component(a SOURCES a.cu USES)", r"component\(a\): no value after USES"),
    ("pipelink_add_component(a USES b)", r"component\(a\): SOURCES is missing"),
    ("pipelink_add_component(a SOURCES none.cu)", r"source file '.*none.cu' does not exist"),
    ("pipelink_add_component(A SOURCES a.cu)", r"'A' is not a PipeLink name"),
    ("pipelink_add_component(a__b SOURCES a.cu)", r"'a__b' is not a PipeLink name"),
    ("pipelink_add_component(a_ SOURCES a.cu)", r"'a_' is not a PipeLink name"),
    ("pipelink_add_component(a SOURCES ${CMAKE_CURRENT_SOURCE_DIR})", r"component\(a\): source file '.*src' is a folder"),
    ("pipelink_add_component(a SOURCES $<1:a.cu>)",
     r"component\(a\): '\$<1:a.cu>' \(after SOURCES\): generator expressions are not evaluated here; use if\(\)"),
    ("pipelink_add_component(a SOURCES a.cu USES none)", r"component\(a\): USES: there is no component 'none'.*; there are: a"),
    ("file(COPY_FILE ${CMAKE_CURRENT_SOURCE_DIR}/a.cu ${CMAKE_CURRENT_SOURCE_DIR}/a$b.cu)\npipelink_add_component(a SOURCES a$b.cu)",
     r"component\(a\): source file '.*a\$b.cu': nvcc gives its path to a shell, which takes '\$' for the begin of a variable"),
    (BASE + "pipelink_add_component(a SOURCES a.cu)", r"component\(a\): a target of this name exists already"),
    ("pipelink_add_component(a SOURCES a.cu TILELANG a.py)", r"component\(a\): SOURCES beside TILELANG"),
    ("pipelink_add_component(a TILELANG a.py b.py)", r"TILELANG takes one file, not 2"),
    ("pipelink_add_component(a TILELANG none.py)", r"the file '.*none.py' after TILELANG does not exist"),
    (NO_TILELANG + "pipelink_add_component(t TILELANG t.py)",
     r"component\(t\): there is no lowered source '.*lowered/t.cu', and there is no TileLang to make it anew; run ./ci/setup --tilelang"),
    (NO_TILELANG + "file(WRITE ${CMAKE_CURRENT_SOURCE_DIR}/lowered/t.cu \"// another\\n\")\npipelink_add_component(t TILELANG t.py)",
     r"'.*lowered/t.cu' was made by another version of the front end, and there is no TileLang"),
    (NO_TILELANG + "file(WRITE ${CMAKE_CURRENT_SOURCE_DIR}/lowered/t.cu \"// pipelink-tilelang 1 00 90a tilelang 1\\n\")\npipelink_add_component(t TILELANG t.py)",
     r"'.*t.py' was changed since '.*lowered/t.cu' was made, and there is no TileLang"),
    (KEPT_LOWERED + "pipelink_add_component(t TILELANG t.py ARCHITECTURES 90a 120a)",
     r"'.*lowered/t.cu' was not made for 120a, and there is no TileLang"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES 90a-real)", r"'90a-real' asks for one kind of code; write '90a'"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES 90a-virtual)", r"'90a-virtual' asks for one kind of code"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES all)", r"architecture 'all' does not name one"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES all-major)", r"architecture 'all-major' does not name one"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES native)", r"architecture 'native' does not name one"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES sm_90a)", r"architecture 'sm_90a': write '90a'"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES sm_90)", r"architecture 'sm_90': write '90a'"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES 90)", r"architecture '90': write '90a'"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES hopper)", r"architecture 'hopper' is not known; there are 90a, 100a, 103a, 120a"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES 89)", r"architecture '89' is not known; there are 90a, 100a, 103a, 120a"),
    ("pipelink_add_component(a SOURCES a.cu ARCHITECTURES 90a 90a)", r"an architecture is listed twice"),
    ("pipelink_add_component(a SOURCES a.cu COMPILE_OPTIONS -G)", r"'-G' in COMPILE_OPTIONS: device debug code cannot"),
    ("set(CMAKE_CUDA_FLAGS \"-O2 -G\")\n" + BASE, r"'-G' in CMAKE_CUDA_FLAGS: device debug code cannot"),
    ("set(CMAKE_CUDA_COMPILER_VERSION 12.4.99)\n" + BASE, r"needs CUDA 13.0 or newer; '.*' is of CUDA 12.4.99"),
]

COMPOSITION_CASES = [
    ("pipelink_add_composition(k COMPONENTS a none)", r"composition\(k\): there is no component 'none'; those that come with PipeLink: .*; there are: a"),
    *[(NEAR + f"pipelink_add_composition(k COMPONENTS a {word})", rf"there is no component '{re.escape(word)}'; is {meant} meant\?; there are: a, ")
      for word, meant in [("scale_row", "'scale_rows'"), ("scalee_rows", "'scale_rows'"), ("scale_rovs", "'scale_rows'"), ("sacle_rows", "'scale_rows'"),
                          ("Scale-Rows", "'scale_rows'"), ("K::scalerows", "'scale_rows'"), ("sum", "'sum_columns' or 'sum_rows'"),
                          ("block_sum_rows", "'sum_rows'"), ("sum_row+", "'sum_rows'")]],
    (NEAR + "pipelink_add_composition(k COMPONENTS a c)", r"there is no component 'c'; those that come with PipeLink"),
    (NEAR + "pipelink_add_composition(k COMPONENTS a columns_sum)", r"there is no component 'columns_sum'; those that come with PipeLink"),
    ("add_library(t INTERFACE)\npipelink_add_composition(k COMPONENTS a t)", r"'t' is a target, but not a component"),
    ("pipelink_add_composition(k_ COMPONENTS a)", r"'k_' is not a PipeLink name"),
    ("pipelink_add_composition(k COMPONENTS a INSTANCES a AS x__y)", r"INSTANCES: 'x__y' is not a name for an instance"),
    ("pipelink_add_composition(k COMPONENTS a INSTANCES a AS x_)", r"INSTANCES: 'x_' is not a name for an instance"),
    ("pipelink_add_composition(k COMPONENTS $<1:a>)",
     r"composition\(k\): '\$<1:a>' \(after COMPONENTS\): generator expressions are not evaluated here; use if\(\)"),
    ("pipelink_add_composition(k COMPONENTS a LINK_OPTIONS $<$<CONFIG:Debug>:guard>)",
     r"\(after LINK_OPTIONS\): generator expressions are not evaluated here"),
    ("string(ASCII 1 c)\npipelink_add_composition(k COMPONENTS a SET \"a.x=1${c}\")", r"SET: the value of 'a.x' has a control character"),
    ("pipelink_add_composition(k COMPONENTS a SET \"a.x=1\n2\")", r"SET: the value of 'a.x' has a control character"),
    ("pipelink_add_composition(k COMPONENTS a a)", r"'a' is listed twice; use INSTANCES a AS"),
    ("add_library(K::a ALIAS a)\npipelink_add_composition(k COMPONENTS a b K::a)", r"'K::a' is listed twice, as 'a' too; use INSTANCES K::a AS"),
    ("pipelink_add_composition(k)", r"COMPONENTS is missing"),
    ("pipelink_add_composition(k COMPONENTS a CONTORL)", r"unknown keyword 'CONTORL' \(after COMPONENTS\)"),
    ("pipelink_add_composition(k COMPONENTS a BIND)", r"no value after BIND"),
    ("pipelink_add_composition(k COMPONENTS a BIND a.x)", r"BIND: 'a.x' is not <a.port>=<b.port>"),
    ("pipelink_add_composition(k COMPONENTS a SET x=1)", r"SET: 'x=1' is not <owner.fact>=<value>"),
    ("pipelink_add_composition(k COMPONENTS a SET a.x=1 a.x=2)", r"SET: 'a.x' is set twice"),
    ("pipelink_add_composition(k COMPONENTS a LINK_OPTIONS fast)", r"LINK_OPTIONS: unknown option 'fast'; there are"),
    ("pipelink_add_composition(k COMPONENTS a LINK_OPTIONS guard=2)", r"LINK_OPTIONS: unknown option 'guard=2'; there are guard, guard=<n>ms,"),
    ("pipelink_add_composition(k COMPONENTS a INSTANCES a a0 a1)", r"expected AS after 'a'"),
    ("pipelink_add_composition(k COMPONENTS a INSTANCES a AS)", r"INSTANCES: no name after 'a AS'"),
    ("pipelink_add_composition(k COMPONENTS a INSTANCES c AS c0)", r"INSTANCES: 'c' is not one of COMPONENTS"),
    ("pipelink_add_composition(k COMPONENTS a INSTANCES a AS x x)", r"INSTANCES: the name 'x' is used twice for architecture 90a"),
    ("pipelink_add_composition(k COMPONENTS a INSTANCES a AS x a AS y)", r"INSTANCES: 'a' is named twice for architecture 90a"),
    ("pipelink_add_composition(k COMPONENTS a INSTANCES b AS x)", r"INSTANCES: 'b' is not one of COMPONENTS"),
    ("pipelink_add_composition(k COMPONENTS 100a:a)", r"'100a:a': 100a is not one of the composition's architectures"),
    ("pipelink_add_composition(k COMPONENTS a 95a:b)", r"'95a:b': architecture '95a' is not known; there are 90a, 100a, 103a, 120a"),
    ("pipelink_add_composition(k COMPONENTS a sm_90a:b)", r"'sm_90a:b': 'sm_90a' is not an architecture; write e.g. 90a:b"),
    ("pipelink_add_composition(k COMPONENTS a 90a-real:b)", r"architecture '90a-real' asks for one kind of code"),
    ("pipelink_add_composition(k COMPONENTS a 90a:b 90a:b)", r"'b' is listed twice; use INSTANCES b AS"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS 90a:a)",
     r"COMPONENTS: none is for architecture 120a; there are 90a:a"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w a)",
     r"'a' has no package for architecture 120a; it has: 90a"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w 90a:a BIND a.x=w.x)",
     r"BIND: 'a' is not there on architecture 120a, which has: w; for one architecture only, write e.g. 90a:a"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w 90a:a SET a.x=1)",
     r"SET: 'a' is not there on architecture 120a, which has: w"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w 90a:a LINK_OPTIONS ring:a.x=0,1)",
     r"LINK_OPTIONS: 'a' is not there on architecture 120a, which has: w"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w INSTANCES w AS u v SET w.x=1)",
     r"SET: 'w' is used as u, v: write u.…"),
    ("pipelink_add_composition(k COMPONENTS a SET b.x=1)", r"SET: there is no 'b'; there are a"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w 90a:a INSTANCES 120a:a AS u)",
     r"INSTANCES: '120a:a': 'a' is not one of the COMPONENTS of architecture 120a"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w 90a:a INSTANCES w AS u 90a:a AS u)",
     r"INSTANCES: the name 'u' is used twice for architecture 90a"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w SET w.x=1 120a:w.x=2)",
     r"SET: 'w.x' is set twice"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w SET 100a:w.x=1)",
     r"SET: '100a:w.x=1': 100a is not one of the composition's architectures \(90a, 120a\)"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w BIND fast:w.x=w.y)",
     r"BIND: 'fast:w.x=w.y': 'fast' is not an architecture"),
    (WIDE + "pipelink_add_composition(k ARCHITECTURES 90a 120a COMPONENTS w LINK_OPTIONS 100a:guard)",
     r"LINK_OPTIONS: '100a:guard': 100a is not one of the composition's architectures"),
    ("pipelink_add_composition(k COMPONENTS fast:a)", r"'fast:a': 'fast' is not an architecture"),
    ("pipelink_add_composition(k ARCHITECTURES 100a COMPONENTS a)", r"'a' has no package for architecture 100a; it has: 90a"),
    (LIMIT + "pipelink_add_composition(k ARCHITECTURES 90a COMPONENTS a)",
     r"none of its architectures \(90a\) is in PIPELINK_ARCHITECTURES \(120a\)"),
    (LIMIT + "pipelink_add_component(n SOURCES a.cu ARCHITECTURES 90a)\npipelink_add_composition(k COMPONENTS n)",
     r"'n' has no package for architecture 120a; it has: none"),
    ("set(PIPELINK_ARCHITECTURES 90a 120)\npipelink_add_composition(k COMPONENTS a)",
     r"composition\(k\): PIPELINK_ARCHITECTURES: architecture '120': write '120a'"),
    ("pipelink_add_component(c SOURCES a.cu COMPILE_OPTIONS --use_fast_math)\n"
     "pipelink_add_composition(k COMPONENTS a c CONTROL)",
     r"CONTROL: conflicting compile options: 'a' has '' and 'c' has '--use_fast_math'"),
    ("pipelink_add_component(c SOURCES a.cu COMPILE_OPTIONS -DN=1)\npipelink_add_component(d SOURCES a.cu COMPILE_OPTIONS -DN=2)\n"
     "pipelink_add_composition(k COMPONENTS c d CONTROL)",
     r"CONTROL: conflicting compile options: 'c' has -DN=1 and 'd' has -DN=2"),
]

# What is no mistake: names that CMake takes for "false".
FALSE_NAMES = ("pipelink_add_component(n SOURCES a.cu)\npipelink_add_component(no SOURCES a.cu)\n"
               "pipelink_add_composition(k1 COMPONENTS n CONTROL)\npipelink_add_composition(k2 COMPONENTS no INSTANCES no AS off)\n"
               "pipelink_install(K COMPONENTS n no NAMESPACE K:: VERSION 1)")

INSTALL_CASES = [
    ("pipelink_install(K COMPONENTS a)", r"pipelink_install\(K\): NAMESPACE is missing"),
    ("pipelink_install(K COMPONENTS a NAMESPACE K)", r"NAMESPACE 'K' is not a name with '::' at its end"),
    ("pipelink_install(K COMPONENTS none NAMESPACE K::)", r"there is no component 'none'"),
    ("pipelink_install(K COMPONENTS a NAMESPACE K::)", r"VERSION is missing, and the project has none"),
    ("pipelink_install(K COMPONENTS a NAMESPACE K:: VERSION new)", r"VERSION 'new' is not a version"),
    ("pipelink_add_component(c SOURCES a.cu USES a)\npipelink_install(K COMPONENTS c NAMESPACE K:: VERSION 1)",
     r"'c' USES 'a', whose headers its users need"),
    ("pipelink_add_component(c SOURCES a.cu USES d)\npipelink_add_component(d SOURCES a.cu USES c)\n"
     "pipelink_install(K COMPONENTS c d NAMESPACE K:: VERSION 1)", r"'c USES d USES c' goes in a circle"),
    ("pipelink_import_package(i FILES none.sm_90a.plk)", r"package\(i\): '.*none.sm_90a.plk' does not exist; a package is read when this is configured"),
    ("file(WRITE \"${CMAKE_CURRENT_SOURCE_DIR}/q\\\"/a.sm_90a.plk\" \"\")\npipelink_import_package(i FILES \"q\\\"/a.sm_90a.plk\")",
     r"i: the path of its package, '.*q\"/a.sm_90a.plk', has a quotation mark"),
    ("pipelink_import_package(i FILES a.cu)", r"'.*a.cu' is not named <component>.sm_<architecture>.plk"),
    ("pipelink_add_to_bundle(none)", r"there is no composition 'none'"),
]


def refused(cases, before="", accepted=""):
    def test(options):
        project = Project(options, options.work / "arguments", "empty")
        (project.source / "case.cmake").write_text(accepted + "\n")
        project.configure()  # so that the compilers are known, too
        for text, pattern in cases:
            (project.source / "case.cmake").write_text(before + text + "\n")
            project.configure_fails(pattern)
        print(f"ok: {len(cases)} mistakes refused")
        return project

    return test


def component(options):
    """Mistakes; then what a build is for: PIPELINK_ARCHITECTURES limits, CMAKE_CUDA_ARCHITECTURES is a default."""
    project = refused(COMPONENT_CASES)(options)
    (project.source / "case.cmake").write_text("""
pipelink_add_component(c0 SOURCES a.cu)
pipelink_add_component(c1 SOURCES a.cu ARCHITECTURES 90a 120a)
pipelink_add_component(c2 SOURCES a.cu ARCHITECTURES 100a)
foreach(component IN ITEMS c0 c1 c2)
  get_target_property(chosen ${component} PIPELINK_ARCHITECTURES)
  message(STATUS "${component} is for [${chosen}]")
endforeach()
""")
    for definitions, expected in [
            ([], ["90a", "90a;120a", "100a"]),
            (["-DPIPELINK_ARCHITECTURES=120a"], ["120a", "120a", ""]),
            (["-DPIPELINK_ARCHITECTURES=100a;120a"], ["100a;120a", "120a", "100a"]),
            (["-DPIPELINK_ARCHITECTURES=", "-DCMAKE_CUDA_ARCHITECTURES=103a"], ["103a", "90a;120a", "100a"]),
            (["-DCMAKE_CUDA_ARCHITECTURES=75"], ["90a", "90a;120a", "100a"])]:
        found = re.findall(r"c\d is for \[(.*)\]", project.configure(*definitions))
        check(found == expected, f"{definitions}: built for {found}, not {expected}")


def places(options):
    """Where a composition's call stands: its line, or none if that cannot be told; never that of another text."""
    call = "pipelink_add_composition(k COMPONENTS a)\n"
    project = Project(options, options.work / "places", "empty")
    for text, line in [
            (BASE + call, 3),
            (BASE + f"cmake_language(EVAL CODE [[{call}]])\n", 3),
            (BASE + f"cmake_language(EVAL CODE [[cmake_language(EVAL CODE [=[{call}]=])]])\n", 3),
            (BASE + "cmake_language(CALL pipelink_add_composition k COMPONENTS a)\n", None),
            (BASE + f"#[[\n{call}]]\nforeach(name IN ITEMS k)\npipelink_add_composition(${{name}} COMPONENTS a)\nendforeach()\n", None),
            (BASE + f"#[==[ [[\n ]]\n{call}]==]\nforeach(name IN ITEMS k)\npipelink_add_composition(${{name}} COMPONENTS a)\nendforeach()\n", None),
            (BASE + f"#[[\n]]\n{call}", 5)]:
        (project.source / "case.cmake").write_text(text)
        project.configure()
        stated = json.loads(next(project.build_dir.rglob("k.sm_90a.composition.json")).read_text())["declared"]
        check(stated == {"file": "case.cmake", **({"line": line} if line else {})}, f"{stated}, and not line {line}, for\n{text}")
    print("ok: each place is told as it is")


def tilelang(options):
    """A component in TileLang without a kept source is lowered when configuring, and again when its file changes."""
    python = HERE.parents[1] / ".pipelink/tilelang/bin/python"
    if not python.exists():
        raise Skip("TileLang is not installed; ./ci/setup --tilelang installs it")
    project = Project(options, options.work / "tilelang", "empty")
    (project.source / "case.cmake").write_text("pipelink_add_component(shown TILELANG shown.py ARCHITECTURES 120a)\n")
    (project.source / "shown.py").write_text("""import pipelink_tilelang as pipelink
import tilelang.language as T

@T.prim_func
def show(x: T.Tensor((128,), "float32")):
    with T.Kernel(1, threads=128):
        for i in T.Parallel(128):
            x[i] = 1

component = pipelink.Component(roles=[pipelink.Role(show)])
""")
    check("Lowering shown" in project.configure(), "the component was not lowered")
    check("Lowering shown" not in project.configure(), "the component was lowered twice")
    project.build("shown.package")
    project.edit("shown.py", "= 1", "= 2")
    check("Lowering shown" in project.configure(), "the component was not lowered again")
    check("0x1p+1f" in (project.build_dir / "lowered/shown.cu").read_text(), "the lowered source is not that of the file")
    project.edit("shown.py", "threads=128", "threads=(64, 2)")
    project.configure_fails(r"component\(shown\): error: shown.py: line 5: show: has threads in more than one dimension")


def architectures(options):
    """The commands and the linker know the same architectures."""
    root = HERE.parents[1]
    commands = re.search(r"_pipelink_architectures ([^)]*)\)", (root / "cmake/PipeLinkChecks.cmake").read_text())
    linker = re.findall(r'\{"sm_(\w+)", ', (root / "linker/plan/problem.cc").read_text())
    check(linker and commands.group(1).split() == linker, f"{commands.group(1)} differs from {linker}")


def project_of(options, name, text):
    folder = fresh(options.work / name)
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\n" + text)
    (folder / "a.cu").write_text("")
    return folder


def configure(options, folder, **env):
    return run([options.cmake, "-S", folder, "-B", folder / "build", "-G", "Ninja",
                f"-DCMAKE_PREFIX_PATH={options.pipelink}"], env=env)


def languages(options):
    find = "find_package(PipeLink REQUIRED)\n"
    folder = project_of(options, "cuda only", "project(p LANGUAGES CUDA)\n" + find)
    status, text = configure(options, folder)
    check(status != 0, "a CUDA-only project was accepted")
    expect_match(r"needs the language CXX.*write project\(p LANGUAGES CXX CUDA\)", text, "a CUDA-only project")

    folder = project_of(options, "cxx only", "project(p LANGUAGES CXX)\n" + find + BASE)
    status, text = configure(options, folder)
    check(status != 0, "a component without CUDA was accepted")
    expect_match(r"component\(a\): the project has not enabled the language CUDA .*write project\(p LANGUAGES CXX CUDA\)",
                 text, "a component in a project without CUDA")


def old_toolkit(options):
    folder = project_of(options, "old toolkit", "project(p LANGUAGES CXX)\nfind_package(PipeLink REQUIRED)\n")
    nvcc = folder / "nvcc"
    nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.99'\n")
    nvcc.chmod(nvcc.stat().st_mode | stat.S_IXUSR)
    status, text = configure(options, folder, CUDACXX=str(nvcc))
    check(status != 0, "CUDA 12 was accepted")
    expect_match(r"PipeLink needs CUDA 13.0 or newer; '.*nvcc' is of CUDA 12.4.99", text, "an old toolkit")
    status, text = configure(options, folder, CUDACXX="/nowhere/nvcc")
    expect_match(r"'/nowhere/nvcc' is not an nvcc that can be run", text, "an nvcc that is not there")


if __name__ == "__main__":
    sys.exit(main({
        "component": component,
        "composition": refused(COMPOSITION_CASES, BASE, FALSE_NAMES),
        "install": refused(INSTALL_CASES, BASE),
        "languages": languages,
        "old-toolkit": old_toolkit,
        "architectures": architectures,
        "places": places,
        "tilelang": tilelang,
    }))
