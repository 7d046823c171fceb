"""Composes indirect attacks and their harmless twins from rows of the same split.

An attack (the guest) hides in a document, a mail, a tool result or a code comment (the host). Its twin has such a host too, with an
ordinary request or sentence in it, so that the model cannot tell attacks by their hosts.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from itertools import chain

from ..datasets import HELD_BATCHES, NO_CATEGORY, Row
from . import CATEGORIES, INJECTION, SAFE
from .sets import OWN

OWN_TEXTS = {f"own_{name}" for name in (*OWN, *HELD_BATCHES)}
HOSTS = {
    "wikipedia",
    "dialogue_turns",
    "code",
    "clean_code",
    "t0_prompts",
    "conversations",
    "chat",
    "answers",
    "passages",
}
# Our own texts that are to be hidden. Those of the other files are documents with something hidden already.
OWN_SENTENCES = OWN_TEXTS - {
    f"own_{name}" for name in ("documents", "agents", "quiet_orders", "tool_results", "long_harmless")
}
GUESTS = {*OWN_SENTENCES, "safe_guard", "neuralchemy", "deepset", "tensortrust", "multilingual"}
# Texts that are harmless everywhere, also inside a document, a mail or a tool result.
REMARKS = {*OWN_SENTENCES, "bank_questions", "chat", "dialogue_turns"}
# Orders of a user to the model. They are harmless beside a text that the user gives, but not inside what a tool returns.
REQUESTS = {"alpaca", "alpaca_zh", "assistant_intents", "role_play"}
TWINS = {*REMARKS, *REQUESTS}
# Lengths of hosts in characters: up to a window of the model (about 1,000), so that an attack is a small part of the text.
HOST_LENGTHS = [150, 300, 500, 700, 900]
LONGEST_GUEST = 500
LONGEST_WORD = 40
SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")


def request(host: str, guest: str, rng: random.Random) -> str:
    """Puts the guest before or after the whole host, as users write."""
    return guest + "\n\n" + host if rng.random() < 0.5 else host + rng.choice(["\n", "\n\n"]) + guest


def plain(host: str, guest: str, rng: random.Random) -> str:
    """Puts the guest before, after or between the sentences of the host."""
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
                {"id": rng.randrange(9999), "title": "Notes", "body": text}, ensure_ascii=False, indent=1
            ),
            lambda: json.dumps([{"author": rng.choice(["kim", "ana", "leo"]), "comment": text}], ensure_ascii=False),
            lambda: json.dumps({"page": {"content": text, "next": None}}, ensure_ascii=False),
        ]
    )()


def mail(host: str, guest: str, rng: random.Random) -> str:
    subject = rng.choice(["Invoice", "Re: meeting on Monday", "Your order", "Update", "Agenda"])
    return f"Subject: {subject}\n\nHi,\n\n{plain(host, guest, rng)}\n\n{rng.choice(['Best', 'Regards', 'Thanks'])}"


def markup(host: str, guest: str, rng: random.Random) -> str:
    hidden = rng.choice(["<!-- {} -->", '<p style="display:none">{}</p>', "<div>{}</div>", "<span>{}</span>"])
    return f"<html><body><p>{host}</p>\n{hidden.format(guest)}\n</body></html>"


def comment(host: str, guest: str, rng: random.Random) -> str:
    """Puts the guest as a comment into the second half of the host's lines, or after them."""
    lines = host.split("\n")
    at = rng.randint(len(lines) // 2, len(lines))
    return "\n".join([*lines[:at], rng.choice(["# ", "// ", "-- ", "> "]) + guest, *lines[at:]])


FORMS = [plain, plain, tool_result, mail, markup, comment]


def word_start(text: str, at: int) -> int:
    """The position where the next word starts, or `at` itself in languages that do not separate words by spaces."""
    space = text.find(" ", at, at + LONGEST_WORD)
    return at if space < 0 else space + 1


def carrier(hosts: Sequence[str], rng: random.Random) -> str:
    """Excerpts of hosts, one after another, up to a random length."""
    length = rng.choice(HOST_LENGTHS)
    parts: list[str] = []
    while (room := length - sum(map(len, parts))) > 40:
        host = rng.choice(hosts)
        start = rng.randrange(len(host) - room) if len(host) > room else 0
        start = word_start(host, start) if start else 0
        parts.append(host[start : start + room])
    return "\n".join(parts)


def compose(rows: Sequence[Row], attacks: int, twins: int, seed: int, split: str) -> list[Row]:
    rng = random.Random(f"{seed} {split}")
    mine = [row for row in rows if row.split == split]
    hosts = [r.text for r in mine if r.set in HOSTS and r.label == SAFE and len(r.text) >= 40]
    short = [r for r in mine if 10 <= len(r.text) <= LONGEST_GUEST]
    guests = [r for r in short if r.set in GUESTS and r.label == INJECTION]
    calm = [r for r in short if r.set in TWINS and r.label == SAFE]
    # Our own attacks are clear and varied, so half of the guests are chosen among them.
    own = [r for r in guests if r.set.startswith("own")] or guests
    result = []
    for pool, label, count in ((guests, INJECTION, attacks), (calm, SAFE, twins)):
        for _ in range(count if hosts and pool else 0):
            guest = rng.choice(own if label == INJECTION and rng.random() < 0.5 else pool)
            form = request if label == SAFE and guest.set in REQUESTS else rng.choice(FORMS)
            text = form(carrier(hosts, rng), guest.text, rng)
            category = CATEGORIES.index("indirect") if label == INJECTION else NO_CATEGORY
            result.append(Row(text, label, "composed", 0.8, guest.lang, form.__name__, split, category))
    return result


# Characters of a long document: about 2,000 tokens.
LONG = 8000
# The file of texts that were written for long documents: orders that name their addressee, and harmless remarks.
EXPLICIT = "own_orders"


def long_documents(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """Documents for evaluation, of about 2,000 tokens, with an attack at a random position, and as many with a harmless text there.

    There are `count` of each kind, and one more for every row of EXPLICIT.
    """
    rng = random.Random(f"{seed} long")
    mine = [row for row in rows if row.split == "dev"]
    hosts = [r.text for r in mine if r.set in HOSTS and r.label == SAFE and len(r.text) >= 40]
    result = []
    for label, sets in ((INJECTION, GUESTS), (SAFE, TWINS)):
        members = [r for r in mine if r.set in sets and r.label == label and 15 <= len(r.text) <= 600]
        pool = [r for r in members if r.set != EXPLICIT]
        explicit = [r for r in members if r.set == EXPLICIT]
        for guest in chain((rng.choice(pool) for _ in range(count)), explicit):
            parts: list[str] = []
            while sum(map(len, parts)) < LONG:
                parts.append(rng.choice(hosts)[:1500])
            parts.insert(rng.randint(0, len(parts)), guest.text)
            result.append(Row("\n\n".join(parts), label, guest.set, 1.0, guest.lang, "long", "dev"))
    return result
