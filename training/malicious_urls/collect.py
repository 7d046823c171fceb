"""python -m training.malicious_urls.collect --help: collects URLs from packages.

- `documentation`: ordinary links from the documentation of packages;
- `sites` (`--filters easylist.txt filters.min.txt`): sites with cosmetic filters, from the Debian package `webext-ublock-origin-firefox`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from .domains import registered

URL = re.compile(rb"https?://[A-Za-z0-9._~:/?#@!$&*+,;=%-]+")
FILES = {".md", ".txt", ".html", ".rst", ".json", ".toml", ".xml", ".rs"}
NAMES = {"METADATA", "copyright", "README", "PKG-INFO"}
# A cosmetic filter rule of an ad blocker, with its sites.
COSMETIC = re.compile(r"([a-z0-9.,-]+)#[@?$]?#")


def sites(lines: Iterable[str], count: int) -> Iterator[dict]:
    """Sites with ad blocker rules: people visit them."""
    found = set()
    for line in lines:
        if match := COSMETIC.match(line):
            found.update(name for name in match[1].split(",") if "." in name)
    names = sorted(found)
    random.Random(1).shuffle(names)
    for name in names[:count]:
        yield {"text": f"https://{name}/", "label": "benign", "source": "easylist"}


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
    parser.add_argument("--filters", type=Path, nargs="*", default=[])
    parser.add_argument("--sites", type=int, default=20_000, help="the maximum number of sites from --filters")
    args = parser.parse_args()
    (args.out / "urls").mkdir(parents=True, exist_ok=True)
    if args.filters:
        lines = [line for path in args.filters for line in path.read_text().splitlines()]
        write(args.out / "urls" / "sites.jsonl.gz", sites(lines, args.sites))
    if args.folders or args.list:
        write(args.out / "urls" / "documentation.jsonl.gz", documentation(args.folders, args.list, args.per_domain))


def documentation(folders: list[Path], lists: list[Path], per_domain: int) -> Iterator[dict]:
    found: set[str] = set()
    for path in lists:
        found.update(path.read_text(errors="ignore").split())
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and (path.suffix in FILES or path.name in NAMES):
                found.update(url.decode() for url in URL.findall(path.read_bytes()))
    by_domain: dict[str, set[str]] = defaultdict(set)
    for url in found:
        url = url.split(")")[0].rstrip(".,;:!?*&#-_")
        domain = registered(url)
        # IP addresses, names without a domain and templates do not link to real pages.
        if domain and "." in domain and not re.search(r"[%$&]7B|\$|\*|example|localhost", url):
            by_domain[domain].add(url)
    for domain, urls in sorted(by_domain.items()):
        kept = sorted(urls)
        random.Random(domain).shuffle(kept)
        # The site without a path is added, because people mostly name sites like that.
        for url in [f"https://{domain}/", *kept[:per_domain]]:
            yield {"text": url, "label": "benign", "source": "documentation"}


if __name__ == "__main__":
    main()
