"""The data sets of the prompt-injection model and the use of their rows.

All sets follow one policy for the label of texts that people write. A text with the wording of an attack is INJECTION. A plain harmful request
is SAFE, because this model detects attacks and other scanners detect topics. Benign role play, talk about security, system prompts, code and
toxic chat are SAFE.

The second label, `indirect`, is for the same text as data that a tool returns. Attacks and all orders to a model are INJECTION. Documents are
SAFE. Requests and system prompts have no label: they are orders to a model, but do not occur in data.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields

from ..datasets import HELD_OUT_FILES, NO_CATEGORY, Row, Spec
from . import CATEGORIES, INJECTION, SAFE

# The label of a question without an answer. The losses ignore it.
UNKNOWN = NO_CATEGORY
Pick = Callable[[dict], tuple[int, float] | None]


@dataclass(frozen=True)
class Text(Row):
    """A row whose label answers the direct question."""

    # The answer to the indirect question.
    indirect: int = UNKNOWN
    # The spans of the instructions to a model; empty if unknown.
    orders: tuple[tuple[int, int], ...] = ()


def text_of(row: Row, indirect: int, orders: tuple[tuple[int, int], ...] = ()) -> Text:
    return Text(
        **{field.name: getattr(row, field.name) for field in fields(Row)},
        indirect=indirect,
        orders=orders,
    )


def locate_orders(text: str, orders: str | list[str] | None) -> tuple[tuple[int, int], ...]:
    """The spans of the orders of a row in its text."""
    wanted = [orders] if isinstance(orders, str) else orders or []
    return tuple(sorted((at, at + len(order)) for order in wanted if order and (at := text.find(order)) >= 0))


def prompt(row: Row, _raw: dict) -> Text:
    """A text that people write to a model. An attack is also an attack in data, and its whole text is the order."""
    return text_of(
        row,
        *((INJECTION, ((0, len(row.text)),)) if row.label == INJECTION else (UNKNOWN,)),
    )


def document(row: Row, raw: dict) -> Text:
    """A document with or without an order."""
    if row.label == SAFE:
        return text_of(row, SAFE)
    return text_of(row, INJECTION, locate_orders(row.text, raw.get("order") or raw.get("attack")))


def only_prompt(row: Row, _raw: dict) -> Text:
    """A text that people write, without a label for data: noise, codes and persuasion are no orders by themselves."""
    return text_of(row, UNKNOWN)


def attack_in_document(row: Row, _raw: dict) -> Text:
    """A document with an order at an unknown position, from a set whose harmless rows are prompts."""
    return text_of(row, INJECTION if row.label == INJECTION else UNKNOWN)


# Machine-written kinds of safe_guard with threats and odd openings of stories instead of attacks.
SAFE_GUARD_DROPPED = {
    "Harmful Request",
    "Other",
    "Adversarial Example",
    "Indirect Manipulation",
}
STORY = re.compile(r"\b(start|begin|end|continue)(s|ning|ing)? (with|in)\b", re.I)
# Kinds of neuralchemy with code payloads and questions, which do not attack the instructions of a model.
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
    """Picks the rows of BIPIA except tables and bare tasks, which look like ordinary requests."""
    if raw["label"] == "injection" and raw.get("part") not in ("email", "code"):
        return None
    return labelled(0.7)(raw)


# Our categories for the kinds of the public sets. Other kinds have no category.
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
    """Maps an attack to the category of the set's own field, or to the default."""

    def of(raw: dict) -> int:
        kind = raw.get("category") or raw.get("kind") or ""
        name = KINDS.get(kind, kind)
        name = name if name in CATEGORIES else default
        return CATEGORIES.index(name) if name and raw["label"] == "injection" else NO_CATEGORY

    return of


