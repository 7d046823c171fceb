"""The peers of benches/anonymize/main.mjs: Presidio's recognizers without a model, and Anonymize of llm-guard 0.3.16. llm-guard depends on
Presidio; presidio-analyzer is enough for the first peer.

    python -m venv env && env/bin/pip install llm-guard==0.3.16
    GUARD_LLM_GUARD_PYTHON=env/bin/python npm run bench:anonymize

Reads one JSON object a line, {"peer", "params", "texts": path of a JSON list, "durationMs"}. The peer scans all texts repeatedly for at
least the duration and answers {"cpuMs", "found"}: the CPU time of the cheapest pass over all texts, and the number of findings. With
"durationMs": null it answers {"findings"}: for each text a list of [start, end, type, score]. An error is {"error"}.
"""

from __future__ import annotations

import json
import logging
import os
import time
from typing import Any, Callable

from protocol import serve

# guard uses one thread for a text.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
logging.disable(logging.CRITICAL)

Finding = tuple[int, int, str, float]


def presidio() -> Callable[[str], list[Finding]]:
    """All recognizers that Presidio enables by default for English, without a model.

    A blank spaCy pipeline splits texts into words, so that Presidio can use context words.
    """
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from spacy.language import Language

    @Language.component("lower_lemmas")
    def lower_lemmas(doc):
        for token in doc:
            token.lemma_ = token.lower_
        return doc

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}
            self.nlp["en"].max_length = 10_000_000
            self.nlp["en"].add_pipe("lower_lemmas")

        def load(self) -> None:
            pass

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    registry.recognizers = [one for one in registry.recognizers if one.name != "SpacyRecognizer"]
    engine = Blank()
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=["en"])
    words: dict[str, Any] = {}

    def find(text: str) -> list[Finding]:
        # Splitting into words happens once per text, because only the recognizers are compared.
        if text not in words:
            words[text] = engine.process_text(text, "en")
        results = analyzer.analyze(text, language="en", nlp_artifacts=words[text])
        return [(one.start, one.end, one.entity_type, one.score) for one in results]

    return find


def llm_guard_anonymize(tokenizer: str, config: dict[str, Any]) -> Callable[[str], list[Finding]]:
    """llm-guard's Anonymize with a model of the same size as guard's.

    Random weights cost the same time as trained ones. The last layer is set so that the model finds no names.
    """
    import spacy
    import structlog
    import torch
    from llm_guard.input_scanners import Anonymize
    from llm_guard.input_scanners.anonymize_helpers import BERT_BASE_NER_CONF
    from llm_guard.model import Model
    from llm_guard.vault import Vault
    from random_models import random_model

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    torch.set_num_threads(1)
    logits = {"O": 9.0, **dict.fromkeys(["B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"], 0.0)}
    folder = random_model("BertForTokenClassification", tokenizer, config, logits)
    conf = {
        **BERT_BASE_NER_CONF,
        "DEFAULT_MODEL": Model(
            path=folder,
            pipeline_kwargs={"aggregation_strategy": "simple"},
            tokenizer_kwargs={"model_input_names": ["input_ids", "attention_mask"]},
        ),
    }
    # llm-guard downloads pipelines that are not in the package index. Blank ones replace them, which makes llm-guard faster.
    spacy.util.is_package = lambda name: True
    spacy.load = lambda name, **_: spacy.blank(name.partition("_")[0])
    scanner = Anonymize(Vault(), recognizer_conf=conf)

    def find(text: str) -> list[Finding]:
        # Each text gets a new vault, because otherwise all passes but the first would find known values.
        scanner._vault = Vault()
        _, valid, score = scanner.scan(text)
        return [] if valid else [(0, len(text), "text", score)]

    return find


PEERS: dict[str, Callable[..., Callable[[str], list[Finding]]]] = {
    "Presidio": presidio,
    "llm-guard Anonymize": llm_guard_anonymize,
}

finders: dict[str, Callable[[str], list[Finding]]] = {}


def measure(peer: str, params: dict[str, Any], texts: str, durationMs: float | None) -> dict[str, Any]:
    key = json.dumps([peer, params])
    if key not in finders:
        finders[key] = PEERS[peer](**params)
    find = finders[key]
    with open(texts, encoding="utf-8") as file:
        contents = json.load(file)
    if durationMs is None:
        return {"findings": [find(text) for text in contents]}
    for text in contents:
        find(text)
    cheapest, found = float("inf"), 0
    end = time.perf_counter() + durationMs / 1000
    while True:
        start = time.process_time()
        found = sum(len(find(text)) for text in contents)
        cheapest = min(cheapest, time.process_time() - start)
        if time.perf_counter() > end:
            return {"cpuMs": cheapest * 1000, "found": found}


serve(measure)
