"""find_package(PipeLink) and packages of components, from build trees and install trees."""
import os
import re
import shutil
import sys
from pathlib import Path

from support import HERE, Project, check, expect_match, fresh, main, must_run, run

BUILD = ["compile app.cc", "compile demo.entry.cc", "compile demo.images.cc", "ld app", "link demo.sm_90a"]
RELINK = ["compile demo.images.cc", "ld app", "link demo.sm_90a"]


def paths(options):
    return options.work / "prefix of pipelink", options.work / "kernels project", options.work / "prefix of kernels"


def setup(options):
    """Installs PipeLink, then builds the kernels with the install tree and installs them; the other tests use both."""
    pipelink, kernels, prefix = paths(options)
    must_run([options.cmake, "--install", options.pipelink, "--prefix", fresh(pipelink)])
    tool = pipelink / "bin" / "pipelink"
    for name, command in {"man/man1/pipelink.1": ["manual"], "bash-completion/completions/pipelink": ["completion", "bash"],
                          "zsh/site-functions/_pipelink": ["completion", "zsh"],
                          "fish/vendor_completions.d/pipelink.fish": ["completion", "fish"]}.items():
        check((pipelink / "share" / name).read_text() == must_run([tool, *command]), f"the installed {name} is another one")
    project = Project(options, kernels, "project", prefix=pipelink)
    project.configure()
    project.build()
    project.install(fresh(prefix))
    host = list(prefix.rglob("libwriter.host.a"))
    check(host and (host[0].parent / "writer.sm_90a.plk").exists(), "the host provider is not beside its package")


def consumer(options, name, pipelink, kernels):
    project = Project(options, options.work / f"consumer {name}", "consumer", prefix=[pipelink, kernels])
    project.configure()
    project.expect(f"a consumer of {name}", BUILD)
    must_run([project.build_dir / "app"])
    return project


def names_no_folder(options, prefix):
    files = [file for file in prefix.rglob("*") if file.is_file()]
    check(files, f"there is nothing in {prefix}")
    for file in files:
        check(str(options.work).encode() not in file.read_bytes(), f"{file} names a folder of the machine")


def build_trees(options):
    kernels = paths(options)[1] / "build"
    project = consumer(options, "build trees", options.pipelink, kernels)
    # What its project has not built yet is told when this one is configured.
    missing = r"the package of 'Kernels::scale' for architecture 90a, '[^']*scale\.sm_90a\.plk', does not exist, and nothing in this build makes it"
    hidden = {}
    try:
        for name, more in (("scale", ""), ("writer", r" \(the same is true of 'Kernels::writer'\)")):
            package = next(kernels.rglob(f"{name}.sm_90a.plk"))
            hidden[package] = package.rename(package.with_suffix(".hidden"))
            project.configure_fails(missing + more + "; build the project that it belongs to first")
    finally:
        for package, other in hidden.items():
            other.rename(package)
    project.configure()


