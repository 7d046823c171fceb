"""The prompt-injection model: labels, limits and thresholds."""

LABELS = ("SAFE", "INJECTION")
SAFE, INJECTION = 0, 1
# The kinds of attacks. The model learns them from those attacks whose kind is known.
CATEGORIES = ("override", "extraction", "jailbreak", "indirect")
HEADS = {"logits": LABELS, "category": CATEGORIES}
NAME = "prompt-injection"
VERSION = "0.5.0"
# The most tokens of a text that is read as a whole, and the tokens of a window of a longer text. Windows are shorter, because a
# short attack is easily missed in a long one.
MAX_LENGTH, WINDOW_LENGTH = 256, 128
# The scanner's default threshold. Calibration moves the scores so that the share FALSE_POSITIVES of ordinary prompts exceeds it.
# The median score of ordinary prompts becomes FLOOR at most, since ConversationRisk adds up the scores of all messages.
THRESHOLD = 0.92
FALSE_POSITIVES = 0.006
FLOOR = 0.0005
