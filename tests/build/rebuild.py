"""Which steps a change causes: exactly these, under every generator, in a folder with a space in its name."""
import json
import sys

from support import Project, check, expect_match, main, must_run, run

COMPILE, PACK = "compile scale.cu", "pack scale.sm_90a"
LINK = "link demo.sm_90a"
EMBED = ["compile demo.images.cc", "ld app"]  # the new image goes into the library and the program
CONTROL = "compile demo.sm_90a.control.cu"


def report(project, name, *architectures):
    """`NAME.report` prints the summary and makes the page, of what is linked now."""
    text = must_run([project.options.cmake, "--build", project.build_dir, "--target", f"{name}.report", *project.config])
    for arch in architectures:
        expect_match(rf"{name} for {arch}: ", text, f"what {name}.report prints")
        pages = list(project.build_dir.rglob(f"{name}.{arch}.html"))
        check(len(pages) == 1, f"{name}.report made {pages}")
        check(f"page: {pages[0]}" in text, f"{name}.report does not say where the page is: {text}")
        glue = json.loads(pages[0].with_suffix(".map.json").read_text())["glue"]["sha256"]
        check(glue in pages[0].read_text(), f"{pages[0].name} is not of the last link")


def rebuild(generator):
    def test(options):
        folder = options.work / ("rebuild " + generator.lower().replace(" ", "-"))
        project = Project(options, folder, "project", generator)
        project.configure()
        project.build()
        project.expect("nothing", [])
        report(project, "demo", "sm_90a")

        project.touch("scale/scale.cu")
        project.expect("touching a source", [COMPILE, PACK])
        project.edit("scale/scale.cu", "return x * factor", "return (x - 1.0f) * factor")
        project.expect("editing a source", [COMPILE, PACK, LINK, *EMBED])
        project.edit("scale/scale.cu", "PIPELINK_FACT(factor, int, 3)", "PIPELINK_FACT(factor, int, 5)")
        project.expect("editing a fact in its owner", [COMPILE, PACK, LINK, *EMBED])
        report(project, "demo", "sm_90a")

        project.edit("CMakeLists.txt", "SET scale.bias=2", "SET scale.bias=4")
        project.expect("setting a fact", [LINK, *EMBED])
        project.edit("CMakeLists.txt", "COMPONENTS scale writer extra", "COMPONENTS extra writer scale")
        project.expect("reordering components", [LINK])
        project.edit("CMakeLists.txt", "COMPONENTS extra writer scale", "COMPONENTS writer scale")
        project.expect("removing a component", [LINK, *EMBED])

        project.edit("CMakeLists.txt", "find_package(PipeLink REQUIRED)\n", "find_package(PipeLink REQUIRED)\n# pipelink_add_composition(demo ) in a comment.\n")
        project.expect("moving lines", [])
        # What is refused names the call, where it stands now.
        project.edit("CMakeLists.txt", "SET scale.bias=4", "SET scale.bias=77")
        text = project.build_fails()
        line = (project.source / "CMakeLists.txt").read_text().split("\npipelink_add_composition(demo")[0].count("\n") + 2
        expect_match(rf"error\[L-FACT-DOMAIN\].*composition: SET scale.bias=77 \(CMakeLists.txt:{line}\)", text, "a refused SET")
        project.edit("CMakeLists.txt", "SET scale.bias=77", "BIND scale.nothing=writer.nothing SET scale.bias=4")
        project.edit("CMakeLists.txt", "\npipelink_add_composition(demo", '\nPipeLink_Add_Composition("demo"')
        expect_match(rf"error\[L-BIND\].*composition: BIND scale.nothing=writer.nothing \(CMakeLists.txt:{line}\)",
                     project.build_fails(), "a refused BIND")
        project.edit("CMakeLists.txt", "BIND scale.nothing=writer.nothing SET scale.bias=4", "SET scale.bias=4")
        project.edit("CMakeLists.txt", '\nPipeLink_Add_Composition("demo"', "\npipelink_add_composition(demo")
        project.expect("as it was", [LINK])

        project.edit("writer/writer_host.cc", "result->blocks = 1;", "result->blocks = 2;")
        project.expect("editing a host provider", ["compile writer_host.cc", "pack writer.sm_90a", LINK, "ld app"])
        project.edit("CMakeLists.txt", "scale SOURCES scale/scale.cu", "scale SOURCES scale/scale.cu COMPILE_OPTIONS -DUNUSED")
        project.expect("adding a definition", [COMPILE, PACK])

        project.expect("the control", [CONTROL], "demo.control")
        project.edit("scale/scale.cu", "(x - 1.0f) * factor", "(x - 2.0f) * factor")
        project.expect("editing a source, for the control", [COMPILE, PACK, LINK, CONTROL], "demo.control")
        project.expect("the rest after the control", EMBED)

    return test


def several(generator):
    """Two architectures, each with a producer of its own: a change relinks the images that it is part of."""
    def test(options):
        folder = options.work / ("several " + generator.lower().replace(" ", "-"))
        project = Project(options, folder, "several", generator)
        embed = ["compile several.images.cc", "ld app"]
        project.configure()
        project.build()
        project.expect("nothing", [])
        report(project, "several", "sm_90a", "sm_120a")
        must_run([next(p for p in project.build_dir.rglob("app") if p.is_file())])
        for arch, component, bias in ("sm_90a", "wide", 2), ("sm_120a", "narrow", 4):
            link_map = json.loads(next(project.build_dir.rglob(f"several.{arch}.map.json")).read_text())
            found = {i["name"]: i["component"] for i in link_map["instances"]}
            check(found == {"producer": component, "scale": "scale"}, f"{arch} has the instances {found}")
            values = {f["fact"]: f["value"] for f in link_map["facts"]}
            check(values["scale.bias"] == bias, f"{arch} has the facts {values}")

        project.edit("wide.cu", "static_cast<float>(i)", "static_cast<float>(i + 1)")
        project.expect("editing one architecture's producer",
                       ["compile wide.cu", "pack wide.sm_90a", "link several.sm_90a", *embed])
        project.edit("scale.cu", "x * factor", "(x - 1.0f) * factor")
        project.expect("editing the common consumer",
                       ["compile scale.cu", "compile scale.cu", "pack scale.sm_120a", "pack scale.sm_90a",
                        "link several.sm_120a", "link several.sm_90a", *embed])
        project.edit("CMakeLists.txt", "120a:scale.bias=4", "120a:scale.bias=1")
        project.expect("setting a fact of one architecture", ["link several.sm_120a", *embed])
        project.expect("the controls", [f"compile several.{a}.control.cu" for a in ("sm_120a", "sm_90a")],
                       "several.control")

        project.edit("output.h", "float* out;", "float* out;\n#if __CUDA_ARCH__ >= 1200\n  int more;\n#endif")
        project.edit("narrow.cu", '"output.h", out)', '"output.h", out, more)')
        status, text = run([options.cmake, "--build", project.build_dir, *project.config])
        check(status != 0, "a struct that differs between architectures was accepted")
        expect_match(r"L-HOST.*the parameters output::Parameters of instance producer differ between architectures.*"
                     r"wide \(sm_90a\): 8 bytes.*narrow \(sm_120a\): 16 bytes", text, "a struct that differs")
        print("ok: a struct that differs between architectures is refused")

    return test


if __name__ == "__main__":
    sys.exit(main({
        "ninja": rebuild("Ninja"),
        "ninja-multi-config": rebuild("Ninja Multi-Config"),
        "makefiles": rebuild("Unix Makefiles"),
        "several-ninja": several("Ninja"),
        "several-makefiles": several("Unix Makefiles"),
    }))
