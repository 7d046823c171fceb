"""Renders the Helm chart with several values, and checks the result with the schemas of Kubernetes.

Reads `{"chart": path, "cases": [values, ...], "documents": [document, ...]}` from standard input, and writes `{"lint": ..., "cases":
[{"documents": [...]} or {"error": text}, ...]}`. Kinds without a schema, such as those of KEDA, are listed in `unchecked`.
"""

import json
import sys

import kubernetes_validate
import yaml
from helm_python.chart import Chart, lint
from helm_python.errors import HelmError

VERSION = "1.37"


def check(document):
    try:
        kubernetes_validate.validate(document, VERSION, strict=True)
    except kubernetes_validate.SchemaNotFoundError:
        return False
    return True


def render(path, values):
    try:
        with Chart.load(path) as chart:
            chart.validate_schema(values)
            rendered = chart.render(values=values, name="guard", namespace="ai")
    except HelmError as error:
        return {"error": str(error)}
    texts = [text for name, text in sorted(rendered.items()) if name.endswith(".yaml")]
    documents = [document for text in texts for document in yaml.safe_load_all(text) if document]
    unchecked = [document["kind"] for document in documents if not check(document)]
    return {"documents": documents, "unchecked": unchecked}


request = json.load(sys.stdin)
for given in request["documents"]:
    assert check(given), f"no schema for {given['kind']}"
reply = {"lint": lint(request["chart"], strict=True), "cases": [render(request["chart"], case) for case in request["cases"]]}
json.dump(reply, sys.stdout)
