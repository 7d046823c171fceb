"""Language: texts whose language is beyond doubt, with the model's answer that says so."""

from .case import ODD, case, repeat

SIDES = ["input", "output"]

TEXTS = {
    "en": "The weather was lovely yesterday, so we walked along the river for hours.",
    "zh": "\u6628\u5929\u5929\u6c14\u5f88\u597d\uff0c\u6211\u4eec\u6cbf\u7740\u6cb3\u8fb9\u6563\u6b65\u4e86\u597d\u51e0\u4e2a\u5c0f\u65f6\u3002",
    "ru": "\u0412\u0447\u0435\u0440\u0430 \u0431\u044b\u043b\u0430 \u043f\u0440\u0435\u043a\u0440\u0430\u0441\u043d\u0430\u044f \u043f\u043e\u0433\u043e\u0434\u0430, \u0438 \u043c\u044b \u0434\u043e\u043b\u0433\u043e \u0433\u0443\u043b\u044f\u043b\u0438 \u0432\u0434\u043e\u043b\u044c \u0440\u0435\u043a\u0438.",
    "ja": "\u6628\u65e5\u306f\u5929\u6c17\u304c\u3068\u3066\u3082\u826f\u304b\u3063\u305f\u306e\u3067\u3001\u5ddd\u6cbf\u3044\u3092\u4f55\u6642\u9593\u3082\u6b69\u304d\u307e\u3057\u305f\u3002",
    "ar": "\u0643\u0627\u0646 \u0627\u0644\u0637\u0642\u0633 \u062c\u0645\u064a\u0644\u0627\u064b \u0623\u0645\u0633\u060c \u0644\u0630\u0644\u0643 \u0645\u0634\u064a\u0646\u0627 \u0639\u0644\u0649 \u0637\u0648\u0644 \u0627\u0644\u0646\u0647\u0631 \u0644\u0633\u0627\u0639\u0627\u062a.",
    "de": "Gestern war das Wetter so sch\u00f6n, dass wir stundenlang am Fluss entlang spazieren gegangen sind.",
    "fr": "Hier, il faisait tr\u00e8s beau et nous nous sommes promen\u00e9s pendant des heures au bord de la rivi\u00e8re.",
    "es": "Ayer hizo muy buen tiempo, as\u00ed que paseamos durante horas por la orilla del r\u00edo.",
    "pt": "Ontem o tempo estava \u00f3timo, ent\u00e3o n\u00f3s caminhamos durante horas \u00e0 beira do rio.",
    "it": "Ieri il tempo era bellissimo, cos\u00ec abbiamo passeggiato per ore lungo il fiume.",
    "pl": "Wczoraj pogoda by\u0142a pi\u0119kna, wi\u0119c spacerowali\u015bmy godzinami wzd\u0142u\u017c rzeki.",
    "tr": "D\u00fcn hava \u00e7ok g\u00fczeldi, bu y\u00fczden saatlerce nehir boyunca y\u00fcr\u00fcd\u00fck.",
    "vi": "H\u00f4m qua th\u1eddi ti\u1ebft r\u1ea5t \u0111\u1eb9p n\u00ean ch\u00fang t\u00f4i \u0111\u00e3 \u0111i d\u1ea1o h\u00e0ng gi\u1edd d\u1ecdc b\u1edd s\u00f4ng.",
    "hi": "\u0915\u0932 \u092e\u094c\u0938\u092e \u092c\u0939\u0941\u0924 \u0905\u091a\u094d\u091b\u093e \u0925\u093e, \u0907\u0938\u0932\u093f\u090f \u0939\u092e \u0918\u0902\u091f\u094b\u0902 \u0928\u0926\u0940 \u0915\u0947 \u0915\u093f\u0928\u093e\u0930\u0947 \u091f\u0939\u0932\u0924\u0947 \u0930\u0939\u0947\u0964",
    "th": "\u0e40\u0e21\u0e37\u0e48\u0e2d\u0e27\u0e32\u0e19\u0e2d\u0e32\u0e01\u0e32\u0e28\u0e14\u0e35\u0e21\u0e32\u0e01 \u0e40\u0e23\u0e32\u0e08\u0e36\u0e07\u0e40\u0e14\u0e34\u0e19\u0e40\u0e25\u0e48\u0e19\u0e23\u0e34\u0e21\u0e41\u0e21\u0e48\u0e19\u0e49\u0e33\u0e2b\u0e25\u0e32\u0e22\u0e0a\u0e31\u0e48\u0e27\u0e42\u0e21\u0e07",
    "nl": "Gisteren was het weer zo mooi dat we urenlang langs de rivier hebben gewandeld.",
    "sw": "Jana hali ya hewa ilikuwa nzuri sana, kwa hiyo tulitembea kwa saa nyingi kando ya mto.",
    "ur": "\u06a9\u0644 \u0645\u0648\u0633\u0645 \u0628\u06c1\u062a \u0627\u0686\u06be\u0627 \u062a\u06be\u0627\u060c \u0627\u0633 \u0644\u06cc\u06d2 \u06c1\u0645 \u06af\u06be\u0646\u0679\u0648\u06ba \u062f\u0631\u06cc\u0627 \u06a9\u06d2 \u06a9\u0646\u0627\u0631\u06d2 \u0686\u0644\u062a\u06d2 \u0631\u06c1\u06d2\u06d4",
    "bg": "\u0412\u0447\u0435\u0440\u0430 \u0432\u0440\u0435\u043c\u0435\u0442\u043e \u0431\u0435\u0448\u0435 \u043f\u0440\u0435\u043a\u0440\u0430\u0441\u043d\u043e, \u0437\u0430\u0442\u043e\u0432\u0430 \u0441\u0435 \u0440\u0430\u0437\u0445\u043e\u0436\u0434\u0430\u0445\u043c\u0435 \u0441 \u0447\u0430\u0441\u043e\u0432\u0435 \u043a\u0440\u0430\u0439 \u0440\u0435\u043a\u0430\u0442\u0430.",
    "el": "\u03a7\u03b8\u03b5\u03c2 \u03bf \u03ba\u03b1\u03b9\u03c1\u03cc\u03c2 \u03ae\u03c4\u03b1\u03bd \u03c5\u03c0\u03ad\u03c1\u03bf\u03c7\u03bf\u03c2, \u03bf\u03c0\u03cc\u03c4\u03b5 \u03c0\u03b5\u03c1\u03c0\u03b1\u03c4\u03ae\u03c3\u03b1\u03bc\u03b5 \u03b3\u03b9\u03b1 \u03ce\u03c1\u03b5\u03c2 \u03b4\u03af\u03c0\u03bb\u03b1 \u03c3\u03c4\u03bf \u03c0\u03bf\u03c4\u03ac\u03bc\u03b9.",
}


