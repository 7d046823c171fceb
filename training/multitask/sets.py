"""The data sets of all tasks, and how their raw rows become examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .. import datasets
from . import EMOTIONS, NLI, TOXICITY

# The target of a label about which a row says nothing.
UNKNOWN = -1.0

TASKS = ("toxicity", "emotion", "bias", "refusal", "nli", "topics", "relevance")


@dataclass(frozen=True)
class Example:
    """One text, or a pair of texts, with its labels.

    `target` has a number for each label: 0, 1 or UNKNOWN. For `nli` it is 1 for every label that may be the right one, and for
    `relevance` there is one number. `yes` are the topics that apply to the text, `no` those that do not.
    """

    task: str
    text: str
    target: tuple[float, ...] = ()
    pair: str = ""
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    lang: str = ""
    kind: str = ""
    set: str = ""
    split: str = ""


@dataclass(frozen=True)
class TaskSet:
    """One set. `cap` bounds the number of its training rows, `repeat` says how often each of them appears in an epoch."""

    name: str
    file: str
    licence: str
    read: Callable[[dict], Example | None]
    cap: int | None = None
    own: bool = False
    split: str = ""
    repeat: int = 1


# The finer labels of the sources, and what they say about our labels. What is not listed here stays unknown.
FINE = {
    "hate": {"identity_attack": 1.0},
    "identity_hate": {"identity_attack": 1.0},
    "race": {"identity_attack": 1.0},
    "region": {"identity_attack": 1.0},
    "gender": {"identity_attack": 1.0},
    "GRP": {"identity_attack": 1.0},
    "IND": {"insult": 1.0, "identity_attack": 0.0},
    "UNT": {"insult": 0.0, "identity_attack": 0.0, "threat": 0.0},
    "1. threats, plans to harm and incitement": {"threat": 1.0, "identity_attack": 1.0},
    "2. derogation": {"insult": 1.0, "identity_attack": 1.0},
    "3. animosity": {"identity_attack": 1.0, "threat": 0.0},
    "4. prejudiced discussions": {"identity_attack": 1.0, "threat": 0.0},
    "antagonize": {"insult": 1.0},
    "hostile": {"insult": 1.0},
}
JIGSAW = {"severe_toxic": "severe_toxicity", "identity_hate": "identity_attack", "sexual": "sexual_explicit"}


def toxicity(complete: bool = False) -> Callable[[dict], Example | None]:
    def read(raw: dict) -> Example | None:
        labels = raw.get("labels") or []
        toxic = bool(labels) if complete and "label" not in raw else raw["label"] == "toxic"
        known = dict.fromkeys(TOXICITY, 0.0 if complete or not toxic else UNKNOWN)
        known["toxicity"] = float(toxic)
        if toxic:
            for label in labels:
                if complete:
                    known[JIGSAW.get(label, label if label in TOXICITY else "toxicity")] = 1.0
                else:
                    known |= FINE.get(label, {})
        target = tuple(known[label] for label in TOXICITY)
        return Example("toxicity", raw["text"], target, lang=raw["lang"], kind=raw.get("kind", ""))

    return read


def emotion(raw: dict) -> Example:
    labels = set(raw["labels"])
    target = tuple(float(name in labels) for name in EMOTIONS)
    return Example("emotion", raw["text"], target, lang=raw.get("lang") or "en")


def harmless(task: str, field: str) -> Callable[[dict], Example | None]:
    """Picks questions or answers of instruction sets as harmless rows of a task, but for those that are held out elsewhere."""
    silent = {"toxicity": (0.0,) * len(TOXICITY), "emotion": tuple(float(name == "neutral") for name in EMOTIONS)}

    def read(raw: dict) -> Example | None:
        if raw["label"] != "relevant" or datasets.split_of(raw[field]) != "train":
            return None
        return Example(task, raw[field], silent.get(task, (0.0,)), lang=raw["lang"], kind="ordinary")

    return read


def bias(raw: dict) -> Example:
    return Example("bias", raw["text"], (float(raw["label"] == "biased"),), lang="en")


def refusal(raw: dict) -> Example | None:
    label = raw["label"]
    # Some answers that the source calls refusals only evade the question.
    if label == "refusal_or_safe" and not raw.get("rules_say_refusal", True):
        return None
    chinese = any("一" <= c <= "鿿" for c in raw["text"][:200])
    lang = raw.get("lang") or ("zh" if chinese else "en")
    return Example("refusal", raw["text"], (float(label.startswith("refusal")),), lang=lang, kind=raw.get("kind", ""))


def nli(raw: dict) -> Example:
    label = raw["label"]
    allowed = [name == label or (label == "not_entailment" and name != "entailment") for name in NLI]
    return Example("nli", raw["a"], tuple(map(float, allowed)), raw["b"], lang=raw["lang"])


def relevance(raw: dict) -> Example:
    lang = raw.get("lang") or "en"
    return Example("relevance", raw["a"], (float(raw["label"] == "relevant"),), raw["b"], lang=lang)


def intent(raw: dict) -> Example:
    return Example("topics", raw["text"], yes=(raw["label"].replace("_", " "),), lang="en")


def topics(raw: dict) -> Example:
    return Example(
        "topics", raw["text"], yes=tuple(raw["yes"]), no=tuple(raw["no"]), lang=raw["lang"], kind=raw["kind"]
    )


# The files of `nli`, their classes of licences, and the most training rows. Varied files have most; the others teach one phenomenon each.
ENTAILMENT = {
    "mnli_dev_part": ("open", None),
    "ocnli_train_zh": ("unclear", None),
    "snli_dev": ("open", None),
    "sick": ("non-commercial", 2000),
    "rte": ("unclear", None),
    "scitail_dev": ("open", None),
    "control": ("unclear", 400),
    "conjnli": ("open", 2000),
    "joci": ("open", 2000),
    "dnc": ("unclear", 1000),
    "help_and": ("open", 800),
    "breaking_nli": ("unclear", 1500),
    "add_one_rte": ("unclear", 600),
}
# This source has premises of ten genres and teaches most, so its rows are repeated.
REPEATED = {"mnli_dev_part": 3}
TOXIC = {
    "davidson": ("open", 2500),
    "olid_train": ("unclear", 4000),
    "paradetox": ("open", 3000),
    "ru_detox_train": ("unclear", 5000),
    "ru_toxicity_train": ("unclear", None),
    "cold_train_zh": ("open", 6000),
    "toxicn_train_zh": ("unclear", 5000),
    "edos_train": ("open", 4000),
    "toxigen_demonstrations": ("open", None),
    "toxic_spans_train": ("open", 1500),
    "unhealthy_conversations": ("non-commercial", 2000),
}


def sets() -> Iterator[TaskSet]:
    for file, (licence, cap) in TOXIC.items():
        yield TaskSet(file, f"toxicity/{file}.jsonl.gz", licence, toxicity(), cap)
    yield TaskSet("jigsaw_sample", "toxicity/jigsaw_sample.jsonl.gz", "open", toxicity(complete=True), repeat=2)
    for name in ("english", "russian_chinese"):
        yield TaskSet(
            f"own_toxicity_{name}", f"toxicity/{name}.jsonl", "open", toxicity(True), own=True, split="train", repeat=4
        )
    yield TaskSet("own_toxicity_exam", "toxicity/exam.jsonl", "open", toxicity(True), own=True, split="dev")
    yield TaskSet("goemotions", "emotion/goemotions_train_dev.jsonl.gz", "open", emotion, repeat=2)
    yield TaskSet("own_emotion", "emotion/own.jsonl", "open", emotion, own=True, split="train", repeat=4)
    yield TaskSet("own_emotion_exam", "emotion/exam.jsonl", "open", emotion, own=True, split="dev")
    yield TaskSet("babe", "bias/babe_train.jsonl.gz", "copyleft", bias, repeat=2)
    for file, licence in (
        ("gptfuzz_train", "open"),
        ("jailbreakbench_answers", "open"),
        ("past_tense_answers", "unclear"),
        ("compliance_answers", "non-commercial"),
    ):
        yield TaskSet(file, f"refusal/{file}.jsonl.gz", licence, refusal)
    for name in ("own", "further", "english", "languages", "hard"):
        yield TaskSet(
            f"own_refusal_{name}", f"refusal/{name}.jsonl", "open", refusal, own=True, split="train", repeat=3
        )
    yield TaskSet("own_refusal_exam", "refusal/exam.jsonl", "open", refusal, own=True, split="dev")
    for file, (licence, cap) in ENTAILMENT.items():
        yield TaskSet(file, f"nli/{file}.jsonl.gz", licence, nli, cap, repeat=REPEATED.get(file, 1))
    for name in (
        "own",
        "english",
        "many_languages",
        "genres",
        "short_premises",
        "talk_and_prose",
        "inferences",
        "contexts",
    ):
        yield TaskSet(f"own_nli_{name}", f"nli/{name}.jsonl", "open", nli, own=True, split="train", repeat=2)
    yield TaskSet("own_nli_exam", "nli/exam.jsonl", "open", nli, own=True, split="dev")
    yield TaskSet("banking77", "topics/banking77_train.jsonl.gz", "open", intent, 1000)
    for name in ("own", "further", "areas", "domains", "requests", "misleading"):
        yield TaskSet(f"own_topics_{name}", f"topics/{name}.jsonl", "open", topics, own=True, split="train", repeat=4)
    yield TaskSet("own_topics_exam", "topics/exam.jsonl", "open", topics, own=True, split="dev")
    yield TaskSet("trecqa_qnli", "relevance/trecqa_qnli.jsonl.gz", "unclear", relevance, 5000)
    yield TaskSet("instruction_answers", "relevance/instruction_answers.jsonl.gz", "non-commercial", relevance, 3000)
    for task, field in (("toxicity", "a"), ("emotion", "a"), ("bias", "b")):
        file = "relevance/instruction_answers.jsonl.gz"
        yield TaskSet(f"ordinary_{task}", file, "non-commercial", harmless(task, field), 1500)
