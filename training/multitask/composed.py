"""Texts in which one passage decides: our own short texts among harmless ones of the same language.

People write an insult into an otherwise friendly message. The labels of the passage are those of the whole text. Harmless passages get the
same neighbours, so that the shape of a text says nothing.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from .sets import Example

# Passages and neighbours are short, so that a whole text is shorter than a window.
LONGEST_PASSAGE, LONGEST_NEIGHBOUR = 220, 140
# The maximum number of neighbours of a passage.
NEIGHBOURS = 4
# The number of texts that are made of a passage.
COMPOSED = {"toxicity": 3, "harm": 1}
# A language needs this many neighbours.
ENOUGH = 20


def compose(examples: Sequence[Example], seed: int) -> list[Example]:
    """Composes training texts for tasks in COMPOSED from the training examples of the same task."""
    rng = random.Random(seed)
    neighbours: dict[tuple[str, str], list[str]] = defaultdict(list)
    passages: dict[tuple[str, str], Example] = {}
    for e in examples:
        if e.split != "train" or e.task not in COMPOSED:
            continue
        if e.kind == "ordinary" and 20 <= len(e.text) <= LONGEST_NEIGHBOUR:
            neighbours[e.task, e.lang].append(e.text.strip())
        elif e.set.startswith("own_") and e.kind != "ordinary" and len(e.text) <= LONGEST_PASSAGE:
            passages[e.task, e.text] = e
    found = []
    for e in passages.values():
        known = neighbours[e.task, e.lang]
        if len(known) < ENOUGH:
            continue
        for _ in range(COMPOSED[e.task]):
            parts = rng.sample(known, rng.randint(1, NEIGHBOURS))
            parts.insert(rng.randint(0, len(parts)), e.text.strip())
            joint = rng.choice((" ", " ", "\n", "\n\n"))
            found.append(replace(e, text=joint.join(parts), set=f"composed_{e.task}", kind="composed"))
    return found
