"""The data sets of all tasks, and the conversion of raw rows to examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .. import datasets
from . import EMOTIONS, HARM, NLI, TOXICITY

# The target of an unknown label.
UNKNOWN = -1.0

OPEN = "open"
TASKS = ("harm", "toxicity", "emotion", "bias", "refusal", "nli", "topics", "relevance")


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
    "origin": {"identity_attack": 1.0},
    "religion": {"identity_attack": 1.0},
    "gendered": {"identity_attack": 1.0},
    "aggressive": {"insult": 1.0},
    "disrespectful": {"insult": 1.0},
    "threat": {"threat": 1.0},
    "severe_toxicity": {"severe_toxicity": 1.0},
    "identity_attack": {"identity_attack": 1.0},
    "Offensive_Targeted_Insult_Individual": {"insult": 1.0, "identity_attack": 0.0},
    "Offensive_Targeted_Insult_Group": {"insult": 1.0, "identity_attack": 1.0},
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
    return Example("emotion", raw["text"], tuple(float(name in raw["labels"]) for name in EMOTIONS), lang=raw.get("lang") or "en")


def some_emotions(*labelled: str) -> Callable[[dict], Example]:
    """Reads a set that labels only some of the emotions. The others are unknown."""

    def read(raw: dict) -> Example:
        target = tuple(float(name in raw["labels"]) if name in labelled else UNKNOWN for name in EMOTIONS)
        return Example("emotion", raw["text"], target, lang=raw["lang"])

    return read


# The hazards of AILuminate and the labels of other sets, by our kinds of harm.
HAZARDS = {
    "vcr": "violent_crimes",
    "ncr": "nonviolent_crimes",
    "src": "sex_crimes",
    "cse": "child_exploitation",
    "iwp": "weapons",
    "ssh": "self_harm",
    "hte": "hate",
    "prv": "privacy",
    "dfm": "defamation",
    "ipv": "intellectual_property",
    "spc_fin": "specialized_advice",
    "spc_hlt": "specialized_advice",
    "spc_lgl": "specialized_advice",
    "spc_ele": "elections",
    "sxc_prn": "sexual_content",
    "IdentityAttack": "hate",
    "hate": "hate",
    "SelfHarm": "self_harm",
    "SexualContent": "sexual_content",
    "insult": "harassment",
    "Insult": "harassment",
}


def harm_target(harmful: float, kinds: Iterable[str] = (), others: float = UNKNOWN) -> tuple[float, ...]:
    return tuple(harmful if name == "harmful" else 1.0 if name in kinds else others for name in HARM)


HARMLESS = harm_target(0.0, (), 0.0)


def harmful_request(raw: dict) -> Example | None:
    """Requests of sets for safety tests. Some kinds of them are harmless."""
    if raw["label"] == "injection":
        return None
    kind = raw.get("kind", "")
    target = HARMLESS if raw["label"] == "benign" else harm_target(1.0, [HAZARDS[kind]] if kind in HAZARDS else [])
    return Example("harm", raw["text"], target, lang=raw.get("lang") or "en", kind=kind)


def harmful_talk(raw: dict) -> Example | None:
    """Rows of sets about toxicity that state kinds of harm, and their harmless rows."""
    labels = raw.get("labels") or []
    kinds = [HAZARDS[label] for label in labels if label in HAZARDS]
    if raw["label"] == "toxic":
        return Example("harm", raw["text"], harm_target(1.0, kinds), lang=raw["lang"], kind="talk") if kinds else None
    # Rows that state only that they are no hate may be harmful for other reasons.
    target = harm_target(UNKNOWN if labels else 0.0, (), UNKNOWN if labels else 0.0)
    target = tuple(0.0 if name == "hate" else value for name, value in zip(HARM, target, strict=True))
    return Example("harm", raw["text"], target, lang=raw["lang"], kind="talk")


def harm_of_answer(raw: dict) -> Example | None:
    """Answers to harmful requests. Answers that the source calls safe without a refusal are skipped."""
    refused = raw["label"] == "refusal_or_safe"
    if refused and not raw.get("rules_say_refusal", True):
        return None
    return Example("harm", raw["text"], HARMLESS if refused else harm_target(1.0), lang=raw.get("lang") or "en", kind="answer")


def own_harm(raw: dict) -> Example:
    """Our own texts have all kinds. An answer is read after its request, if it is given."""
    target = harm_target(float(bool(raw["categories"])), raw["categories"], 0.0)
    text = f"{raw['prompt']}\n\n{raw['text']}" if raw.get("prompt") else raw["text"]
    return Example("harm", text, target, lang=raw["lang"], kind=raw["kind"])


# Targets of multi-label tasks for harmless texts. Other tasks have one zero.
SILENT = {
    "harm": HARMLESS,
    "toxicity": (0.0,) * len(TOXICITY),
    "emotion": tuple(float(name == "neutral") for name in EMOTIONS),
}


def harmless_rows(task: str) -> Callable[[dict], Example]:
    """Uses harmless texts of many languages as negative rows of a task."""

    def read(raw: dict) -> Example:
        return Example(task, raw["text"], SILENT.get(task, (0.0,)), lang=raw.get("lang") or "", kind="ordinary")

    return read


def long_answer(task: str) -> Callable[[dict], Example | None]:
    """Uses our own long answers as negative rows of a task, without those that decline a request and offer something else."""
    read = harmless_rows(task)
    return lambda raw: None if raw["kind"].startswith("refusal") else read(raw)


def not_toxic(raw: dict) -> Example | None:
    """Our own requests and answers without harm, which insult nobody, as negative rows of toxicity."""
    return None if raw["categories"] else harmless_rows("toxicity")(raw)


def own_prompts(task: str) -> Callable[[dict], Example | None]:
    """Uses our own texts about attacks on models as negative rows: prompts, role play, mails, files. An attack on a model insults nobody, but it
    may ask for harm. `skip` of a row names the tasks for which it is not harmless, and a kind marks plain requests for harm."""

    def read(raw: dict) -> Example | None:
        unfit = "text" not in raw or raw.get("kind") == "harmful" or task in raw.get("skip", ())
        if unfit or (raw["label"] != "benign" and task != "toxicity"):
            return None
        return Example(task, raw["text"], SILENT[task], lang=raw.get("lang") or "", kind="ordinary")

    return read


def bias(raw: dict) -> Example:
    return Example("bias", raw["text"], (float(raw["label"] == "biased"),), lang="en")


def neutral_wording(raw: dict) -> Example | None:
    """Sentences after a neutral edit. Those before it differ in one word, and a model that learnt from both could not tell them apart."""
    return bias(raw) if raw["label"] == "neutral" else None


def refusal(raw: dict) -> Example | None:
    label = raw["label"]
    # A public benchmark of jailbreaks asked some of the questions.
    if "jailbreakbench" in raw.get("source", ""):
        return None
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


# The files of `nli` with maximum training rows. Varied files have more; the others teach one phenomenon each.
ENTAILMENT = {
    "mnli_dev_part": None,
    "snli_dev": None,
    "scitail_dev": None,
    "conjnli": 2000,
    "joci": 2000,
    "help_and": 800,
    "begin_dialogue_answers": None,
    "klue_nli_dev_ko": None,
    "jnli_ja": 3000,
    "indonli_id": 5000,
    "farstail_fa": 5000,
    "inferes_es": 4000,
    "fever_symmetric_en": None,
    "folio_en": 600,
    "wrete_id": None,
}
TOXIC = {
    "davidson": 2500,
    "paradetox": 3000,
    "cold_train_zh": 6000,
    "edos_train": 4000,
    "toxigen_demonstrations": None,
    "toxic_spans_train": 1500,
    "dynahate_en": 12000,
    "hate_en_more": 9000,
    "groups_named": 2500,
    "hatexplain_en": 5000,
    "gahd_de": 8000,
    "part_germeval_2018": 6000,
    "part_told_br": 7000,
    "offenseval_tr": 8000,
    "ogtd_el": 6000,
    "part_ro_offense": 7000,
    "part_arabic_osact": 6000,
    "mlma_ar_fr_en": 4000,
    "kmhas_ko": 5000,
    "part_beep_ko": 5000,
    "part_asia": 12000,
    "uli_en_hi_ta": 7000,
    "dravidian_ml_kn": 4000,
    "suomi24_fi": None,
}
# Harmful texts, each with a harmless twin of the same topic, words and tone.
TWINS = (
    "twins_crimes_privacy twins_violence_self_harm twins_hate_harassment twins_sexual_graphic twins_advice_malware "
    "twins_answers_long twins_in_europe twins_in_world"
).split()
# Plain requests, talk and statements, each harmful one with harmless neighbours.
PLAIN = (
    "plain_english professional_english direct_english plain_europe plain_world statements_english statements_languages"
).split()
# Our own texts with their repetitions in an epoch. Files without repetitions are only for evaluation.
LONG_ANSWERS = (
    "long_answers_english_third_hand",
    "long_answers_languages_third_hand",
    "long_answers_world_third_hand",
    "fiction_answers_english",
    "spoken_answers_english",
)
OWN_HARM = {
    "english_requests": 8,
    "english_answers": 8,
    "requests_europe": 8,
    "requests_asia_africa": 8,
    "neighbours": 8,
    "english_medicine_law_money": 8,
    "english_security_fiction": 8,
    "english_talk": 8,
    "requests_europe_second_hand": 8,
    "requests_east_second_hand": 8,
    "requests_asia_africa_second_hand": 8,
    "answers_second_hand": 8,
    "balanced": 8,
    **dict.fromkeys((*TWINS, *PLAIN, "services"), 8),
    "everyday_english_third_hand": 8,
    "everyday_languages_third_hand": 8,
    **dict.fromkeys(LONG_ANSWERS, 6),
    "dev_a": 0,
    "dev_b": 0,
    "dev_c": 0,
    "dev_d": 0,
    "dev_ordinary": 0,
    "dev_everyday_english": 0,
    "dev_everyday_languages": 0,
    "dev_e": 0,
}
OWN_TOXIC = {
    "english": 4,
    "russian_chinese": 4,
    "functions_english": 8,
    "functions_europe": 8,
    "functions_east_asia": 8,
    "functions_middle_east_south_asia": 8,
    "social": 6,
    "everyday_languages": 16,
    "twins_english": 8,
    "twins_europe": 8,
    "twins_world": 8,
    "plain_insults_english": 16,
    "plain_insults_languages": 16,
    "inside_english": 12,
    "inside_europe": 12,
    "inside_world": 12,
    "implied_english": 12,
    "inside_english_second_hand": 12,
    "inside_languages_second_hand": 12,
    "ordinary_fifty_languages": 12,
    "exam": 0,
    "dev_functions": 0,
    "dev_twins": 0,
    "dev_plain": 0,
    "dev_inside": 0,
    "dev_inside_second": 0,
}
# Our own files of answers, for training.
OWN_REFUSALS = (
    "own",
    "further",
    "english",
    "languages",
    "hard",
    "partial",
    "shapes",
    "limits_and_letters",
    "languages_second_hand",
    "long_second_hand",
)
HELD_OUT_REFUSALS = ("exam", "dev_refusals", "dev_answers", "dev_plain", "dev_refusals_second")
# Sets of texts without any finding, with the maximum training rows of a language for each task.
OF_LANGUAGES = {
    "harmless_sib200": {"harm": 12, "toxicity": 40, "emotion": 8, "refusal": 6, "bias": 3},
    "harmless_tatoeba": {"harm": 20, "toxicity": 50, "refusal": 6},
    "harmless_udhr": {"harm": 1, "toxicity": 1},
    "part_passages": {"harm": 6, "toxicity": 12, "refusal": 5},
    "harmless_requests_multilingual": {"harm": 70, "toxicity": 70, "emotion": 8},
    "harmless_documents_multilingual": {"harm": 20, "toxicity": 40, "refusal": 15},
    "interface_texts_50_languages": {"harm": 20, "toxicity": 20},
    "opensource_guide_29_languages": {"harm": 10, "toxicity": 15},
}
# Harmless texts of people, with the maximum training rows of each task.
OF_PEOPLE = {
    "oasst_requests_en": {"harm": 6000, "toxicity": 2500, "emotion": 1500},
    "oasst_requests_fi": {"harm": 800, "toxicity": 600},
    "prompts_chat": {"harm": 800},
    "part_benign_prompts": {"harm": 1500},
    "part_trigger_words": {"harm": 2000, "toxicity": 800},
    "trigger_words_written": {"harm": 200},
    "part_roles": {"harm": 500},
    "part_imperatives": {"harm": 1500, "toxicity": 800},
    "questions_7_languages": {"harm": 2000, "toxicity": 1500},
    "assistant_commands_en": {"harm": 1200, "toxicity": 800},
    "part_reviews": {"harm": 800, "toxicity": 1200},
}
# Sets about toxicity that state kinds of harm, with the maximum training rows.
HARMFUL_TALK = {"dynahate_en": 2500, "hate_en_more": 2500, "hatexplain_en": 1500, "gahd_de": 2000}


def open_set(name: str, file: str, read: Callable[[dict], Example | None], cap: int | None = None, **options: Any) -> TaskSet:
    """A set of the data folder. All of them are open."""
    return TaskSet(name, f"{file}.jsonl.gz", OPEN, read, cap, **options)


def own(task: str, read: Callable[[dict], Example | None], files: Mapping[str, int]) -> Iterator[TaskSet]:
    for file, repeat in files.items():
        split = "train" if repeat else "dev"
        yield TaskSet(f"own_{task}_{file}", f"{task}/{file}.jsonl", OPEN, read, own=True, split=split, repeat=repeat or 1)


def harm_sets() -> Iterator[TaskSet]:
    for file in ("harmful_requests", "harmful_requests_open", "harmful_multilingual"):
        yield open_set(f"{file}_harm", f"injection/{file}", harmful_request)
    for file, most in HARMFUL_TALK.items():
        yield open_set(f"{file}_harm", f"toxicity/{file}", harmful_talk, most)
    yield open_set("rtplx_harm", "toxicity/rtplx_28_languages", harmful_talk, max_per_language=250)
    yield open_set("gptfuzz_harm", "refusal/gptfuzz_train", harm_of_answer)
    yield from own("harm", own_harm, OWN_HARM)


def toxicity_sets() -> Iterator[TaskSet]:
    for file, most in TOXIC.items():
        yield open_set(file, f"toxicity/{file}", toxicity(), most)
    yield open_set("rtplx", "toxicity/rtplx_28_languages", toxicity(), max_per_language=1100)
    yield open_set("jigsaw_sample", "toxicity/jigsaw_sample", toxicity(complete=True), repeat=2)
    yield from own("toxicity", toxicity(True), OWN_TOXIC)


def emotion_sets() -> Iterator[TaskSet]:
    plutchik = "anger fear surprise disgust joy approval desire sadness".split()
    yield open_set("goemotions", "emotion/goemotions_train_dev", emotion, repeat=2)
    yield open_set("kote_ko", "emotion/kote_ko", emotion)
    yield open_set("xed", "emotion/xed_32_languages", some_emotions(*plutchik))
    labelled = ("sadness", "surprise", "anger", "fear", "joy", "approval", "neutral")
    yield open_set("red_ro", "emotion/red_ro", some_emotions(*labelled))
    yield open_set("indonlu_emotion", "emotion/indonlu_id", some_emotions("joy", "anger", "fear", "sadness", "love"))
    yield from own("emotion", emotion, {"own": 4, "single": 10, "in_languages": 8, "exam": 0, "dev_voices": 0})


def refusal_sets() -> Iterator[TaskSet]:
    yield open_set("gptfuzz_train", "refusal/gptfuzz_train", refusal)
    yield open_set("refusal_direction", "refusal/refusal_direction_runs", refusal)
    for file, most in (("oasst_answers_en", 2500), ("oasst_answers_fi", 800), ("oasst_answers_known_en", 800)):
        yield open_set(file, f"refusal/{file}", refusal, most)
    yield from own("refusal", refusal, dict.fromkeys(OWN_REFUSALS, 3) | dict.fromkeys(HELD_OUT_REFUSALS, 0))


def sets_of_pairs() -> Iterator[TaskSet]:
    for file, most in ENTAILMENT.items():
        yield open_set(file, f"nli/{file}", nli, most)
    files = ("own", "english", "many_languages", "genres", "short_premises", "talk_and_prose", "inferences", "contexts")
    in_languages = ("in_chinese", "in_russian", "in_europe", "in_world")
    facts = ("facts_business", "facts_science", "facts_stories", "facts_second_hand", "in_languages_second_hand")
    twins = (*facts, "everyday", *in_languages)
    claims = {"claims": 6, "claims_of_news": 6, "claims_third_hand": 6, **dict.fromkeys(twins, 4)}
    held_out = dict.fromkeys(("exam", "dev_summaries", "dev_twins", "dev_claims_second"), 0)
    yield from own("nli", nli, dict.fromkeys(files, 2) | claims | held_out)
    yield open_set("part_qnli", "relevance/part_qnli", relevance)
    yield open_set("qa_sentences", "relevance/qa_sentences_7_languages", relevance, 9000)
    yield open_set("oasst_pairs", "relevance/oasst_pairs_en", relevance)
    yield from own("relevance", relevance, {"own": 4, "further": 6, "languages": 10, "in_languages": 6, "near_misses": 6, "dev_pairs": 0, "dev_answers": 0})


def sets_of_prompts(task: str) -> Iterator[TaskSet]:
    """Our own files about attacks on models, as harmless texts of a task."""
    for path in sorted((datasets.OWN_DATA / "injection").glob("*.jsonl")):
        split = "dev" if datasets.is_held_out(path) else ""
        yield TaskSet(f"own_prompts_{path.stem}_{task}", f"injection/{path.name}", OPEN, own_prompts(task), own=True, split=split)


def harmless_sets() -> Iterator[TaskSet]:
    for file, tasks in OF_LANGUAGES.items():
        for task, most in tasks.items():
            yield open_set(f"{file}_{task}", f"injection/{file}", harmless_rows(task), max_per_language=most)
    for file, tasks in OF_PEOPLE.items():
        for task, most in tasks.items():
            yield open_set(f"{file}_{task}", f"injection/{file}", harmless_rows(task), most)
    for task in ("harm", "toxicity"):
        yield from sets_of_prompts(task)
        yield open_set(f"banking77_{task}", "topics/banking77_train", harmless_rows(task), 800)
    # A model that never read a refusal as neutral wording took nine of ten for biased.
    for file in OWN_REFUSALS:
        yield TaskSet(f"own_refusal_{file}_bias", f"refusal/{file}.jsonl", OPEN, harmless_rows("bias"), own=True, split="train", repeat=2)
    for task in ("bias", "refusal"):
        for file in LONG_ANSWERS:
            yield TaskSet(f"own_harm_{file}_{task}", f"harm/{file}.jsonl", OPEN, long_answer(task), own=True, split="train", repeat=2)
    for task, most in {"harm": 3000, "toxicity": 3000, "emotion": 1000, "bias": 1000}.items():
        yield open_set(f"oasst_answers_en_{task}", "refusal/oasst_answers_en", harmless_rows(task), most)
    for file, repeat in OWN_HARM.items():
        split = "train" if repeat else "dev"
        yield TaskSet(f"own_harm_{file}_toxicity", f"harm/{file}.jsonl", OPEN, not_toxic, own=True, split=split)


def sets() -> Iterator[TaskSet]:
    yield from harm_sets()
    yield from toxicity_sets()
    yield from emotion_sets()
    yield open_set("wnc", "bias/wnc_sample", neutral_wording)
    yield from own("bias", bias, {"own": 8, "dev_wording": 0, "dev_answers": 0})
    yield from refusal_sets()
    yield from sets_of_pairs()
    yield open_set("banking77", "topics/banking77_train", intent, 1000)
    files = ("own", "further", "areas", "domains", "requests", "misleading", "news", "second_hand")
    yield from own("topics", topics, dict.fromkeys(files, 4) | {"exam": 0})
    yield from harmless_sets()
