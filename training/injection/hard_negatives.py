"""Finds hard negatives: harmless texts beyond the limits of the sets that a model flags.

The limits keep large collections from outweighing small ones. The excluded texts are still useful for training if the model errs.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace

import numpy as np
import torch
from tokenizers import Tokenizer

from .. import datasets, trainer
from ..runtime import softmax
from . import INJECTION, SAFE
from .model import Detector
from .sets import SETS, Text
from .windows import windows_of

# Collections with reliable labels: they contain no attacks. In collections of attacks and harmless rows, the harmless rows with the highest
# scores are often attacks.
TRUSTED = {
    "sib200",
    "tatoeba",
    "passages_of_languages",
    "requests_of_languages",
    "documents_of_languages",
    "interfaces",
    "guide",
    "questions",
    "home_commands",
    "oasst",
    "oasst_fi",
    "act_as",
    "commands",
    "templates",
    "t0_prompts",
    "mails",
    "tables",
    "records",
    "records_2",
    "pages",
    "logs",
    "repositories",
    "agent_rules",
    "tool_definitions",
    "for_people",
    "reviews",
    "roles",
    "trigger_words",
    "tasks",
    "conversations",
    "assistant_intents",
    "bank_questions",
    "chat",
    "answers",
}
# The lowest injection probability of a hard text, and the maximum number of hard texts of a set.
HARD, OF_A_SET = 0.15, 500
# The maximum number of scored texts of a set.
SCORED = 1200


def find_hard_rows(args: argparse.Namespace, rows: list[Text], model: Detector, tokenizer: Tokenizer) -> list[Text]:
    """Training rows outside of `rows` that the model flags, highest scores of each set first."""
    used = {datasets.identity(row.text) for row in rows}
    chosen = datasets.choose([spec for spec in SETS if spec.name in TRUSTED], args.licences.split(","), None)
    whole = [replace(spec, caps=None, max_per_language=None, repeat=1) for spec in chosen]
    scored: Counter[str] = Counter()
    pool: list[Text] = []
    for row in datasets.load(whole, datasets.data_folder(args.data), args.seed):
        is_harmless = SAFE in (row.label, row.indirect)
        if row.split == "train" and is_harmless and datasets.identity(row.text) not in used:
            scored[row.set] += 1
            if scored[row.set] <= SCORED:
                pool.append(row)
    direct, indirect = scores_of(model, [window.ids for window in windows_of(tokenizer, pool, args.seed)])
    wrong = np.maximum(
        np.where([row.label == SAFE for row in pool], direct, 0),
        np.where([row.indirect == SAFE for row in pool], indirect, 0),
    )
    taken: Counter[str] = Counter()
    result = []
    for index in np.argsort(-wrong):
        row = pool[index]
        taken[row.set] += 1
        if wrong[index] > HARD and taken[row.set] <= OF_A_SET:
            result.append(row)
    print(f"{len(result)} of {len(pool)} excluded texts are hard: {Counter(row.set for row in result)}", flush=True)
    return result


def scores_of(model: Detector, windows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities of both questions by window."""
    logits = np.zeros((len(windows), len(model.head.bias)), np.float32)
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=torch.cpu._is_avx512_bf16_supported()):
        for batch in trainer.batches([len(ids) for ids in windows], 6144):
            ids, mask = trainer.pad([windows[i] for i in batch])
            logits[batch] = model(torch.from_numpy(ids), torch.from_numpy(mask)).float().numpy()
    slices = model.head_slices()
    return tuple(softmax(logits[:, slices[head]])[:, INJECTION] for head in ("direct", "indirect"))