OPEN, UNCLEAR, NC = "open", "unclear", "non-commercial"
# Our own files, with their repetitions in an epoch.
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
    "quiet_orders": 1,
    "tool_results": 1,
    "jailbreaks": 1,
    "overrides": 1,
    "chinese_russian": 1,
    "nine_languages": 1,
    "long_harmless": 1,
    "short_instructions": 1,
    "tool_orders": 2,
    "over_defence": 2,
    "languages_south_east_asia": 2,
    "languages_europe": 2,
    "languages_middle_east_africa_asia": 2,
    "system_and_roles": 2,
    "documents_for_people": 2,
    "pressure_and_noise": 2,
    "agent_results": 3,
    "goals_south_asia": 3,
    "goals_east_asia_middle_east": 3,
    "goals_europe_africa": 3,
    "polite_orders": 3,
    "planted_code": 3,
    "planted_mails": 3,
    "planted_tables": 3,
    "agent_everyday": 3,
    "goals_plain_wording": 3,
    "long_pages": 3,
    "tool_outputs_and_notices": 4,
    "polite_mails_and_chats": 4,
    "repositories_and_docs": 4,
    "data_in_languages": 4,
    "requests_in_languages": 6,
    "records_and_tables": 6,
}
# Older files of documents. Newer files state the source of each row.
OWN_DOCUMENTS = {"documents", "agents", "quiet_orders", "tool_results", "long_harmless"}


def own(name: str) -> Spec:
    held = name in HELD_OUT_FILES

    def pick(raw: dict) -> tuple[int, float]:
        label = INJECTION if raw["label"] == "injection" else SAFE
        # It is debatable whether a polite order in a document attacks the user who pasted it.
        if raw.get("source") == "data" and label == INJECTION:
            label = UNKNOWN
        return label, 1.0 if held else 1.3

    def complete(row: Row, raw: dict) -> Text:
        if raw.get("source") == "data" or name in OWN_DOCUMENTS:
            is_order = raw["label"] == "injection"
            return text_of(
                row,
                INJECTION if is_order else SAFE,
                locate_orders(row.text, raw.get("order")),
            )
        return prompt(row, raw)

    return Spec(
        f"own_{name}",
        f"injection/{name}.jsonl",
        OPEN,
        pick,
        own=True,
        split="dev" if held else "train",
        repeat=OWN.get(name, 1),
        category=category(),
        complete=complete,
    )


def planted(raw: dict) -> tuple[int, float]:
    return UNKNOWN if raw["label"] == "injection" else SAFE, 0.8


def task(raw: dict) -> tuple[int, float] | None:
    """Picks ordinary tasks without definitions of tasks, which are long and uniform."""
    return None if raw.get("kind") == "task_definition" else (SAFE, 0.7)


def order_in_data(row: Row, _raw: dict) -> Text:
    """A task that is harmless from a user and an order from a tool."""
    return text_of(row, INJECTION, ((0, len(row.text)),))


def talk_or_document(row: Row, raw: dict) -> Text:
    """Sentences and notes of documents, and questions of people."""
    return text_of(
        row,
        SAFE if raw.get("kind") in ("security_sentence", "command_note") else UNKNOWN,
    )


def documents_only(raw: dict) -> tuple[int, float] | None:
    """Picks documents from a set that also has messages of customers."""
    return None if "customer" in (raw.get("kind") or "") else (SAFE, 1.0)


