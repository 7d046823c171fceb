"""Training of the small models that guard ships in the folder `models/`."""

import os

# ONNX Runtime sends telemetry about models as soon as it is loaded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
