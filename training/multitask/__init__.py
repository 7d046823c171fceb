"""The multi-task models: heads and labels.

`moderation` finds harmful content and toxicity. `multitask` has the other tasks: emotion, bias, refusal, entailment, topics, relevance.
"""

MAX_LENGTH = 256
# The length of windows in the product: `moderation` has the windows of prompt-injection, so that both models share the lowest layers of them.
WINDOW_LENGTHS = {"moderation": 128}
# The versions and the tasks of the models.
VERSIONS = {"moderation": "0.3.0", "multitask": "0.7.0"}
MODELS = {
    "moderation": ("harm", "toxicity"),
    "multitask": ("emotion", "bias", "refusal", "nli", "topics", "relevance"),
}

# Whether a text asks for harm or is harmful, and the kinds of harm. The kinds follow the taxonomy of MLCommons AILuminate 1.0, with insults, malware, lies about
# elections and gore as kinds of their own.
HARM = (
    "harmful violent_crimes nonviolent_crimes sex_crimes child_exploitation weapons self_harm hate harassment privacy defamation "
    "intellectual_property specialized_advice elections sexual_content malware graphic_violence"
).split()
# The labels of Jigsaw's data and Detoxify's models.
TOXICITY = ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "sexual_explicit"]
# GoEmotions (Demszky et al., 2020, arXiv:2005.00547), in the order of its list.
EMOTIONS = (
    "admiration amusement anger annoyance approval caring confusion curiosity desire disappointment disapproval disgust embarrassment "
    "excitement fear gratitude grief joy love nervousness optimism pride realization relief remorse sadness surprise neutral"
).split()
NLI = ["entailment", "neutral", "contradiction"]
# The length of the meaning vector of a text.
MEANING = 128

# The heads and their labels. `meaning` is a unit vector: texts with similar meanings have similar vectors. `nli` and `relevance` read two texts:
# a premise and a claim, a prompt and its answer.
HEADS: dict[str, list[str]] = {
    "harm": HARM,
    "toxicity": TOXICITY,
    "emotion": EMOTIONS,
    "bias": ["biased"],
    "refusal": ["refusal"],
    "nli": NLI,
    "meaning": [str(number) for number in range(MEANING)],
    "relevance": ["relevant"],
}
UNIT_HEADS = ["meaning"]
# The heads of tasks that have others than their own.
HEADS_OF_TASKS = {"topics": ("meaning",), "relevance": ("meaning", "relevance")}
# The training languages of each head, with hundreds of texts each. The option on_untrained_language applies to all others.
LANGUAGES = {
    "harm": "ar bn de en es fr hi id it ja ko nl pl pt ru sw th tr uk vi zh".split(),
    "toxicity": "ar cs da de el en es fi fr hi hu id it ja ko nl no pl pt ro ru sr sv sw th tr uk vi zh".split(),
    "emotion": ["en"],
    "bias": ["en"],
    "refusal": ["en", "ru", "zh"],
    "nli": "en es fa id ja ko ru zh".split(),
    "meaning": ["de", "en", "es", "fr", "ru", "zh"],
    "relevance": ["de", "en", "es", "fr", "ru", "zh"],
}
