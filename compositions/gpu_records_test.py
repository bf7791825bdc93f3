"""gpu_records.py: which text it takes, and that results are whole.

usage: gpu_records_test.py NAME=FILE.cubin...
"""
import hashlib
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "e2e"))
import gpu_records
from cubin import Kernel  # the reader that shares nothing with it


def ends(run):
    try:
        run()
    except SystemExit as end:
        return str(end)
    raise AssertionError("it went on")


def main():
    for word in sys.argv[1:]:
        name, file = word.split("=", 1)
        text = hashlib.sha256(Kernel(pathlib.Path(file).read_bytes(), name).text).hexdigest()
        assert gpu_records.text_sha256(file, name) == text, file
        assert "has 0 text sections of absent" in ends(lambda file=file: gpu_records.text_sha256(file, "absent"))
    first, *_ = sys.argv[1:]
    name, file = first.split("=", 1)
    assert gpu_records.text_sha256(file) == gpu_records.text_sha256(file, name)  # its only kernel

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "results.json")
        gpu_records.write(path, [{"config": "a"}])
        try:
            gpu_records.write(path, [{"config": "b"}, {"config": object()}])
        except TypeError:
            pass
        else:
            raise AssertionError("an object is no JSON")
        assert gpu_records.read(path) == [{"config": "a"}]
        assert json.loads(path.read_text()) == [{"config": "a"}] and path.read_text().endswith("]\n")
    assert gpu_records.read(None) == {}
    print("all right")


main()
