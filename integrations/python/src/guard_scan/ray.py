"""Scans the rows of a Ray Data set with actors, each of which holds one process of guard."""

from __future__ import annotations

import importlib
from typing import Any

from .batches import columns_of, rows_of
from .process import GuardProcess


class GuardActor:
    """A class for ``Dataset.map_batches``. Its process starts with the actor, so models are loaded once.

    :param text: the column with the texts.
    :param prompt: the column with the prompts, if the texts are outputs of a model.
    :param options: those of :class:`GuardProcess`.
    """

    def __init__(self, text: str = "text", prompt: str | None = None, **options: Any) -> None:
        self._text = text
        self._prompt = prompt
        self._guard = GuardProcess(**options)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        prompts = batch[self._prompt].tolist() if self._prompt else None
        results = self._guard.scan(rows_of(batch[self._text].tolist(), prompts))
        numpy = importlib.import_module("numpy")
        return {**batch, **{name: numpy.array(values, dtype=object) for name, values in columns_of(results).items()}}


def scan_dataset(
    dataset: Any,
    text: str = "text",
    prompt: str | None = None,
    *,
    actors: int = 1,
    processors: int = 1,
    batch_size: int = 256,
    **options: Any,
) -> Any:
    """Adds ``guard_valid``, ``guard_text``, ``guard_failing`` and ``guard_error`` to a data set, in the order of its rows.

    :param text: the column with the texts.
    :param prompt: the column with the prompts, if the texts are outputs of a model.
    :param actors: how many actors scan. Ray replaces an actor that dies, and repeats its batch.
    :param processors: the processors of each actor, which are also the threads for models of its guard.
    :param options: those of :class:`GuardProcess`.
    """
    strategy = importlib.import_module("ray.data").ActorPoolStrategy(size=actors)
    dataset.context.execution_options.preserve_order = True
    return dataset.map_batches(
        GuardActor,
        fn_constructor_kwargs={"text": text, "prompt": prompt, "threads": processors, **options},
        compute=strategy,
        num_cpus=processors,
        batch_size=batch_size,
        batch_format="numpy",
    )