def sure(language: str) -> dict[str, float]:
    return {language: 0.99, "en" if language != "en" else "fr": 0.004}


UNSURE = {"en": 0.2, "fr": 0.15, "de": 0.1}

CASES = [
    *(case(f"{name}: no language", ODD[name], valid_languages=["en"], stand_in=[UNSURE])
      for name in ("nothing", "a space", "white space only", "a line feed", "an emoji", "an emoji family", "flags and skin tones")),
    *(case(f"{language} is valid", text, valid_languages=[language], stand_in=[sure(language)]) for language, text in TEXTS.items()),
    *(case(f"{language} is not valid", text, valid_languages=["en" if language != "en" else "fr"], stand_in=[sure(language)]) for language, text in TEXTS.items()),
    case("one of several", TEXTS["de"], valid_languages=["en", "de", "fr"], stand_in=[sure("de")]),
    case("none of several", TEXTS["ru"], valid_languages=["en", "de", "fr"], stand_in=[sure("ru")]),
    case("sentences: all valid", "This is the first sentence. This is the second sentence.", valid_languages=["en"], match_type="sentence", stand_in=[sure("en")] * 2),
    case("sentences: one is not valid", f"{TEXTS['en']} {TEXTS['ru']}", valid_languages=["en"], match_type="sentence", stand_in=[sure("en"), sure("ru")]),
    case("sentences: both languages are valid", f"{TEXTS['en']} {TEXTS['ru']}", valid_languages=["en", "ru"], match_type="sentence", stand_in=[sure("en"), sure("ru")]),
    case("CRLF", "The weather was lovely yesterday.\r\nWe walked along the river.\r\n", valid_languages=["en"], stand_in=[sure("en")]),
    case("decomposed letters", "Gestern war das Wetter so scho\u0308n, dass wir stundenlang spazieren gegangen sind.", valid_languages=["de"], stand_in=[sure("de")]),
    case("capitals", TEXTS["fr"].upper(), valid_languages=["fr"], stand_in=[sure("fr")]),
    case("emoji around", f"\U0001f600 {TEXTS['es']} \U0001f680", valid_languages=["es"], stand_in=[sure("es")]),
    case("a line of a megabyte", [repeat(TEXTS["en"] + " ", 13_000)], valid_languages=["en"], stand_in=[sure("en")]),
    case("a line of a megabyte, not valid", [repeat(TEXTS["it"] + " ", 13_000)], valid_languages=["en"], stand_in=[sure("it")]),
]
