"""Prompt-injection model: SAFE against INJECTION."""

LABELS = ("SAFE", "INJECTION")
SAFE, INJECTION = 0, 1
# What kind of attack it is; learnt from the attacks whose kind is known.
CATEGORIES = ("override", "extraction", "jailbreak", "indirect")
HEADS = {"logits": LABELS, "category": CATEGORIES}
NAME = "prompt-injection"
VERSION = "0.5.0"
# Tokens of a text that is read whole, and of a window of a longer one: there a short attack is easily missed.
MAX_LENGTH, WINDOW_LENGTH = 256, 128
# The scanner's default threshold. Calibration puts there the score that FALSE_POSITIVES of the ordinary prompts
# exceed, and at FLOOR the score of the ordinary prompt at the median, since scores also feed a running risk.
THRESHOLD = 0.92
FALSE_POSITIVES = 0.006
FLOOR = 0.0005
