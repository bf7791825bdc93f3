"""Prints why tests were skipped, and then the closing line `N passed, N failed, N skipped` of ctest's JUnit files.

A test that prints lines `SKIPPED: reason` and passes counts as passed; each such line counts as one skip.
"""
import sys
import xml.etree.ElementTree as xml


def reasons(case):
    text = case.findtext("system-out") or ""
    found = [line.split("SKIPPED:", 1)[1].strip() for line in text.splitlines() if line.strip().startswith("SKIPPED:")]
    skipped = case.find("skipped")
    if skipped is not None and not found:
        found = [skipped.get("message") or "no reason given"]
    return found


def main(files):
    passed = failed = skipped = 0
    for case in (case for file in files for case in xml.parse(file).getroot().iter("testcase")):
        for reason in reasons(case):
            print(f"skipped: {case.get('name')}: {reason}")
            skipped += 1
        status = case.get("status")
        failed += status == "fail"
        passed += status == "run"
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    main(sys.argv[1:])
