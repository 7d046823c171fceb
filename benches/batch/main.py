"""Rows a second of batches: the command with one and two processes, a process held by Python, and Ray with two actors.

Run it with a Python that has `ray[data]`, in a clone with a build: `python benches/batch/main.py --rows 200000`. Every way must give all rows in
order. The last two runs lose a process in the middle.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "integrations/python/src"
sys.path.insert(0, str(SOURCE))

from guard_scan import GuardProcess  # noqa: E402
from guard_scan.ray import scan_dataset  # noqa: E402

COMMAND = ["node", str(ROOT / "dist/cli/main.js")]
CONFIG = """
input_scanners:
  - type: InvisibleText
  - type: BanSubstrings
    params: { substrings: [zebra], redact: true }
  - type: Secrets
"""
WORDS = "the river carries old boats past quiet gardens while children count stones and wait for rain".split()


def text_of(index: int) -> str:
    words = [WORDS[(index * 7 + step * step) % len(WORDS)] for step in range(12 + index % 40)]
    return " ".join(words) + (" zebra" if index % 10 == 0 else "")


def children_of(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
        except OSError:
            pass
    return found


def descendants_of(pid: int) -> Iterator[int]:
    for child in children_of(pid):
        yield child
        yield from descendants_of(child)


def has_word(pid: int, word: bytes) -> bool:
    try:
        return word in Path(f"/proc/{pid}/cmdline").read_bytes()[:300]
    except OSError:
        return False


def run_command(folder: Path, processes: int, kills: bool) -> list[bool]:
    output = folder / "results.jsonl"
    output.unlink(missing_ok=True)
    options = ["--file", str(folder / "rows.jsonl"), "--output", str(output), "--config", str(folder / "scanners.yml")]
    child = subprocess.Popen(
        [*COMMAND, "scan", "--jsonl", *options, "--processes", str(processes)], stderr=subprocess.DEVNULL
    )
    if kills:
        lines = sum(1 for _ in (folder / "rows.jsonl").open())
        while not output.exists() or sum(1 for _ in output.open("rb")) < lines // 2:
            time.sleep(0.2)
        os.kill(children_of(child.pid)[0], signal.SIGKILL)
    child.wait()
    return [json.loads(line)["is_valid"] for line in output.open()]


def run_process(folder: Path, texts: list[str]) -> list[bool]:
    with GuardProcess(config=str(folder / "scanners.yml"), command=COMMAND) as guard:
        return [result["is_valid"] for result in guard.scan(texts)]


def run_ray(folder: Path, texts: list[str], kills: bool) -> list[bool]:
    import ray

    dataset = ray.data.from_items([{"text": text} for text in texts], override_num_blocks=40)
    scanned = scan_dataset(dataset, actors=2, batch_size=1000, config=str(folder / "scanners.yml"), command=COMMAND)
    valid: list[bool] = []
    for row in scanned.iter_rows():
        valid.append(bool(row["guard_valid"]))
        if kills and len(valid) == len(texts) // 2:
            victim = next(pid for pid in descendants_of(os.getpid()) if has_word(pid, b"GuardActor"))
            threading.Thread(target=os.kill, args=(victim, signal.SIGKILL)).start()
    return valid


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--only", default="", help="only the ways whose name contains this text, such as Ray")
    arguments = parser.parse_args()
    texts = [text_of(index) for index in range(arguments.rows)]
    expected = [index % 10 != 0 for index in range(arguments.rows)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scanners.yml").write_text(CONFIG)
        (folder / "rows.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
        ways: dict[str, Callable[[], list[bool]]] = {
            "guard-scan scan --jsonl": lambda: run_command(folder, 1, False),
            "guard-scan scan --jsonl --processes 2": lambda: run_command(folder, 2, False),
            "the same, one process killed": lambda: run_command(folder, 2, True),
            "GuardProcess (Python)": lambda: run_process(folder, texts),
        }
        if "Ray" in arguments.only or arguments.only == "":
            import ray

            # By default, Ray gives its workers less of the processors than other programs get.
            os.environ.setdefault("RAY_worker_niceness", "0")
            environment: dict[str, Any] = {"env_vars": {"PYTHONPATH": str(SOURCE)}}
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
            ways["Ray, two actors"] = lambda: run_ray(folder, texts, False)
            ways["Ray, two actors, one killed"] = lambda: run_ray(folder, texts, True)
        for title, run in ways.items():
            if arguments.only not in title:
                continue
            start = time.perf_counter()
            valid = run()
            seconds = time.perf_counter() - start
            state = "complete and in order" if valid == expected else f"WRONG: {len(valid)} rows"
            print(f"| {title} | {arguments.rows / seconds:,.0f} rows/s | {seconds:.0f} s | {state} |", flush=True)


if __name__ == "__main__":
    main()
