"""URLReachability. {server} stands for the address of a web server: /status/N answers N, /redirect/N sends to it, /loop to itself,
/slow answers after three seconds and /broken not at all."""

from .case import ODD, case, repeat

SIDES = ["output"]

CASES = [
    *(case(name, text) for name, text in ODD.items() if name != "one character a million times"),
    case("200", "See {server}/status/200 for more"),
    case("201 and 202", "{server}/status/201 {server}/status/202"),
    case("204 is not among the defaults", "{server}/status/204"),
    case("204 where asked for", "{server}/status/204", success_status_codes=[200, 204]),
    case("200 where only 204 is asked for", "{server}/status/200", success_status_codes=[204]),
    *(case(str(status), f"{{server}}/status/{status}") for status in (400, 401, 403, 404, 410, 429, 500, 503)),
    case("404 where asked for", "{server}/status/404", success_status_codes=[404]),
    case("a redirect to 200", "{server}/redirect/200"),
    case("a redirect to 404", "{server}/redirect/404"),
    case("a redirect to itself", "{server}/loop"),
    case("slower than the limit", "{server}/slow", timeout=1),
    case("no reply", "{server}/broken"),
    case("one of two is missing", "{server}/status/200 and {server}/status/404"),
    case("the same twice", "{server}/status/200 {server}/status/200"),
    case("nobody listens", "http://127.0.0.1:9/"),
    case("no host", "http:// is how it begins"),
    case("a query and a fragment", "{server}/status/200?a=1&b=2#part"),
    case("before a comma", "{server}/status/200?x, then"),
    case("in brackets", "[link]({server}/status/200?)"),
    case("between lines", "a\r\n{server}/status/200\r\nb"),
    case("after Chinese", "\u8bf7\u770b{server}/status/200 \u3002"),
    case("not HTTP", "ftp://127.0.0.1/file mailto:a@b.co"),
    case("percent escapes", "{server}/status/200?q=%D0%BC%20x"),
    case("a megabyte before", [repeat("word ", 200_000), "{server}/status/404"]),
]

# Differences from llm-guard, with reasons.
OVERLAY = {
    "not HTTP": ({"isValid": False, "score": 1}, "a URL that can not be asked for is not reached; llm-guard sees only http and https"),
}

for one in CASES:
    if one.name in OVERLAY:
        one.expected, one.why = OVERLAY[one.name]
