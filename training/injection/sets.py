"""The data sets of the prompt-injection model, and how much of each is used.

All sets follow one policy. A text with the wording of an attack is INJECTION. A plain harmful request is SAFE, since this model
detects attacks, and other scanners look at topics. Benign role play, talk about security, system prompts, code and toxic chat are SAFE.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..datasets import HELD_BATCHES, NO_CATEGORY, Spec
from . import CATEGORIES, INJECTION, SAFE

Pick = Callable[[dict], tuple[int, float] | None]

# Machine-written kinds of safe_guard that contain threats and odd openings of stories rather than attacks.
SAFE_GUARD_DROPPED = {"Harmful Request", "Other", "Adversarial Example", "Indirect Manipulation"}
STORY = re.compile(r"\b(start|begin|end|continue)(s|ning|ing)? (with|in)\b", re.I)
# Kinds of neuralchemy that contain code payloads and questions, which do not attack the instructions of a model.
NEURALCHEMY_DROPPED = {
    "adversarial",
    "encoding",
    "training_extraction",
    "token_injection",
    "model_fingerprinting",
    "crescendo",
    "control",
    "chain_of_thought",
    "output_manipulation",
}


def labelled(weight: float = 1.0, **only: str) -> Pick:
    """Picks rows by their own label. `only` keeps the rows whose fields start with the given values."""

    def pick(raw: dict) -> tuple[int, float] | None:
        if any(not (raw.get(field) or "").startswith(value) for field, value in only.items()):
            return None
        return (INJECTION if raw["label"] == "injection" else SAFE), weight

    return pick


def always(label: int, weight: float = 1.0, **only: str) -> Pick:
    inner = labelled(weight, **only)
    return lambda raw: (label, weight) if inner({**raw, "label": ""}) else None


def safe_guard(raw: dict) -> tuple[int, float] | None:
    if raw["label"] == "injection" and (raw["kind"] in SAFE_GUARD_DROPPED or STORY.search(raw["text"])):
        return None
    return labelled()(raw)


def neuralchemy(raw: dict) -> tuple[int, float] | None:
    return None if raw["kind"] in NEURALCHEMY_DROPPED else labelled()(raw)


def bipia(raw: dict) -> tuple[int, float] | None:
    """Picks the rows of BIPIA but for tables and bare tasks, which look like what honest users send."""
    if raw["label"] == "injection" and raw.get("part") not in ("email", "code"):
        return None
    return labelled(0.7)(raw)


# Our categories for the kinds of the public sets. A kind that is not listed has no category.
KINDS = {
    "direct": "override",
    "Instruction Override": "override",
    "Role Impersonation": "jailbreak",
    "Jailbreak Attempt": "jailbreak",
    "Prompt Leaking": "extraction",
    "direct_injection": "override",
    "instruction_override": "override",
    "system_manipulation": "override",
    "persona_replacement": "jailbreak",
    "prompt_extraction": "extraction",
    "system_extraction": "extraction",
    "prompt_leak": "extraction",
    "rag_poisoning": "indirect",
    "indirect_injection": "indirect",
}


def category(default: str = "") -> Callable[[dict], int]:
    """Gives the category of an attack by the set's own field, or else the default."""

    def of(raw: dict) -> int:
        kind = raw.get("category") or raw.get("kind") or ""
        name = KINDS.get(kind, kind)
        name = name if name in CATEGORIES else default
        return CATEGORIES.index(name) if name and raw["label"] == "injection" else NO_CATEGORY

    return of


OPEN, UNCLEAR, NC = "open", "unclear", "non-commercial"
# Our own files, and how often each of them appears in an epoch. The last ones appear more often, since version 0.4.0 continues from
# the weights of 0.3.0, which had learnt from the others.
OWN = {
    "chat": 1,
    "documents": 1,
    "russian_german": 1,
    "chinese_french_spanish": 1,
    "classic_long": 1,
    "agents": 1,
    "system_prompts": 1,
    "short_direct": 1,
    "elaborate": 1,
    "many_languages": 1,
    "benign": 1,
    "attacks": 1,
    "quiet_orders": 3,
    "tool_results": 3,
    "jailbreaks": 3,
    "overrides": 3,
    "chinese_russian": 3,
    "nine_languages": 3,
    "long_harmless": 3,
    "short_instructions": 3,
}


def own(name: str) -> Spec:
    held = name in HELD_BATCHES
    return Spec(
        f"own_{name}",
        f"injection/{name}.jsonl",
        OPEN,
        labelled(1.0 if held else 1.3),
        own=True,
        split="dev" if held else "train",
        repeat=OWN.get(name, 1),
        category=category(),
    )


