"""python -m training.code.collect --out FILE NAME:CLASS=FOLDER ...: samples source files of installed or unpacked packages.

Makes the sets `code/sources.jsonl.gz` and `code/further.jsonl.gz`. NAME is the package and CLASS its licence class
(the published model was trained with `open` only). A package provides at most PER_PACKAGE files of a language and LENGTH characters of a
file, so that no package dominates a language.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from pathlib import Path

from .. import datasets
from . import languages

PER_PACKAGE = 120
LENGTH = 3000
# Unambiguous file name endings.
ENDINGS = {
    ".c": "C", ".cs": "C#", ".cpp": "C++", ".cc": "C++", ".cxx": "C++", ".hpp": "C++", ".hh": "C++", ".erl": "Erlang",
    ".hrl": "Erlang", ".f90": "Fortran", ".f": "Fortran", ".f95": "Fortran", ".F90": "Fortran", ".go": "Go", ".java": "Java",
    ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".jsx": "JavaScript", ".kt": "Kotlin", ".kts": "Kotlin",
    ".lua": "Lua", ".php": "PHP", ".pm": "Perl", ".ps1": "PowerShell", ".psm1": "PowerShell", ".psd1": "PowerShell",
    ".py": "Python", ".R": "R", ".rb": "Ruby", ".rake": "Ruby", ".gemspec": "Ruby", ".rs": "Rust", ".scala": "Scala",
    ".swift": "Swift", ".css": "CSS", ".scss": "CSS", ".less": "CSS", ".clj": "Clojure", ".cljs": "Clojure",
    ".el": "Common Lisp", ".lisp": "Common Lisp", ".ts": "TypeScript", ".tsx": "TypeScript", ".mts": "TypeScript",
    ".mm": "Objective-C", ".sol": "Solidity", ".proto": "Protocol Buffer", ".html": "HTML", ".erb": "HTML", ".vue": "HTML",
    ".sh": "Shell", ".bash": "Shell", ".zsh": "Shell", ".bats": "Shell", ".toml": "TOML", ".yml": "YAML", ".yaml": "YAML",
    ".json": "JSON", ".xml": "XML", ".xsl": "XML", ".xsd": "XML", ".plist": "XML", ".svg": "XML", ".gradle": "Groovy",
    ".groovy": "Groovy", ".cmake": "CMake", ".bat": "Batchfile", ".cmd": "Batchfile", ".sql": "SQL", ".jl": "Julia",
    ".mk": "Makefile", ".am": "Makefile", ".hs": "Haskell", ".ml": "OCaml", ".mli": "OCaml", ".dart": "Dart", ".tex": "TeX",
    ".sty": "TeX", ".vb": "Visual Basic .NET", ".bas": "Visual Basic 6.0", ".frm": "Visual Basic 6.0", ".vbs": "Visual Basic 6.0",
    ".cbl": "COBOL", ".cob": "COBOL", ".cpy": "COBOL", ".pas": "Pascal", ".lpr": "Pascal", ".dpr": "Pascal", ".jq": "jq",
    ".applescript": "AppleScript", ".wl": "Mathematica/Wolfram Language", ".wls": "Mathematica/Wolfram Language",
    ".nb": "Mathematica/Wolfram Language", ".adb": "Ada", ".ads": "Ada", ".coffee": "CoffeeScript", ".cr": "Crystal",
    ".d": "D", ".patch": "Diff", ".diff": "Diff", ".ex": "Elixir", ".exs": "Elixir", ".elm": "Elm", ".fs": "F#", ".fsx": "F#",
    ".fsi": "F#", ".graphql": "GraphQL", ".gql": "GraphQL", ".tf": "HCL", ".hcl": "HCL", ".ini": "INI", ".cfg": "INI",
    ".desktop": "INI", ".properties": "INI", ".nim": "Nim", ".nix": "Nix", ".scm": "Scheme", ".rkt": "Scheme", ".tcl": "Tcl",
    ".tm": "Tcl", ".vhd": "VHDL", ".vhdl": "VHDL", ".v": "Verilog", ".sv": "Verilog", ".svh": "Verilog", ".vim": "Vim Script",
    ".zig": "Zig", ".asm": "Assembly",
}  # fmt: skip
# Endings of several languages, with a pattern for each: the first pattern that matches the text decides.
SHARED = {
    ".pl": [("Prolog", r"(?m)^:- |^[a-z]\w*\(.*\) *:-"), ("Perl", r"(?m)^#!.*perl|^use \w|^(my|our|sub|package) ")],
    ".t": [("Perl", r"(?m)^#!.*perl|^use \w")],
    ".pro": [("Prolog", r"(?m)^:- ")],
    ".m": [
        ("Objective-C", r"(?m)^\s*(@interface|@implementation|@import|@protocol|#import)"),
        ("Mathematica/Wolfram Language", r"(?m)^\(\*|BeginPackage\["),
        ("MATLAB", r"(?m)^function |^\s*%"),
    ],
    ".h": [
        ("Objective-C", r"(?m)^\s*(@interface|@protocol|#import|@class)"),
        ("C++", r"(?m)^\s*(namespace|template|class|public:|private:|using)\b|\bstd::"),
        ("C", r"(?m)^\s*#"),
    ],
}
# GNU assembler has the same endings for all processors. Instructions identify ARM.
ARM = re.compile(r"(?m)(?i:^\s*(ldr|str|stp|ldp|vld1|vst1|stmfd|push\s+\{|bx\s+lr|mov\s+[rwx]\d|add\s+[rwx]\d))")
NAMES = {"Makefile": "Makefile", "Dockerfile": "Dockerfile", "CMakeLists.txt": "CMake"}


ASSEMBLY = (".S", ".s", ".asm")
# Test samples of syntax highlighters. Their paths name the language: `languages/NAME/*.test` of Prism, where a line of dashes ends the
# sample, and `NAME*.actual` of Chroma.
PRISM, CHROMA = ".test", ".actual"
DASHES = re.compile(r"(?m)^-{10,}\s*$")
# Language names of these samples that `languages.ALIASES` lacks.
TESTED = {
    "markup": "HTML", "markup+php": "PHP", "php!+php-extras": "PHP", "css!+css-extras": "CSS", "django": "HTML", "erb": "HTML",
    "javascript!+js-extras": "JavaScript", "lisp": "Common Lisp", "wolfram": "Mathematica/Wolfram Language",
    "visual-basic": "Visual Basic .NET", "arduino": "C++", "asm6502": "Assembly", "systemd": "INI", "phtml": "PHP",
}  # fmt: skip
TESTED |= {label.lower(): label for label in languages.LABELS} | languages.ALIASES


def language_of_test(path: Path) -> str | None:
    if path.suffix == PRISM:
        return TESTED.get(path.parent.name)
    if path.suffix == CHROMA:
        return TESTED.get(re.split(r"[._]", path.name)[0].lower()) or TESTED.get(path.parent.name)
    return None


def language_of(path: Path) -> str | None:
    """The language by file name. If several languages share the ending, the first of them."""
    shared = SHARED.get(path.suffix)
    found = NAMES.get(path.name) or ENDINGS.get(path.suffix) or (shared[0][0] if shared else None)
    found = found or language_of_test(path)
    return found or ("Assembly" if path.suffix in ASSEMBLY else None)


def language_in(path: Path, text: str) -> str | None:
    """The language of a file by its name and, if several languages share the ending, by its text."""
    if path.suffix in ASSEMBLY:
        return "ARM Assembly" if len(ARM.findall(text)) >= 4 else "Assembly"
    if path.suffix in SHARED:
        return next((language for language, sign in SHARED[path.suffix] if re.search(sign, text)), None)
    return language_of(path)


def readable(path: Path) -> str | None:
    """The beginning of a file up to a line end, or None for a minified, generated or too small file."""
    try:
        text = path.read_text("utf-8")[: 4 * LENGTH]
    except (OSError, UnicodeDecodeError):
        return None
    if path.suffix == PRISM:
        text = DASHES.split(text)[0]
    lines = text[:LENGTH].split("\n")
    if len(text) > LENGTH:
        lines = lines[:-1]
    if len(lines) < 4 or max(map(len, lines)) > 240 or "\0" in text:
        return None
    return "\n".join(lines)


def skip_licence_comment(text: str) -> str:
    """The text without a leading licence comment, which is the same in all files of a package."""
    head, blank, rest = text.partition("\n\n")
    return rest if blank and ("opyright" in head or "icense" in head) and len(rest) > 200 else text


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.code.collect", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("packages", nargs="+")
    args = parser.parse_args()
    seen, totals = set(), Counter()
    with gzip.open(args.out, "wt", encoding="utf-8") as out:
        for argument in args.packages:
            name, folder = argument.split("=", 1)
            name, licence = name.rsplit(":", 1)
            taken: Counter[str] = Counter()
            files = [path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink()]
            for path in sorted(files, key=lambda path: datasets.digest(str(path.relative_to(folder)))):
                if not language_of(path) or ".min." in path.name:
                    continue
                text = readable(path)
                label = text and language_in(path, text)
                if not label or taken[label] >= PER_PACKAGE:
                    continue
                text = skip_licence_comment(text)
                key = text and datasets.normalise(text)
                if not text or key in seen:
                    continue
                seen.add(key)
                taken[label] += 1
                source = f"{name}:{path.relative_to(folder)}"
                out.write(json.dumps({"text": text, "label": label, "source": source, "licence": licence}) + "\n")
            totals += taken
            print(name, dict(taken))
    print({label: count for label, count in totals.most_common() if label in languages.LABEL_INDICES})


if __name__ == "__main__":
    main()
