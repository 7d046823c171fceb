//! Words that tell what is a URL, and what only looks like one.

/// The schemes that are looked for, with what they stand for. `hxxp` and `fxp` are the usual defanged ones.
pub(super) const SCHEMES: [(&str, &str); 15] = [
    ("https", "https"),
    ("hxxps", "https"),
    ("hxtps", "https"),
    ("htxps", "https"),
    ("h**ps", "https"),
    ("http", "http"),
    ("hxxp", "http"),
    ("hxtp", "http"),
    ("htxp", "http"),
    ("h**p", "http"),
    ("meow", "http"),
    ("ftp", "ftp"),
    ("fxp", "ftp"),
    ("wss", "wss"),
    ("ws", "ws"),
];

/// Top-level domains that are also endings of files: `main.py` is a URL only with a path behind it.
pub(super) const FILE_ENDINGS: [&str; 19] = [
    "ai", "as", "bat", "cab", "cat", "cc", "eps", "gz", "md", "ml", "mm", "mov", "pl", "ps", "py", "rs", "sh", "so",
    "zip",
];

/// Top-level domains that are also words of prose after a forgotten space (`done.it`) or members in code (`user.name`):
/// a URL only with a path, with a digit or hyphen in the name, or where the text has nothing else.
pub(super) const WORDS: [&str; 92] = [
    "am", "app", "at", "be", "best", "bid", "bio", "blog", "box", "build", "by", "call", "cam", "camera", "cards",
    "care", "cash", "channel", "chat", "city", "click", "codes", "contact", "cool", "data", "date", "day", "design",
    "do", "domains", "download", "email", "events", "exchange", "fail", "fan", "fish", "fit", "foo", "forum", "fun",
    "game", "games", "global", "group", "host", "how", "id", "in", "inc", "ing", "is", "it", "like", "link", "live",
    "locker", "map", "me", "media", "menu", "name", "network", "new", "news", "no", "now", "one", "open", "page",
    "pay", "photo", "pub", "read", "red", "rest", "run", "safe", "save", "search", "select", "so", "store", "style",
    "support", "to", "top", "us", "video", "watch", "work", "zone",
];

/// HTML entities that end a URL in an escaped text.
pub(super) const ENTITIES: [&str; 8] = ["quot;", "lt;", "gt;", "apos;", "nbsp;", "#39;", "#34;", "#x27;"];
