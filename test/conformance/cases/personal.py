"""What Anonymize and Sensitive are asked about. All of it is made up, or is an example of the standard that defines it."""

from .case import ODD

TEXTS = {
    "an address of e-mail": "Write to john.doe@example.com today.",
    "one address twice": "From a.smith@example.org to b.jones@example.org, cc a.smith@example.org.",
    "an address in words": "Contact jane.roe[AT]example[DOT]com please",
    "a card": "Pay with 4111111111111111 by Monday.",
    "a card in groups": "My card number is 5555-5555-5555-4444.",
    "a card with a wrong checksum in context": "Invoice 4111 1111 1111 1112 is open.",
    "an IBAN": "Transfer it to DE89370400440532013000.",
    "an IBAN in groups": "IBAN GB29 NWBK 6016 1331 9268 19 was used.",
    "an IBAN with a wrong checksum": "Reference DE89370400440532013001 of the order.",
    "a UUID": "Session 550e8400-e29b-41d4-a716-446655440000 expired.",
    "an IPv4 address": "The request came from 203.0.113.17 at noon.",
    "a version that is no address": "Version 256.300.1.2 is out.",
    "a Bitcoin address": "Send it to 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2 now.",
    "a social security number": "SSN: 536-22-8731",
    "the number of an advertisement": "SSN: 219-09-9999",
    "a telephone number": "Call me at +1 212 555 0123 tomorrow.",
    "a telephone number of Britain": "Ring +44 20 7946 0958 after six.",
    "several things": "Ann (ann@example.com) paid 4111111111111111 from 203.0.113.17.",
    "an address in Russian": "Пишите на ivanov@example.com до пятницы.",
    "nothing personal": "The recipe needs 250 grams of flour and two eggs.",
    "a price and a date": "The 3 items cost 129.99 in 2024.",
    "a placeholder": "What does [REDACTED_PERSON_1] mean?",
} | {name: text for name, text in ODD.items() if isinstance(text, str)}

CHECKSUM = "a number whose checksum is wrong is no card and no IBAN"
ADVERTISED = "a number that the Social Security Administration voided, as it stood in advertisements, is nobody's"
REGION = "llm-guard finds this number only where a model or a word of context helps"
# What guard finds in these texts and llm-guard does not, or the other way round, with reasons.
OTHERWISE = {
    "a card with a wrong checksum in context": ([], CHECKSUM),
    "an IBAN with a wrong checksum": ([], CHECKSUM),
    "the number of an advertisement": ([], ADVERTISED),
    "a telephone number": ([("PHONE_NUMBER", "+1 212 555 0123")], REGION),
    "a telephone number of Britain": ([("PHONE_NUMBER", "+44 20 7946 0958")], REGION),
}


def otherwise(name, placeholder):
    """The fields expected and why of a case, with what a scanner makes of a type."""
    if name not in OTHERWISE:
        return {}
    found, why = OTHERWISE[name]
    text = TEXTS[name]
    for type_, value in found:
        text = text.replace(value, placeholder.format(type_))
    verdict = {"isValid": False, "score": 1} if found else {"isValid": True, "score": -1}
    return {"expected": {**verdict, "sanitized": text}, "why": why}
