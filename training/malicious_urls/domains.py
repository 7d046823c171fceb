"""Normalises URLs and finds registered domains with the Public Suffix List of the package publicsuffixlist."""

from __future__ import annotations

import re
from functools import cache

from publicsuffixlist import PublicSuffixList

LIST = PublicSuffixList()
KNOWN = PublicSuffixList(accept_unknown=False)


def normalised(url: str) -> str:
    """The URL without scheme, `www.` and trailing slash, which depend on the collection and not on the class."""
    return re.sub(r"^(?:[a-z]+:/*)?(?:www\.)?", "", url.strip().lower()).rstrip("/")


def host(url: str) -> str:
    return re.split(
        r"[/?#:]", normalised(url).split("@")[-1] if "@" in normalised(url).split("/")[0] else normalised(url)
    )[0]


@cache
def of_host(name: str) -> str:
    if re.fullmatch(r"[\d.]+|\[.*", name):
        return name
    return LIST.privatesuffix(name) or name


def registered(url: str) -> str:
    return of_host(host(url))


def is_url(text: str) -> bool:
    """Whether a row is exactly one URL. Some lists also contain path fragments, mail addresses, names with spaces and pairs of URLs."""
    if re.search(r"\s|\\n", text.strip()):
        return False
    name = host(text)
    return "://" in text or bool(
        "@" not in text.split("/")[0] and (re.fullmatch(r"\d+(\.\d+){3}", name) or KNOWN.publicsuffix(name))
    )
