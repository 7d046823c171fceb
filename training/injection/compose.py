"""Indirect attacks and their harmless twins, composed from rows of the same split.

An attack hides in a document, a mail, a tool result or a code comment; its twin has the same carrier with an
ordinary request or sentence in the same place, so that the carrier itself gives nothing away.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from ..data import NO_CATEGORY, Row
from . import CATEGORIES, INJECTION, SAFE

OWN_ATTACKS = {"own_attacks", "own_chat", "own_russian_german", "own_chinese_french_spanish", "own_classic_long"}
OWN_HELD = {"own_exam", "own_heldout"}
HOSTS = {"wikipedia", "dialogue_turns", "code", "t0_prompts", "conversations", "chat", "alpaca", "safe_guard"}
GUESTS = {*OWN_ATTACKS, *OWN_HELD, "safe_guard", "neuralchemy", "deepset", "tensortrust", "multilingual"}
TWINS = {
    "alpaca",
    "alpaca_zh",
    "assistant_intents",
    "own_benign",
    *OWN_ATTACKS,
    *OWN_HELD,
    "bank_questions",
    "chat",
    "role_play",
}


def plain(host: str, guest: str, rng: random.Random) -> str:
    """The guest before, after or between the sentences of the host."""
    place = rng.random()
    joint = rng.choice(["\n", "\n\n", " "])
    if place < 0.2:
        return guest + joint + host
    if place < 0.6:
        return host + joint + guest
    cut = host.find(". ", rng.randrange(max(1, len(host) // 2)))
    cut = len(host) if cut < 0 else cut + 1
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
    start = rng.choice(["# ", "// ", "-- ", "> "])
    return f"{host}\n{start}{guest}"


FORMS = [plain, plain, tool_result, mail, markup, comment]


def compose(rows: Sequence[Row], attacks: int, twins: int, seed: int, split: str) -> list[Row]:
    rng = random.Random(f"{seed} {split}")
    mine = [row for row in rows if row.split == split]
    hosts = [r.text for r in mine if r.set in HOSTS and r.label == SAFE and len(r.text) >= 40]
    guests = [r for r in mine if r.set in GUESTS and r.label == INJECTION and 15 <= len(r.text) <= 300]
    calm = [r for r in mine if r.set in TWINS and r.label == SAFE and 10 <= len(r.text) <= 300]
    # Our own attacks are clear and varied: they come first.
    own = [r for r in guests if r.set.startswith("own")] or guests
    result = []
    for pool, label, count in ((guests, INJECTION, attacks), (calm, SAFE, twins)):
        for _ in range(count if hosts and pool else 0):
            guest = rng.choice(own if label == INJECTION and rng.random() < 0.5 else pool)
            form = rng.choice(FORMS)
            text = form(rng.choice(hosts)[: rng.choice([150, 300, 500])], guest.text, rng)
            category = CATEGORIES.index("indirect") if label == INJECTION else NO_CATEGORY
            result.append(Row(text, label, "composed", 0.8, guest.lang, form.__name__, split, category))
    return result


# About 2,000 tokens.
LONG = 8000


def long_documents(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """For evaluation: documents of about 2,000 tokens with an attack at a random place, and as many with a harmless text there."""
    rng = random.Random(f"{seed} long")
    mine = [row for row in rows if row.split == "dev"]
    hosts = [r.text for r in mine if r.set in HOSTS and r.label == SAFE and len(r.text) >= 40]
    result = []
    for label, sets in ((INJECTION, GUESTS), (SAFE, TWINS)):
        pool = [r for r in mine if r.set in sets and r.label == label and 15 <= len(r.text) <= 600]
        for _ in range(count):
            guest = rng.choice(pool)
            parts: list[str] = []
            while sum(map(len, parts)) < LONG:
                parts.append(rng.choice(hosts)[:1500])
            parts.insert(rng.randint(0, len(parts)), guest.text)
            result.append(Row("\n\n".join(parts), label, guest.set, 1.0, guest.lang, "long", "dev"))
    return result
