"""find_package(PipeLink) and packages of components, from build trees and install trees."""
import os
import shutil
import sys

from support import Project, check, expect_match, fresh, main, must_run, run

BUILD = ["compile app.cc", "compile demo.entry.cc", "compile demo.images.cc", "ld app", "link demo.sm_90a"]
RELINK = ["compile demo.images.cc", "ld app", "link demo.sm_90a"]


def paths(options):
    return options.work / "prefix of pipelink", options.work / "kernels project", options.work / "prefix of kernels"


def setup(options):
    """Installs PipeLink, then builds the kernels with the install tree and installs them; the other tests use both."""
    pipelink, kernels, prefix = paths(options)
    must_run([options.cmake, "--install", options.pipelink, "--prefix", fresh(pipelink)])
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


def build_trees(options):
    consumer(options, "build trees", options.pipelink, paths(options)[1] / "build")


def install_trees(options):
    """Both prefixes are moved first."""
    pipelink, _, kernels = paths(options)
    moved = fresh(options.work / "moved")
    shutil.copytree(pipelink, moved / "a", symlinks=True)
    shutil.copytree(kernels, moved / "b")
    consumer(options, "install trees", moved / "a", moved / "b")
    for file in (moved / "b").rglob("*.cmake"):
        check(str(options.work) not in file.read_text(), f"{file} names a folder of the machine")


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
                   "upgrade": upgrade, "import": import_package}))