PROMPTS = "injection/benign_prompts.jsonl.gz"
TEXTS = "injection/benign_texts.jsonl.gz"
SETS = [
    # Written for guard (MIT, in this repository).
    *(own(name) for name in (*HELD_BATCHES, *OWN)),
    # Attacks. Most of these sets have benign rows too.
    Spec("deepset", "injection/deepset_train.jsonl.gz", UNCLEAR, labelled(), repeat=2),
    Spec(
        "safe_guard",
        "injection/safe_guard.jsonl.gz",
        UNCLEAR,
        safe_guard,
        {SAFE: 2000, INJECTION: 1200},
        category=category(),
    ),
    Spec(
        "neuralchemy",
        "injection/neuralchemy.jsonl.gz",
        UNCLEAR,
        neuralchemy,
        {SAFE: 900, INJECTION: 1300},
        category=category(),
    ),
    Spec(
        "jackhhao",
        "injection/jackhhao_jailbreak_train.jsonl.gz",
        OPEN,
        labelled(),
        {SAFE: 600},
        category=category("jailbreak"),
    ),
    Spec("jailbreak_prompts", "injection/jailbreak_prompts.jsonl.gz", OPEN, labelled(), category=category("jailbreak")),
    Spec(
        "tensortrust",
        "injection/tensortrust_extraction.jsonl.gz",
        UNCLEAR,
        labelled(),
        {INJECTION: 300},
        category=category("extraction"),
    ),
    Spec("bipia", "injection/bipia_train.jsonl.gz", OPEN, bipia, {INJECTION: 300}, category=category("indirect")),
    Spec(
        "agent_attacks",
        "injection/agent_attacks.jsonl.gz",
        OPEN,
        labelled(),
        {INJECTION: 450},
        category=category("indirect"),
    ),
    Spec("multilingual", "injection/multilingual_attacks.jsonl.gz", UNCLEAR, labelled(), repeat=3),
    Spec("five_languages", "injection/own_5_languages.jsonl.gz", NC, labelled(), {INJECTION: 800}),
    # Ordinary prompts.
    Spec("alpaca", PROMPTS, NC, labelled(source="andyrdt"), {SAFE: 1200}),
    Spec("alpaca_zh", PROMPTS, UNCLEAR, labelled(source="carbonz0"), {SAFE: 400}),
    Spec(
        "role_play",
        PROMPTS,
        NC,
        labelled(source="gururise/AlpacaDataCleaned:dataset_extensions/GPTeacher/Role"),
        {SAFE: 900},
    ),
    Spec(
        "tool_prompts",
        PROMPTS,
        NC,
        labelled(source="gururise/AlpacaDataCleaned:dataset_extensions/GPTeacher/Tool"),
        {SAFE: 120},
    ),
    Spec("t0_prompts", PROMPTS, OPEN, labelled(source="yizhongw"), {SAFE: 400}),
    Spec("act_as", PROMPTS, UNCLEAR, labelled(source="dan-stats-1"), repeat=3),
    Spec("security_talk", PROMPTS, OPEN, labelled(source="ShirePyDev"), {SAFE: 250}),
    # Ordinary texts: documents, system prompts, code, chat.
    Spec("wikipedia", TEXTS, NC, labelled(source="Babelscape"), {SAFE: 450}),
    Spec("dialogue_turns", TEXTS, OPEN, labelled(source="google-research")),
    Spec("code", TEXTS, OPEN, labelled(source="github-linguist"), {SAFE: 220}),
    Spec("system_prompts", TEXTS, OPEN, labelled(1.5, source="LouisShark")),
    Spec("conversations", "conversation/benign.jsonl.gz", OPEN, always(SAFE), {SAFE: 400}),
    Spec("assistant_intents", "topics/clinc_train.jsonl.gz", OPEN, always(SAFE), {SAFE: 300}),
    Spec("bank_questions", "topics/banking77_train.jsonl.gz", OPEN, always(SAFE), {SAFE: 200}),
    Spec("chat", "emotion/goemotions_train_dev.jsonl.gz", OPEN, always(SAFE), {SAFE: 500}),
    # Documents, in which attacks are hidden, and answers of models.
    Spec("answers", "refusal/compliance_answers.jsonl.gz", NC, always(SAFE, 0.7), {SAFE: 450}),
    Spec("passages", "nli/control.jsonl.gz", UNCLEAR, always(SAFE, 0.7), {SAFE: 150}),
    Spec("clean_code", "secrets/clean_code.jsonl.gz", OPEN, always(SAFE, 0.7), {SAFE: 60}),
    # Texts that are unpleasant, but do not attack a model.
    Spec("harmful", "injection/harmful_requests.jsonl.gz", OPEN, always(SAFE, 0.5), {SAFE: 450}),
    Spec("toxic_en", "toxicity/paradetox.jsonl.gz", OPEN, always(SAFE, 0.7), {SAFE: 200}),
    Spec("toxic_zh", "toxicity/cold_train_zh.jsonl.gz", OPEN, always(SAFE, 0.7), {SAFE: 150}),
    Spec("chat_ru", "toxicity/ru_toxicity_train.jsonl.gz", UNCLEAR, always(SAFE, 0.7), {SAFE: 200}),
]

# Sets of ordinary prompts. Calibration sets the bias of the head by the false positives on these.
ORDINARY = {
    "deepset",
    "safe_guard",
    "alpaca",
    "alpaca_zh",
    "role_play",
    "act_as",
    "conversations",
    "assistant_intents",
    "bank_questions",
    "chat",
    "security_talk",
    "dialogue_turns",
    "t0_prompts",
}
