"""The prompt-injection model: its questions, labels, limits and thresholds.

A text is asked two questions. `direct` is for what people write to a model: does it attack the model, its instructions, its secrets or
its rules? `indirect` is for data that tools return: does it contain an instruction to a model, however polite? "Book a table for two"
is harmless as a request, and an injection inside of a mail.
"""

LABELS = ("SAFE", "INJECTION")
SAFE, INJECTION = 0, 1
# The kinds of attacks. The model learns them from those attacks whose kind is known.
CATEGORIES = ("override", "extraction", "jailbreak", "indirect")
HEADS = {"direct": LABELS, "indirect": LABELS, "category": CATEGORIES}
NAME = "prompt-injection"
VERSION = "0.7.1"
# The most tokens of a text that is read as a whole, and the tokens of a window of a longer text. Windows are shorter, because a
# short attack is easily missed in a long one.
MAX_LENGTH, WINDOW_LENGTH = 256, 128
# The scanner's default threshold. Calibration moves the scores so that the share FALSE_POSITIVES of ordinary prompts, and of harmless data
# of all kinds, exceeds it.
# The median score of ordinary prompts becomes FLOOR at most, since ConversationRisk adds up the scores of all messages.
THRESHOLD = 0.92
FALSE_POSITIVES = 0.004
FLOOR = 0.0005
# The languages in which at least twenty harmless texts were held out from training, as the native detector knows them; of languages that
# it tells by their script only, the script. Scanners judge others as on_untrained_language says.
LANGUAGES = (
    *"af ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gu he hi hr hu hy id is it ja ka kk ko lg lt lv mk mn mr".split(),
    *"ms nl no pa pl pt ro ru sk sl sn so sq sr sv sw ta te th tl tr uk ur vi xh yo zh zu".split(),
    *"und-Ethi und-Khmr und-Knda und-Laoo und-Mlym und-Mymr und-Sinh".split(),
)
