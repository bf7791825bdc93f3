"""The watchdog of demonstrate.py, on processes that behave as kernels do; and that its check sees what it must refuse."""
import copy
import io
import json
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import demonstrate

CASE = {"case": "a", "elements": 64, "unwritten": 0, "wrong": 0, "outside": False, "max_error": 1e-7}
CASES = [{"name": "unchanged", "by_symbol": {"linker": "SUCCESS", "text_sha256": "1", "runs": ["right"]},
          "pipelink": {"verdict": "linked", "text_sha256": "2", "runs": ["right"]}},
         {"name": "rows", "by_symbol": {"linker": "SUCCESS", "text_sha256": "3", "runs": ["hang: no end within 5 s"]},
          "pipelink": {"verdict": "L-RING", "command": "pipelink check", "message": "error[L-RING]: …"}}]


def run(*records, then=""):
    program = "import time\n" + "".join(f"print({json.dumps(json.dumps(r))}, flush=True)\n" for r in records) + then
    return demonstrate.outcome(*demonstrate.watch([sys.executable, "-c", program]))


class Watchdog(unittest.TestCase):
    def test_right(self):
        self.assertEqual(run({"device": "x"}, *[{"launching": "a"}, CASE] * 3), "right")

    def test_ends_before_the_last_case(self):
        self.assertEqual(run({"launching": "a"}, CASE), "ended early")

    def test_hang(self):
        demonstrate.HANG_SECONDS, before = 0.5, time.monotonic()
        try:
            self.assertEqual(run({"launching": "a"}, then="time.sleep(60)"), "hang: no end within 0.5 s")
        finally:
            demonstrate.HANG_SECONDS = 5
        self.assertLess(time.monotonic() - before, 20)

    def test_never_starts(self):
        demonstrate.START_SECONDS = 0.5
        try:
            self.assertEqual(run(then="time.sleep(60)"), "no start")
        finally:
            demonstrate.START_SECONDS = 60

    def test_wrong(self):
        self.assertEqual(run({"launching": "a"}, {**CASE, "unwritten": 32, "wrong": 3, "outside": True}),
                         "32 of 64 elements unwritten, 3 of 64 elements wrong, wrote past the end")

    def test_crash(self):
        self.assertEqual(run({"launching": "a"}, {"error": "an illegal address"}), "error: an illegal address")
        self.assertEqual(run({"launching": "a"}, then="raise SystemExit(139)"), "ended without a result")
        self.assertEqual(run(), "ended without a result")


class Check(unittest.TestCase):
    def check(self, change):
        """What check says of results that `change` was done to: its exit status or message."""
        results = {"device": "NVIDIA H200", "cases": copy.deepcopy(CASES)}
        change(results)
        with tempfile.TemporaryDirectory() as folder:
            linked, recorded = Path(folder, "linked.json"), Path(folder, "results.json")
            linked.write_text(json.dumps({"cases": CASES}))
            recorded.write_text(json.dumps(results))
            try:
                with redirect_stdout(io.StringIO()):
                    demonstrate.check(SimpleNamespace(linked=linked, results=recorded))
            except SystemExit as end:
                return end.code
        return 0

    def test_check(self):
        case = lambda results: results["cases"][1]
        self.assertEqual(self.check(lambda r: None), 0)
        self.assertEqual(self.check(lambda r: case(r)["by_symbol"].update(runs=["not run"])), 77)
        self.assertEqual(self.check(lambda r: case(r)["by_symbol"].update(text_sha256="4")), 77)
        self.assertIn("rows", self.check(lambda r: case(r)["pipelink"].update(verdict="L-FACT-FIXED")))
        self.assertIn("rows", self.check(lambda r: case(r)["pipelink"].update(message="another")))
        self.assertIn("rows, by_symbol: right", self.check(lambda r: case(r)["by_symbol"].update(runs=["right"])))
        self.assertIn("rows, by_symbol: no start", self.check(lambda r: case(r)["by_symbol"].update(runs=["no start"])))
        self.assertIn("unchanged, pipelink", self.check(lambda r: r["cases"][0]["pipelink"].update(runs=["ended early"])))
        self.assertIn("other changes", self.check(lambda r: r["cases"].pop()))

    def test_record_keeps_the_runs_of_the_same_code(self):
        today = copy.deepcopy(CASES)
        today[0]["pipelink"]["text_sha256"] = "5"
        for case in today:
            for way in demonstrate.WAYS:
                case[way].pop("runs", None)
        with tempfile.TemporaryDirectory() as folder:
            linked, recorded = Path(folder, "linked.json"), Path(folder, "results.json")
            linked.write_text(json.dumps({"cases": today}))
            recorded.write_text(json.dumps({"device": "NVIDIA H200", "cases": CASES}))
            demonstrate.record(SimpleNamespace(linked=linked, output=recorded))
            results = json.loads(recorded.read_text())
        self.assertEqual([results["cases"][0][way]["runs"] for way in demonstrate.WAYS], [["not run"], ["right"]])
        self.assertEqual(results["cases"][1]["by_symbol"]["runs"], ["hang: no end within 5 s"])
        self.assertEqual(results["device"], "NVIDIA H200")


if __name__ == "__main__":
    unittest.main()
