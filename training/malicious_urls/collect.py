"""python -m training.malicious_urls.collect --help: collects ordinary links from the documentation of packages."""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import defaultdict
from pathlib import Path

from .domains import registered

URL = re.compile(rb"https?://[A-Za-z0-9._~:/?#@!$&*+,;=%-]+")
FILES = {".md", ".txt", ".html", ".rst", ".json", ".toml", ".xml", ".rs"}
NAMES = {"METADATA", "copyright", "README", "PKG-INFO"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="folders with installed packages, such as /usr/share/doc")
    parser.add_argument("--list", type=Path, nargs="*", default=[], help="files with one URL a line")
    parser.add_argument("--out", type=Path, required=True, help="data folder; the set goes into its folder urls")
    parser.add_argument("--per-domain", type=int, default=25)
    args = parser.parse_args()
    found: set[str] = set()
    for path in args.list:
        found.update(path.read_text(errors="ignore").split())
    for folder in args.folders:
        for path in folder.rglob("*"):
            if path.is_file() and (path.suffix in FILES or path.name in NAMES):
                found.update(url.decode() for url in URL.findall(path.read_bytes()))
    by_domain: dict[str, set[str]] = defaultdict(set)
    for url in found:
        url = url.split(")")[0].rstrip(".,;:!?*&#-_")
        domain = registered(url)
        # IP addresses, names without a domain and templates are not links to real pages.
        if domain and "." in domain and not re.search(r"[%$&]7B|\$|\*|example|localhost", url):
            by_domain[domain].add(url)
    out = args.out / "urls" / "documentation.jsonl.gz"
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = 0
    with gzip.open(out, "wt", encoding="utf-8") as file:
        for domain, urls in sorted(by_domain.items()):
            kept = sorted(urls)
            random.Random(domain).shuffle(kept)
            # The site without a path is added, since people mostly name sites like that.
            for url in [f"https://{domain}/", *kept[: args.per_domain]]:
                file.write(json.dumps({"text": url, "label": "benign", "source": "documentation"}) + "\n")
                rows += 1
    print(f"{rows} links of {len(by_domain)} domains")


if __name__ == "__main__":
    main()
