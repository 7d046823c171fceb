"""The peer of benches/suite.mjs: scanners of llm-guard 0.3.16 in sequence, with models of the same size as guard's.

    python -m venv env && env/bin/pip install llm-guard==0.3.16
    GUARD_LLM_GUARD_PYTHON=env/bin/python npm run bench:suite

Reads one JSON object a line, {"peer", "params": {"side", "types", "tokenizer", "config"}, "prompt", "text"}, scans the text once and
answers {"wallMs", "cpuMs"}, or {"error"}. A scanner that llm-guard lacks is an error.
"""

from __future__ import annotations

import importlib
import json
import logging
import sys
import time
from typing import Any

from protocol import serve

logging.disable(logging.CRITICAL)

# The logits that the model of each scanner returns for every text. No scanner fails, because a failure would end the scan early.
LOGITS = {
    "PromptInjection": {"SAFE": 5.0, "INJECTION": -5.0},
    "Toxicity": {"toxicity": -5.0, "severe_toxicity": -5.0, "obscene": -5.0, "threat": -5.0, "insult": -5.0, "identity_attack": -5.0, "sexual_explicit": -5.0},
    "Bias": {"BIASED": -5.0, "NON-BIASED": 5.0},
    "NoRefusal": {"NORMAL": 5.0, "REJECTION": -5.0},
}
DEFAULTS = ("V2_MODEL", "DEFAULT_MODEL")


def create_scanner(side: str, type_: str, tokenizer: str, config: dict[str, Any]):
    from llm_guard.model import Model
    from random_models import random_model

    scanner = getattr(importlib.import_module(f"llm_guard.{side}_scanners"), type_)
    folder = random_model("BertForSequenceClassification", tokenizer, config, LOGITS[type_])
    return scanner(model=Model(path=folder, pipeline_kwargs=default_model(scanner).pipeline_kwargs))


def default_model(scanner: type):
    """The default model of a scanner. Its pipeline options are used, such as padding to 512 tokens."""
    own = sys.modules[scanner.__module__]
    # Some output scanners wrap the input scanner of the same name.
    inner = sys.modules.get(scanner.__module__.replace("output_scanners", "input_scanners"), own)
    return next(getattr(module, name) for module in (own, inner) for name in DEFAULTS if hasattr(module, name))


built: dict[str, list] = {}


def measure(peer: str, params: dict[str, Any], prompt: str, text: str) -> dict[str, Any]:
    import structlog

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    key = json.dumps(params)
    side, types = params["side"], params["types"]
    if key not in built:
        built[key] = [create_scanner(side, type_, params["tokenizer"], params["config"]) for type_ in types]
    wall, cpu = time.perf_counter(), time.process_time()
    for scanner in built[key]:
        scanner.scan(*((text,) if side == "input" else (prompt, text)))
    return {"wallMs": (time.perf_counter() - wall) * 1000, "cpuMs": (time.process_time() - cpu) * 1000}


serve(measure)
