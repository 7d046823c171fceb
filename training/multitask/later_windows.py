"""Windows of long texts without findings as examples of their own.

The scanners read long texts in windows, and most windows begin within a sentence. A text without a finding has none in any window, so its
labels are those of each window. In other texts, the window that matters is unknown.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from tokenizers import Tokenizer

from ..injection.windows import split_windows
from . import MAX_LENGTH, MODELS, WINDOW_LENGTHS
from .sets import Example

# The tasks whose scanners read a text in windows, with the lengths of these.
READ_IN_WINDOWS = {
    task: WINDOW_LENGTHS.get(name, MAX_LENGTH)
    for name, tasks in MODELS.items()
    for task in tasks
    if task in ("harm", "toxicity", "bias", "refusal")
}
# The maximum number of windows of a text.
OF_A_TEXT = 4


def later_windows(examples: Sequence[Example], tokenizer: Tokenizer, seed: int) -> list[Example]:
    """Some windows after the first one of each long text without findings for training and calibration."""
    harmless = [e for e in examples if e.task in READ_IN_WINDOWS and e.split != "dev" and max(e.target) == min(e.target) == 0]
    encodings = tokenizer.encode_batch([e.text for e in harmless], add_special_tokens=False)
    found = []
    for e, encoding in zip(harmless, encodings, strict=True):
        _, *later = split_windows(encoding.offsets, MAX_LENGTH, READ_IN_WINDOWS[e.task])
        rng = random.Random(f"{seed} {e.text}")
        for offsets in rng.sample(later, min(OF_A_TEXT, len(later))):
            found.append(replace(e, text=e.text[offsets[0][0] : offsets[-1][1]]))
    return found
