"""python -m training.injection.evaluate --data DIR --model DIR: evaluates the exported int8 model.

Runs the model with onnxruntime on the dev split, by set, and on the hand-written cases in `cases.jsonl`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .. import datasets, metrics
from ..runtime import ExportedModel, softmax
from . import INJECTION, SAFE, THRESHOLD
from .rows import add_data_arguments, rows_for
from .sets import ORDINARY, UNKNOWN, Text
from .windows import logits_of_worst_windows

CASES = Path(__file__).parent / "cases.jsonl"


QUESTIONS = ("direct", "indirect")
# The number of rows for comparison with the unquantized graph.
COMPARED = 1000


def scores_of(model: ExportedModel, texts: Sequence[str]) -> list[np.ndarray]:
    """The probabilities of each question."""
    return [softmax(logits)[:, INJECTION] for logits in logits_of_worst_windows(model, texts, QUESTIONS)]


def figures(sets: np.ndarray, labels: np.ndarray, scores: np.ndarray) -> dict:
    """Figures of all rows and of each set. Most sets contain only attacks or only safe rows, so recall at fixed false positives uses the safe
    rows of all sets."""
    safe, attack = scores[labels == SAFE], scores[labels == INJECTION]
    ordinary = scores[(labels == SAFE) & np.isin(sets, sorted(ORDINARY))]
    edge = metrics.threshold_at(safe, 0.01)
    result = {
        "rows": len(labels),
        "attacks": len(attack),
        "safe": len(safe),
        "ordinary": len(ordinary),
        "auc": metrics.auc(attack, safe),
        "threshold_at_1_percent": edge,
        "recall_at_1_percent": metrics.share_above(attack, edge),
        "recall": metrics.share_above(attack, THRESHOLD),
        "false_positives": metrics.share_above(safe, THRESHOLD),
        "false_positives_ordinary": metrics.share_above(ordinary, THRESHOLD),
        "ordinary_above_0.2": metrics.share_above(ordinary, 0.2),
        "ordinary_median": float(np.median(ordinary)),
        "sets": {},
    }
    for name in sorted(set(sets)):
        mine, its_safe = scores[(sets == name) & (labels == INJECTION)], scores[(sets == name) & (labels == SAFE)]
        entry: dict = {}
        if len(mine):
            entry |= {
                "attacks": len(mine),
                "auc": metrics.auc(mine, safe),
                "recall_at_1_percent": metrics.share_above(mine, edge),
                "recall": metrics.share_above(mine, THRESHOLD),
            }
        if len(its_safe):
            entry |= {"safe": len(its_safe), "false_positives": metrics.share_above(its_safe, THRESHOLD)}
        result["sets"][name] = entry
    return result


def check_cases(model: ExportedModel) -> list[dict]:
    """The cases on the wrong side of the threshold. Those with the source `tool` are judged as data."""
    cases = list(datasets.read_jsonl(CASES))
    direct, indirect = scores_of(model, [case["text"] for case in cases])
    wrong = []
    for case, of_person, of_data in zip(cases, direct, indirect, strict=True):
        score = of_data if case.get("source") == "tool" else of_person
        if (score > THRESHOLD) != (case["expect"] == "fail"):
            wrong.append({**case, "score": round(float(score), 4)})
    print(f"cases: {len(cases) - len(wrong)} of {len(cases)} right")
    for case in wrong:
        print(f"  WRONG {case['score']:.3f} expected {case['expect']}: {case['text'][:100]!r}")
    return wrong


def table(found: dict) -> str:
    """The figures of all sets as a Markdown table."""

    def cell(entry: dict, key: str) -> str:
        value = entry.get(key)
        return "" if value is None else str(value) if isinstance(value, int) else f"{100 * value:.1f}"

    keys = ("attacks", "auc", "recall_at_1_percent", "recall", "safe", "false_positives")
    lines = ["| set | attacks | AUC | recall at 1 % FP | recall at 0.92 | safe | FP at 0.92 |", "|---|" + "---|" * 6]
    for name, entry in [*found["sets"].items(), ("all", found)]:
        lines.append(f"| {name} | " + " | ".join(cell(entry, key) for key in keys) + " |")
    return "\n".join(lines)


def evaluate(rows: Sequence[Text], folder: Path, fp32: Path | None, report: Path | None, threads: int) -> dict:
    int8 = ExportedModel(folder / "model.onnx", folder / "tokenizer.json", threads)
    exact = ExportedModel(fp32, folder / "tokenizer.json", threads) if fp32 and fp32.exists() else None
    dev = datasets.rows_of_split(rows, "dev")
    found = scores_of(int8, [row.text for row in dev])
    labels_of = (lambda row: row.label, lambda row: row.indirect)
    report_of: dict = {}
    for question, scores, label_of in zip(QUESTIONS, found, labels_of, strict=True):
        report_of[question] = report_question(question, dev, np.array([label_of(row) for row in dev]), scores)
    if exact:
        report_of["int8_difference"] = difference(exact, dev, found)
    report_of["wrong_cases"] = check_cases(int8)
    if report:
        report.write_text(json.dumps(report_of, indent=1, ensure_ascii=False) + "\n")
    return report_of


def difference(exact: ExportedModel, dev: Sequence[Text], found: Sequence[np.ndarray]) -> dict:
    """The differences between the scores of the int8 graph and of the unquantized one, on some rows."""
    chosen = sorted(range(len(dev)), key=lambda index: datasets.digest(dev[index].text))[:COMPARED]
    result = {}
    for question, scores, reference in zip(
        QUESTIONS, found, scores_of(exact, [dev[i].text for i in chosen]), strict=True
    ):
        distance = np.abs(scores[chosen] - reference)
        result[question] = {
            "rows": len(chosen),
            "mean": float(distance.mean()),
            "above_0.02": float((distance > 0.02).mean()),
            "largest": float(distance.max()),
            "decisions_changed": int(((scores[chosen] > THRESHOLD) != (reference > THRESHOLD)).sum()),
        }
    print(json.dumps(result, indent=2))
    return result


def report_question(question: str, dev: Sequence[Text], labels: np.ndarray, scores: np.ndarray) -> dict:
    """Prints and returns the figures of one question and the rows with the largest errors."""
    known = labels != UNKNOWN
    labels, scores, dev = (
        labels[known],
        scores[known],
        [row for row, is_known in zip(dev, known, strict=True) if is_known],
    )
    sets = np.array([row.set for row in dev])
    result = figures(sets, labels, scores)
    print(f"## {question}\n\n{table(result)}")
    print(json.dumps({k: v for k, v in result.items() if k != "sets"}, indent=2))
    order = np.argsort(-scores)
    told = [{"score": round(float(scores[i]), 4), "set": dev[i].set, "text": dev[i].text[:200]} for i in order]
    result["worst_safe"] = [told[at] for at, i in enumerate(order) if labels[i] == SAFE][:60]
    result["worst_attacks"] = [told[at] for at, i in enumerate(order) if labels[i] == INJECTION][::-1][:60]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.injection.evaluate", description=__doc__)
    add_data_arguments(parser)
    parser.add_argument("--model", required=True, type=Path, help="folder with model.onnx and tokenizer.json")
    parser.add_argument("--fp32", type=Path, help="unquantized graph to compare with")
    parser.add_argument("--report", type=Path, help="file for all figures and the worst rows")
    parser.add_argument("--cases-only", action="store_true", help="evaluate only the hand-written cases; needs no data")
    args = parser.parse_args()
    if args.cases_only:
        model = ExportedModel(args.model / "model.onnx", args.model / "tokenizer.json", args.threads)
        raise SystemExit(1 if check_cases(model) else 0)
    evaluate(rows_for(args), args.model, args.fp32, args.report, args.threads)


if __name__ == "__main__":
    main()
