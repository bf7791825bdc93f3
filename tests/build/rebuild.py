"""Which steps a change causes: exactly these, under every generator, in a folder with a space in its name."""
import sys

from support import Project, main

COMPILE, PACK = "compile scale.cu", "pack scale.sm_90a"
LINK = "link demo.sm_90a"
EMBED = ["compile demo.images.cc", "ld app"]  # the new image goes into the library and the program
CONTROL = "compile demo.sm_90a.control.cu"


def rebuild(generator):
    def test(options):
        folder = options.work / ("rebuild " + generator.lower().replace(" ", "-"))
        project = Project(options, folder, "project", generator)
        project.configure()
        project.build()
        project.expect("nothing", [])

        project.touch("scale/scale.cu")
        project.expect("touching a source", [COMPILE, PACK])
        project.edit("scale/scale.cu", "return x * factor", "return (x - 1.0f) * factor")
        project.expect("editing a source", [COMPILE, PACK, LINK, *EMBED])
        project.edit("scale/scale.cu", "PIPELINK_FACT(factor, int, 3)", "PIPELINK_FACT(factor, int, 5)")
        project.expect("editing a fact in its owner", [COMPILE, PACK, LINK, *EMBED])

        project.edit("CMakeLists.txt", "SET scale.bias=2", "SET scale.bias=4")
        project.expect("setting a fact", [LINK, *EMBED])
        project.edit("CMakeLists.txt", "COMPONENTS scale writer extra", "COMPONENTS extra writer scale")
        project.expect("reordering components", [LINK])
        project.edit("CMakeLists.txt", "COMPONENTS extra writer scale", "COMPONENTS writer scale")
        project.expect("removing a component", [LINK, *EMBED])

        project.edit("writer/writer_host.cc", "result->blocks = 1;", "result->blocks = 2;")
        project.expect("editing a host provider", ["compile writer_host.cc", "pack writer.sm_90a", LINK, "ld app"])
        project.edit("CMakeLists.txt", "scale SOURCES scale/scale.cu", "scale SOURCES scale/scale.cu COMPILE_OPTIONS -DUNUSED")
        project.expect("adding a definition", [COMPILE, PACK])

        project.expect("the control", [CONTROL], "demo.control")
        project.edit("scale/scale.cu", "(x - 1.0f) * factor", "(x - 2.0f) * factor")
        project.expect("editing a source, for the control", [COMPILE, PACK, LINK, CONTROL], "demo.control")
        project.expect("the rest after the control", EMBED)

    return test


if __name__ == "__main__":
    sys.exit(main({
        "ninja": rebuild("Ninja"),
        "ninja-multi-config": rebuild("Ninja Multi-Config"),
        "makefiles": rebuild("Unix Makefiles"),
    }))
