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
from typing import Any

from ..datasets import NO_CATEGORY, Row, Spec, held_out_files
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


def labelled(weight: float = 1.0, **only: str) -> Pick:
    """Picks rows by their own label. `only` keeps the rows whose fields start with the given values."""

    def pick(raw: dict) -> tuple[int, float] | None:
        if any(not (raw.get(field) or "").startswith(value) for field, value in only.items()):
            return None
        return (INJECTION if raw["label"] == "injection" else SAFE), weight

    return pick


def without_garak(raw: dict) -> tuple[int, float] | None:
    """Picks rows that are not from the lists of garak, by which others measure guards."""
    return None if "garak" in raw["source"] else labelled()(raw)


def always(label: int, weight: float = 1.0, **only: str) -> Pick:
    inner = labelled(weight, **only)
    return lambda raw: (label, weight) if inner({**raw, "label": ""}) else None


def bipia(raw: dict) -> tuple[int, float] | None:
    """Picks the rows of BIPIA except tables and bare tasks, which look like ordinary requests."""
    if raw["label"] == "injection" and raw.get("part") not in ("email", "code"):
        return None
    return labelled(0.7)(raw)


# Our categories for the kinds of the public sets. Other kinds have no category.
KINDS = {
    "jailbreak_wild": "jailbreak",
    "in_the_wild": "jailbreak",
    "goal_hijacking": "override",
    "prompt_leaking": "extraction",
    "prompt_extraction": "extraction",
}


def category(default: str = "") -> Callable[[dict], int]:
    """Maps an attack to the category of the set's own field, or to the default."""

    def of(raw: dict) -> int:
        kind = raw.get("category") or raw.get("kind") or ""
        name = KINDS.get(kind, kind)
        name = name if name in CATEGORIES else default
        return CATEGORIES.index(name) if name and raw["label"] == "injection" else NO_CATEGORY

    return of


OPEN = "open"
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
    "fiction_and_roles": 3,
    "customers_and_trades": 3,
    "security_and_research": 3,
    "requests_europe": 3,
    "requests_asia_africa": 3,
    "short_results": 4,
    "agents_own_traffic": 3,
    "notations_and_documents": 3,
    "long_outputs_in_context": 3,
    "fiction_long": 2,
    "first_messages": 2,
    "prompts_of_developers": 2,
    "short_results_languages": 2,
    "workspaces": 2,
    "modern_jailbreaks": 2,
    "forty_languages": 2,
    "skill_files": 2,
    "tool_definitions": 2,
    "reports_and_records": 2,
    "words_of_attacks": 2,
    "romanized": 2,
    "techniques_in_languages": 2,
    "agent_traffic": 2,
    "everyday_requests": 2,
    "asia_and_notations": 2,
    "planted_second_hand": 2,
    "long_and_turns": 2,
    "guarded_secrets": 2,
    "files_for_agents": 2,
    "persuasion_and_envelopes": 2,
    "short_acts_second_hand": 2,
    "extraction_in_languages": 2,
    "first_messages_second_hand": 2,
    "hinglish_second_hand": 2,
    "forty_languages_second_hand": 2,
    "documents_third_hand": 2,
    "agent_files_third_hand": 2,
    "classic_bare": 4,
    "bare_overrides": 4,
    "bare_personas": 4,
    "bare_extraction": 4,
    "bare_hijacks": 4,
    "bare_europe": 4,
    "bare_asia_africa": 4,
    "bare_voices": 4,
    "bare_in_requests": 4,
    "europe_second_hand": 4,
    "asia_second_hand": 4,
    "overrides_third_hand": 4,
    "persuasion_third_hand": 3,
    "planted_classics": 4,
    "planted_classics_json": 4,
    "planted_classics_europe": 4,
    "planted_classics_asia": 4,
    "pasted_classics": 3,
    "games_third_hand": 3,
    "skills_fourth_hand": 3,
    "harmless_fourth_hand": 3,
    "short_results_third_hand": 3,
    "planted_api_second_hand": 4,
    "planted_languages_third_hand": 4,
    "mentions_second_hand": 4,
    "long_ordinary_second_hand": 3,
    "requests_that_sound_alike": 3,
    "customers_second_hand": 4,
    "commands_and_markup": 4,
    "tool_definitions_second_hand": 4,
    "forty_languages_third_hand": 4,
    "planted_files_second_hand": 4,
    "planted_tasks_third_hand": 4,
    "agent_results_second_hand": 4,
    "customers_fourth_hand": 4,
    "hindi_latin_fourth_hand": 4,
    "data_in_south_asian_latin": 4,
    "planted_mails_fifth_hand": 4,
    "planted_mails_sixth_hand": 4,
    "short_orders_asia": 4,
    "short_orders_europe": 4,
    "overrides_asia_caucasus": 4,
    "overrides_europe_second": 4,
    "fiction_and_dares_second": 4,
    "data_quotes_and_agents": 4,
    "latin_letters_seventh_hand": 4,
    "bare_east_asia_second_hand": 4,
    "twenty_languages_seventh_hand": 4,
    "look_alikes_seventh_hand": 4,
    "agent_files_seventh_hand": 4,
    "persuasion_seventh_hand": 4,
    "customers_rules_seventh_hand": 4,
    "system_commands_seventh_hand": 4,
    "short_orders_seventh_hand": 4,
    "customers_rules_eighth_hand": 4,
    "rules_of_life_eighth_hand": 4,
    "developers_eighth_hand": 4,
    "sixty_languages_eighth_hand": 4,
    "tool_definitions_eighth_hand": 4,
    "fiction_eighth_hand": 4,
    "skill_files_fourth_hand": 4,
    "technical_documents_fourth_hand": 4,
    "games_fifth_hand": 3,
    "customers_in_languages": 4,
    "hindi_latin_fifth_hand": 3,
    "hindi_latin_sixth_hand": 4,
    "planted_chats_and_tickets": 4,
    "skill_files_fifth_hand": 3,
    "long_documents_second_hand": 3,
    "modern_frames": 3,
    "games_and_mails_balanced": 4,
    "famous_in_data": 6,
    "famous_in_json": 6,
    "famous_in_documents": 6,
    "famous_by_users": 5,
    "asks_for_rules_ninth_hand": 4,
    "bare_switches_ninth_hand": 4,
    "very_short_scripts_ninth_hand": 4,
    "elaborate_requests_ninth_hand": 4,
    "prompt_talk_in_data_ninth_hand": 4,
    "tools_and_skills_ninth_hand": 4,
    "subtle_planted_ninth_hand": 4,
    "latin_letters_tenth_hand": 4,
    "mails_and_chats_tenth_hand": 4,
    "documents_and_code_tenth_hand": 4,
}
# Our files that are only for evaluation.
HELD_OUT = held_out_files("injection")
# Older files of documents. Newer files state the source of each row.
OWN_DOCUMENTS = {"documents", "agents", "quiet_orders", "tool_results", "long_harmless"}

