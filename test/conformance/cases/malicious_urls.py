"""MaliciousURLs: URLs beyond doubt, with the model's answer that says so."""

from .case import ODD, case, repeat

SIDES = ["output"]

BAD = {"phishing": 0.97, "malware": 0.02, "benign": 0.01, "defacement": 0.0}
GOOD = {"benign": 0.98, "phishing": 0.01, "malware": 0.01, "defacement": 0.0}

BENIGN = [
    "https://www.google.com", "https://en.wikipedia.org/wiki/Rust_(programming_language)", "https://github.com/nodejs/node/issues", "https://docs.python.org/3/library/re.html",
    "https://www.bbc.co.uk/news/technology", "https://stackoverflow.com/questions/tagged/typescript", "https://www.nytimes.com/section/world", "https://arxiv.org/abs/1706.03762",
    "https://developer.mozilla.org/en-US/docs/Web/JavaScript", "https://www.youtube.com/watch?v=aqz-KE-bpKQ",
]
MALICIOUS = [
    "http://paypal.com.secure-login.verify-account.ru/webscr?cmd=login", "http://192.168.45.12.update-flash.xyz/setup.exe", "http://185.220.101.7/bins/mirai.arm7", "http://appleid.apple.com-verify.tk/signin.php",
    "http://secure-bankofamerica.com.account-update.info/login.html", "http://free-gift-card-winner.top/claim.php?id=8831", "http://login-microsoftonline.com.evil-host.cn/owa/auth.php", "http://103.45.67.89/wp-content/plugins/paypal/login.php",
]

CASES = [
    *(case(name, text, stand_in=[]) for name, text in ODD.items()),
    *(case(url, f"See {url} for more", stand_in=[GOOD]) for url in BENIGN),
    *(case(url, f"Click {url} now", stand_in=[BAD]) for url in MALICIOUS),
    case("good and bad", f"{BENIGN[0]} and {MALICIOUS[0]}", stand_in=[GOOD, BAD]),
    case("bad and good", f"{MALICIOUS[0]} and {BENIGN[0]}", stand_in=[BAD, GOOD]),
    case("between lines", f"a\r\n{MALICIOUS[0]}\r\nb", stand_in=[BAD]),
    case("after Chinese and before emoji", f"\u8bf7\u70b9\u51fb {MALICIOUS[0]} \U0001f600", stand_in=[BAD]),
    case("in Markdown", f"[Google]({BENIGN[0]}/)", stand_in=[GOOD]),
    case("at the end of a megabyte", [repeat("word ", 200_000), MALICIOUS[0]], stand_in=[BAD]),
    case("words that are no URL", "and/or 3.14 e.g. this.That http https", stand_in=[]),
    case("an e-mail address", "write to ada@example.org", stand_in=[]),
]