PROMPTS = "injection/benign_prompts.jsonl.gz"
TEXTS = "injection/benign_texts.jsonl.gz"
SETS = [
    # Written for guard (MIT, in this repository).
    *(own(name) for name in (*HELD_OUT_FILES, *OWN)),
    # Attacks. Most of these sets have benign rows too.
    Spec(
        "deepset",
        "injection/deepset_train.jsonl.gz",
        UNCLEAR,
        labelled(),
        repeat=2,
        complete=prompt,
    ),
    Spec(
        "safe_guard",
        "injection/safe_guard.jsonl.gz",
        UNCLEAR,
        safe_guard,
        {SAFE: 2000, INJECTION: 1200},
        category=category(),
        complete=prompt,
    ),
    Spec(
        "neuralchemy",
        "injection/neuralchemy.jsonl.gz",
        UNCLEAR,
        neuralchemy,
        {SAFE: 900, INJECTION: 1300},
        category=category(),
        complete=prompt,
    ),
    Spec(
        "jackhhao",
        "injection/jackhhao_jailbreak_train.jsonl.gz",
        OPEN,
        labelled(),
        {SAFE: 600},
        category=category("jailbreak"),
        complete=prompt,
    ),
    Spec(
        "jailbreak_prompts",
        "injection/jailbreak_prompts.jsonl.gz",
        OPEN,
        labelled(),
        category=category("jailbreak"),
        complete=prompt,
    ),
    Spec(
        "tensortrust",
        "injection/tensortrust_extraction.jsonl.gz",
        UNCLEAR,
        labelled(),
        {INJECTION: 300},
        category=category("extraction"),
        complete=prompt,
    ),
    Spec(
        "bipia",
        "injection/bipia_train.jsonl.gz",
        OPEN,
        bipia,
        {INJECTION: 300},
        category=category("indirect"),
        complete=attack_in_document,
    ),
    Spec(
        "agent_attacks",
        "injection/agent_attacks.jsonl.gz",
        OPEN,
        labelled(),
        {INJECTION: 450},
        category=category("indirect"),
        complete=attack_in_document,
    ),
    Spec(
        "multilingual",
        "injection/multilingual_attacks.jsonl.gz",
        UNCLEAR,
        labelled(),
        repeat=3,
        complete=prompt,
    ),
    Spec(
        "five_languages",
        "injection/own_5_languages.jsonl.gz",
        NC,
        labelled(),
        {INJECTION: 800},
        complete=attack_in_document,
    ),
    # Ordinary prompts.
    Spec("alpaca", PROMPTS, NC, labelled(source="andyrdt"), {SAFE: 1200}, complete=prompt),
    Spec(
        "alpaca_zh",
        PROMPTS,
        UNCLEAR,
        labelled(source="carbonz0"),
        {SAFE: 400},
        complete=prompt,
    ),
    Spec(
        "role_play",
        PROMPTS,
        NC,
        labelled(source="gururise/AlpacaDataCleaned:dataset_extensions/GPTeacher/Role"),
        {SAFE: 900},
        complete=prompt,
    ),
    Spec(
        "tool_prompts",
        PROMPTS,
        NC,
        labelled(source="gururise/AlpacaDataCleaned:dataset_extensions/GPTeacher/Tool"),
        {SAFE: 120},
        complete=prompt,
    ),
    Spec(
        "t0_prompts",
        PROMPTS,
        OPEN,
        labelled(source="yizhongw"),
        {SAFE: 400},
        complete=prompt,
    ),
    Spec(
        "act_as",
        PROMPTS,
        UNCLEAR,
        labelled(source="dan-stats-1"),
        repeat=3,
        complete=prompt,
    ),
    Spec(
        "security_talk",
        PROMPTS,
        OPEN,
        labelled(source="ShirePyDev"),
        {SAFE: 250},
        complete=prompt,
    ),
    # Ordinary texts: documents, system prompts, code, chat.
    Spec(
        "wikipedia",
        TEXTS,
        NC,
        labelled(source="Babelscape"),
        {SAFE: 450},
        complete=document,
    ),
    Spec(
        "dialogue_turns",
        TEXTS,
        OPEN,
        labelled(source="google-research"),
        complete=prompt,
    ),
    Spec(
        "code",
        TEXTS,
        OPEN,
        labelled(source="github-linguist"),
        {SAFE: 220},
        complete=document,
    ),
    Spec(
        "system_prompts",
        TEXTS,
        OPEN,
        labelled(1.5, source="LouisShark"),
        complete=prompt,
    ),
    Spec(
        "conversations",
        "conversation/benign.jsonl.gz",
        OPEN,
        always(SAFE),
        {SAFE: 400},
        complete=prompt,
    ),
    Spec(
        "assistant_intents",
        "topics/clinc_train.jsonl.gz",
        OPEN,
        always(SAFE),
        {SAFE: 300},
        complete=prompt,
    ),
    Spec(
        "bank_questions",
        "topics/banking77_train.jsonl.gz",
        OPEN,
        always(SAFE),
        {SAFE: 200},
        complete=prompt,
    ),
    Spec(
        "chat",
        "emotion/goemotions_train_dev.jsonl.gz",
        OPEN,
        always(SAFE),
        {SAFE: 500},
        complete=document,
    ),
    # Documents with hidden attacks, and answers of models.
    Spec(
        "answers",
        "refusal/compliance_answers.jsonl.gz",
        NC,
        always(SAFE, 0.7),
        {SAFE: 450},
        complete=document,
    ),
    Spec(
        "passages",
        "nli/control.jsonl.gz",
        UNCLEAR,
        always(SAFE, 0.7),
        {SAFE: 150},
        complete=document,
    ),
    Spec(
        "clean_code",
        "secrets/clean_code.jsonl.gz",
        OPEN,
        always(SAFE, 0.7),
        {SAFE: 60},
        complete=document,
    ),
    # Unpleasant texts without attacks on a model.
    Spec(
        "harmful",
        "injection/harmful_requests.jsonl.gz",
        OPEN,
        always(SAFE, 0.5),
        {SAFE: 450},
        complete=prompt,
    ),
    Spec(
        "toxic_en",
        "toxicity/paradetox.jsonl.gz",
        OPEN,
        always(SAFE, 0.7),
        {SAFE: 200},
        complete=document,
    ),
    Spec(
        "toxic_zh",
        "toxicity/cold_train_zh.jsonl.gz",
        OPEN,
        always(SAFE, 0.7),
        {SAFE: 150},
        complete=document,
    ),
    Spec(
        "chat_ru",
        "toxicity/ru_toxicity_train.jsonl.gz",
        UNCLEAR,
        always(SAFE, 0.7),
        {SAFE: 200},
        complete=document,
    ),
]

