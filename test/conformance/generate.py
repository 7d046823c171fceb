"""Asks llm-guard 0.3.16 the questions in cases/ and writes its answers to <scanner>.json, which conformance.test.ts holds guard to.

    python -m venv env && env/bin/pip install llm-guard==0.3.16 vaderSentiment==3.3.2
    env/bin/python test/conformance/generate.py [scanner ...]

The scanners fetch data when they start: tiktoken its encodings (TIKTOKEN_CACHE_DIR) and nltk its lexicon (NLTK_DATA). Where nltk
can not, the same lexicon is taken from vaderSentiment. The models of llm-guard are not needed: where a scanner asks one, a
stand-in gives the answers that the case prescribes, and the table says so in "source". What is learnt there is what llm-guard
decides given such an answer.

A case is written as
    {name, side, type, params, guardParams?, text, prompt?, vault?, standIn?, llmGuard, expected?, why?}
text and sanitized are strings, or lists of strings and {"repeat": [text, times]}, to be joined. llmGuard is {isValid, score,
sanitized?}, sanitized being absent where the text stayed as it was and {sha256, bytes} of its UTF-8 where it is long, or {error}.
expected overrides it where guard's answer is meant to differ, and why says the reason.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import importlib
import inspect
import json
import logging
import os
import pathlib
import re
import sys
import tempfile
import threading
import time
import zipfile
from typing import Any, Iterator
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from cases.case import Case  # noqa: E402

FOLDER = pathlib.Path(__file__).parent
# Longer results are stored as their hash.
LONG = 2_000

# The modules of cases/, with the scanner of each, and the module of llm-guard whose model is replaced by a stand-in.
SCANNERS = {
    "regex": ("Regex", None),
    "ban_substrings": ("BanSubstrings", None),
    "invisible_text": ("InvisibleText", None),
    "token_limit": ("TokenLimit", None),
    "secrets": ("Secrets", None),
    "json_output": ("JSON", None),
    "reading_time": ("ReadingTime", None),
    "url_reachability": ("URLReachability", None),
    "no_refusal_light": ("NoRefusalLight", None),
    "sentiment": ("Sentiment", None),
    "deanonymize": ("Deanonymize", None),
    "language": ("Language", "llm_guard.input_scanners.language"),
    "language_same": ("LanguageSame", "llm_guard.output_scanners.language_same"),
    "code": ("Code", "llm_guard.input_scanners.code"),
    "ban_code": ("BanCode", "llm_guard.input_scanners.ban_code"),
    "malicious_urls": ("MaliciousURLs", "llm_guard.output_scanners.malicious_urls"),
    "gibberish": ("Gibberish", "llm_guard.input_scanners.gibberish"),
    "anonymize": ("Anonymize", "llm_guard.input_scanners.anonymize"),
    "sensitive": ("Sensitive", "llm_guard.output_scanners.sensitive"),
}


def spell_out(text: Any) -> str:
    """The string that a text of a case stands for."""
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else part["repeat"][0] * part["repeat"][1] for part in text)


class StandIn:
    """Answers as the model of a scanner would, with the scores that a case prescribes for each text that is asked about."""

    def __init__(self, scores: list[dict[str, float]], all_labels: bool):
        self.scores = scores
        self.all_labels = all_labels

    def __call__(self, texts: str | list[str]) -> list[Any]:
        count = 1 if isinstance(texts, str) else len(texts)
        if count > len(self.scores):
            raise AssertionError(f"{count} texts and {len(self.scores)} prescribed answers")
        ranked = [
            [{"label": label, "score": score} for label, score in sorted(answer.items(), key=lambda item: -item[1])]
            for answer in self.scores[:count]
        ]
        return ranked if self.all_labels else [answer[0] for answer in ranked]


def sentences(text: str) -> list[str]:
    """In place of nltk's, whose data is a download: the cases have sentences that end plainly."""
    return [part for part in re.split(r"(?<=[.!?\u3002])\s*", text.strip()) if part]


@contextlib.contextmanager
def no_names(target: Any) -> Iterator[None]:
    """Anonymize without models: nobody finds names, and texts are cut into words by rules, which know no lemmas."""
    import spacy
    import tldextract
    from llm_guard.input_scanners.anonymize_helpers import analyzer
    from presidio_analyzer import EntityRecognizer
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class Nobody(EntityRecognizer):
        def load(self) -> None:
            pass

        def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:
            return []

    def rules(languages: list[str]) -> SpacyNlpEngine:
        engine = SpacyNlpEngine(models=[{"lang_code": code, "model_name": code} for code in languages])
        engine.nlp = {code: spacy.blank(code) for code in languages}
        return engine

    # The package downloads its list of domains, but also contains one.
    domains = tldextract.TLDExtract(suffix_list_urls=())
    with (
        mock.patch.object(analyzer, "_get_nlp_engine", rules),
        mock.patch.object(target, "get_transformers_recognizer", lambda **_: Nobody(["PERSON"], name="Nobody")),
        mock.patch.object(tldextract, "extract", domains),
    ):
        yield