# The files of definitions of tools.
DEFINITIONS = {"tool_definitions", "tool_definitions_second_hand", "tool_definitions_eighth_hand", "tools_and_skills_ninth_hand"}


def own(name: str) -> Spec:
    held = name in HELD_OUT

    def pick(raw: dict) -> tuple[int, float] | None:
        label = INJECTION if raw["label"] == "injection" else SAFE
        if not held and label == INJECTION and isinstance(raw.get("order"), str) and is_bare_question(raw["order"]):
            return None
        # It is debatable whether a polite order in a document attacks the user who pasted it. Definitions of tools are judged like texts of
        # people.
        if raw.get("source") == "data" and label == INJECTION and name not in DEFINITIONS:
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


# Verbs of requests that act for the user: the same request inside data is an order. Other requests ask for information.
ACTS = re.compile(
    r"^(?:please |kindly |can you |could you |would you |i need you to |i want you to |i'd like you to |i would like (?:you )?to )*"
    r"(?:add|apply|approve|archive|arrange|assign|block|book|buy|call|cancel|change|close|connect|create|deactivate|delete|deploy|disable|"
    r"download|edit|email|enable|enroll|execute|export|file|forward|grant|install|invite|make|message|modify|move|open|order|pay|place|play|"
    r"post|publish|purchase|register|remove|rename|reply|report|request|reschedule|reserve|reset|restart|revoke|run|save|schedule|send|set|"
    r"share|sign|start|stop|submit|subscribe|transfer|turn|unlock|unsubscribe|update|upload|write)\b",
    re.I,
)
QUESTION = re.compile(r"[?？؟;՞፧]\s*$")


def task(raw: dict) -> tuple[int, float] | None:
    """Picks ordinary tasks without definitions of tasks, which are long and uniform."""
    return None if raw.get("kind") == "task_definition" else (SAFE, 0.7)


def task_in_data(row: Row, _raw: dict) -> Text:
    """A task that is harmless from a user. In data a question is harmless, an act for the user is an order, and other tasks have no
    label."""
    if ACTS.match(row.text):
        return text_of(row, INJECTION, ((0, len(row.text)),))
    return text_of(row, SAFE if is_question(row.text) else UNKNOWN)


