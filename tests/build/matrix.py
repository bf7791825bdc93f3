"""The template of a kernel repository and its CI: `ci/matrix` does the jobs of its workflow."""
import json
import os
import re
import shutil
import sys

from packages import names_no_folder
from support import HERE, check, expect_match, fresh, main, must_run, run

ROOT = HERE.parents[1]
TEMPLATE = ROOT / "templates" / "kernel_repository"
ARCHITECTURES = ["90a", "100a", "103a", "120a"]


def workflow_says_the_same(log):
    """The workflow's jobs, architectures and commands are those of the presets and of ci/matrix."""
    workflow = (TEMPLATE / ".github/workflows/packages.yml").read_text()
    commands = re.findall(r"^ *- run: (.*)$", workflow, re.MULTILINE)
    check(commands == ["cmake --workflow --preset ${{ matrix.architecture }}", "cmake --workflow --preset link"],
          f"the workflow runs {commands}")
    named = re.findall(r"architecture: \[(.*)\]", workflow)
    check(named == [", ".join(ARCHITECTURES)], f"the workflow is for {named}")
    check("sparse-checkout: compositions #" in workflow, "the last job checks out more than compositions/")
    presets = json.loads((TEMPLATE / "CMakePresets.json").read_text())
    names = [preset["name"] for preset in presets["workflowPresets"]]
    check(names == ["dev", *ARCHITECTURES, "link"], f"there are the workflow presets {names}")
    ran = re.findall(r"^== job \w+: (.*)$", log, re.MULTILINE)
    check(ran == [f"cmake --workflow --preset {name}" for name in names[1:]], f"ci/matrix ran {ran}")


def template(options):
    work = fresh(options.work / "jobs")
    path = os.pathsep.join([os.path.dirname(options.cmake), os.environ["PATH"]])
    environment = {"CMAKE_PREFIX_PATH": str(options.pipelink), "CMAKE_BUILD_PARALLEL_LEVEL": "2", "PATH": path}
    check("Usage: ci/matrix" in must_run([ROOT / "ci/matrix", "--help"]), "no help")
    for script in sorted((ROOT / "ci").iterdir()):
        if "." not in script.name and script.name != "matrix":
            text = must_run([script, "--help"])
            check(text.strip() and "common.sh" not in text and len(text) < 2000, f"the help of {script.name}: {text}")
    for arguments, message in [(["90a", "91a"], r"no workflow preset '91a'; it has: dev 90a 100a 103a 120a link"),
                               (["--prefix", work], "unknown option --prefix"),
                               (["--repository", work], r"has no CMakePresets.json")]:
        status, text = run([ROOT / "ci/matrix", *arguments], env=environment)
        check(status == 2, f"ci/matrix {arguments} ended with {status}")
        expect_match(message, text, "a wrong call")
    log = must_run([ROOT / "ci/matrix", "--work", work], env=environment)
    workflow_says_the_same(log)

    check(sorted(folder.name for folder in work.iterdir()) == ["link", "packages"], "a job's folder stayed")
    for architecture in ARCHITECTURES:
        packages = {file.name for file in (work / "packages" / architecture).rglob("*.plk")}
        check(packages == {f"{c}.sm_{architecture}.plk" for c in ("fill", "square")}, f"the job {architecture} left {packages}")
    names_no_folder(options, work / "link" / "prefix")
    check(not list((work / "link").glob("**/square.cu")), "the last job has a component's source")
    cubins = {file.name for file in (work / "link" / "build").rglob("*.cubin")}
    check(cubins == {f"squares.sm_{architecture}.cubin" for architecture in ARCHITECTURES}, f"linked: {cubins}")

    # A job is missing.
    shutil.rmtree(work / "link" / "prefix")
    for architecture in ("120a", "90a", "100a"):
        shutil.copytree(work / "packages" / architecture, work / "link" / "prefix", dirs_exist_ok=True)
    status, text = run([options.cmake, "--workflow", "--preset", "link"], cwd=work / "link", env=environment)
    check(status != 0, "packages of an architecture were not missed")
    expect_match("Kernels has no packages for sm_103a; it has: sm_90a, sm_100a, sm_120a", text, "a missing job")


if __name__ == "__main__":
    sys.exit(main({"template": template}))