@contextlib.contextmanager
def stand_in(module: str | None, scores: list[dict[str, float]] | None) -> Iterator[None]:
    if module is None:
        yield
        return
    target = importlib.import_module(module)
    if hasattr(target, "get_transformers_recognizer"):
        with no_names(target):
            yield
        return

    def pipeline(**options: Any) -> StandIn:
        return StandIn(scores or [], "top_k" in options)

    with contextlib.ExitStack() as stack:
        stack.enter_context(
            mock.patch.object(target, "get_tokenizer_and_model_for_classification", lambda **_: (None, None))
        )
        stack.enter_context(mock.patch.object(target, "pipeline", pipeline))
        if hasattr(target, "split_text_by_sentences"):
            stack.enter_context(mock.patch.object(target, "split_text_by_sentences", sentences))
        yield


class Replies(http.server.BaseHTTPRequestHandler):
    """What URLReachability is let loose on; conformance.test.ts has the same."""

    def do_GET(self) -> None:
        kind, _, rest = self.path.split("?")[0].lstrip("/").partition("/")
        if kind == "slow":
            time.sleep(3)
        if kind == "broken":
            self.close_connection = True
            self.connection.close()
            return
        status = int(rest) if kind == "status" else 302 if kind in ("redirect", "loop") else 200
        self.send_response(status)
        if kind == "redirect":
            self.send_header("Location", f"/status/{rest}")
        if kind == "loop":
            self.send_header("Location", self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def ask(type_: str, side: str, case: Case, server: str) -> dict[str, Any]:
    """llm-guard's answer."""
    from llm_guard.vault import Vault

    package = importlib.import_module(f"llm_guard.{side}_scanners")
    text = spell_out(case.text).replace("{server}", server)
    params = dict(case.params)
    if case.vault is not None:
        params["vault"] = Vault([tuple(pair) for pair in case.vault])
    try:
        scanner = getattr(package, type_)(**params)
        if side == "input":
            sanitized, is_valid, score = scanner.scan(text)
        else:
            sanitized, is_valid, score = scanner.scan(spell_out(case.prompt or ""), text)
    except AssertionError:
        raise
    except Exception as error:  # Whatever it is, that is its answer.
        return {"error": type(error).__name__}
    answer: dict[str, Any] = {"isValid": bool(is_valid), "score": float(score)}
    if sanitized != text:
        answer["sanitized"] = stored(sanitized)
    return answer


def stored(text: str) -> Any:
    data = text.encode()
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} if len(data) > LONG else text


def broken_up(value: Any) -> Any:
    """Texts as lists of short pieces, so that no scanner of a code host takes made-up secrets for real ones."""
    if isinstance(value, list):
        return [piece for part in value for piece in (broken_up(part) if isinstance(part, str) else [part])]
    pieces = re.findall(r"(?s).{1,12}", value)
    return pieces if len(pieces) > 1 else value


def table(module: str, server: str) -> dict[str, Any]:
    type_, model = SCANNERS[module]
    source = importlib.import_module(f"cases.{module}")
    rows = []
    for side in source.SIDES:
        for case in source.CASES:
            row: dict[str, Any] = {"name": case.name, "side": side, "type": type_, "params": case.params}
            text = case.text
            with stand_in(model, case.stand_in):
                answer = ask(type_, side, case, server)
            expected, why = case.expected, case.why
            if not expected and hasattr(source, "differs"):
                expected, why = source.differs(answer) or (None, None)
            if expected and isinstance(expected.get("sanitized"), str):
                expected = {**expected, "sanitized": stored(expected["sanitized"])}
            if module == "secrets":
                text = broken_up(text)
                for known in filter(None, (answer, expected)):
                    if isinstance(known.get("sanitized"), str):
                        known["sanitized"] = broken_up(known["sanitized"])
            row |= {"guardParams": case.guard} if case.guard else {}
            row |= {"prompt": case.prompt} if case.prompt is not None else {}
            row |= {"vault": case.vault} if case.vault is not None else {}
            row |= {"standIn": case.stand_in} if case.stand_in is not None else {}
            row |= {"text": text, "llmGuard": answer}
            row |= {"expected": expected, "why": why} if expected else {}
            rows.append(row)
    told = "llm-guard 0.3.16" + (" with a stand-in for its model" if model else "")
    return {"source": told, "scanner": type_, "cases": rows}


def lexicon() -> None:
    """Makes sure that nltk has the lexicon of VADER."""
    import nltk

    try:
        nltk.data.find("sentiment/vader_lexicon.zip")
    except LookupError:
        import vaderSentiment

        folder = pathlib.Path(tempfile.mkdtemp())
        (folder / "sentiment").mkdir()
        file = pathlib.Path(inspect.getfile(vaderSentiment)).parent / "vader_lexicon.txt"
        with zipfile.ZipFile(folder / "sentiment" / "vader_lexicon.zip", "w") as archive:
            archive.write(file, "vader_lexicon/vader_lexicon.txt")
        nltk.data.path.append(str(folder))
    # llm-guard calls this at every start.
    nltk.download = lambda *_, **__: True


def main() -> None:
    import structlog

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    chosen = sys.argv[1:] or list(SCANNERS)
    if "sentiment" in chosen:
        lexicon()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Replies)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for module in chosen:
        made = table(module, f"http://127.0.0.1:{server.server_port}")
        lines = ",\n  ".join(json.dumps(row) for row in made.pop("cases"))
        head = json.dumps(made)[:-1]
        (FOLDER / f"{module}.json").write_text(f'{head}, "cases": [\n  {lines}\n]}}\n')
        print(module, lines.count("\n") + 1)


if __name__ == "__main__":
    # detect-secrets keeps its findings in sets, and llm-guard's result depends on their order.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    main()
