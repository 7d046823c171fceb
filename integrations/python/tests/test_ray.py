"""Runs only where Ray is installed: it is too large for every test run."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_process import COMMAND, ZEBRA

from guard_scan.batches import SPARK_COLUMNS, scan_frames
from guard_scan.ray import scan_dataset

OPTIONS: dict[str, Any] = {"command": COMMAND, "arguments": ZEBRA}


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    module = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    environment = {"env_vars": {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}}
    module.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    yield module
    module.shutdown()


def actors() -> list[int]:
    """The processes of the actors that this test has started."""

    def is_own(pid: int) -> bool:
        while pid > 1 and pid != os.getpid():
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return pid == os.getpid()

    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"GuardActor" in path.read_bytes()[:200] and is_own(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:
            pass  # It has ended.
    return found


def rows(count: int) -> list[dict[str, Any]]:
    return [{"number": index, "text": f"a {'zebra' if index % 5 == 0 else 'horse'} {index}"} for index in range(count)]


def check(result: list[dict[str, Any]], count: int) -> None:
    assert [row["number"] for row in result] == list(range(count))
    assert [row["guard_valid"] for row in result] == [index % 5 != 0 for index in range(count)]
    assert all(row["guard_error"] is None for row in result)


def test_scans_a_dataset_in_order(ray: Any) -> None:
    dataset = ray.data.from_items(rows(2000), override_num_blocks=8)
    check(scan_dataset(dataset, actors=2, batch_size=100, **OPTIONS).take_all(), 2000)


def test_goes_on_when_an_actor_is_killed(ray: Any) -> None:
    dataset = ray.data.from_items(rows(4000), override_num_blocks=20)
    result: list[dict[str, Any]] = []
    killed = False
    for batch in scan_dataset(dataset, actors=2, batch_size=50, **OPTIONS).iter_rows():
        result.append(batch)
        if not killed and len(result) > 200:
            os.kill(actors()[0], signal.SIGKILL)
            killed = True
            time.sleep(0.1)
    assert killed
    check(result, 4000)


def test_adds_columns_to_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(rows(30)[start : start + 10]) for start in (0, 10, 20)]
    scanned = pandas.concat(scan_frames(iter(frames), **OPTIONS))
    check(scanned.astype(object).where(scanned.notna(), None).to_dict("records"), 30)
    names = [column.split()[0] for column in SPARK_COLUMNS.split(", ")]
    assert list(scanned.columns) == ["number", "text", *names]
