"""Prompt-injection model: SAFE against INJECTION."""

LABELS = ("SAFE", "INJECTION")
SAFE, INJECTION = 0, 1
NAME = "prompt-injection"
VERSION = "0.1.0"
MAX_LENGTH = 512
# The scanner's default threshold. Calibration puts there the score that FALSE_POSITIVES of the ordinary prompts
# exceed, and at FLOOR the score of the ordinary prompt at the median, since scores also feed a running risk.
THRESHOLD = 0.92
FALSE_POSITIVES = 0.003
FLOOR = 0.0005
