"""Secrets. All of them are made up here, by a seed; the table has them in pieces."""

import base64
import json
import random
import re
import string
import zlib

from .case import ODD, case, repeat

SIDES = ["input"]

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"



def differs(answer):
    twice = answer.get("sanitized")
    if not isinstance(twice, str):
        return None
    once = re.sub(r"(\*{6}|gh\.\.cQ|ce1149fbc606416c50e1a27359083436)\1+", r"\1", twice)
    return None if once == twice else ({"sanitized": once}, "a secret that two rules find is replaced once")


LOST = "llm-guard leaves a second occurrence of a secret in the text"
KEY = "the whole block is redacted; llm-guard leaves the rest of the key in the text"
MIXED_UP = "llm-guard mixes up the places of what it replaces, and leaves a part of a secret in the text"
HOST = "the secret begins at the host"
NAMED = "a token of this shape is looked for near the name of the service, or where a token is assigned"
NONE = {"isValid": True, "score": -1}
MORE = "guard knows this secret; llm-guard does not"


def token(seed: str, length: int, alphabet: str = ALNUM) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def checksum(prefix: str, body: str) -> str:
    """GitHub's tokens end in the CRC-32 of what is before, in six digits of base 62."""
    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
    left, text = zlib.crc32(body.encode()), ""
    for _ in range(6):
        left, digit = divmod(left, 62)
        text = digits[digit] + text
    return prefix + body + text


def url64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


