"""Training of the small models that guard ships in the folder `models/`."""

import os

# ONNX Runtime would tell its maker which models run, from the moment on in which it is loaded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
