"""Indirect attacks and their harmless twins, composed from rows of the same split.

An attack hides in a document, a mail, a tool result or a code comment; its twin has the same carrier with an
ordinary request or sentence in the same place, so that the carrier itself gives nothing away.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from ..data import Row
from . import INJECTION, SAFE

HOSTS = {"wikipedia", "dialogue_turns", "code", "t0_prompts", "conversations", "chat", "alpaca", "safe_guard"}
GUESTS = {"own_attacks", "own_heldout", "safe_guard", "neuralchemy", "deepset", "tensortrust", "multilingual"}
TWINS = {"alpaca", "alpaca_zh", "assistant_intents", "own_benign", "own_heldout", "bank_questions", "chat", "role_play"}


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
            result.append(Row(text, label, "composed", 0.8, guest.lang, form.__name__, split))
    return result
