"""Results of guard as columns, for Ray Data, Spark and pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .process import GuardProcess, Result, Row

#: The columns that are added, with their types in Spark: ``frame.mapInPandas(scan_frames, f"text string, {SPARK_COLUMNS}")``.
SPARK_COLUMNS = "guard_valid boolean, guard_text string, guard_failing string, guard_error string"


def rows_of(texts: Iterable[Any], prompts: Iterable[Any] | None = None) -> Iterator[Row]:
    """Rows of texts, or of outputs with their prompts. A missing text stays what it is, and gets an error."""
    if prompts is None:
        yield from texts
    else:
        for prompt, output in zip(prompts, texts):
            yield {"prompt": prompt, "output": output}


def columns_of(results: Iterable[Result]) -> dict[str, list[Any]]:
    """The columns of results: ``guard_valid`` and ``guard_text`` are ``None`` for a row that could not be scanned."""
    columns: dict[str, list[Any]] = {"guard_valid": [], "guard_text": [], "guard_failing": [], "guard_error": []}
    for result in results:
        failing = [name for name, score in result.get("scanners", {}).items() if score > 0]
        columns["guard_valid"].append(result.get("is_valid"))
        columns["guard_text"].append(result.get("sanitized_prompt", result.get("sanitized_output")))
        columns["guard_failing"].append(" ".join(failing))
        columns["guard_error"].append(result.get("error"))
    return columns


def scan_frames(frames: Iterable[Any], text: str = "text", prompt: str | None = None, **options: Any) -> Iterator[Any]:
    """Adds columns to pandas frames, for ``mapInPandas`` of Spark. One process of guard scans all frames of a partition.

    :param text: the column with the texts.
    :param prompt: the column with the prompts, if the texts are outputs of a model.
    :param options: those of :class:`GuardProcess`.
    """
    with GuardProcess(**options) as guard:
        for frame in frames:
            prompts = frame[prompt].tolist() if prompt else None
            results = guard.scan(rows_of(frame[text].tolist(), prompts))
            yield frame.assign(**columns_of(results))
