//! Word lists that separate URLs from similar text.

/// The schemes and their meanings. `hxxp` and `fxp` are the usual defanged ones.
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

/// Top-level domains that are also file extensions: `main.py` is a URL only with a path.
pub(super) const FILE_ENDINGS: [&str; 24] = [
    "ai", "as", "bat", "cab", "cat", "cc", "dot", "eps", "gd", "gz", "java", "md", "ml", "mm", "mov", "pl", "pm", "ps",
    "py", "rs", "sh", "so", "tf", "zip",
];

/// Top-level domains that are also words after a missing space (`done.it`) or members in code (`user.name`): a URL only
/// with a path, with a digit or hyphen in the name, or as the whole text.
pub(super) const WORDS: [&str; 193] = [
    "ads", "am", "app", "art", "at", "audio", "auto", "bar", "be", "best", "bid", "bio", "black", "blog", "blue",
    "book", "box", "build", "business", "by", "call", "cam", "camera", "car", "cards", "care", "cash", "center",
    "channel", "chat", "circle", "city", "click", "codes", "computer", "contact", "cool", "country", "credit", "data",
    "date", "day", "deal", "delivery", "design", "direct", "discount", "do", "dog", "domains", "download", "drive",
    "email", "events", "exchange", "expert", "express", "fail", "fan", "fast", "feedback", "final", "fire", "fish",
    "fit", "foo", "forum", "free", "fun", "game", "games", "gift", "global", "gold", "green", "group", "guide", "help",
    "here", "host", "hot", "house", "how", "id", "in", "inc", "ing", "is", "it", "la", "land", "life", "like",
    "limited", "link", "live", "loan", "locker", "man", "map", "market", "me", "media", "menu", "mobile", "money",
    "music", "my", "name", "network", "new", "news", "next", "no", "now", "off", "one", "open", "page", "parts", "pay",
    "pet", "phone", "photo", "photos", "pictures", "place", "play", "plus", "press", "promo", "property", "pub",
    "radio", "read", "red", "rent", "report", "rest", "review", "reviews", "rich", "room", "run", "safe", "sale",
    "save", "school", "science", "search", "security", "select", "services", "show", "sky", "so", "social", "software",
    "space", "spot", "store", "stream", "studio", "style", "supply", "support", "systems", "talk", "target", "tax",
    "team", "tickets", "tips", "to", "today", "tools", "top", "trade", "training", "travel", "tube", "us", "video",
    "vote", "watch", "weather", "win", "work", "works", "world", "you", "zero", "zone",
];

/// Names of objects, variables and modules. `this.id` and `logger.info` are members; only the top-level domains of
/// [`SITES`] make such a name a host.
pub(super) const RECEIVERS: [&str; 92] = [
    "account", "app", "args", "array", "auth", "cfg", "client", "cls", "config", "console", "context", "ctx", "data",
    "db", "doc", "document", "el", "elem", "element", "err", "error", "event", "exports", "field", "file", "form",
    "fs", "input", "instance", "item", "json", "key", "list", "log", "logger", "logging", "map", "math", "model",
    "module", "my", "node", "np", "obj", "object", "opts", "options", "order", "os", "output", "page", "params",
    "parent", "pd", "person", "process", "product", "profile", "props", "record", "req", "request", "res", "resp",
    "response", "result", "root", "row", "self", "server", "service", "session", "settings", "state", "store", "str",
    "string", "super", "sys", "table", "target", "task", "that", "this", "token", "user", "users", "value", "var",
    "view", "widget", "window",
];

/// Top-level domains that are hardly ever anything else.
pub(super) const SITES: [&str; 7] = ["com", "edu", "gov", "int", "mil", "net", "org"];

/// The first parts of Java packages and app bundles, which are reversed domains: `com.example.info`.
pub(super) const REVERSED: [&str; 6] = ["com", "edu", "io", "java", "net", "org"];

/// Names of products that look like hosts.
pub(super) const PRODUCTS: [&str; 4] = ["ado.net", "asp.net", "ml.net", "vb.net"];

/// HTML entities that end a URL in an escaped text.
pub(super) const ENTITIES: [&str; 8] = ["quot;", "lt;", "gt;", "apos;", "nbsp;", "#39;", "#34;", "#x27;"];
