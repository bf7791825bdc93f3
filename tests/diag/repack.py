"""`repack.py PACKAGE MEMBER…`: the package with these members from files of their names, and digests that fit."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
from bad_input import rebuilt


def change(content):
    for name in sys.argv[2:]:
        data = Path(name).read_bytes()
        content.update({"manifest": json.loads(data)} if name == "manifest.json" else {name: data})


package = Path(sys.argv[1])
package.write_bytes(rebuilt(package, change))
