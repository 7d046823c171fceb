"""The data sets of all tasks, and the conversion of raw rows to examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .. import datasets
from . import EMOTIONS, NLI, TOXICITY

# The target of an unknown label.
UNKNOWN = -1.0

TASKS = ("toxicity", "emotion", "bias", "refusal", "nli", "topics", "relevance")


@dataclass(frozen=True)
class Example:
    """One text, or a pair of texts, with its labels.

    `target` has 0, 1 or UNKNOWN for each label. For `nli` it is 1 for every label that may be right; `relevance` has one number. `yes` has the
    topics that apply to the text, `no` those that do not.
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
    """One set. `cap` limits its training rows, `repeat` is the number of repetitions in an epoch."""

    name: str
    file: str
    licence: str
    read: Callable[[dict], Example | None]
    cap: int | None = None
    own: bool = False
    split: str = ""
    repeat: int = 1
    # The maximum number of training rows of a language, for multilingual sets. Other splits keep at most 30 of a language and label.
    max_per_language: int | None = None


# Fine-grained labels of the sources, mapped to our labels. Labels that are not listed stay unknown.
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
    "insult": {"insult": 1.0},
    "abusive": {"insult": 1.0},
    "personal": {"insult": 1.0, "identity_attack": 0.0},
    "profanity": {"obscene": 1.0},
    "obscene": {"obscene": 1.0},
    # Harmless rows: swearing without a target.
    "profanity_not_offensive": {"obscene": 1.0},
    "hateful": {"identity_attack": 1.0},
    "hate_speech": {"identity_attack": 1.0},
    "homophobia": {"identity_attack": 1.0},
    "misogyny": {"identity_attack": 1.0},
    "racism": {"identity_attack": 1.0},
    "xenophobia": {"identity_attack": 1.0},
    "religious": {"identity_attack": 1.0},
    "geopolitical": {"identity_attack": 1.0},
    "offensive_group": {"insult": 1.0, "identity_attack": 1.0},
    "offensive_person": {"insult": 1.0},
    "Insult": {"insult": 1.0},
    "IdentityAttack": {"identity_attack": 1.0},
    "SexualContent": {"sexual_explicit": 1.0},
}
# Non-toxic rows of these kinds contain no hate, but may contain insults and swearing.
ONLY_NO_HATE = ("hate", "hate_offence")
JIGSAW = {"severe_toxic": "severe_toxicity", "identity_hate": "identity_attack", "sexual": "sexual_explicit"}


def toxicity(complete: bool = False) -> Callable[[dict], Example | None]:
    def read(raw: dict) -> Example | None:
        labels = raw.get("labels") or []
        # Our own rows have all labels. Swearing without a victim is obscene, but not toxic.
        toxic = raw["label"] == "toxic" if "label" in raw else "toxic" in labels
        known = dict.fromkeys(TOXICITY, 0.0 if complete or not toxic else UNKNOWN)
        known["toxicity"] = float(toxic)
        if not toxic and raw.get("kind") in ONLY_NO_HATE and "not_hate" in labels:
            known = {**dict.fromkeys(TOXICITY, UNKNOWN), "identity_attack": 0.0, "threat": 0.0}
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


# Targets of multi-label tasks for harmless texts. Other tasks have one zero.
SILENT = {"toxicity": (0.0,) * len(TOXICITY), "emotion": tuple(float(name == "neutral") for name in EMOTIONS)}


def harmless(task: str, field: str) -> Callable[[dict], Example | None]:
    """Picks questions or answers of instruction sets as harmless rows of a task, except those that are held out elsewhere."""

    def read(raw: dict) -> Example | None:
        if raw["label"] != "relevant" or datasets.split_of(raw[field]) != "train":
            return None
        return Example(task, raw[field], SILENT.get(task, (0.0,)), lang=raw["lang"], kind="ordinary")

    return read


def sample_bengali(raw: dict) -> Example | None:
    """Keeps a quarter of the Bengali rows. All of them are toxic, so more rows would bias the model against Bengali."""
    return None if raw["lang"] == "bn" and datasets.digest(raw["text"], "bn") % 4 else toxicity()(raw)


