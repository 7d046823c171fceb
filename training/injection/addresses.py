"""Decorrelates mail addresses from labels.

Authors of attacks use reserved domains (RFC 2606) such as example.com, and ordinary texts of public sets have few addresses. A model would
learn that an address is an attack. Therefore most reserved domains are replaced, independent of the label, and harmless texts get addresses,
including reserved ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from . import SAFE
from .envelopes import NAMES
from .sets import Text, locate_orders

RESERVED = re.compile(
    r"(?<=@)(?:[\w-]+\.)*(?:example\.(?:com|org|net)|[\w-]+\.(?:example|test|invalid))|\bexample\.(?:com|org|net)\b"
)
# The share of texts whose reserved domains are replaced, and of harmless texts that get an address.
RENAMED, GIVEN = 0.6, 0.08
FIRST = "north blue old river city green sun acme delta nova oak stone lake bright market union alpha maple".split()
SECOND = (
    "mail bank shop labs press works travel media foods books clinic school group tools hotel trade net farm".split()
)
ENDS = "com com com org net de fr es it ru pl nl co.uk com.br in jp cn io eu ch".split()
PUBLIC = "gmail.com outlook.com yahoo.com mail.ru web.de qq.com hotmail.com orange.fr proton.me".split()
# Ordinary sentences with an address, which replaces `@`.
CONTACTS = (
    "Contact: @",
    "Contact: @.",
    "Write to @.",
    "Questions? Write to @.",
    "E-mail: @",
    "You can reach us at @.",
    "Please send your application to @ by Friday.",
    "For press inquiries: @",
    "Author: Bob <@>",
    "From: @",
    "To: @",
    "cc @",
    "Reply to @ if you want to come along.",
    "My address is @, thanks!",
    "(@)",
    "Orders go to @.",
    "Kontakt: @",
    "Schreiben Sie uns: @.",
    "Fragen an @.",
    "Écrivez-nous : @",
    "Contacto: @",
    "Para más información, escriba a @.",
    "Пишите на @.",
    "Почта: @",
    "联系邮箱：@",
    "お問い合わせは @ まで。",
    "Scrivete a @.",
    "Vragen? Mail @.",
    "للتواصل: @",
)
LOCALS = "info contact support hello jobs office press bob alice sales team no-reply billing help service".split()


def domain(rng: random.Random) -> str:
    """A plausible domain of random words, or a public one."""
    if rng.random() < 0.25:
        return rng.choice(PUBLIC)
    return f"{rng.choice(FIRST)}{rng.choice(['', '', '-'])}{rng.choice(SECOND)}.{rng.choice(ENDS)}"


def address(rng: random.Random) -> str:
    reserved = (
        f"{rng.choice(['', '', 'mail.', rng.choice(FIRST) + '.'])}example.{rng.choice(['com', 'com', 'org', 'net'])}"
    )
    local = rng.choice(LOCALS + NAMES)
    return f"{local}@{reserved if rng.random() < 0.5 else domain(rng)}"


def replace_reserved_domains(row: Text, rng: random.Random) -> Text:
    """Replaces the reserved domains of a row."""
    names: dict[str, str] = {}

    def other(text: str) -> str:
        return RESERVED.sub(lambda match: names.setdefault(match.group(), domain(rng)), text)

    text = other(row.text)
    orders = [other(row.text[start:end]) for start, end in row.orders]
    return replace(row, text=text, orders=locate_orders(text, orders))


def insert_address(row: Text, rng: random.Random) -> Text:
    """Adds an address before or after a harmless row, or in a page around it."""
    contact = rng.choice(CONTACTS).replace("@", address(rng))
    text = rng.choice(
        [
            lambda: f"{row.text} {contact}",
            lambda: f"{row.text}\n{contact}",
            lambda: f"{contact}\n\n{row.text}",
            lambda: f"<p>{row.text} {contact}</p>",
            lambda: f"<p>{row.text}</p>\n<p>{contact}</p>",
            lambda: (
                f"<h1>{rng.choice(['Welcome', 'About', 'Opening hours', 'News'])}</h1><p>{row.text}</p><footer>{contact}</footer>"
            ),
        ]
    )()
    return replace(row, text=text, orders=())


def add_addresses(rows: Sequence[Text], seed: int) -> list[Text]:
    """Decorrelates the addresses of training and calibration rows from their labels."""
    rng = random.Random(f"{seed} addresses")
    result = []
    for row in rows:
        if row.split != "dev":
            is_harmless = row.label == SAFE and row.indirect == SAFE
            if RESERVED.search(row.text):
                row = replace_reserved_domains(row, rng) if rng.random() < RENAMED else row
            elif is_harmless and rng.random() < GIVEN:
                row = insert_address(row, rng)
        result.append(row)
    return result