def is_question(text: str) -> bool:
    return len(text) <= LONGEST_QUESTION and bool(QUESTION.search(text)) and not ACTS.match(text)


# Words of questions that address the reader or ask for an act.
ADDRESSED = re.compile(r"\b(?:you|your|assistant|model|ai|bot|system|reader|please|vous|pod(?:ría|rías|er)|puedes|kannst|können)\b", re.I)


def is_bare_question(order: str) -> bool:
    """Whether an order in data only asks something, which is harmless there."""
    return is_question(order) and not ADDRESSED.search(order)


# Longer texts that end in a question often begin with a request.
LONGEST_QUESTION = 200


def question(row: Row, _raw: dict) -> Text:
    """A request of a person. If it is only a question, it is harmless in data too (titles, FAQ, quizzes)."""
    return text_of(row, SAFE if row.label == SAFE and is_question(row.text) else UNKNOWN)


def talk_or_document(row: Row, raw: dict) -> Text:
    """Sentences and notes of documents, and questions of people."""
    return text_of(
        row,
        SAFE if raw.get("kind") in ("security_sentence", "command_note") else UNKNOWN,
    )


def documents_only(raw: dict) -> tuple[int, float] | None:
    """Picks documents from a set that also has messages of customers."""
    return None if "customer" in (raw.get("kind") or "") else (SAFE, 1.0)


def of_file(name: str, file: str, use: Pick, **options: Any) -> Spec:
    """A set of the data folder. All of them are open."""
    return Spec(name, f"{file}.jsonl.gz", OPEN, use, **options)


def harmless(
    name: str, file: str, complete: Callable[[Row, dict], Text], limit: int | None = None, weight: float = 1.0, **only: str
) -> Spec:
    """A set of harmless texts, with at most `limit` training rows."""
    return of_file(name, file, always(SAFE, weight, **only), caps=None if limit is None else {SAFE: limit}, complete=complete)


def harmless_by_language(
    name: str, file: str, complete: Callable[[Row, dict], Text], limit: int, weight: float = 1.0
) -> Spec:
    """A set of harmless texts of many languages, with at most `limit` training rows of each."""
    return of_file(name, file, always(SAFE, weight), max_per_language=limit, complete=complete)


