"""Separates names from the particles and suffixes of sets that mark whole words.

Korean writes particles, and Turkish case suffixes, at the end of the name: "서울에서", "Kars'a". They are not part of the name.
"""

from __future__ import annotations

import re

FIRST_SYLLABLE, LAST_SYLLABLE, FINALS = 0xAC00, 0xD7A3, 28
# Particles of several syllables, which hardly end a name.
LONG_PARTICLES = sorted(
    (
        "에서부터 으로부터 에게서 이라는 이라고 에서는 에서도 에게는 으로는 으로 까지 부터 처럼 보다 에게 한테 께서 에서 이랑 하고 라는 라고 이나 "
        "이며 이다 이고 에는 에도 와의 과의 와는 과는"
    ).split(),
    key=len,
    reverse=True,
)
# Particles of one syllable, after a consonant, a vowel, and both.
AFTER_CONSONANT, AFTER_VOWEL, AFTER_BOTH = set("은을이과아"), set("는를가와랑야로"), set("의에도만")
AFTER_ANY = AFTER_CONSONANT | AFTER_VOWEL | AFTER_BOTH
# Syllables that often end names of places and organisations: 제주도, 을지로, 교육과.
OF_PLACES = set("도만로아야과랑")
# A Korean name has three syllables as a rule, so that a shorter one has no particle: 김정은.
SYLLABLES_OF_PERSON = 3
SHORTEST = 2
# "Mr" or "Ms", written after the name.
TITLE = "씨"
TURKISH_SUFFIX = re.compile(r"['’][a-zçğıöşü]{1,7}$")


def without_suffix(name: str, lang: str, kind: str) -> str:
    """The name without the particle or the suffix at its end."""
    if lang == "tr":
        return TURKISH_SUFFIX.sub("", name)
    if lang == "ko":
        # What stands in parentheses behind a name is none of it: "정다운(양주시청)에".
        plain = _without_particle((name.split("(")[0] or name).rstrip(" ,.·"), kind)
        return plain.removesuffix(TITLE) if kind == "PERSON" and len(plain) > SHORTEST else plain
    return name


def _without_particle(name: str, kind: str) -> str:
    word = name.rsplit(" ", 1)[-1]
    shortest = 1 if word != name else SHORTEST
    for particle in LONG_PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= shortest:
            return name[: -len(particle)]
    if len(word) <= shortest:
        return name
    last = word[-1]
    if not _is_syllable(word[-2]):
        # After an abbreviation, the particle is that of its pronunciation: NTSB는.
        return name[:-1] if word[-2].isascii() and word[-2].isalpha() and last in AFTER_ANY else name
    if kind == "PERSON" and word == name and len(word) <= SYLLABLES_OF_PERSON:
        return name
    has_final = (ord(word[-2]) - FIRST_SYLLABLE) % FINALS != 0
    is_particle = last in AFTER_BOTH or last in (AFTER_CONSONANT if has_final else AFTER_VOWEL)
    if kind != "PERSON":
        is_particle = is_particle and last not in OF_PLACES
    return name[:-1] if is_particle else name


def _is_syllable(character: str) -> bool:
    return FIRST_SYLLABLE <= ord(character) <= LAST_SYLLABLE