def harmless_rows(task: str) -> Callable[[dict], Example]:
    """Uses harmless texts of many languages as negative rows of a task."""

    def read(raw: dict) -> Example:
        return Example(task, raw["text"], SILENT.get(task, (0.0,)), lang=raw.get("lang") or "", kind="ordinary")

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
    target = tuple(map(float, allowed))
    return Example("nli", raw["a"], target, raw["b"], lang=raw["lang"], kind=raw.get("kind", ""))


def relevance(raw: dict) -> Example:
    lang = raw.get("lang") or "en"
    return Example("relevance", raw["a"], (float(raw["label"] == "relevant"),), raw["b"], lang=lang)


def intent(raw: dict) -> Example:
    return Example("topics", raw["text"], yes=(raw["label"].replace("_", " "),), lang="en")


def topics(raw: dict) -> Example:
    return Example(
        "topics", raw["text"], yes=tuple(raw["yes"]), no=tuple(raw["no"]), lang=raw["lang"], kind=raw["kind"]
    )


# The files of `nli` with licence classes and maximum training rows. Varied files have more; the others teach one phenomenon each.
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
    "begin_dialogue_answers": ("open", None),
    "climate_fever": ("unclear", 3500),
    "klue_nli_dev_ko": ("open", None),
}
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
    "arabic": ("unclear", 7000),
    "asia": ("non-commercial", 16000),
    "counter_speech": ("unclear", 6000),
    "dynahate_en": ("open", 12000),
    "german": ("unclear", 8000),
    "greek_romanian": ("unclear", 10000),
    "hate_6_languages": ("unclear", 18000),
    "hate_en_more": ("open", 9000),
    "korean": ("non-commercial", 7000),
    "portuguese": ("non-commercial", 8000),
    "spanish_offendes": ("unclear", 6000),
    "turkish": ("unclear", 8000),
    "groups_named": ("open", 2500),
}
# Our own texts with their repetitions in an epoch.
OWN_TOXIC = {
    "english": 4,
    "russian_chinese": 4,
    "functions_english": 8,
    "functions_europe": 8,
    "functions_east_asia": 8,
    "functions_middle_east_south_asia": 8,
    "social": 6,
    "everyday_languages": 16,
}
# Harmless texts of many languages with licence classes and maximum training rows of a language for each task.
OF_LANGUAGES = {
    "sib200": ("open", {"toxicity": 40, "emotion": 8, "refusal": 6, "bias": 3}),
    "tatoeba": ("open", {"toxicity": 50, "refusal": 6}),
    "udhr": ("open", {"toxicity": 1}),
    "passages_multilingual": ("copyleft", {"toxicity": 12, "refusal": 5}),
    "requests_multilingual": ("open", {"toxicity": 70, "emotion": 8}),
    "documents_multilingual": ("open", {"toxicity": 40, "refusal": 15}),
}


