"""Composes prose in typical forms: paragraphs, lists, tables, logs, mathematics, mails."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace

from .. import datasets

# The number of composed texts for each row of prose in a split.
SHAPES_PER_ROW = 0.6
WORDS = 14


def shapes(rows: list[datasets.Row], seed: int) -> list[datasets.Row]:
    """The rows and texts composed of them. All rows of a composed text have the same split and language."""
    groups: dict[tuple[str, str], list[datasets.Row]] = defaultdict(list)
    for row in rows:
        groups[row.split, row.lang].append(row)
    result = [replace(row, kind="sentence") for row in rows]
    for (split, lang), group in sorted(groups.items()):
        choice = random.Random(f"{seed} {split} {lang}")
        for _ in range(round(len(group) * SHAPES_PER_ROW)):
            kind, make = choice.choice(SHAPES)
            texts = [choice.choice(group).text for _ in range(choice.randint(1, 8))]
            result.append(replace(group[0], text=make(texts, choice)[:6000], kind=kind))
    return result


def words(texts: list[str], choice: random.Random, most: int = WORDS) -> str:
    found = choice.choice(texts).replace("\n", " ").split()
    start = choice.randrange(max(1, len(found) - most))
    return " ".join(found[start : start + choice.randint(1, most)])


def paragraph(texts: list[str], choice: random.Random) -> str:
    return choice.choice((" ", "\n", "\n\n")).join(texts)


def listing(texts: list[str], choice: random.Random) -> str:
    mark = choice.choice(
        ("- {}", "* {}", "{n}. {}", "{n}) {}", "• {}", "- [ ] {}", "- **{}**: {more}", "{}: {more}", "{}")
    )
    lines = [mark.format(words(texts, choice), n=n + 1, more=words(texts, choice)) for n in range(choice.randint(2, 9))]
    head = choice.choice(("", words(texts, choice) + ":\n", "# " + words(texts, choice, 5) + "\n\n"))
    return head + "\n".join(lines)


def column(texts: list[str], choice: random.Random) -> str:
    """One or two words on each line, as in shopping lists, lists of names, short answers and copied tables."""
    mark = choice.choice(("{}", "{}", "{}", "{},", "{} {n}", "{n}", "{n} {}"))
    lines = [
        mark.format(words(texts, choice, choice.choice((1, 1, 2, 3))).strip(".,;"), n=choice.randint(1, 120))
        for _ in range(choice.randint(2, 12))
    ]
    case = choice.choice((str, str, str.lower, str.capitalize))
    return choice.choice(("\n", "\n", "\n\n")).join(map(case, lines))


def table(texts: list[str], choice: random.Random) -> str:
    columns = choice.randint(2, 5)

    def cell() -> str:
        return choice.choice((words(texts, choice, 3), str(choice.randint(0, 9999)), f"{choice.random() * 100:.1f} %"))

    rows = [[cell() for _ in range(columns)] for _ in range(choice.randint(2, 6))]
    style = choice.choice(("markdown", "csv", "tabs"))
    if style == "markdown":
        rows.insert(1, ["---"] * columns)
        return "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join((", " if style == "csv" else "\t").join(row) for row in rows)


def log(texts: list[str], choice: random.Random) -> str:
    lines = []
    for _ in range(choice.randint(1, 8)):
        time = f"{choice.randint(0, 23):02}:{choice.randint(0, 59):02}:{choice.randint(0, 59):02}"
        date = f"{choice.randint(2005, 2030)}-{choice.randint(1, 12):02}-{choice.randint(1, 28):02}"
        level = choice.choice(("INFO", "WARN", "ERROR", "DEBUG", "info", "error"))
        who = choice.choice(("server", "app.main", "worker-3", "nginx", "kernel", "[pool-1-thread-2]", "auth"))
        shape = choice.choice(
            (
                f"{date} {time},{choice.randint(0, 999):03} {level} {who} - ",
                f"[{date}T{time}Z] {level}: ",
                f"{date} {time} [{level}] {who}: ",
                f"Jan {choice.randint(1, 28)} {time} host {who}[{choice.randint(1, 9999)}]: ",
                f'10.0.{choice.randint(0, 255)}.{choice.randint(1, 254)} - - [{date}] "GET /index HTTP/1.1" 200 ',
            )
        )
        lines.append(shape + words(texts, choice))
    return "\n".join(lines)


def mathematics(texts: list[str], choice: random.Random) -> str:
    a, b, c, d = (choice.randint(1, 500) for _ in range(4))
    x = choice.choice("xyznabtkmp")
    formula = choice.choice(
        (
            f"{a} + {b} = {a + b}",
            f"{a} × {b} = {a * b}",
            f"{a} - {b} + {c}",
            f"{x} = {a}",
            f"{x}^2 + {b}{x} - {c} = 0",
            f"f({x}) = {a}{x} + {b}",
            f"({a} + {b}) / {c} = {(a + b) / c:.2f}",
            f"{a}/{b} < {c}/{d}",
            f"{a} % of {b} is {a * b / 100:g}",
            f"∑ {x}_i = {a}, ∫ {x} d{x} = {x}²/2",
            "P(A|B) = P(B|A) P(A) / P(B)",
            f"sin²({x}) + cos²({x}) = 1",
            f"{a} kg * {b} m/s = {a * b} N s",
        )
    )
    return choice.choice(
        (
            f"{words(texts, choice)} {formula}",
            formula,
            f"{formula}. {words(texts, choice)}",
            f"{formula}\n{words(texts, choice)}",
        )
    )


def mail(texts: list[str], choice: random.Random) -> str:
    name = words(texts, choice, 2)
    head = choice.choice(
        (f"Hi {name},", f"Dear {name},", f"Subject: {words(texts, choice, 6)}\n\nHello,", f"From: {name}\nTo: {words(texts, choice, 2)}\n",
         f"On Monday {name} wrote:\n> {words(texts, choice)}\n> {words(texts, choice)}\n")
    )  # fmt: skip
    return (
        f"{head}\n\n{paragraph(texts, choice)}\n\n{choice.choice(('Best regards', 'Thanks!', 'Cheers', '--'))}\n{name}"
    )


def short(texts: list[str], choice: random.Random) -> str:
    return words(texts, choice, 4) + choice.choice(
        ("", "", "?", "!", "...", ":", " :)", " (see below)", f" {choice.randint(1, 99)}")
    )


def link(texts: list[str], choice: random.Random) -> str:
    where = "-".join(words(texts, choice, 4).split())
    address = choice.choice((f"https://www.example.org/{where}", f"www.{where}.com", f"info@{where}.net", f"/home/user/{where}.txt",
                             f"C:\\Users\\{where}\\report.docx", f"[{words(texts, choice, 3)}](https://example.com/{where})"))  # fmt: skip
    return choice.choice(
        (address, f"{words(texts, choice)} {address}", f"{words(texts, choice)} {address} {words(texts, choice)}")
    )


# Sentences about code are prose.
ABOUT_CODE = (
    "Write a function in {} that {}.",
    "How do I {} in {}?",
    "Explain what a {} is in {} and when to use it, please.",
    "The {} class has a method that returns {}, but it is never called.",
    "Fix the bug: {} is null when {}.",
    "import {} from the list and return {} to the sender",
    "Please review my {} code. It should {} for each {}.",
    "If the {} is true then {}, else {}.",
    "Create a table with {} and {}; select the best, and print it.",
    "I get an error: {} while I {}",
    "What is the difference between {} and {} in programming?",
    "Use {} to import data, then define the variable {} as public.",
)
TOPICS = (
    "Python", "Java", "C++", "SQL", "JavaScript", "a for loop", "a hash table", "an array", "a string", "a pointer",
    "sorts a list", "reverses a string", "the database", "the API", "the user", "a REST service", "an exception",
    "recursion", "the main function", "a variable", "a unit test", "an HTML page", "a regular expression", "JSON",
)  # fmt: skip


def about_code(texts: list[str], choice: random.Random) -> str:
    sentence = choice.choice(ABOUT_CODE)
    filled = sentence.format(*(choice.choice(TOPICS) for _ in range(sentence.count("{}"))))
    return choice.choice((filled, f"{filled} {choice.choice(texts)}", f"{choice.choice(texts)} {filled}"))


SHAPES = (
    ("paragraph", paragraph),
    ("paragraph", paragraph),
    ("list", listing),
    ("list", listing),
    ("column", column),
    ("column", column),
    ("table", table),
    ("log", log),
    ("mathematics", mathematics),
    ("mail", mail),
    ("short", short),
    ("short", short),
    ("link", link),
    ("about code", about_code),
    ("about code", about_code),
)
