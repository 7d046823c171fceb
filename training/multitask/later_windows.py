"""Windows of long harmless texts as examples of their own.

The scanner reads long texts in windows, and most windows begin within a sentence. Nothing in a harmless text is harmful, so the labels of the
text are those of each window. In a harmful text, the window that matters is unknown.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from tokenizers import Tokenizer

from . import MAX_LENGTH, WINDOW_LENGTHS
from .sets import Example

# The tasks whose scanners read windows, the special tokens around a window, and the overlap of windows as a divisor of their length.
TASKS, FRAME, OVERLAP = ("harm", "toxicity"), 2, 4
# The maximum number of windows of a text.
OF_A_TEXT = 4


def later_windows(examples: Sequence[Example], tokenizer: Tokenizer, seed: int) -> list[Example]:
    """Some windows after the first one of each long harmless text."""
    long = [e for e in examples if e.task in TASKS and e.target and max(e.target) == min(e.target) == 0]
    length = WINDOW_LENGTHS["moderation"] - FRAME
    step = length - length // OVERLAP
    found = []
    for e, encoding in zip(long, tokenizer.encode_batch([e.text for e in long], add_special_tokens=False), strict=True):
        if len(encoding.ids) <= MAX_LENGTH - FRAME:
            continue
        rng = random.Random(f"{seed} {e.text}")
        starts = range(step, len(encoding.ids) - length // OVERLAP, step)
        for start in rng.sample(starts, min(OF_A_TEXT, len(starts))):
            offsets = encoding.offsets[start : start + length]
            found.append(replace(e, text=e.text[offsets[0][0] : offsets[-1][1]]))
    return found
