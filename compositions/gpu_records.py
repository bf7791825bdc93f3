"""What the scripts that record results of a GPU have in common. For a bundle's folder: the standard library is all it wants."""
import datetime
import hashlib
import json
import os
import struct
import subprocess
import sys

SANITIZERS = ("memcheck", "racecheck", "synccheck")


def text_sha256(path, kernel=""):
    """SHA-256 of the text section of the cubin's kernel of this name, or of the only one. Ends the program if there is none."""
    with open(path, "rb") as file:
        data = file.read()
    section_offset, = struct.unpack_from("<Q", data, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, section_offset + i * entry_size) for i in range(count)]
    names = headers[names_index][4]
    sections = {}
    for name, _, _, _, offset, size in headers:
        begin = names + name
        sections[data[begin : data.index(b"\0", begin)].decode()] = data[offset : offset + size]
    texts = [text for name, text in sections.items() if name == f".text.{kernel}" or not kernel and name.startswith(".text.")]
    if len(texts) != 1:
        sys.exit(f"{path} has {len(texts)} text sections of {kernel or 'a kernel'}, not one")
    return hashlib.sha256(texts[0]).hexdigest()


def query(field):
    """What nvidia-smi says of GPU 0; "unknown" if it says nothing."""
    try:
        out = subprocess.run(["nvidia-smi", "--id=0", f"--query-gpu={field}", "--format=csv,noheader,nounits"],
                             capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "unknown"
    return out.stdout.strip() if out.returncode == 0 else "unknown"


def add_options(parser, folder):
    """Where results go ($OUT, else `folder`) and what they say of where they are from."""
    parser.add_argument("--out", default=os.environ.get("OUT", folder), help="folder of the results")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--toolkit", default="13.0")


def add_benchmark_options(parser, folder):
    add_options(parser, folder)
    parser.add_argument("--sanitizers", help="JSON file: what each sanitizer said")
    parser.add_argument("--keep", metavar="RESULTS", help="JSON file of records, of which those of other configurations stay")


def read(path):
    """The JSON value in the file; {} if `path` is None."""
    if path is None:
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def origin(options):
    """What each record says of where it is from. The date is UTC's."""
    return {"device": query("name"), "driver": query("driver_version"), "toolkit": options.toolkit,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "commit": options.commit}


def write(path, value):
    """The value as JSON; the file is the old one or the new one, never a part."""
    temporary = f"{path}.new"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
        file.write("\n")
    os.replace(temporary, path)
