"""Evaluates the exported model by task and set."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from .. import datasets, metrics
from ..runtime import ExportedModel, softmax
from . import EMOTIONS, HEADS
from .model import LONGEST, LONGEST_PAIR
from .sets import Example

# The maximum number of evaluated examples of a set, and of examples for the comparison of fp32 with int8.
MEASURED, COMPARED = 300, 60
# The heads of the tasks that compare vectors.
HEAD_OF = {"topics": "meaning", "relevance": "meaning"}
# The ten domains of clinc with user-friendly topic names. The set is not used in training.
DOMAINS = {
    "banking": "banking",
    "credit_cards": "credit cards",
    "kitchen_and_dining": "cooking and restaurants",
    "home": "home, lists and reminders",
    "auto_and_commute": "cars and traffic",
    "travel": "travel",
    "utility": "time, units, calls and calculations",
    "work": "work and salary",
    "small_talk": "small talk",
    "meta": "settings of the assistant",
}
ZERO_SHOT = 1000
# The default minimum scores of Relevance and FactualConsistency.
RELEVANT, SUPPORTED = 0.5, 0.75
# The maximum share of right answers below the minimum score of Relevance.
RIGHT_BELOW = 0.01
# The weight of a cosine relative to the logit of the head that reads prompt and answer together. The calibration split, in English and
# Chinese, suggests 4; in Russian, German, French and Spanish the head is weaker, and AUC rises up to 12 (89 to 93 in Russian).
COSINES = 12.0
# The minimum number of texts of a label for choosing a threshold.
ENOUGH = 15
# The tasks whose scanners read everything that people write, the maximum share of ordinary texts above 0.5 for a label, and the number of
# texts that determine it.
READ_ALWAYS, ORDINARY_ABOVE, ORDINARY = ("harm", "toxicity"), 0.01, 3000


def f1(truth: np.ndarray, said: np.ndarray) -> float:
    right = (truth & said).sum()
    return float(2 * right / max(truth.sum() + said.sum(), 1))


def macro_f1(truth: np.ndarray, said: np.ndarray) -> float:
    return (f1(truth, said) + f1(~truth, ~said)) / 2


def best_threshold(truth: np.ndarray, scores: np.ndarray) -> float:
    """The threshold with the highest F1."""
    grid = np.arange(0.05, 0.95, 0.025)
    return float(grid[int(np.argmax([f1(truth, scores > edge) for edge in grid]))])


def best_logit_thresholds(task: str, examples: Sequence[Example], model: ExportedModel) -> np.ndarray:
    """The logit of the best threshold of each label, by F1 on the calibration split. Rare labels have lower thresholds."""
    held = [e for e in examples if e.task == task and e.split == "calibration"]
    if not held:
        return np.zeros(len(HEADS[task]))
    found, target = Reader(model, {}).scores(task, held), np.array([e.target for e in held])
    edges = []
    for i in range(target.shape[1]):
        known = target[:, i] >= 0
        truth = target[known, i] > 0
        edges.append(best_threshold(truth, found[known, i]) if truth.sum() >= ENOUGH else 0.5)
    return logit(np.array(edges))


def ordinary_logits(task: str, examples: Sequence[Example], model: ExportedModel) -> np.ndarray:
    """The logit of each label that a share ORDINARY_ABOVE of the ordinary texts of the calibration split exceeds, at least 0."""
    held = [e for e in examples if e.task == task and e.split == "calibration" and e.kind == "ordinary"]
    if not held:
        return np.zeros(len(HEADS[task]))
    scores = Reader(model, {}).scores(task, first(held, ORDINARY)).astype(np.float64).clip(1e-6, 1 - 1e-6)
    return np.quantile(logit(scores), 1 - ORDINARY_ABOVE, axis=0, method="higher").clip(min=0)


class Reader:
    def __init__(self, model: ExportedModel, comparing: dict):
        self.model, self.comparing = model, comparing
        self.known: dict[str, np.ndarray] = {}

    def head(self, task: str, texts: Sequence) -> np.ndarray:
        return np.array(self.model.logits(texts, LONGEST[task], HEAD_OF.get(task, task)), dtype=np.float32)

    def vectors(self, task: str, texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known |= dict(zip(new, self.head(task, new), strict=True))
        return np.array([self.known[text] for text in texts])

    def judged(self, cosines: np.ndarray) -> np.ndarray:
        line = self.comparing["topics"]
        return expit(line["scale"] * cosines + line["offset"])

    def relevance(self, examples: Sequence[Example]) -> tuple[np.ndarray, np.ndarray]:
        """The cosine of each prompt with its answer, and the logit of the head that reads both."""
        asked, given = (
            self.vectors("relevance", texts) for texts in ([e.text for e in examples], [e.pair for e in examples])
        )
        pairs = [(e.text, e.pair) for e in examples]
        logits = np.array(self.model.logits(pairs, LONGEST_PAIR, "relevance"), dtype=np.float64)[:, 0]
        return (asked * given).sum(1), logits

    def scores(self, task: str, examples: Sequence[Example]) -> np.ndarray:
        """The probabilities of the labels, or of relevance, for each example."""
        if task == "nli":
            return softmax(self.head(task, [(e.text, e.pair) for e in examples]))
        if task == "relevance":
            cosines, logits = self.relevance(examples)
            line = self.comparing[task]
            return expit(line["scale"] * cosines + line["pair"] * logits + line["offset"])[:, None]
        return expit(self.head(task, [e.text for e in examples]))


def below(values: np.ndarray, minimum: float, share: float) -> float:
    """The logit offset with which at most a share of the scores is below a minimum."""
    return float(logit(minimum) - np.quantile(values, share, method="lower"))


def fit_comparison(examples: Sequence[Example], model: ExportedModel) -> dict[str, dict[str, float]]:
    """Fits the mapping of cosines, relevance logits and entailment probabilities to scores on the calibration splits.

    The default minimum scores of Relevance and FactualConsistency are those of llm-guard. The offsets keep few good answers below them.
    """
    reader, rng = Reader(model, {}), random.Random(0)
    found: dict[str, dict[str, float]] = {}
    members = [e for e in examples if e.task == "relevance" and e.split == "calibration"]
    if members:
        right = np.array([e.target[0] for e in members]) > 0
        cosines_of_pairs, logits = reader.relevance(members)
        offset = below((COSINES * cosines_of_pairs + logits)[right], RELEVANT, RIGHT_BELOW)
        found["relevance"] = {"scale": COSINES, "pair": 1.0, "offset": offset}
    members = [e for e in examples if e.task == "topics" and e.split == "calibration"]
    # Some sets state only the topics that apply. The topics of other texts serve as negatives.
    known = sorted({word for e in members for word in e.yes})
    cosines: list[float] = []
    truth: list[float] = []
    for e in members:
        no = e.no or [word for word in rng.sample(known, min(4, len(known))) if word not in e.yes]
        vectors = reader.vectors("topics", [e.text, *e.yes, *no])
        cosines += [*(vectors[1:] @ vectors[0])]
        truth += [1.0] * len(e.yes) + [0.0] * len(no)
    if cosines:
        scale, offset = metrics.fit_line(np.array(cosines), np.array(truth), balanced=True)
        found["topics"] = {"scale": scale, "offset": offset}
    entailed = [e for e in examples if e.task == "nli" and e.split == "calibration" and e.target == (1.0, 0.0, 0.0)]
    if entailed:
        scores = reader.scores("nli", entailed)[:, 0].astype(np.float64).clip(1e-6, 1 - 1e-6)
        found["support"] = {"scale": 1.0, "offset": below(logit(scores), SUPPORTED, 0.05)}
    return found


def topic_figures(reader: Reader, examples: Sequence[Example]) -> dict:
    yes, no = [], []
    for e in examples:
        vectors = reader.vectors("topics", [e.text, *e.yes, *e.no])
        scores = reader.judged(vectors[1:] @ vectors[0])
        yes += [*scores[: len(e.yes)]]
        no += [*scores[len(e.yes) :]]
    yes, no = np.array(yes), np.array(no)
    return {
        "rows": len(examples),
        "auc": metrics.auc(yes, no),
        "recall": float((yes > 0.5).mean()),
        "false_positives": float((no > 0.5).mean()),
    }


def zero_shot_rows(file: Path) -> list[dict]:
    rows = [raw for raw in datasets.read_jsonl(file) if raw["label"] in DOMAINS]
    return sorted(rows, key=lambda raw: datasets.digest(raw["text"], "zero-shot"))[:ZERO_SHOT]


def zero_shot(reader: Reader, file: Path) -> dict:
    """Figures for classifying the domain of clinc texts by the highest score."""
    rows = zero_shot_rows(file)
    topics = reader.vectors("topics", [*DOMAINS.values()])
    said = (reader.vectors("topics", [raw["text"] for raw in rows]) @ topics.T).argmax(1)
    truth = np.array([[*DOMAINS].index(raw["label"]) for raw in rows])
    by = {name: float((said[truth == index] == index).mean()) for index, name in enumerate(DOMAINS)}
    return {"rows": len(rows), "accuracy": float((said == truth).mean()), "by_domain": by}


def score_figures(task: str, examples: Sequence[Example], scores: np.ndarray) -> dict:
    target = np.array([e.target for e in examples])
    if task == "nli":
        allowed = target[np.arange(len(target)), scores.argmax(1)]
        return {"accuracy": float(allowed.mean())}
    if task == "emotion":
        known = [i for i in range(len(EMOTIONS)) if (target[:, i] >= 0).any()]
        each = {EMOTIONS[i]: f1(target[:, i] > 0, (scores[:, i] > 0.5) & (target[:, i] >= 0)) for i in known}
        return {"macro_f1": float(np.mean([*each.values()])), "by_label": each}
    stated = target[:, 0] >= 0
    truth, main = target[stated, 0] > 0, scores[stated, 0]
    result = {
        "macro_f1": macro_f1(truth, main > 0.5),
        "f1": f1(truth, main > 0.5),
        "auc": metrics.auc(main[truth], main[~truth]),
        "recall": metrics.share_above(main[truth], 0.5),
        "false_positives": metrics.share_above(main[~truth], 0.5),
    }
    if task in ("harm", "toxicity"):
        for index, name in enumerate(HEADS[task][1:], 1):
            known = target[:, index] >= 0
            yes = known & (target[:, index] > 0)
            if yes.sum() >= 10 and (known & ~yes).sum() >= 10:
                result[name] = {
                    "rows": int(yes.sum()),
                    "auc": metrics.auc(scores[yes, index], scores[known & ~yes, index]),
                }
    return result


def first(examples: Sequence[Example], count: int) -> list[Example]:
    return sorted(examples, key=lambda e: datasets.digest(e.text + e.pair))[:count]


def evaluate(examples: Sequence[Example], int8: ExportedModel, fp32: ExportedModel, comparing: dict, clinc: Path) -> dict:
    report: dict = {}
    reader, exact = Reader(int8, comparing), Reader(fp32, comparing)
    groups: dict[tuple[str, str], list[Example]] = defaultdict(list)
    for e in examples:
        if e.split == "dev":
            groups[e.task, f"{e.set} {e.lang}"].append(e)
    by_lang: dict[tuple[str, str], tuple[list, list]] = defaultdict(lambda: ([], []))
    differences, changed, compared = [], 0, 0
    for (task, name), members in sorted(groups.items()):
        chosen = first(members, 1500 if task == "emotion" else MEASURED)
        if task == "topics":
            result = topic_figures(reader, chosen) if chosen[0].no else {}
        else:
            scores = reader.scores(task, chosen)
            result = {"rows": len(chosen)} | score_figures(task, chosen, scores)
            for key in (f"{task} {chosen[0].lang}", f"{task} all"):
                by_lang[task, key][0].extend(chosen)
                by_lang[task, key][1].extend(scores)
            reference = exact.scores(task, chosen[:COMPARED])
            differences += [*np.abs(reference - scores[:COMPARED]).ravel()]
            verdict = (lambda s: s.argmax(1)) if task == "nli" else (lambda s: s[:, 0] > 0.5)
            changed += int((verdict(reference) != verdict(scores[:COMPARED])).sum())
            compared += len(reference)
        report[f"{task} | {name}"] = result
    for (task, key), (members, scores) in sorted(by_lang.items()):
        report[key] = {"rows": len(members)} | score_figures(task, members, np.array(scores))
    if clinc.exists() and comparing:
        report["topics | clinc zero-shot"] = zero_shot(reader, clinc)
    report["int8"] = {"mean_difference": float(np.mean(differences)), "changed": changed, "of": compared}
    for name, result in report.items():
        short = {
            key: round(value, 4) if isinstance(value, float) else value
            for key, value in result.items()
            if not isinstance(value, dict)
        }
        print(name, short, flush=True)
    return report