SETS = [
    # Written for guard (MIT, in this repository).
    *(own(name) for name in (*HELD_OUT, *OWN)),
    # Attacks of people. Some of these sets have harmless rows too.
    of_file("deepset", "injection/part_deepset", labelled(), repeat=2, complete=prompt),
    of_file(
        "jackhhao",
        "injection/jackhhao_jailbreak_train",
        labelled(),
        caps={SAFE: 900},
        category=category("jailbreak"),
        complete=prompt,
    ),
    of_file(
        "jailbreak_prompts",
        "injection/part_jailbreak_prompts",
        labelled(),
        category=category("jailbreak"),
        complete=prompt,
    ),
    of_file(
        "jailbreaks_2",
        "injection/part_jailbreaks_2",
        without_garak,
        caps={INJECTION: 300},
        category=category("jailbreak"),
        complete=prompt,
    ),
    of_file("pyrit", "injection/pyrit_jailbreaks", labelled(), category=category("jailbreak"), complete=prompt),
    of_file("persuasion", "injection/persuasion", labelled(), category=category("jailbreak"), complete=only_prompt),
    of_file(
        "suffix",
        "injection/harmful_with_suffix",
        labelled(),
        caps={INJECTION: 420},
        category=category("jailbreak"),
        complete=only_prompt,
    ),
    of_file("ciphers", "injection/ciphers_and_twins", labelled(), category=category("jailbreak"), complete=only_prompt),
    of_file(
        "many_shot",
        "injection/many_shot_open",
        labelled(),
        caps={SAFE: 200, INJECTION: 200},
        category=category("jailbreak"),
        complete=only_prompt,
    ),
    # Orders in data.
    of_file(
        "bipia",
        "injection/bipia_train",
        bipia,
        caps={INJECTION: 300},
        category=category("indirect"),
        complete=attack_in_document,
    ),
    of_file(
        "agent_attacks",
        "injection/agent_attacks",
        labelled(),
        caps={INJECTION: 450},
        category=category("indirect"),
        complete=attack_in_document,
    ),
    of_file("planted", "injection/planted_open", planted, caps={UNKNOWN: 3200, SAFE: 1400}, complete=document),
    of_file("tasks", "injection/part_tasks", task, caps={SAFE: 4000}, complete=task_in_data),
    # Requests of people.
    harmless("oasst", "injection/oasst_requests_en", question, 4000),
    harmless("oasst_fi", "injection/oasst_requests_fi", question, 700),
    harmless("act_as", "injection/prompts_chat", prompt),
    harmless("commands", "injection/assistant_commands_en", prompt, 1200),
    harmless("templates", "injection/prompt_templates_en", prompt, 900),
    harmless("t0_prompts", "injection/part_benign_prompts", prompt, 900, source="yizhongw"),
    harmless("security_talk", "injection/part_benign_prompts", prompt, 400, source="ShirePyDev"),
    harmless("dialogue_turns", "injection/part_benign_texts", prompt),
    harmless("conversations", "conversation/benign", prompt, 600),
    harmless("red_team", "conversation/harmless_base_test", prompt, 900, 0.7),
    harmless("assistant_intents", "topics/clinc_train", prompt, 400),
    harmless("bank_questions", "topics/banking77_train", question, 400),
    harmless("roles", "injection/part_roles", prompt),
    harmless("harmful", "injection/harmful_requests", prompt, 450, 0.5),
    harmless("harmful_open", "injection/harmful_requests_open", prompt, 500, 0.5),
    harmless_by_language("harmful_of_languages", "injection/harmful_multilingual", prompt, 60, 0.5),
    harmless_by_language("questions", "injection/questions_7_languages", question, 300),
    harmless_by_language("home_commands", "injection/home_commands_60_languages", prompt, 25, 0.7),
    harmless_by_language("requests_of_languages", "injection/harmless_requests_multilingual", question, 90),
    # Texts with the words of attacks.
    harmless("trigger_words", "injection/part_trigger_words", talk_or_document, 2500),
    harmless("trigger_words_written", "injection/trigger_words_written", prompt),
    # Documents, records, pages, logs, code, chat: the data that tools return.
    harmless("agent_rules", "injection/agent_rules", document, 1200),
    harmless("tool_definitions", "injection/mcp_tools", document),
    harmless("repositories", "injection/documents_of_repositories", document),
    harmless("pages", "injection/documents_html_open", document, 700),
    harmless("logs", "injection/documents_logs_open", document),
    harmless("records_2", "injection/documents_records_open", document, 600),
    harmless("mails", "injection/documents_mail", document, 1200),
    harmless("tables", "injection/documents_tables", document, 800),
    of_file("records", "injection/documents_json", documents_only, caps={SAFE: 900}, complete=document),
    harmless("for_people", "injection/part_imperatives", document, 1400),
    harmless("reviews", "injection/part_reviews", document, 800),
    harmless("code", "injection/code_open", document),
    harmless("samples", "code/highlighter_samples", document, 200),
    harmless("chat", "emotion/goemotions_train_dev", document, 600),
    harmless("answers", "refusal/oasst_answers_en", document, 600, 0.7),
    harmless("toxic_en", "toxicity/paradetox", document, 200, 0.7),
    harmless("toxic_zh", "toxicity/cold_train_zh", document, 150, 0.7),
    harmless_by_language("interfaces", "injection/interface_texts_50_languages", document, 30),
    harmless_by_language("guide", "injection/opensource_guide_29_languages", document, 25),
    harmless_by_language("sib200", "injection/harmless_sib200", document, 24),
    harmless_by_language("tatoeba", "injection/harmless_tatoeba", document, 30),
    harmless_by_language("udhr", "injection/harmless_udhr", document, 2),
    harmless_by_language("passages_of_languages", "injection/part_passages", document, 15),
    harmless_by_language("documents_of_languages", "injection/harmless_documents_multilingual", document, 60),
    # For evaluation only: sources that are not used in training.
    of_file(
        "treebanks",
        "injection/part_treebanks",
        always(SAFE),
        split="dev",
        max_per_language=0,
        complete=document,
    ),
    of_file(
        "translated",
        "injection/attacks_multilingual_2",
        labelled(),
        split="dev",
        max_per_language=0,
        complete=prompt,
    ),
]

# Sets of ordinary prompts. Calibration uses their false positives.
ORDINARY = {
    "deepset",
    "oasst",
    "oasst_fi",
    "act_as",
    "commands",
    "questions",
    "requests_of_languages",
    "conversations",
    "assistant_intents",
    "bank_questions",
    "chat",
    "security_talk",
    "dialogue_turns",
    "t0_prompts",
}
