"""The labels of the model, with the language names of the sets."""

from __future__ import annotations

NONE = "none"

# The language names that llm-guard 0.3.16 accepts.
LLM_GUARD = {
    "ARM Assembly": (),
    "AppleScript": (),
    "C": (),
    "C#": (),
    "C++": ("Cuda",),
    "COBOL": (),
    "Erlang": (),
    "Fortran": ("Fortran Free Form",),
    "Go": (),
    "Java": (),
    "JavaScript": ("JSX",),
    "Kotlin": (),
    "Lua": ("Luau",),
    "Mathematica/Wolfram Language": ("Wolfram Language",),
    "PHP": (),
    "Pascal": ("Component Pascal",),
    "Perl": (),
    "PowerShell": (),
    "Python": ("Python console",),
    "R": (),
    "Ruby": (),
    "Rust": (),
    "Scala": (),
    "Swift": (),
    "Visual Basic .NET": (),
    "jq": (),
}
MORE = {
    "Ada": (),
    "Assembly": ("Unix Assembly", "Motorola 68K Assembly"),
    "Batchfile": (),
    "CMake": (),
    "CSS": ("SCSS", "Less", "PostCSS"),
    "Clojure": ("ClojureScript",),
    "CoffeeScript": (),
    "Common Lisp": ("Emacs Lisp",),
    "Crystal": (),
    "D": (),
    "Dart": (),
    "Diff": (),
    "Dockerfile": (),
    "Elixir": (),
    "Elm": (),
    "F#": (),
    "GraphQL": (),
    "Groovy": ("Gradle",),
    "HCL": (),
    "HTML": ("HTML+ERB", "HTML+EEX", "HTML+Django", "Vue", "Svelte"),
    "Haskell": (),
    "INI": (),
    "JSON": ("JSON with Comments", "JSON5", "JSONLD"),
    "Julia": (),
    "MATLAB": (),
    "Makefile": (),
    "Nim": (),
    "Nix": (),
    "OCaml": (),
    "Objective-C": ("Objective-C++",),
    "Prolog": (),
    "Protocol Buffer": (),
    "SQL": ("PLSQL", "SQLPL", "PLpgSQL", "TSQL"),
    "Scheme": ("Racket",),
    "Shell": (),
    "Solidity": (),
    "TOML": (),
    "Tcl": (),
    "TeX": (),
    "TypeScript": ("TSX",),
    "VHDL": (),
    "Verilog": ("SystemVerilog",),
    "Vim Script": ("Vim script",),
    "Visual Basic 6.0": ("VBA", "VBScript"),
    "XML": ("XML Property List", "SVG", "Maven POM", "XSLT"),
    "YAML": ("MiniYAML",),
    "Zig": (),
}
LABELS = [NONE, *LLM_GUARD, *MORE]

LABEL_INDICES = {label: index for index, label in enumerate(LABELS)}
LABEL_INDICES |= {name: LABEL_INDICES[label] for label, names in (LLM_GUARD | MORE).items() for name in names}


def label_index_of(name: str) -> int | None:
    """The label index of a set's language name, or None."""
    return LABEL_INDICES.get(name)


# Aliases in lower case: those of Markdown fences (```py), and those of the sets.
ALIASES = {
    "arm": "ARM Assembly", "arm64": "ARM Assembly", "aarch64": "ARM Assembly", "armasm": "ARM Assembly",
    "asm": "Assembly", "nasm": "Assembly", "x86": "Assembly", "x86asm": "Assembly", "gas": "Assembly",
    "csharp": "C#", "cs": "C#", "c-sharp": "C#", "cpp": "C++", "cxx": "C++", "cc": "C++", "hpp": "C++", "h": "C",
    "erl": "Erlang", "f90": "Fortran", "f95": "Fortran", "f77": "Fortran", "golang": "Go",
    "js": "JavaScript", "node": "JavaScript", "nodejs": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript",
    "kt": "Kotlin", "kts": "Kotlin", "mathematica": "Mathematica/Wolfram Language", "wolfram": "Mathematica/Wolfram Language",
    "wolfram language": "Mathematica/Wolfram Language", "wl": "Mathematica/Wolfram Language", "delphi": "Pascal",
    "pl": "Perl", "ps1": "PowerShell", "pwsh": "PowerShell", "posh": "PowerShell", "py": "Python", "python3": "Python",
    "pycon": "Python", "rlang": "R", "rb": "Ruby", "rs": "Rust", "vb": "Visual Basic .NET", "vbnet": "Visual Basic .NET",
    "vb.net": "Visual Basic .NET", "visual basic": "Visual Basic .NET", "vba": "Visual Basic 6.0", "vb6": "Visual Basic 6.0",
    "vbscript": "Visual Basic 6.0", "bat": "Batchfile", "batch": "Batchfile", "cmd": "Batchfile", "dos": "Batchfile",
    "scss": "CSS", "less": "CSS", "sass": "CSS", "clj": "Clojure", "cljs": "Clojure", "clojurescript": "Clojure",
    "coffee": "CoffeeScript", "lisp": "Common Lisp", "elisp": "Common Lisp", "emacs lisp": "Common Lisp", "cr": "Crystal",
    "patch": "Diff", "docker": "Dockerfile", "containerfile": "Dockerfile", "ex": "Elixir", "exs": "Elixir",
    "fsharp": "F#", "fs": "F#", "gql": "GraphQL", "gradle": "Groovy", "terraform": "HCL", "tf": "HCL", "htm": "HTML",
    "vue": "HTML", "hs": "Haskell", "properties": "INI", "conf": "INI", "cfg": "INI", "json5": "JSON", "jsonc": "JSON",
    "jl": "Julia", "octave": "MATLAB", "make": "Makefile", "mk": "Makefile", "ml": "OCaml", "objc": "Objective-C",
    "objectivec": "Objective-C", "obj-c": "Objective-C", "objective-c++": "Objective-C", "proto": "Protocol Buffer",
    "protobuf": "Protocol Buffer", "mysql": "SQL", "postgresql": "SQL", "postgres": "SQL", "plsql": "SQL", "tsql": "SQL",
    "sqlite": "SQL", "racket": "Scheme", "bash": "Shell", "sh": "Shell", "zsh": "Shell", "shell-session": "Shell",
    "console": "Shell", "sol": "Solidity", "latex": "TeX", "ts": "TypeScript", "tsx": "TypeScript",
    "systemverilog": "Verilog", "sv": "Verilog", "vim": "Vim Script", "viml": "Vim Script", "svg": "XML", "xslt": "XML",
    "yml": "YAML",
}  # fmt: skip
