"""The languages of the model, as ISO 639-1 codes."""

# The two written forms of Norwegian share one label, because users rarely want only one of them.
NAMES = {
    "af": "afrikaans", "ar": "arabic", "az": "azerbaijani", "be": "belarusian", "bg": "bulgarian", "bn": "bengali",
    "bs": "bosnian", "ca": "catalan", "cs": "czech", "cy": "welsh", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "gu": "gujarati", "he": "hebrew", "hi": "hindi", "hr": "croatian",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "is": "icelandic", "it": "italian", "ja": "japanese",
    "ka": "georgian", "kk": "kazakh", "ko": "korean", "la": "latin", "lg": "ganda", "lt": "lithuanian", "lv": "latvian",
    "mi": "maori", "mk": "macedonian", "mn": "mongolian", "mr": "marathi", "ms": "malay", "nl": "dutch", "no": "bokmal",
    "pa": "punjabi", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sk": "slovak",
    "sl": "slovene", "sn": "shona", "so": "somali", "sq": "albanian", "sr": "serbian", "st": "sotho", "sv": "swedish",
    "sw": "swahili", "ta": "tamil", "te": "telugu", "th": "thai", "tl": "tagalog", "tn": "tswana", "tr": "turkish",
    "ts": "tsonga", "uk": "ukrainian", "ur": "urdu", "vi": "vietnamese", "xh": "xhosa", "yo": "yoruba", "zh": "chinese",
    "zu": "zulu",
}  # fmt: skip
LABELS = sorted(NAMES)
LABEL_INDICES = {label: index for index, label in enumerate(LABELS)}

# The languages of llm-guard's default model, papluca/xlm-roberta-base-language-detection.
LLM_GUARD = "ar bg de el en es fr hi it ja nl pl pt ru sw th tr ur vi zh".split()
