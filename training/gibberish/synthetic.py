"""Generates gibberish: shuffled sentences, random words, keyboard mashing and other noise, in Latin and Cyrillic script."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace

from .. import datasets
from ..code import prose
from . import CLEAN, MILD, NOISE, SALAD

# The number of generated rows by split for each clean row with enough words.
MILD_SHARE = {"train": 0.8, "calibration": 0.4, "dev": 0.3}
SALAD_SHARE = {"train": 0.6, "calibration": 0.3, "dev": 0.3}
# The number of generated rows by split for each clean row.
NOISE_SHARE = {"train": 0.2, "calibration": 0.2, "dev": 0.2}
SHORT_SHARE = {"train": 0.15, "calibration": 0.1, "dev": 0.1}
# With fewer words, a wrong order is hard to tell.
ORDERED = 5

KEYBOARDS = (
    ("qwertyuiop", "asdfghjkl;", "zxcvbnm,."),
    ("qwertzuiopü", "asdfghjklöä", "yxcvbnm,."),
    ("azertyuiop", "qsdfghjklm", "wxcvbn,;"),
    ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю."),
)
CONSONANTS = ("bcdfghjklmnpqrstvwxz", "бвгджзклмнпрстфхцчшщ")
LETTERS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя")
SYMBOLS = "!@#$%^&*()_+-=[]{}|;:'\",.<>/?~`"
HEX = "0123456789abcdef"


def mashing(choice: random.Random) -> str:
    """Keyboard mashing: letters of nearby keys, mostly in one row."""
    rows = choice.choice(KEYBOARDS)
    home = choice.random() < 0.5
    words = []
    for _ in range(choice.choice((1, 1, 2, 3, 5, 8, 12))):
        row = rows[1] if home else choice.choice(rows)
        key = choice.randrange(len(row))
        word = ""
        for _ in range(choice.randint(3, 14)):
            word += row[key]
            if choice.random() < 0.25:
                row = choice.choice(rows)
            key = (key + choice.choice((-3, -2, -1, 1, 1, 2, 3, 4))) % len(row)
        words.append(word)
    return " ".join(words)


def repeated(choice: random.Random) -> str:
    rows = choice.choice(KEYBOARDS)
    row = choice.choice(rows[:2])
    start = choice.randrange(len(row) - 4)
    piece = row[start : start + choice.randint(3, 5)]
    return (" " if choice.random() < 0.3 else "").join([piece] * choice.randint(2, 8))


def letters(choice: random.Random) -> str:
    alphabet = choice.choice(CONSONANTS if choice.random() < 0.4 else LETTERS)
    if choice.random() < 0.2:
        alphabet += "0123456789"
    count = choice.choice((1, 1, 2, 3, 4, 6, 10, 15))
    return " ".join("".join(choice.choice(alphabet) for _ in range(choice.randint(4, 13))) for _ in range(count))


def symbols(choice: random.Random) -> str:
    count = choice.randint(6, 50)
    pool = SYMBOLS + choice.choice(("", "", LETTERS[0], "0123456789"))
    return "".join(choice.choice(pool) for _ in range(count))


def unicode_soup(choice: random.Random) -> str:
    ranges = ((0xA1, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x531, 0x586), (0x5D0, 0x5EA), (0x620, 0x64A), (0x2190, 0x27BF),
              (0x3041, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3))  # fmt: skip
    count = choice.randint(5, 40)
    return "".join(
        chr(choice.randint(*choice.choice(ranges))) + (" " if choice.random() < 0.12 else "") for _ in range(count)
    )


MAKERS = (mashing, mashing, mashing, letters, letters, repeated, symbols, unicode_soup)


def noise(choice: random.Random) -> str:
    text = choice.choice(MAKERS)(choice)
    style = choice.random()
    if style < 0.08:
        return text.upper()
    if style < 0.14:
        return "".join(c.upper() if choice.random() < 0.5 else c for c in text)
    if style < 0.2:
        return text.capitalize() + choice.choice(".!?")
    return text


def swapped(words: list[str], choice: random.Random) -> str:
    """A sentence with half of the words in other positions."""
    positions = choice.sample(range(len(words)), max(3, len(words) // 2))
    order = positions[:]
    while sum(a == b for a, b in zip(order, positions, strict=True)) > len(positions) // 3:
        choice.shuffle(order)
    result = words[:]
    for to, origin in zip(positions, order, strict=True):
        result[to] = words[origin]
    return " ".join(result)


def salad(pool: list[str], choice: random.Random) -> str:
    return " ".join(choice.choice(pool) for _ in range(choice.choice((4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30))))


SHORT = (
    "ok", "ok thx", "lol", "thx", "thanks!", "yes", "no", "nope", "hi", "hello", "hey", "bye", "brb", "omg", "wtf", "idk", "imo", "btw", "haha",
    "hahaha", "hmm", "hmmm", "ugh", "yep", "sure", "np", "k", "kk", "gg", "pls", "plz", "asap", "fyi", "tl;dr", "rofl", "smh", "ty", "cu", "ok.", "???", "!!!", "...",
    "да", "нет", "ага", "ок", "привет", "пока", "спс", "пжл", "хаха", "ахаха", "лол", "ну", "угу", "спасибо", "хм", "ясно", "норм", "gracias", "vale", "hola",
    "sí", "merci", "oui", "non", "salut", "danke", "ja", "nein", "tschüss", "ciao", "grazie", "好的", "谢谢", "你好", "はい", "ありがとう", "네", "obrigado", "tak",
    "test", "testing 123", "continue", "go on", "why?", "what?", "how much?", "next", "stop", "help", "/help", "N/A", "TBD", "n/a", "A", "B)", "1.", "42", "3.14",
    "GPT-4", "HTTP 404", "C++", "COVID-19", "iPhone 15 Pro", "NASA", "UNESCO", "BMW X5", "USB-C", "Wi-Fi", "JSON", "SQL", "HTML5", "kubectl", "npm", "PyTorch", "nginx",
)  # fmt: skip


def short(choice: random.Random) -> str:
    """A short clean text that is no sentence: a reply, a name, a number, an identifier, a hash."""
    kind = choice.randrange(6)
    if kind <= 2:
        return choice.choice(
            (choice.choice(SHORT), f"{choice.choice(SHORT)} {choice.choice(SHORT)}", choice.choice(SHORT).upper())
        )
    if kind == 3:
        digits = "".join(choice.choice(HEX) for _ in range(choice.choice((8, 32, 40, 64))))
        return choice.choice(
            (
                digits,
                "-".join((digits[:8], digits[:4], "4" + digits[:3], digits[-4:], (digits * 2)[-12:])),
                f"0x{digits[:16]}",
            )
        )
    if kind == 4:
        number = choice.randint(1, 10 ** choice.randint(1, 12))
        return choice.choice(
            (
                str(number),
                f"{number:,}",
                f"#{number}",
                f"{number / 100:.2f} €",
                f"${number / 100:.2f}",
                f"+{number}",
                f"ID-{number}",
                f"v{number % 20}.{number % 7}.{number % 11}",
            )
        )
    day, month, year = choice.randint(1, 28), choice.randint(1, 12), choice.randint(1900, 2035)
    return choice.choice(
        (
            f"{day}.{month}.{year}",
            f"{year}-{month:02}-{day:02}",
            f"{month}/{day}/{year}",
            f"{day:02}:{month:02}",
            f"192.168.{day}.{month}",
            f"{day} x {month} = {day * month}",
        )
    )


def bag(text: str) -> str:
    """A key that is equal for a sentence and all its shuffled forms."""
    return "".join(sorted(datasets.normalise(text)))


def augment(rows: list[datasets.Row], seed: int) -> list[datasets.Row]:
    """Adds generated rows to those of the sets. A row derived from another one has its split."""
    # Nothing may be learnt from a sentence whose shuffled form is held out.
    dev = {bag(row.text) for row in rows if row.split == "dev"}
    held = dev | {bag(row.text) for row in rows if row.split == "calibration"}
    theirs = {"train": held, "calibration": dev, "dev": ()}
    rows = [row for row in rows if bag(row.text) not in theirs[row.split]]
    groups: dict[tuple[str, str], list[datasets.Row]] = defaultdict(list)
    for row in rows:
        if row.label == CLEAN:
            groups[row.split, row.lang or row.set].append(row)
    result = rows
    for (split, lang), group in sorted(groups.items()):
        choice = random.Random(f"{seed} {split} {lang}")
        sentences = [words for row in group if row.kind != "code" and len(words := row.text.split()) >= ORDERED]
        made = []
        pool = [word for words in sentences for word in words]
        for words in sentences:
            words = words[:60]
            if choice.random() < MILD_SHARE[split]:
                made.append((MILD, swapped(words, choice)))
            if choice.random() < SALAD_SHARE[split]:
                made.append((SALAD, salad(pool, choice)))
        for _ in range(round(len(group) * NOISE_SHARE[split])):
            made.append((NOISE, noise(choice)))
        for _ in range(round(len(group) * SHORT_SHARE[split])):
            texts = [choice.choice(group).text for _ in range(4)]
            made.append(
                (CLEAN, short(choice) if choice.random() < 0.5 else choice.choice(prose.SHAPES)[1](texts, choice))
            )
        for label, text in made:
            result.append(replace(group[0], text=text[:2000], label=label, kind="made", weight=1.0))
    # Short generated texts are often equal. Training texts must not be evaluated.
    learnt = {datasets.identity(row.text) for row in result if row.split == "train" and row.kind == "made"}
    result = [
        row for row in result if row.split == "train" or row.kind != "made" or datasets.identity(row.text) not in learnt
    ]
    return [type_carelessly(row, random.Random(datasets.digest(row.text, str(seed)))) for row in result]


def type_carelessly(row: datasets.Row, choice: random.Random) -> datasets.Row:
    """Writes one training row in five like in chats: without capitals and, half of the time, without a full stop."""
    if row.split != "train" or choice.random() > 0.2 or row.kind == "code":
        return row
    text = row.text.lower()
    return replace(row, text=text.rstrip(".!?") if choice.random() < 0.5 else text)