# Ordinary texts of many languages: sentences, passages, requests, documents.
SETS += [
    Spec(
        "sib200",
        "injection/harmless_sib200.jsonl.gz",
        OPEN,
        always(SAFE),
        max_per_language=32,
        complete=document,
    ),
    Spec(
        "tatoeba",
        "injection/harmless_tatoeba.jsonl.gz",
        OPEN,
        always(SAFE),
        max_per_language=30,
        complete=document,
    ),
    Spec(
        "udhr",
        "injection/harmless_udhr.jsonl.gz",
        OPEN,
        always(SAFE),
        max_per_language=2,
        complete=document,
    ),
    Spec(
        "passages_of_languages",
        "injection/harmless_passages_multilingual.jsonl.gz",
        UNCLEAR,
        always(SAFE),
        max_per_language=15,
        complete=document,
    ),
    Spec(
        "requests_of_languages",
        "injection/harmless_requests_multilingual.jsonl.gz",
        OPEN,
        always(SAFE),
        max_per_language=70,
        complete=prompt,
    ),
    Spec(
        "documents_of_languages",
        "injection/harmless_documents_multilingual.jsonl.gz",
        OPEN,
        always(SAFE),
        max_per_language=60,
        complete=document,
    ),
    Spec(
        "harmful_of_languages",
        "injection/harmful_multilingual.jsonl.gz",
        OPEN,
        always(SAFE, 0.5),
        max_per_language=60,
        complete=prompt,
    ),
    # For evaluation only: sources that are not used in training.
    Spec(
        "treebanks",
        "injection/harmless_treebanks.jsonl.gz",
        NC,
        always(SAFE),
        split="dev",
        max_per_language=0,
        complete=document,
    ),
    Spec(
        "translated",
        "injection/attacks_multilingual_2.jsonl.gz",
        OPEN,
        labelled(),
        split="dev",
        max_per_language=0,
        complete=prompt,
    ),
    # Attacks by noise, codes, persuasion or many examples.
    Spec(
        "jailbreaks_2",
        "injection/jailbreaks_2.jsonl.gz",
        UNCLEAR,
        labelled(),
        {INJECTION: 520},
        complete=prompt,
        category=category("jailbreak"),
    ),
    Spec(
        "persuasion",
        "injection/persuasion.jsonl.gz",
        OPEN,
        labelled(),
        complete=only_prompt,
        category=category("jailbreak"),
    ),
    Spec(
        "suffix",
        "injection/harmful_with_suffix.jsonl.gz",
        OPEN,
        labelled(),
        {INJECTION: 420},
        complete=only_prompt,
        category=category("jailbreak"),
    ),
    Spec(
        "ciphers",
        "injection/ciphers_and_twins.jsonl.gz",
        OPEN,
        labelled(),
        complete=only_prompt,
        category=category("jailbreak"),
    ),
    Spec(
        "many_shot",
        "injection/many_shot_and_twins.jsonl.gz",
        NC,
        labelled(),
        {SAFE: 200, INJECTION: 200},
        complete=only_prompt,
        category=category("jailbreak"),
    ),
    # Documents with and without planted orders.
    Spec(
        "mails",
        "injection/documents_mail.jsonl.gz",
        OPEN,
        always(SAFE),
        {SAFE: 900},
        complete=document,
    ),
    Spec(
        "tables",
        "injection/documents_tables.jsonl.gz",
        OPEN,
        always(SAFE),
        {SAFE: 600},
        complete=document,
    ),
    Spec(
        "records",
        "injection/documents_json.jsonl.gz",
        OPEN,
        documents_only,
        {SAFE: 700},
        complete=document,
    ),
    Spec(
        "pages",
        "injection/documents_html.jsonl.gz",
        OPEN,
        always(SAFE),
        {SAFE: 500},
        complete=document,
    ),
    Spec(
        "logs",
        "injection/documents_logs.jsonl.gz",
        NC,
        always(SAFE),
        {SAFE: 400},
        complete=document,
    ),
    Spec(
        "for_people",
        "injection/documents_with_imperatives.jsonl.gz",
        NC,
        always(SAFE),
        {SAFE: 1400},
        complete=document,
    ),
    Spec(
        "reviews",
        "injection/documents_reviews.jsonl.gz",
        UNCLEAR,
        always(SAFE),
        {SAFE: 800},
        complete=document,
    ),
    Spec(
        "planted",
        "injection/documents_with_planted_orders.jsonl.gz",
        NC,
        planted,
        {UNKNOWN: 2700, SAFE: 900},
        complete=document,
    ),
    Spec(
        "tasks",
        "injection/tasks_to_plant.jsonl.gz",
        NC,
        task,
        {SAFE: 2400},
        complete=order_in_data,
    ),
    Spec(
        "tasks_of_people",
        "injection/tasks_to_plant_nc.jsonl.gz",
        NC,
        always(SAFE),
        {SAFE: 900},
        complete=prompt,
    ),
    # Harmless texts with the words of attacks.
    Spec(
        "trigger_words",
        "injection/trigger_words_harmless.jsonl.gz",
        UNCLEAR,
        always(SAFE),
        {SAFE: 1900},
        complete=talk_or_document,
    ),
    Spec(
        "trigger_words_written",
        "injection/trigger_words_written.jsonl.gz",
        OPEN,
        always(SAFE),
        complete=prompt,
    ),
    Spec(
        "roles",
        "injection/role_prompts_harmless.jsonl.gz",
        UNCLEAR,
        always(SAFE),
        {SAFE: 1700},
        complete=prompt,
    ),
]

# Sets of ordinary prompts. Calibration uses their false positives.
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