def partial(options):
    """Of a build of some targets what was built is installed, and can be used."""
    # PipeLink's own build tree, as it would be without these.
    lacking = ("libpipelink_c.so", "tma_loader.sm_", "libswiglu.host.a")
    tree, prefix = fresh(options.work / "partial" / "tree"), fresh(options.work / "partial" / "prefix")
    scripts = [options.pipelink / "cmake_install.cmake"]
    for script in scripts:
        text = script.read_text()
        scripts += [Path(name) for name in re.findall(r'include\("(.*/cmake_install\.cmake)"\)', text)]
        copy = tree / script.relative_to(options.pipelink)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text.replace(str(options.pipelink), str(tree)))
        for name in re.findall(re.escape(str(options.pipelink)) + r'/([^"]*[^"/])"', text):
            source, target = options.pipelink / name, tree / name
            if source.is_file() and source.name != script.name and not target.exists() and not target.name.startswith(lacking):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
    must_run([options.cmake, f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", tree / "cmake_install.cmake"])
    names = {file.name for file in prefix.rglob("*")}
    for lacks in lacking:
        check(not any(name.startswith(lacks) for name in names), f"{lacks} was hidden, and is installed")
    project = Project(options, options.work / "partial" / "user", "empty", prefix=prefix)
    text = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(PipeLink REQUIRED)
find_package(PipeLinkComponents REQUIRED)
if(TARGET PipeLink::c)
  message(FATAL_ERROR "the C API's library is not installed")
endif()
"""
    file = project.source / "CMakeLists.txt"
    have = sorted(name.removesuffix(".sm_90a.plk") for name in names if name.endswith(".sm_90a.plk") and "swiglu." not in name)
    check(len(have) > 5, f"components that were built are installed: {have}")
    file.write_text(text + "pipelink_add_composition(k COMPONENTS " + " ".join(f"PipeLinkComponents::{name}" for name in have) + ")\n")
    project.configure()
    for name, why in (("tma_loader", "has no package for architecture 90a"), ("swiglu", "there is no component 'PipeLinkComponents::swiglu'")):
        file.write_text(text + f"pipelink_add_composition(k ARCHITECTURES 90a COMPONENTS PipeLinkComponents::{name})\n")
        project.configure_fails(why)


def install_trees(options):
    """Both prefixes are moved first."""
    pipelink, _, kernels = paths(options)
    moved = fresh(options.work / "moved")
    shutil.copytree(pipelink, moved / "a", symlinks=True)
    shutil.copytree(kernels, moved / "b")
    consumer(options, "install trees", moved / "a", moved / "b")
    names_no_folder(options, moved / "b")


def example(options):
    """The example of compositions/gemm_swiglu in C++, against install trees: built, and run to the end or to `no GPU`."""
    pipelink, _, _ = paths(options)
    root = HERE.parent.parent
    project = Project(options, options.work / "example", root / "compositions" / "gemm_swiglu" / "examples" / "cpp",
                      prefix=pipelink)
    limit = [line.partition("=")[2] for line in (options.pipelink / "CMakeCache.txt").read_text().splitlines()
             if line.startswith("PIPELINK_ARCHITECTURES:")]
    project.configure("-DPIPELINK_ARCHITECTURES=" + "".join(limit))
    project.build()
    check(f"PipeLinkComponents_DIR:PATH={pipelink}" in (project.build_dir / "CMakeCache.txt").read_text(),
          "the components were not found in the install tree")
    status, text = run([project.build_dir / "gemm_swiglu_example"])
    print(text)
    check((status == 77 and "nothing was run: " in text) or (status == 0 and text.endswith("PASS\n")), f"it ended with {status}")


def refused(options):
    pipelink, _, kernels = paths(options)
    project = Project(options, options.work / "consumer refused", "consumer", prefix=[pipelink, kernels])
    project.configure()
    project.configure_fails(r"compatible with requested version \"2.0\".*version: 1.2.0", "-DKERNELS_VERSION=2.0")
    project.configure_fails(r"compatible with requested version \"1.9\"", "-DKERNELS_VERSION=1.9")
    project.configure_fails(r"Kernels has no packages for sm_120a; it has: sm_90a", "-DKERNELS_VERSION=1.1",
                            "-DKERNELS_COMPONENTS=sm_120a")
    case = project.source / "case.cmake"
    for text, pattern in [
            ("pipelink_add_composition(k ARCHITECTURES 100a COMPONENTS Kernels::scale)",
             r"'Kernels::scale' has no package for architecture 100a; it has: 90a"),
            ("enable_language(CUDA)\npipelink_add_composition(k COMPONENTS Kernels::scale Kernels::writer CONTROL)",
             r"CONTROL: 'Kernels::scale' is a package without source")]:
        case.write_text(text + "\n")
        project.configure_fails(pattern, "-DKERNELS_COMPONENTS=sm_90a")
    project.edit("CMakeLists.txt", "find_package(PipeLink REQUIRED)\n", "") # the packages ask for it
    project.edit("CMakeLists.txt", "LANGUAGES CXX)", "LANGUAGES NONE)")
    project.configure_fails(r"needs the language CXX, .*write project\(consumer LANGUAGES CXX CUDA\)")
    status, text = run([options.cmake, "-S", project.source, "-B", options.work / "consumer refused" / "build2",
                        f"-DCMAKE_PREFIX_PATH={kernels}", "-DPipeLink_DIR=/nowhere"])
    check(status != 0, "packages were accepted without PipeLink")
    expect_match("PipeLink", text, "without PipeLink")


def upgrade(options):
    """Newer packages with older time stamps, installed over the old ones: a link, no compile of device code."""
    pipelink, kernels, prefix = paths(options)
    mine = options.work / "prefix upgraded"
    shutil.rmtree(mine, ignore_errors=True)
    shutil.copytree(prefix, mine)
    project = consumer(options, "upgraded packages", pipelink, mine)

    edited = Project(options, options.work / "kernels edited", "project", prefix=pipelink)
    edited.edit("scale/scale.cu", "x * factor", "x * x * factor")
    edited.configure()
    edited.build("scale.package")
    package = next(mine.rglob("scale.sm_90a.plk"))
    shutil.copy(edited.build_dir / "pipelink" / "scale.sm_90a.plk", package)
    os.utime(package, (1_500_000_000, 1_500_000_000))
    project.configure()
    project.expect("an upgrade", RELINK)


def merge(options):
    """Builds for one architecture each, with other components, install into one prefix; none takes from the others."""
    pipelink, kernels, prefix = paths(options)
    other = Project(options, options.work / "kernels of 120a", "project", prefix=pipelink)
    other.edit("CMakeLists.txt", "COMPONENTS scale writer NAMESPACE", "COMPONENTS extra scale writer NAMESPACE")
    other.edit("CMakeLists.txt", "SOURCES extra/extra.cu)", "SOURCES extra/extra.cu USES writer ARCHITECTURES 90a 120a)")
    other.configure("-DPIPELINK_ARCHITECTURES=120a")
    ran = [line for target in ("scale.package", "writer.package", "extra.package") for line in other.build(target)]
    check(sorted(line for line in ran if line.startswith("pack")) == [f"pack {c}.sm_120a" for c in ("extra", "scale", "writer")],
          f"a build for 120a ran {ran}")
    other.install(fresh(options.work / "prefix of 120a"))

    one, two = fresh(options.work / "merged" / "in order"), fresh(options.work / "merged" / "copied")
    other.install(one)
    must_run([options.cmake, "--install", kernels / "build", "--prefix", one])
    for part in (prefix, options.work / "prefix of 120a"):
        shutil.copytree(part, two, dirs_exist_ok=True)
    listings = [sorted((file.relative_to(folder), file.read_bytes()) for file in folder.rglob("*") if file.is_file())
                for folder in (one, two)]
    check(listings[0] == listings[1], f"{one} and {two} differ")
    names_no_folder(options, one)

    user = Project(options, options.work / "consumer merged", "consumer", prefix=[pipelink, one])
    user.edit("CMakeLists.txt", "LANGUAGES CXX)", "LANGUAGES CXX CUDA)")
    user.edit("CMakeLists.txt", "demo COMPONENTS Kernels::scale",
              "demo ARCHITECTURES 90a 120a COMPONENTS 120a:Kernels::extra Kernels::scale")
    user.configure("-DKERNELS_COMPONENTS=sm_90a;sm_120a")
    user.expect("a consumer of merged packages", BUILD + ["link demo.sm_120a"])
    user.configure_fails("Kernels has no packages for sm_100a, sm_103a; it has: sm_90a, sm_120a. Packages of all "
                         "architectures must be in one prefix", "-DKERNELS_COMPONENTS=sm_103a;sm_120a;sm_100a")

    user.prefix = [pipelink, prefix, options.work / "prefix of 120a"]
    user.configure_fails("Kernels has no packages for sm_120a; it has: sm_90a. Packages of all architectures must be in one "
                         "prefix", "-UKernels_DIR", "-DKERNELS_COMPONENTS=sm_90a;sm_120a")
    user.prefix = [pipelink, one]

    other.edit("CMakeLists.txt", "VERSION 1.2.0", "VERSION 1.3.0")
    other.configure("-DPIPELINK_ARCHITECTURES=90a")
    built = {file.name for file in (other.build_dir / "lib/cmake/Kernels").glob("*.sm_*.cmake")}
    check(built == {f"{c}.sm_90a.cmake" for c in ("extra", "scale", "writer")}, f"the build tree for 90a offers {built}")
    next(one.rglob("scale.sm_120a.cmake")).write_text("set(_pipelink_version 1.1.0)\n")
    user.configure_fails(r"Kernels is of version 1.2.0, but these packages in its prefix are not: scale.sm_120a 1.1.0; install",
                         "-UKernels_DIR", "-DKERNELS_COMPONENTS=sm_90a")
    next(two.rglob("scale.sm_90a.plk")).unlink()
    user.prefix = [pipelink, two]
    user.configure_fails("Kernels::scale: its package '.*scale.sm_90a.plk' is missing; install it again", "-UKernels_DIR")


def import_package(options):
    pipelink, _, kernels = paths(options)
    folder = next(kernels.rglob("scale.sm_90a.plk")).parent
    project = Project(options, options.work / "consumer import", "consumer", prefix=[pipelink, kernels])
    project.edit("CMakeLists.txt", "Kernels::scale Kernels::writer", "scale_at_hand Kernels::writer")
    (project.source / "case.cmake").write_text(
        f"pipelink_import_package(scale_at_hand FILES [[{folder / 'scale.sm_90a.plk'}]])\n")
    project.configure()
    project.expect("a package at hand", BUILD)


if __name__ == "__main__":
    sys.exit(main({"setup": setup, "build-trees": build_trees, "install-trees": install_trees, "refused": refused,
                   "upgrade": upgrade, "merge": merge, "import": import_package, "partial": partial,
                   "example": example}))
