"""Composes indirect attacks and their harmless twins from rows of the same split.

An attack (the guest) is hidden in a document, a mail, a tool result or a code comment (the host). Its twin has an ordinary request or sentence
in such a host, so that the model can't identify attacks by their hosts.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ..datasets import NO_CATEGORY, read_jsonl, split_of
from . import CATEGORIES, INJECTION, SAFE
from .envelopes import as_json, cell, envelope
from .sets import HELD_OUT, OWN, OWN_DOCUMENTS, UNKNOWN, Text, locate_orders

OWN_TEXTS = {f"own_{name}" for name in (*OWN, *HELD_OUT)}
HOSTS = {
    "passages_of_languages",
    "dialogue_turns",
    "code",
    "samples",
    "t0_prompts",
    "conversations",
    "chat",
    "answers",
    "repositories",
}
# Our own texts to hide. The other files contain documents with hidden texts.
OWN_SENTENCES = OWN_TEXTS - {f"own_{name}" for name in OWN_DOCUMENTS}
GUESTS = {*OWN_SENTENCES, "deepset"}
# Texts that are harmless everywhere, including documents, mails and tool results.
REMARKS = {*OWN_SENTENCES, "bank_questions", "chat", "dialogue_turns"}
# Orders of a user to the model. They are harmless next to a text of the user, but not inside tool results.
REQUESTS = {"oasst", "commands", "assistant_intents"}
TWINS = {*REMARKS, *REQUESTS}
# Lengths of hosts in characters, up to a window of the model (about 1,000), so that an attack is a small part of the text.
HOST_LENGTHS = [150, 300, 500, 700, 900]
LONGEST_GUEST = 400
LONGEST_WORD = 40
SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")


def plain(host: str, guest: str, rng: random.Random) -> str:
    """Inserts the guest before, after or between the sentences of the host."""
    chance = rng.random()
    joint = rng.choice(["\n", "\n\n", " "])
    if chance < 0.15:
        return guest + joint + host
    if chance < 0.4:
        return host + joint + guest
    end = SENTENCE_END.search(host, rng.randrange(max(1, len(host) * 4 // 5)))
    cut = end.end() if end else len(host)
    return host[:cut] + joint + guest + joint + host[cut:].lstrip()


def tool_result(host: str, guest: str, rng: random.Random) -> str:
    text = plain(host, guest, rng)
    return rng.choice(
        [
            lambda: json.dumps({"status": "ok", "result": text}, ensure_ascii=False),
            lambda: json.dumps(
                {"id": rng.randrange(9999), "title": "Notes", "body": text},
                ensure_ascii=False,
                indent=1,
            ),
            lambda: json.dumps(
                [{"author": rng.choice(["kim", "ana", "leo"]), "comment": text}],
                ensure_ascii=False,
            ),
            lambda: json.dumps({"page": {"content": text, "next": None}}, ensure_ascii=False),
        ]
    )()


def mail(host: str, guest: str, rng: random.Random) -> str:
    subject = rng.choice(["Invoice", "Re: meeting on Monday", "Your order", "Update", "Agenda"])
    return f"Subject: {subject}\n\nHi,\n\n{plain(host, guest, rng)}\n\n{rng.choice(['Best', 'Regards', 'Thanks'])}"


def markup(host: str, guest: str, rng: random.Random) -> str:
    hidden = rng.choice(
        [
            "<!-- {} -->",
            '<p style="display:none">{}</p>',
            "<div>{}</div>",
            "<span>{}</span>",
        ]
    )
    return f"<html><body><p>{host}</p>\n{hidden.format(guest)}\n</body></html>"


def comment(host: str, guest: str, rng: random.Random) -> str:
    """Inserts the guest as a comment into the second half of the host's lines, or appends it."""
    lines = host.split("\n")
    at = rng.randint(len(lines) // 2, len(lines))
    return "\n".join([*lines[:at], rng.choice(["# ", "// ", "-- ", "> "]) + guest, *lines[at:]])


def wrapped(host: str, guest: str, rng: random.Random) -> str:
    return envelope(plain(host, guest, rng), rng)


FORMS = [plain, plain, plain, tool_result, mail, markup, comment, cell, wrapped]


def word_start(text: str, at: int) -> int:
    """The start of the next word, or `at` in languages without spaces between words."""
    space = text.find(" ", at, at + LONGEST_WORD)
    return at if space < 0 else space + 1


def orders_in(text: str, order: str) -> tuple[tuple[int, int], ...]:
    """The spans of an order in a composed text, verbatim or escaped."""
    for written in (order, as_json(order)[1:-1], order.replace("\n", " ")):
        if found := locate_orders(text, written):
            return found
    return ()


# Sets of short texts that are harmless everywhere, in addition to REMARKS. Of requests of people only the questions are.
STATEMENTS = {
    "tatoeba",
    "sib200",
    "reviews",
    "chat",
    "documents_of_languages",
    "passages_of_languages",
    "interfaces",
    "guide",
    "oasst",
    "oasst_fi",
    "questions",
    "requests_of_languages",
    "tasks",
    *REMARKS,
}
# The share of composed texts with an order, and the share of those whose order is also a direct attack.
WITH_ORDER, HOSTILE = 0.5, 0.5
# The share of acts that follow an attention phrase. Questions always do: without it they are harmless in data.
INTRODUCED = 0.35
LONGEST_STATEMENT = 250


def attention_phrases(folder: Path, split: str) -> list[str]:
    """Phrases that draw attention to the following text."""
    raws = read_jsonl(folder / "injection" / "planting_wordings.jsonl.gz")
    return [raw["text"].strip() for raw in raws if raw["kind"] == "wording" and split_of(raw["text"]) == split]


def compose(
    rows: Sequence[Text],
    count: int,
    seed: int,
    split: str,
    introductions: Sequence[str],
) -> list[Text]:
    """Composes documents of one split with an attack, an unrequested task, or a harmless statement."""
    rng = random.Random(f"{seed} {split}")
    mine = [row for row in rows if row.split == split]
    hosts: dict[str, list[str]] = {}
    for row in mine:
        if row.indirect == SAFE and len(row.text) >= 120 and not row.set.startswith("own_"):
            hosts.setdefault(row.set, []).append(row.text)
    short = [row for row in mine if 12 <= len(row.text) <= LONGEST_GUEST]
    attacks = [row for row in short if row.label == INJECTION and row.orders == ((0, len(row.text)),)]
    # Our own attacks are clear and varied, so most guests are among them.
    own = [row for row in attacks if row.set in OWN_SENTENCES] or attacks
    tasks = [row for row in short if row.set == "tasks"]
    acts = [row for row in tasks if row.indirect == INJECTION]
    statements = [
        row for row in short if row.set in STATEMENTS and row.indirect == SAFE and len(row.text) <= LONGEST_STATEMENT
    ]
    result: list[Text] = []
    if not (hosts and attacks and acts and statements and introductions):
        return result
    names = sorted(hosts)
    for _ in range(count):
        host = excerpt(rng.choice(hosts[rng.choice(names)]), rng)
        has_order = rng.random() < WITH_ORDER
        is_hostile = has_order and rng.random() < HOSTILE
        is_introduced = has_order and not is_hostile and rng.random() < INTRODUCED
        pool = tasks if is_introduced else acts if has_order else statements
        if is_hostile:
            pool = own if rng.random() < 0.7 else attacks
        guest = rng.choice(pool)
        order = f"{rng.choice(introductions)} {guest.text}" if is_introduced else guest.text
        form = rng.choice(FORMS)
        text = form(host, order, rng)
        result.append(
            Text(
                text,
                INJECTION if is_hostile else UNKNOWN if has_order else SAFE,
                "composed",
                0.8,
                guest.lang,
                form.__name__,
                split,
                CATEGORIES.index("indirect") if is_hostile else NO_CATEGORY,
                INJECTION if has_order else SAFE,
                orders_in(text, order) if has_order else (),
            )
        )
    return result


def excerpt(text: str, rng: random.Random) -> str:
    length = rng.choice(HOST_LENGTHS)
    if len(text) <= length:
        return text
    start = rng.randrange(len(text) - length)
    start = word_start(text, start) if start else 0
    return text[start : start + length]


# Lengths of texts in envelopes, in characters.
ENVELOPED = range(8, 700)


def wrap_in_envelopes(rows: Sequence[Text], count: int, seed: int, split: str) -> list[Text]:
    """Wraps texts of one split in envelopes, half of them with an order."""
    rng = random.Random(f"{seed} enveloped {split}")
    mine = [row for row in rows if row.split == split and len(row.text) in ENVELOPED]
    safe = [row for row in mine if row.indirect == SAFE]
    orders = [row for row in mine if row.indirect == INJECTION and row.orders]
    result = []
    for _ in range(count if safe and orders else 0):
        row = rng.choice(rng.choice([safe, orders]))
        text = envelope(row.text, rng)
        found = [orders_in(text, row.text[start:end]) for start, end in row.orders]
        category = CATEGORIES.index("indirect") if row.label == INJECTION else NO_CATEGORY
        spans = tuple(sorted(chain.from_iterable(found))) if all(found) else ()
        result.append(
            replace(
                row,
                text=text,
                orders=spans,
                set="enveloped",
                category=category,
                weight=0.8,
            )
        )
    return result


# The length of a long document in characters: about 2,000 tokens.
LONG = 8000
# The file of texts for long documents: orders that address the model explicitly, and harmless remarks.
EXPLICIT = "own_orders"


def long_documents(rows: Sequence[Text], count: int, seed: int, question: str) -> list[Text]:
    """Composes evaluation documents of about 2,000 tokens with an attack at a random position, and as many with a harmless text there.

    There are `count` documents of each kind, and one for every row of EXPLICIT. All parts of a harmless document are harmless for the
    question: data contains no requests.
    """
    rng = random.Random(f"{seed} long")
    mine = [row for row in rows if row.split == "dev"]
    label_of: Callable[[Text], int] = {"direct": lambda row: row.label, "indirect": lambda row: row.indirect}[question]
    hosts = [r.text for r in mine if r.set in HOSTS and label_of(r) == SAFE and len(r.text) >= 40]
    result = []
    for label, sets in ((INJECTION, GUESTS), (SAFE, TWINS if question == "direct" else {*OWN_TEXTS, *REMARKS})):
        members = [r for r in mine if r.set in sets and label_of(r) == label and 15 <= len(r.text) <= 600]
        pool = [r for r in members if r.set != EXPLICIT]
        explicit = [r for r in members if r.set == EXPLICIT]
        for guest in chain((rng.choice(pool) for _ in range(count)), explicit):
            parts: list[str] = []
            while sum(map(len, parts)) < LONG:
                parts.append(rng.choice(hosts)[:1500])
            parts.insert(rng.randint(0, len(parts)), guest.text)
            result.append(
                Text(
                    "\n\n".join(parts),
                    label,
                    guest.set,
                    1.0,
                    guest.lang,
                    "long",
                    "dev",
                    indirect=label,
                )
            )
    return result
