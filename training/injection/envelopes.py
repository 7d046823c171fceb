"""Formats of tool results. A text must have the same score in all formats, so harmless texts and attacks are wrapped equally."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

WORDS = "order note report result item message ticket review record entry memo page task event invoice".split()
NAMES = "kim ana leo mira jonas wei amara ivan sofia tariq".split()
COLUMNS = "id date amount name qty status city price note score code level".split()
VALUES = [
    "ok",
    "open",
    "Berlin",
    "Lagos",
    "A-17",
    "n/a",
    "pending",
    "INFO",
    "Kim",
    "Osaka",
]


def day(rng: random.Random) -> str:
    return f"2025-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def as_json(value: object, **options: object) -> str:
    return json.dumps(value, ensure_ascii=False, **options)


def envelope(text: str, rng: random.Random) -> str:
    """Wraps a text in a random format: JSON, CSV, YAML, XML, an SQL result, a Markdown table, a log, a stack trace, an HTTP response, tool
    messages of MCP, OpenAI and Anthropic, a mail, a chat, a page."""
    line = text.replace("\n", " ")
    number, word, name, date = (
        rng.randrange(10, 9999),
        rng.choice(WORDS),
        rng.choice(NAMES),
        day(rng),
    )
    quoted = line.replace('"', '""')
    forms: list[Callable[[], str]] = [
        lambda: as_json({"id": number, word: text, "status": rng.choice(["ok", "open", "done"])}),
        lambda: as_json(
            [
                {"id": number - 1, "author": name, "text": "ok, thanks"},
                {"id": number, "author": name, "text": text},
            ],
            indent=rng.choice([None, 1, 2]),
        ),
        lambda: f'id,{word},date\n{number - 1},n/a,{date}\n{number},"{quoted}",{date}\n',
        lambda: f"- id: {number}\n  author: {name}\n  date: {date}\n  {word}: |\n" + indented(text, "    "),
        lambda: f'<{word} id="{number}"><author>{name}</author><body>{text}</body></{word}>',
        lambda: f" id | {word} \n----+-----\n {number - 1} | n/a\n {number} | {line}\n(2 rows)",
        lambda: (
            f"| id | {word} | date |\n|---|---|---|\n| {number - 1} | n/a | {date} |\n| {number} | {line} | {date} |"
        ),
        lambda: (
            f"{date}T08:{rng.randint(10, 59)}:02Z INFO  {word} {number} received from {name}: {line}\n{date}T09:00:00Z INFO  done"
        ),
        lambda: (
            f'Traceback (most recent call last):\n  File "{word}.py", line {number % 400}, in main\n    handle(item)\nValueError: {line}'
        ),
        lambda: f"HTTP/1.1 200 OK\nContent-Type: text/plain\nDate: {date}\n\n{text}",
        lambda: as_json(
            {
                "jsonrpc": "2.0",
                "id": number,
                "result": {
                    "content": [{"type": "text", "text": text}],
                    "isError": False,
                },
            }
        ),
        lambda: as_json({"role": "tool", "tool_call_id": f"call_{number}", "content": text}),
        lambda: as_json(
            {
                "type": "tool_result",
                "tool_use_id": f"toolu_{number}",
                "content": [{"type": "text", "text": text}],
            }
        ),
        lambda: (
            f"From: {name}@example.com\nTo: me@example.org\nDate: {date}\nSubject: {word} {number}\n\n{text}\n\n-- \n{name}"
        ),
        lambda: f"[{number}] {name} ({date}): {text}",
        lambda: f"<html><body><h2>{word.title()} {number}</h2><p>{text}</p></body></html>",
    ]
    return rng.choice(forms)()


def indented(text: str, by: str) -> str:
    return "\n".join(by + line for line in text.split("\n"))


def value(rng: random.Random) -> str:
    return rng.choice(
        [
            str(rng.randrange(1, 9999)),
            f"{rng.random() * 1000:.2f}",
            day(rng),
            rng.choice(VALUES),
        ]
    )


def cell(_host: str, guest: str, rng: random.Random) -> str:
    """Inserts the guest as a cell of a table of numbers and short words, or as a line of a log."""
    count = rng.randint(4, 14)
    at = rng.randrange(count)
    columns = rng.sample(COLUMNS, 4)
    rows = [[value(rng) for _ in columns] for _ in range(count)]
    guest = guest.replace("\n", " ")
    rows[at][rng.randrange(len(columns))] = guest
    kind = rng.choice(["markdown", "csv", "tsv", "log"])
    if kind == "log":
        lines = [f"worker {value(rng)} took {value(rng)} ms" for _ in rows]
        lines[at] = guest
        return "\n".join(
            f"{day(rng)}T{rng.randint(0, 23):02}:11:04Z {rng.choice(['INFO', 'WARN'])} {text}" for text in lines
        )
    if kind == "markdown":
        return "\n".join(f"| {' | '.join(row)} |" for row in [columns, ["---"] * len(columns), *rows])
    if kind == "tsv":
        return "\n".join("\t".join(row) for row in [columns, *rows])
    return "\n".join(",".join(f'"{text}"' if " " in text else text for text in row) for row in [columns, *rows])