def sets() -> Iterator[TaskSet]:
    for file, (licence, cap) in TOXIC.items():
        read = sample_bengali if file == "asia" else toxicity()
        yield TaskSet(file, f"toxicity/{file}.jsonl.gz", licence, read, cap)
    yield TaskSet(
        "rtplx",
        "toxicity/rtplx_28_languages.jsonl.gz",
        "open",
        toxicity(),
        max_per_language=1100,
    )
    for file, (licence, tasks) in OF_LANGUAGES.items():
        for task, most in tasks.items():
            path = f"injection/harmless_{file}.jsonl.gz"
            yield TaskSet(f"{file}_{task}", path, licence, harmless_rows(task), max_per_language=most)
    # For evaluation only: sources that are not used in training.
    treebanks = "injection/harmless_treebanks.jsonl.gz"
    yield TaskSet("treebanks", treebanks, "non-commercial", harmless_rows("toxicity"), split="dev", max_per_language=0)
    yield TaskSet("ethos", "toxicity/ethos.jsonl.gz", "copyleft", toxicity(), split="dev")
    yield TaskSet("ethos_multilabel", "toxicity/ethos_multilabel.jsonl.gz", "copyleft", toxicity(), split="dev")
    yield TaskSet("jigsaw_sample", "toxicity/jigsaw_sample.jsonl.gz", "open", toxicity(complete=True), repeat=2)
    for name, repeat in OWN_TOXIC.items():
        file = f"toxicity/{name}.jsonl"
        yield TaskSet(f"own_toxicity_{name}", file, "open", toxicity(True), own=True, split="train", repeat=repeat)
    for name in ("exam", "dev_functions"):
        file = f"toxicity/{name}.jsonl"
        yield TaskSet(f"own_toxicity_{name}", file, "open", toxicity(True), own=True, split="dev")
    yield TaskSet("goemotions", "emotion/goemotions_train_dev.jsonl.gz", "open", emotion, repeat=2)
    for name, repeat in (("own", 4), ("single", 10)):
        file = f"emotion/{name}.jsonl"
        yield TaskSet(f"own_emotion_{name}", file, "open", emotion, own=True, split="train", repeat=repeat)
    yield TaskSet("own_emotion_exam", "emotion/exam.jsonl", "open", emotion, own=True, split="dev")
    yield TaskSet("babe", "bias/babe_train.jsonl.gz", "copyleft", bias, repeat=2)
    yield TaskSet("own_bias", "bias/own.jsonl", "open", bias, own=True, split="train", repeat=8)
    yield TaskSet("own_bias_dev_wording", "bias/dev_wording.jsonl", "open", bias, own=True, split="dev")
    for file, licence in (
        ("gptfuzz_train", "open"),
        ("jailbreakbench_answers", "open"),
        ("past_tense_answers", "unclear"),
        ("compliance_answers", "non-commercial"),
    ):
        yield TaskSet(file, f"refusal/{file}.jsonl.gz", licence, refusal)
    for name in ("own", "further", "english", "languages", "hard", "partial", "shapes"):
        yield TaskSet(
            f"own_refusal_{name}", f"refusal/{name}.jsonl", "open", refusal, own=True, split="train", repeat=3
        )
    for name in ("exam", "dev_refusals"):
        yield TaskSet(f"own_refusal_{name}", f"refusal/{name}.jsonl", "open", refusal, own=True, split="dev")
    for file, (licence, cap) in ENTAILMENT.items():
        yield TaskSet(file, f"nli/{file}.jsonl.gz", licence, nli, cap)
    for name in (
        "own",
        "english",
        "many_languages",
        "genres",
        "short_premises",
        "talk_and_prose",
        "inferences",
        "contexts",
        "claims",
        "claims_of_news",
    ):
        repeat = 6 if name.startswith("claims") else 2
        yield TaskSet(f"own_nli_{name}", f"nli/{name}.jsonl", "open", nli, own=True, split="train", repeat=repeat)
    for name in ("exam", "dev_summaries"):
        yield TaskSet(f"own_nli_{name}", f"nli/{name}.jsonl", "open", nli, own=True, split="dev")
    yield TaskSet("banking77", "topics/banking77_train.jsonl.gz", "open", intent, 1000)
    for name in ("own", "further", "areas", "domains", "requests", "misleading", "news"):
        yield TaskSet(f"own_topics_{name}", f"topics/{name}.jsonl", "open", topics, own=True, split="train", repeat=4)
    yield TaskSet("own_topics_exam", "topics/exam.jsonl", "open", topics, own=True, split="dev")
    yield TaskSet("trecqa_qnli", "relevance/trecqa_qnli.jsonl.gz", "unclear", relevance)
    for name, repeat in (("own", 4), ("further", 6), ("languages", 10)):
        file = f"relevance/{name}.jsonl"
        yield TaskSet(f"own_relevance_{name}", file, "open", relevance, own=True, split="train", repeat=repeat)
    yield TaskSet("instruction_answers", "relevance/instruction_answers.jsonl.gz", "non-commercial", relevance, 3000)
    for task, field in (("toxicity", "a"), ("emotion", "a"), ("bias", "b")):
        file = "relevance/instruction_answers.jsonl.gz"
        yield TaskSet(f"ordinary_{task}", file, "non-commercial", harmless(task, field), 1500)
