"""python -m training.injection.compare_training --data DIR --base DIR --out FILE: compares training methods.

Every model learns from the same subset of the rows for one epoch and is evaluated in fp32 on the same dev rows. Only differences between the
lines of one run are meaningful, because the published model learns from many more rows.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from scipy.special import expit
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from tokenizers import Tokenizer
from torch.nn import functional as F

from .. import datasets, encoder, metrics, trainer
from . import HEADS, INJECTION, MAX_LENGTH, SAFE
from .rows import add_data_arguments, rows_for
from .sets import OWN_DOCUMENTS, SETS, UNKNOWN, attack_in_document, document

# Sets of texts that users do not type: documents, tool results, code.
FETCHED = {
    *("composed", "enveloped", "tool_facts"),
    *(f"own_{name}" for name in OWN_DOCUMENTS),
    *(spec.name for spec in SETS if spec.complete in (document, attack_in_document)),
}
# The compared heads.
ASKED = ("direct", "category")
# The weight of the teachers' probabilities. The weight of the labels is 1 minus this.
SOFT = 0.7


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.injection.compare_training", description=__doc__)
    add_data_arguments(parser)
    parser.add_argument("--base", type=Path, required=True, help="folder made by training.multilingual")
    parser.add_argument("--out", type=Path, required=True, help="JSON file for the figures")
    parser.add_argument("--tokens", type=int, default=600_000, help="training tokens of each model")
    parser.add_argument("--measured", type=int, default=3000, help="rows of the dev part")
    return parser.parse_args()


def in_order(rows: Sequence[datasets.Row]) -> list[datasets.Row]:
    return sorted(rows, key=lambda row: datasets.digest(row.text, "levers"))


def margins(model: encoder.Encoder, tokenizer: Tokenizer, texts: Sequence[str]) -> np.ndarray:
    logits = np.array(trainer.predict(model, tokenizer, texts, MAX_LENGTH))
    return logits[:, INJECTION] - logits[:, SAFE]


def with_origin(row: datasets.Row) -> datasets.Row:
    return replace(row, text=("document: " if row.set in FETCHED else "user: ") + row.text)


class TrainingComparison:
    def __init__(self, args: argparse.Namespace):
        self.args = args
        self.settings = trainer.Settings(seed=args.seed, epochs=1, threads=args.threads, max_tokens=MAX_LENGTH)
        trainer.fix_seeds(args.seed, args.threads)
        rows = [row for row in rows_for(args) if row.label != UNKNOWN]
        self.tokenizer = encoder.Base(args.base, 12).tokenizer()
        self.dev = in_order(datasets.rows_of_split(rows, "dev"))[: args.measured]
        self.held = in_order(datasets.rows_of_split(rows, "calibration"))
        self.learnt, room = [], args.tokens
        for row in in_order(datasets.rows_of_split(rows, "train")):
            room -= len(trainer.encode(self.tokenizer, [row.text], MAX_LENGTH)[0])
            if room < 0:
                break
            self.learnt.append(row)
        self.figures: dict[str, dict[str, float]] = {}

    def report(self, name: str, scores: np.ndarray) -> None:
        """Computes and prints figures of the scores of the dev rows. Higher scores mean attacks."""
        attack = np.array([row.label == INJECTION for row in self.dev])
        exam = np.array([row.set == "own_exam" for row in self.dev])
        edge = metrics.threshold_at(scores[~attack], 0.01)
        self.figures[name] = {
            "auc": metrics.auc(scores[attack], scores[~attack]),
            "recall_at_1_percent": metrics.share_above(scores[attack], edge),
            "exam_auc": metrics.auc(scores[attack & exam], scores[~attack & exam]),
            "exam_recall": metrics.share_above(scores[attack & exam], edge),
        }
        print(name, {key: round(100 * value, 1) for key, value in self.figures[name].items()}, flush=True)
        self.args.out.write_text(json.dumps(self.figures, indent=2) + "\n")

    def trained(
        self, layers: int, seed: int, rows: Sequence[datasets.Row], soft: np.ndarray | None = None
    ) -> encoder.Classifier:
        """Trains a model with `layers` layers of the base. `soft` has probabilities of an attack for distillation."""
        start = time.monotonic()
        torch.manual_seed(seed)
        base = encoder.Base(self.args.base, layers)
        model = encoder.Classifier(base.shape, {name: len(HEADS[name]) for name in ASKED}).load_base(base)
        settings = replace(self.settings, seed=seed)
        if soft is None:
            trainer.train(model, self.tokenizer, rows, settings)
        else:
            ids = trainer.encode(self.tokenizer, [row.text for row in rows], MAX_LENGTH)
            labels = torch.tensor([row.label for row in rows])
            wanted = torch.tensor(np.stack([1 - soft, soft], 1), dtype=torch.float32)

            def loss_of(batch: list[int]) -> torch.Tensor:
                tokens, mask = trainer.pad([ids[i] for i in batch])
                logits = model(torch.from_numpy(tokens), torch.from_numpy(mask)).float()[
                    :, model.head_slices()["logits"]
                ]
                hard = F.cross_entropy(logits, labels[batch])
                return (1 - SOFT) * hard + SOFT * F.cross_entropy(logits, wanted[batch])

            lengths = [len(row) for row in ids]
            trainer.optimise(model, lengths, trainer.plan_batches(lengths, settings), loss_of, settings)
        print(f"{layers} layers, seed {seed}: {time.monotonic() - start:.0f} s", flush=True)
        return model


def n_grams(learnt: Sequence[datasets.Row], texts: Sequence[str]) -> np.ndarray:
    """Margins of a logistic regression over hashed n-grams of 1 to 5 characters."""
    hashed = HashingVectorizer(analyzer="char_wb", ngram_range=(1, 5), n_features=1 << 18)
    model = LogisticRegression(C=30, max_iter=200)
    model.fit(hashed.transform([row.text for row in learnt]), [row.label for row in learnt])
    return model.decision_function(hashed.transform(texts))


def main() -> None:
    comparison = TrainingComparison(arguments())
    args, tokenizer, learnt = comparison.args, comparison.tokenizer, comparison.learnt
    print(f"{len(learnt)} rows to learn from, {len(comparison.dev)} measured", flush=True)
    texts = [row.text for row in comparison.dev]

    first = comparison.trained(12, args.seed, learnt)
    one = margins(first, tokenizer, texts)
    comparison.report("12 layers", one)
    taught = margins(first, tokenizer, [row.text for row in learnt])

    pieces = n_grams(learnt, [*texts, *(row.text for row in comparison.held)])
    comparison.report("n-grams alone", pieces[: len(texts)])
    # The weights of both are fitted on rows that neither was trained on.
    of_held = margins(first, tokenizer, [row.text for row in comparison.held])
    both = LogisticRegression(C=1e6, class_weight="balanced")
    both.fit(np.stack([of_held, pieces[len(texts) :]], 1), [row.label for row in comparison.held])
    comparison.report("12 layers with n-grams", both.decision_function(np.stack([one, pieces[: len(texts)]], 1)))

    second = comparison.trained(12, args.seed + 1, learnt)
    two = margins(second, tokenizer, texts)
    comparison.report("another seed", two)
    comparison.report("two seeds averaged", (one + two) / 2)

    soft = expit((taught + margins(second, tokenizer, [row.text for row in learnt])) / 2)
    student = comparison.trained(12, args.seed + 2, learnt, soft)
    comparison.report("taught by two seeds", margins(student, tokenizer, texts))

    for layers in (6, 4):
        model = comparison.trained(layers, args.seed, learnt)
        comparison.report(f"{layers} layers", margins(model, tokenizer, texts))

    knowing = comparison.trained(12, args.seed, [with_origin(row) for row in learnt])
    comparison.report(
        "with the origin of the text", margins(knowing, tokenizer, [with_origin(row).text for row in comparison.dev])
    )


if __name__ == "__main__":
    main()
