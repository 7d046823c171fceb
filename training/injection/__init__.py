"""The prompt-injection model: its questions, labels, limits and thresholds.

The model answers two questions. `direct` is for texts that people write: do they attack the model, its instructions, its secrets or its
rules? `indirect` is for data that tools return: does it contain an instruction to a model, even a polite one? "Book a table for two" is
harmless as a request, and an injection inside a mail.
"""

LABELS = ("SAFE", "INJECTION")
SAFE, INJECTION = 0, 1
# The categories of attacks. The model learns them from attacks with a known category.
CATEGORIES = ("override", "extraction", "jailbreak", "indirect")
HEADS = {"direct": LABELS, "indirect": LABELS, "category": CATEGORIES}
NAME = "prompt-injection"
VERSION = "0.9.0"
# The maximum tokens of a text in training, of a text that the product reads as a whole, and of a window of a longer text. Windows are shorter,
# because the model easily misses a short attack in a long window. Up to version 0.9.0, nearly all training rows that were cut to MAX_LENGTH were
# attacks, so the model takes any text of that length for one; none is read.
MAX_LENGTH, READ_LENGTH, WINDOW_LENGTH = 256, 240, 128
# The scanner's default threshold. Calibration shifts the scores so that a share FALSE_POSITIVES of ordinary prompts, and of all kinds of
# harmless data, exceeds it.
# The maximum median score of ordinary prompts. It is low, because ConversationRisk adds up the scores of all messages.
THRESHOLD = 0.92
FALSE_POSITIVES = 0.0055
FLOOR = 0.0005
# The languages with at least twenty held-out harmless texts, as codes of the native detector; scripts for languages that it identifies only
# by script. The option on_untrained_language applies to all others.
LANGUAGES = (
    *"af ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gu he hi hr hu hy id is it ja ka kk ko lg lt lv mk mn mr".split(),
    *"ms nl no pa pl pt ro ru sk sl sn so sq sr sv sw ta te th tl tr uk ur vi xh yo zh zu".split(),
    *"und-Ethi und-Khmr und-Knda und-Laoo und-Mlym und-Mymr und-Sinh".split(),
)
