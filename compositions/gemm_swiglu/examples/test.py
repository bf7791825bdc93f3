"""The examples without a GPU:

test.py program PROGRAM                  the one in C++ runs to its end, or says that there is nothing to run on
test.py python LIBRARY                   the one in Python, too
test.py binding LIBRARY LAUNCH DRIVER    what it hands to the driver: DRIVER is the imitation of tests/unit/runtime
"""
import ctypes
import os
import subprocess
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "python"), str(HERE.parents[2] / "tests" / "unit" / "python")]


def run(*command):
    done = subprocess.run([str(c) for c in command], text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, f"exit status {done.returncode}", flush=True)
    return done.returncode, done.stdout


def to_the_end_or_no_gpu(*command):
    status, text = run(*command)
    if status == 77:
        assert "nothing was run: " in text and "Traceback" not in text and text.count("\n") == 1
    else:
        assert status == 0 and text.endswith("PASS\n")


def program(path):
    to_the_end_or_no_gpu(path)
    for wrong in [("1",), ("0", "8", "8"), ("1", "9", "8"), ("1", "8", "x"), ("1", "8", "99999999999")]:
        status, text = run(path, *wrong)
        assert status == 2 and text.startswith("usage: ")


def python(library):
    to_the_end_or_no_gpu(sys.executable, "-B", HERE / "python" / "gemm_swiglu.py", library)
    status, text = run(sys.executable, "-B", HERE / "python" / "gemm_swiglu.py")
    assert status == 2 and "usage: " in text


def binding(library, launch, driver):
    """The runtime loads the driver by its name when it is first wanted, so the process must be begun with the imitation."""
    lines = [line.split("=", 1) for line in Path(launch).read_text().splitlines() if "=" in line]
    size = next(value.split()[0] for key, value in lines if key == "parameters")
    environment = dict(os.environ, LD_LIBRARY_PATH=str(Path(driver).parent), FAKE_ENTRY="gemm_swiglu", FAKE_PARAMETERS=size)
    subprocess.run([sys.executable, "-B", __file__, "within", library, launch, driver], check=True, env=environment)


def refused(error, text, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except error as raised:
        assert str(raised) == text, raised
        return raised
    raise AssertionError(f"accepted: {text}")


def within(library, launch, driver):
    import gemm_swiglu
    import pipelink
    from arguments_test import Producer

    kernel = pipelink.load(library)
    assert (kernel.arch, kernel.device) == ("sm_90a", 0)
    assert kernel.layouts == {
        "swiglu": {"component": "swiglu", "type": "swiglu::Arguments", "size": 16, "fields": {
            "out": (0, "pointer", 8), "rows": (8, "unsigned", 4), "columns": (12, "unsigned", 4)}},
        "tma_loader": {"component": "tma_loader", "type": "tma_loader::Arguments", "size": 32, "fields": {
            "a": (0, "pointer", 8), "b": (8, "pointer", 8), "m": (16, "unsigned", 4), "n": (20, "unsigned", 4),
            "k": (24, "unsigned", 4)}}}, kernel.layouts

    a, w, out = (Producer(shape, data=data) for shape, data in
                 [((300, 1024), 0x7f0000100000), ((4096, 1024), 0x7f0000200000), ((300, 2048), 0x7f0000300000)])
    session = gemm_swiglu.open_gemm_swiglu(kernel, a, w, out)
    assert session.blocks == 132

    # What reaches the driver: addresses and extents in the tensor maps, which the imitation writes as plain words.
    fake = ctypes.CDLL(driver)
    fake.fake_parameters.restype, fake.fake_stream.restype = ctypes.POINTER(ctypes.c_uint64), ctypes.c_void_p
    session.launch(0x77)
    assert (fake.fake_launched(), fake.fake_stream()) == (1, 0x77)
    regions, instance = {}, ""
    for line in Path(launch).read_text().splitlines():
        key, _, value = line.partition("=")
        instance = value if key == "instance" else instance
        if key == "region":
            regions[instance] = int(value.split()[0])
    words = fake.fake_parameters()
    maps = {"a": regions["tma_loader"], "b": regions["tma_loader"] + 128, "out": regions["swiglu"]}
    assert {name: (words[at // 8], words[at // 8 + 1]) for name, at in maps.items()} == {
        "a": (0x7f0000100000, 1024), "b": (0x7f0000200000, 1024), "out": (0x7f0000300000, 2048)}

    # Without a stream: PyTorch's current one.
    refused(TypeError, "launch needs a stream: PyTorch, whose current stream is the default, is not imported", session.launch)
    asked = []
    current = types.SimpleNamespace(cuda_stream=0x99)
    sys.modules["torch"] = types.SimpleNamespace(
        cuda=types.SimpleNamespace(current_stream=lambda device: asked.append(device) or current))
    session.launch()
    assert (fake.fake_launched(), fake.fake_stream(), asked) == (2, 0x99, [0])
    refused(TypeError, "'main' is neither a stream of PyTorch nor a handle", session.launch, "main")

    # The cubin and its description as files, as a benchmark takes them; a session outlives the kernel's object.
    files = (launch.removesuffix(".launch") + ".cubin", launch)
    gemm_swiglu.open_gemm_swiglu(pipelink.load(library, files=files), a, w, out).launch()
    assert fake.fake_launched() == 3

    bind = gemm_swiglu.open_gemm_swiglu
    refused(TypeError, "a has dtype float16; bfloat16 was expected", bind, kernel, Producer((300, 1024), code=2), w, out)
    refused(ValueError, "w has shape [4096, 1024]; [any, 512] was expected", bind, kernel, Producer((300, 512)), w, out)
    refused(ValueError, "w has 4095 rows; gates and ups are equally many", bind, kernel, a, Producer((4095, 1024)), out)
    refused(ValueError, "out has shape [300, 2040]; [300, 2048] was expected", bind, kernel, a, w, Producer((300, 2040)))
    refused(ValueError, "tma_loader.a is on GPU 1, but the kernel is loaded on GPU 0", bind, kernel,
            Producer((300, 1024), device=(2, 1)), w, out)
    error = refused(pipelink.Error, "instance tma_loader (component tma_loader): k is 1020, which is not a multiple of 8",
                    bind, kernel, Producer((300, 1020)), Producer((4096, 1020)), out)
    assert error.code == 8 and not isinstance(error, pipelink.Unavailable)
    error = refused(pipelink.Unavailable, "no GPU 3: the CUDA driver lists 1 device", pipelink.load, library, device=3)
    assert error.code == 3
    assert kernel.scratch_bytes({"tma_loader": {"a": a, "b": w, "m": 300, "n": 4096, "k": 1024},
                                 "swiglu": {"out": out, "rows": 300, "columns": 2048}}) == 0
    print("arguments, launches and refusals are as they should be")


if __name__ == "__main__":
    {"program": program, "python": python, "binding": binding, "within": within}[sys.argv[1]](*sys.argv[2:])
