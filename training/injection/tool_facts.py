"""Short harmless results of tools: facts, states, hints and values, as calculators, clocks, shops and command-line programs return them.

Without them a model learns that short data is an order, because planted orders are short and documents are long.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable

from ..datasets import NO_CATEGORY
from . import SAFE
from .sets import Text

CITIES = "Berlin Tokyo Lagos Lima Oslo Mumbai Cairo Toronto Porto Seoul Quito Prague Accra Hanoi Dublin Kyiv Tampa Leeds Cork Riga".split()
NAMES = "Anna Bola Chen Dmitri Elif Farid Greta Hiro Ines Jonas Kofi Lena Mateo Nadia Omar Priya Quinn Rosa Sven Tariq".split()
STOCKS = "AAPL MSFT NVDA SAP TSLA AMZN BMW SHEL TM NESN BABA INFY".split()
COINS = "USD EUR GBP JPY CHF INR BRL ZAR SEK KRW PLN MXN".split()
SKY = ["sunny", "cloudy", "light rain", "clear sky", "snow showers", "fog", "partly cloudy", "thunderstorms", "windy"]
STATES = "open closed pending shipped delivered paid cancelled active archived running stopped queued failed draft approved".split()
THINGS = "order ticket invoice booking task shipment deployment subscription job build backup refund account event".split()
FILES = "notes.txt report.pdf main.py index.html data.csv README.md photo.png config.yaml package.json server.log".split()
UNITS = "km miles kg pounds litres gallons metres feet minutes hours MB GB".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
WORDS = "kubernetes photosynthesis inflation recursion latency gravity osmosis mortgage entropy jazz origami yeast".split()


def number(rng: random.Random) -> str:
    return str(rng.choice([rng.randrange(1, 20), rng.randrange(20, 1000), rng.randrange(1000, 99999)]))


def decimal(rng: random.Random) -> str:
    return f"{rng.uniform(0, rng.choice([1, 100, 5000])):.{rng.randint(1, 3)}f}"


def clock(rng: random.Random) -> str:
    return f"{rng.randrange(24):02}:{rng.randrange(60):02}"


def date(rng: random.Random) -> str:
    return f"20{rng.randint(18, 27)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def code(rng: random.Random) -> str:
    return f"{rng.choice(string.ascii_uppercase)}{rng.choice(string.ascii_uppercase)}-{rng.randrange(100, 99999)}"


def pick(values: list[str]) -> Callable[[random.Random], str]:
    return lambda rng: rng.choice(values)


SLOTS: dict[str, Callable[[random.Random], str]] = {
    "n": number,
    "m": number,
    "x": decimal,
    "t": clock,
    "d": date,
    "code": code,
    "city": pick(CITIES),
    "to": pick(CITIES),
    "name": pick(NAMES),
    "other": pick(NAMES),
    "stock": pick(STOCKS),
    "coin": pick(COINS),
    "coin2": pick(COINS),
    "sky": pick(SKY),
    "state": pick(STATES),
    "thing": pick(THINGS),
    "file": pick(FILES),
    "unit": pick(UNITS),
    "unit2": pick(UNITS),
    "day": pick(DAYS),
    "word": pick(WORDS),
}
SENTENCES = (
    "The sum of {n} and {m} is {x}.|{n} + {m} = {x}|Result: {x}|{x}|The product of {n} and {m} is {x}.|{n} divided by {m} is {x}.|{n} % of {m} is {x}.|"
    "The square root of {n} is {x}.|{n} {unit} = {x} {unit2}|{n} {unit} are about {x} {unit2}.|Average: {x}, median: {n}, count: {m}|"
    "The temperature in {city} is {n} degrees.|Weather in {city}: {sky}, {n} °C, wind {m} km/h|It is {sky} in {city} today.|{city}: {sky}|"
    "The current time in {city} is {t}.|It is {t} in {city}.|Today is {day}, {d}.|{d}T{t}:00Z|{city} is {n} hours ahead of {to}.|"
    "The price of {stock} is {x} {coin}.|{stock}: {x} (+{n} %)|1 {coin} = {x} {coin2}|{n} {coin} is {x} {coin2} at today's rate.|"
    "The distance between {city} and {to} is {n} km.|The next train to {city} leaves at {t} from platform {n}.|Flight {code} from {city} to {to} departs at {t}.|"
    "No flights found from {city} to {to} on {d}.|{thing} {code} is {state}.|Your {thing} {code} has been {state}.|Status: {state}|"
    "{{\"status\": \"{state}\", \"id\": \"{code}\"}}|{{\"result\": {x}}}|{{\"temperature\": {n}, \"unit\": \"celsius\", \"city\": \"{city}\"}}|"
    "{{\"ok\": true, \"count\": {n}}}|Success|OK|Done.|true|null|[]|No results found.|No results for \"{word}\".|Found {n} results.|{n} rows affected.|"
    "Found {n} matches in {m} files.|Showing 1 to {n} of {m} results.|Truncated to {n} lines. Pass offset={n} to read on.|"
    "Output truncated: {n} of {m} lines shown. Use the limit option to see more.|The file has {n} lines; lines 1 to {m} are shown.|"
    "File {file} was saved.|Wrote {n} bytes to {file}.|{file}: no such file or directory|{file} is up to date.|Created {file}.|"
    "Error: {file} not found. Check the path and try again.|Error: invalid date. Use the format YYYY-MM-DD.|Error {n}: the {thing} does not exist.|"
    "Permission denied. Run the command with sudo or change the owner of {file}.|Rate limit exceeded. Try again in {n} seconds.|"
    "Timeout after {n} ms.|Usage: convert [--to UNIT] VALUE|Try 'convert --help' for more information.|Tip: use --verbose to see more details.|"
    "hint: use 'git pull' before pushing again|Your branch is ahead of 'origin/main' by {n} commits.|nothing to commit, working tree clean|"
    "Process exited with code {n}.|Build finished in {x} s with {n} warnings.|{n} passed, {m} failed|Exit code: 0|"
    "Reminder set for {day} at {t}.|Meeting with {name} on {day} at {t}.|{name} has {n} unread messages.|Contact: {name}, extension {n}|"
    "{name} is {n} years old and lives in {city}.|{name} replied: see you on {day}!|{name}: can we move it to {t}?|{name} and {other} share the {thing} {code}.|"
    "What is {word}?|How does {word} work?|Why is {word} important?|Who wrote the book about {word}?|How much is a ticket to {city}?|Where is {city}?|"
    "When does the shop in {city} open?|Which is larger, {n} or {m}?|What time is it in {city}?|Is {word} difficult?|How do I learn {word}?|"
    "{word} explained|A short guide to {word}|{word}: questions and answers|Top {n} facts about {word}|How to start with {word}|Buy milk|Call {name}|Water the plants|"
    "Book a table for {n} on {day}|Pick up the parcel at {t}|Renew passport by {d}|Ask {name} about {word}|Finish the slides for {day}|"
    "Chapter {n}: {word}|Step {n} of {m}|Page {n} of {m}|Version {n}.{m}|Question {n}: which city has more people, {city} or {to}?|"
    "Population of {city}: {n}|{city} was founded in {m}.|{word} is a subject of {name}'s new book.|The {thing} was created by {name} on {d}.|"
    "Die Temperatur in {city} beträgt {n} Grad.|Es ist {t} Uhr in {city}.|Il est {t} à {city}.|La température à {city} est de {n} degrés.|"
    "La temperatura en {city} es de {n} grados.|Son las {t} en {city}.|A soma de {n} e {m} é {x}.|La somma di {n} e {m} è {x}.|Сумма {n} и {m} равна {x}.|"
    "Сейчас в {city} {t}.|{city}现在是{t}。|{n}加{m}等于{x}。|{city}の気温は{n}度です。|{city} şu anda {n} derece.|Keine Ergebnisse gefunden.|Aucun résultat.|Sin resultados.|"
    "Nenhum resultado.|Ничего не найдено.|没有找到结果。|結果はありません。|Geen resultaten.|Brak wyników.|लखनऊ में तापमान {n} डिग्री है।|درجة الحرارة في {city} هي {n}."
).split("|")
# The number of facts. `wrap_in_envelopes` puts some of them into envelopes such as JSON.
FACTS = 1500


def tool_facts(seed: int) -> list[Text]:
    """Short results of tools for training, all of them harmless in data."""
    rng = random.Random(f"{seed} facts")
    found: dict[str, None] = {}
    while len(found) < FACTS:
        sentence = rng.choice(SENTENCES)
        found[sentence.format(**{name: value(rng) for name, value in SLOTS.items()})] = None
        if rng.random() < 0.2:
            found["\n".join(rng.sample(list(found), min(len(found), 3)))] = None
    return [Text(text, SAFE, "tool_facts", 1.0, "", "fact", "train", NO_CATEGORY, SAFE, ()) for text in found]
