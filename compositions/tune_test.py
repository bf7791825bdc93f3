"""tune.py on a real composition: what is linked, what is refused, what is not taken for a variant.

usage: tune_test.py PIPELINK COMPOSITION.json FOLDER
"""
import json
import pathlib
import shutil
import subprocess
import sys

TUNE = pathlib.Path(__file__).resolve().parent / "tune.py"


def tune(pipelink, composition, folder, *facts):
    words = [word for fact in facts for word in ("--set", fact)]
    done = subprocess.run([sys.executable, "-B", TUNE, pipelink, composition, folder, *words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, f"exit status {done.returncode}", flush=True)
    return done.returncode, done.stdout


def main():
    pipelink, composition, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    status, _ = tune(pipelink, composition, folder, "wgmma_gemm.tile_n=256,240,250")  # 250 is not of the fact's values
    assert status == 0
    variants = json.loads((folder / "variants.json").read_text())
    assert variants == [{"name": "gemm_swiglu", "set": {}}, {"name": "gemm_swiglu_tile_n240", "set": {"wgmma_gemm.tile_n": 240}}]
    for variant in variants:
        facts = (folder / variant["name"] / "gemm_swiglu.sm_90a.launch").read_text()
        assert f"tile_n {variant['set'].get('wgmma_gemm.tile_n', 256)}" in facts.replace("=", " "), facts
    assert not (folder / "gemm_swiglu_tile_n250").exists()
    status, text = tune(pipelink, composition, folder, "wgmma_gemm.tile_n=256,250", "wgmma_gemm.tile_m=128,1")
    assert status == 0 and text.count("refused by") == 3
    assert tune(pipelink, composition, folder, "wgmma_gemm.tile_n")[0] == 2
    assert tune(pipelink, composition, folder, "wgmma_gemm.tile_n=256", "wgmma_gemm.tile_n=240")[0] == 2
    status, text = tune(pipelink, folder / "none.json", folder, "wgmma_gemm.tile_n=256,240")
    assert status == 2 and "cannot be read" in text and "Traceback" not in text
    assert tune("false", composition, folder, "wgmma_gemm.tile_n=256")[0] == 2  # not the tool: it says no clause


main()
