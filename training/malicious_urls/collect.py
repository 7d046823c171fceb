"""python -m training.malicious_urls.collect --help: collects URLs from packages.

- `documentation`: ordinary links from the documentation of packages;
- `sites` (`--filters easylist.txt filters.min.txt`): sites with cosmetic filters, from the Debian package `webext-ublock-origin-firefox`;
- `preload` (`--preload hstspreload.bin`): sites in Chromium's list of HTTPS-only sites, from the PyPI package `hstspreload`;
- `homepages` (`--packages FILE`): home pages of packages, from the output of `apt-cache dumpavail`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from .domains import KNOWN, host, is_url, registered

URL = re.compile(rb"https?://[A-Za-z0-9._~:/?#@!$&*+,;=%-]+")
FILES = {
    *(".md", ".txt", ".html", ".rst", ".json", ".toml", ".xml", ".yml", ".yaml", ".po", ".tex", ".css"),
    *(".rs", ".py", ".pyi", ".js", ".mjs", ".ts", ".c", ".h", ".cpp", ".go", ".java", ".rb", ".pl", ".sh"),
}
NAMES = {"METADATA", "copyright", "README", "PKG-INFO"}
# A cosmetic filter rule of an ad blocker, with its sites.
COSMETIC = re.compile(r"([a-z0-9.,-]+)#[@?$]?#")

# A field of a Debian package with the address of its project.
HOMEPAGE = re.compile(r"^(?:Homepage|Bugs): (https?://\S+)", re.MULTILINE)
# The flag of an entry of `hstspreload.bin` that contains a whole name.
IS_WHOLE_NAME = 0x80
# Larger files are mostly data.
MAX_FILE_SIZE = 3_000_000


def sites(lines: Iterable[str], count: int) -> Iterator[dict]:
    """Sites with ad blocker rules: people visit them."""
    found = set()
    for line in lines:
        if match := COSMETIC.match(line):
            found.update(name for name in match[1].split(",") if "." in name)
    return front_pages(found, count, "easylist")


def preloaded(data: bytes, count: int) -> Iterator[dict]:
    """Sites in the data of the package `hstspreload`. An entry consists of a byte of flags, the length of a label or name, and its letters."""
    found, at = set(), 0
    while at < len(data):
        name = data[at + 2 : at + 2 + data[at + 1]]
        if data[at] & IS_WHOLE_NAME and b"." in name:
            found.add(registered(name.decode()))
        at += 2 + len(name)
    return front_pages(found, count, "hstspreload")


def front_pages(sites: set[str], count: int, source: str) -> Iterator[dict]:
    """The front pages of `count` random sites."""
    names = sorted(sites)
    random.Random(1).shuffle(names)
    for name in names[:count]:
        yield {"text": f"https://{name}/", "label": "benign", "source": source}


def write(path: Path, rows: Iterable[dict]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        written = [file.write(json.dumps(row) + "\n") for row in rows]
    print(path.name, len(written))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="folders with installed packages, such as /usr/share/doc")
    parser.add_argument("--list", type=Path, nargs="*", default=[], help="files with one URL a line")
    parser.add_argument("--out", type=Path, required=True, help="data folder; the set is written to its folder urls")
    parser.add_argument("--per-domain", type=int, default=25)
    parser.add_argument("--per-host", type=int, default=6)
    parser.add_argument("--preload", type=Path)
    parser.add_argument("--packages", type=Path, help="the output of apt-cache dumpavail")
    parser.add_argument("--filters", type=Path, nargs="*", default=[])
    parser.add_argument("--sites", type=int, default=20_000, help="the maximum number of sites from --filters and --preload")
    args = parser.parse_args()
    (args.out / "urls").mkdir(parents=True, exist_ok=True)
    if args.filters:
        lines = [line for path in args.filters for line in path.read_text().splitlines()]
        write(args.out / "urls" / "sites.jsonl.gz", sites(lines, args.sites))
    if args.folders or args.list:
        write(args.out / "urls" / "documentation.jsonl.gz", documentation(args))
    if args.preload:
        write(args.out / "urls" / "preload.jsonl.gz", preloaded(args.preload.read_bytes(), args.sites))
    if args.packages:
        found = set(HOMEPAGE.findall(args.packages.read_text(errors="ignore")))
        write(args.out / "urls" / "homepages.jsonl.gz", few_per_domain(found, args.per_domain, args.per_host, "debian"))


def documentation(args: argparse.Namespace) -> Iterator[dict]:
    found: set[str] = set()
    for path in args.list:
        found.update(path.read_text(errors="ignore").split())
    for folder in args.folders:
        for path in folder.rglob("*"):
            if path.suffix in FILES or path.name in NAMES:
                found.update(links(path))
    yield from few_per_domain(found, args.per_domain, args.per_host, "documentation")


def links(path: Path) -> set[str]:
    """The URLs in a file; none if it is large or can't be read."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_FILE_SIZE:
            return set()
        return {url.decode() for url in URL.findall(path.read_bytes())}
    except OSError:
        return set()


def few_per_domain(urls: Iterable[str], per_domain: int, per_host: int, source: str) -> Iterator[dict]:
    """Rows with at most `per_host` URLs of a host and `per_domain` URLs of a registered domain, and the domain's front page."""
    by_domain: dict[str, set[str]] = defaultdict(set)
    for url in urls:
        url = re.split(r"[)<>\"'\\\\]", url)[0].rstrip(".,;:!?*&#-_")
        domain = registered(url)
        # IP addresses, names without a public suffix and templates do not link to real pages.
        if is_url(url) and KNOWN.publicsuffix(host(url)) and not re.search(r"[%$&]7B|\$|\*|example|localhost", url):
            by_domain[domain].add(url)
    for domain, found in sorted(by_domain.items()):
        kept = sorted(found)
        random.Random(domain).shuffle(kept)
        hosts: Counter[str] = Counter()
        # People mostly name sites without a path.
        chosen = [f"https://{domain}/"]
        for url in kept:
            hosts[host(url)] += 1
            if hosts[host(url)] <= per_host and len(chosen) <= per_domain and len(url) < 1000:
                chosen.append(url)
        for url in chosen:
            yield {"text": url, "label": "benign", "source": source}


if __name__ == "__main__":
    main()