JWT = f"{url64({'alg': 'HS256', 'typ': 'JWT'})}.{url64({'sub': '4711', 'name': 'Ada Lovelace', 'iat': 1516239022})}.{token('jwt', 43)}"
PEM = "\n".join(token(f"pem{line}", 64, ALNUM + "+/") for line in range(12))
AWS = "AKIA" + token("aws", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
GITHUB = checksum("ghp_", token("github", 30))
STRIPE = "sk_" + "live_" + token("stripe", 24)

TOKENS = {
    "AWS access key id": AWS,
    "AWS temporary key id": "ASIA" + token("asia", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "GitHub personal token": GITHUB,
    "GitHub OAuth token": checksum("gho_", token("gho", 30)),
    "GitHub server token": checksum("ghs_", token("ghs", 30)),
    "GitLab personal token": "glpat-" + token("gitlab", 20),
    "GitLab trigger token": "glptt-" + token("glptt", 40, HEX),
    "Stripe live key": STRIPE,
    "Stripe restricted key": "rk_" + "live_" + token("rk", 24),
    "Slack bot token": "xoxb-" + token("s1", 12, string.digits) + "-" + token("s2", 12, string.digits) + "-" + token("s3", 24),
    "Slack webhook": "https://hooks.slack.com/services/T" + token("sw1", 8, UPPER) + "/B" + token("sw2", 8, UPPER) + "/" + token("sw3", 24),
    "Twilio account": "SK" + token("twilio", 32, HEX),
    "SendGrid": "SG." + token("sg1", 22) + "." + token("sg2", 43),
    "npm": checksum("npm_", token("npm", 30)),
    "Hugging Face": "hf_" + token("hf", 34, string.ascii_letters),
    "OpenAI": "sk-" + token("openai1", 20) + "T3Blbk" + "FJ" + token("openai2", 20),
    "Google API key": "AIza" + token("google", 35, ALNUM),
    "DigitalOcean": "dop_v1_" + token("do", 64, HEX),
    "Databricks": "dapi" + token("databricks", 32, HEX),
    "Shopify": "shpat_" + token("shopify", 32, HEX),
    "Square": "sq0csp-" + token("square", 43),
    "Mailchimp": token("mailchimp", 32, HEX) + "-us12",
    "Telegram bot": token("telegram1", 10, "123456789") + ":AA" + token("telegram2", 33),
    "JWT": JWT,
    "Age key": "AGE-SECRET-KEY-1" + token("age", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "Doppler": "dp.pt." + token("doppler", 43),
    "Postman": "PMAK-" + token("postman1", 24, HEX) + "-" + token("postman2", 34, HEX),
    "Linear": "lin_api_" + token("linear", 40),
    "Grafana service account": "glsa_" + token("glsa", 32) + "_" + token("glsa2", 8, HEX),
    "Planetscale": "pscale_tkn_" + token("pscale", 43),
    "Pulumi": "pul-" + token("pulumi", 40, HEX),
    "Discord bot": base64.b64encode(b"835174629371840512").decode() + "." + token("discord2", 6) + "." + token("discord3", 27),
    "PyPI": "pypi-AgEIcHlwaS5vcmc" + token("pypi", 80),
}

# Rewrites that differ from those of llm-guard.
OVERLAY = {
    "npm, alone": ({"isValid": False, "score": 1, "sanitized": "******"}, MORE),
    "npm, in prose": ({"isValid": False, "score": 1, "sanitized": "Please use ****** for the call."}, MORE),
    "Telegram bot, in a string": ({"sanitized": 'key = "******"\n'}, MIXED_UP),
    "a private key with CRLF": ({"sanitized": "******\r\n"}, KEY),
    "a private key": ({"sanitized": "******\n"}, KEY),
    "an OpenSSH key": ({"sanitized": "******\n"}, KEY),
    "the example key of AWS's documentation": ({**NONE, "sanitized": "AKIAIOSFODNN7" + "EXAMPLE"}, "a known example is no secret"),
    "crosses in place of a key": ({**NONE, "sanitized": "ghp_" + "x" * 36}, "a placeholder is no secret"),
    "the same twice": ({"sanitized": "****** and ******"}, LOST),
    "two on two lines": ({"sanitized": "a=******\r\nb=******\r\n"}, MIXED_UP),
    "at the end of a megabyte": ({"isValid": False, "score": 1, "sanitized": "word " * 200_000 + "******"}, "llm-guard misses what stands in a long line"),
    "two on a line": ({"sanitized": "a=****** b=******"}, MIXED_UP),
    "after a megabyte of lines": ({"sanitized": "The quick brown fox.\n" * 48_000 + "key=******\n"}, "a secret that two rules find is replaced once"),
    "Slack webhook, alone": ({"sanitized": "https://******"}, HOST),
    "Slack webhook, in prose": ({"sanitized": "Please use https://****** for the call."}, HOST),
    **{f"{name}, {place}": ({**NONE, "sanitized": text.format(TOKENS[name])}, NAMED)
       for name in ("Twilio account", "Discord bot") for place, text in (("alone", "{}"), ("in prose", "Please use {} for the call."))},
    "a checksum": ({**NONE, "sanitized": "sha256:" + token("sha", 64, HEX)}, "a checksum is no secret"),
}

CASES = [
    *(case(f"no secret: {name}", text) for name, text in ODD.items()),
    *(case(f"{name}, alone", value) for name, value in TOKENS.items()),
    *(case(f"{name}, in prose", f"Please use {value} for the call.") for name, value in TOKENS.items()),
    *(case(f"{name}, in a string", f'key = "{value}"\n') for name, value in TOKENS.items()),
    *(case(f"{mode}: {name}", f"token: {TOKENS[name]}\n", redact_mode=mode) for mode in ("all", "partial", "hash") for name in ("AWS access key id", "GitHub personal token", "Stripe live key", "JWT")),
    case("a password in a URL", "postgres://admin:" + token("pw", 14) + "@db.internal:5432/main"),
    case("a password in a web address", "see https://ada:" + token("pw2", 12) + "@files.host.org/x for it"),
    case("a private key", f"-----BEGIN RSA PRIVATE KEY-----\n{PEM}\n-----END RSA PRIVATE KEY-----\n"),
    case("a private key with CRLF", f"-----BEGIN PRIVATE KEY-----\n{PEM}\n-----END PRIVATE KEY-----\n".replace("\n", "\r\n")),
    case("an OpenSSH key", f"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA{PEM}\n-----END OPENSSH PRIVATE KEY-----\n"),
    case("a public key", f"-----BEGIN PUBLIC KEY-----\n{PEM}\n-----END PUBLIC KEY-----\n"),
    case("an AWS secret key", 'aws_secret_access_key = "' + token("awssecret", 40, ALNUM + "/+") + '"'),
    case("the example key of AWS's documentation", "AKIAIOSFODNN7" + "EXAMPLE"),
    case("a placeholder", "api_key = <your-key-here>"),
    case("crosses in place of a key", "ghp_" + "x" * 36),
    case("the same twice", f"{AWS} and {AWS}"),
    case("two on a line", f"a={AWS} b={STRIPE}"),
    case("two on two lines", f"a={AWS}\r\nb={STRIPE}\r\n"),
    case("between emoji", f"\U0001f600 {GITHUB} \U0001f600"),
    case("after Cyrillic", f"\u043a\u043b\u044e\u0447: {GITHUB}"),
    case("after Chinese without a space", f"\u5bc6\u94a5{GITHUB}"),
    case("after combining marks", f"e\u0301e\u0301 {STRIPE} e\u0301"),
    case("in JSON", json.dumps({"aws": AWS, "note": "\U0001f600"})),
    case("at the end of a megabyte", [repeat("word ", 200_000), AWS]),
    case("after a megabyte of lines", [repeat("The quick brown fox.\n", 48_000), f"key={GITHUB}\n"]),
    case("a UUID", "id 3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
    case("a commit", "commit " + token("commit", 40, HEX)),
    case("a checksum", "sha256:" + token("sha", 64, HEX)),
    case("a data URL", "data:image/png;base64," + token("png", 400, ALNUM + "+/")),
    case("a long word", token("word", 64, string.ascii_lowercase)),
    case("a phone number", "+49 30 901820"),
]

for one in CASES:
    one.expected, one.why = OVERLAY.get(one.name, (None, None))
