//! Tests of the search for URLs.

use proptest::prelude::*;

use super::*;

/// The URLs of a text, as written and as parsed.
fn found(text: &str) -> Vec<(&str, String)> {
    find(text)
        .into_iter()
        .map(|found| (&text[found.range], found.url.into()))
        .collect()
}

fn urls(text: &str) -> Vec<String> {
    found(text).into_iter().map(|(_, url)| url).collect()
}

#[test]
fn reads_urls_in_prose() {
    for (text, expected) in [
        ("See https://example.com/a?b=c#d.", "https://example.com/a?b=c#d"),
        (
            "(https://en.wikipedia.org/wiki/Rust_(language))",
            "https://en.wikipedia.org/wiki/Rust_(language)",
        ),
        (
            "[docs](https://docs.rs/url/latest/url/).",
            "https://docs.rs/url/latest/url/",
        ),
        ("<a href='http://a.com/b'>x</a>", "http://a.com/b"),
        ("<https://example.com>", "https://example.com/"),
        ("**https://example.com/x**", "https://example.com/x"),
        ("_https://example.com/x_", "https://example.com/x"),
        (
            "&lt;a href=&quot;https://a.com/?x=1&amp;y=2&quot;&gt;",
            "https://a.com/?x=1&y=2",
        ),
        (r#"{"url":"https:\/\/a.com\/b"}"#, "https://a.com/b"),
        (r#""https://a.com/b\nnext""#, "https://a.com/b"),
        ("Visit www.example.com, now", "http://www.example.com/"),
        ("on example.com/path. Then", "http://example.com/path"),
        ("example.org", "http://example.org/"),
        ("src=//cdn.example.net/x.js", "http://cdn.example.net/x.js"),
        ("HTTPS://EXAMPLE.COM/Path", "https://example.com/Path"),
        ("localhost at http://localhost:3000/x", "http://localhost:3000/x"),
        ("ftp://files.example.com/a.iso", "ftp://files.example.com/a.iso"),
        (
            "http://user:p!ss@example.com:8080/",
            "http://user:p!ss@example.com:8080/",
        ),
        ("http://[2001:db8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("call 10.0.0.1:8080/status", "http://10.0.0.1:8080/status"),
        ("see ...example.com", "http://example.com/"),
        ("https://example.com/it's", "https://example.com/it's"),
        ("https://example.com...", "https://example.com/"),
        ("https://example.com/#!", "https://example.com/#!"),
        ("https://example.com/#!, then", "https://example.com/#!"),
        ("https://example.com/?a=1&amp;", "https://example.com/?a=1"),
        (
            "https://a.com/?a=1&amp;http://b.com/",
            "https://a.com/?a=1&http://b.com/",
        ),
        ("a shop at cashcase.co.in since May", "http://cashcase.co.in/"),
        (" cashcase.in\n", "http://cashcase.in/"),
        ("192.0.2.7", "http://192.0.2.7/"),
        ("at 192.0.2.7/28/x", "http://192.0.2.7/28/x"),
        ("see bit.ly/xyz", "http://bit.ly/xyz"),
        ("our page.link/a and", "http://page.link/a"),
        ("join t.me/news", "http://t.me/news"),
        ("on shop.example.de today", "http://shop.example.de/"),
        ("OPENAI.COM", "http://openai.com/"),
        ("Booking.com and", "http://booking.com/"),
        ("data.gov, please", "http://data.gov/"),
        ("win big at lucky-casino.bet!", "http://lucky-casino.bet/"),
    ] {
        assert_eq!(urls(text), [expected], "{text}");
    }
}

#[test]
fn reads_urls_beside_other_scripts() {
    for (text, expected) in [
        (
            "请访问https://example.com/路径。谢谢",
            "https://example.com/%E8%B7%AF%E5%BE%84",
        ),
        ("打开https://example.com/abc查看", "https://example.com/abc"),
        ("见https://example.com请看", "https://example.com/"),
        ("见example.com吧", "http://example.com/"),
        ("（https://example.com/a）", "https://example.com/a"),
        ("「https://example.com」", "https://example.com/"),
        ("https://example.com/a，然后", "https://example.com/a"),
        (
            "Сайт https://пример.рф/страница, да",
            "https://xn--e1afmkfd.xn--p1ai/%D1%81%D1%82%D1%80%D0%B0%D0%BD%D0%B8%D1%86%D0%B0",
        ),
        ("на сайте пример.рф есть", "http://xn--e1afmkfd.xn--p1ai/"),
        ("https://bücher.de/ä", "https://xn--bcher-kva.de/%C3%A4"),
    ] {
        assert_eq!(urls(text), [expected], "{text}");
    }
}

#[test]
fn undoes_disguises() {
    for (text, expected) in [
        ("hxxp://evil[.]com/a", "http://evil.com/a"),
        ("hXXps[:]//evil(dot)com", "https://evil.com/"),
        ("http[://]evil{.}com/x", "http://evil.com/x"),
        ("evil[.]com", "http://evil.com/"),
        ("evil [.] com/login", "http://evil.com/login"),
        ("evil [dot] com", "http://evil.com/"),
        ("h**p://evil.com", "http://evil.com/"),
        ("http:\\\\evil.com\\x", "http://evil.com/"),
        ("http:/evil.com/x", "http://evil.com/x"),
        ("https:///evil.com/x", "https://evil.com/x"),
        ("http://ev\u{200B}il.com/x", "http://evil.com/x"),
        ("ev\u{AD}il.com", "http://evil.com/"),
        ("ｈｔｔｐｓ：／／ｅｖｉｌ．ｃｏｍ", "https://evil.com/"),
        ("http://evil。com/x", "http://evil.com/x"),
        ("http://3232235777/x", "http://192.168.1.1/x"),
        ("http://0xC0A80101/", "http://192.168.1.1/"),
        ("http://0300.0250.1.1/", "http://192.168.1.1/"),
        ("https://google.com@evil.com/x", "https://google.com@evil.com/x"),
        ("https://google.com:443@evil.com/x", "https://google.com:443@evil.com/x"),
        ("192[.]168[.]1[.]1/x", "http://192.168.1.1/x"),
    ] {
        assert_eq!(urls(text), [expected], "{text}");
    }
}

#[test]
fn gives_the_place_as_written() {
    assert_eq!(found("go to hxxp://evil[.]com/a, now")[0].0, "hxxp://evil[.]com/a");
    assert_eq!(found("x ev\u{200B}il.com\u{200B} y")[0].0, "ev\u{200B}il.com");
    assert_eq!(found("é evil [.] com ü")[0].0, "evil [.] com");
    assert_eq!(found("请看ｅｖｉｌ．ｃｏｍ吧")[0].0, "ｅｖｉｌ．ｃｏｍ");
}

#[test]
fn an_ipv6_host_keeps_its_port_at_the_end_of_a_text() {
    for after in ["", " x", ".", ":", ": x", "\n", ")"] {
        assert_eq!(
            found(&format!("see http://[2001:db8::1]:8080{after}")),
            [("http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080/".to_owned())],
            "{after:?}"
        );
    }
    let hit = &find("see http://[2001:db8::1]:8080")[0];
    assert_eq!((hit.range.clone(), hit.url.port()), (4..29, Some(8080)));
    assert_eq!(found("http://[::1]:")[0], ("http://[::1]", "http://[::1]/".to_owned()));
    assert_eq!(found("http://[::1]")[0], ("http://[::1]", "http://[::1]/".to_owned()));
}

#[test]
fn finds_several() {
    assert_eq!(
        urls("a.com, b.org;http://c.net"),
        ["http://a.com/", "http://b.org/", "http://c.net/"]
    );
    assert_eq!(
        urls("https://a.com,https://b.com"),
        ["https://a.com/", "https://b.com/"]
    );
    assert_eq!(
        urls("https://a.com/x,https://b.com/y"),
        ["https://a.com/x", "https://b.com/y"]
    );
    assert_eq!(urls("http://a.comhttp://b.com"), ["http://a.com/", "http://b.com/"]);
    assert_eq!(urls("http://https://b.com"), ["https://b.com/"]);
    assert_eq!(
        urls("[a](http://a.com)[b](http://b.com)"),
        ["http://a.com/", "http://b.com/"]
    );
}

#[test]
fn leaves_other_texts_alone() {
    for text in [
        "mail me@example.com or a.b@example.co.uk",
        "version 1.2.3.4 of main.py and README.md, lib.rs, run.sh, Node.js, data.zip",
        "self.name = user.email; items.map(f); obj.id, this.app",
        "Done.It was fine.Then e.g. this, i.e. that, U.S. and a.m.",
        "3.14, 1,000.50, 10.0.0.1",
        "git://github.com/x and postgres://db.example.com/x",
        "https:// http:, https://${HOST}/x, http://%s/y",
        "and/or ./src/foo.com C:\\example.com",
        "console.log, string.format, np.random.rand(3)",
        "this.user.name = other.name",
        "main.py",
        "this.id",
        "user.name",
        "this.id = user.name; event.target, e.target, props.style, logger.info, self.host, item.link, window.top",
        "VB.NET, vb.net, ASP.NET and ML.NET with C#",
        "10.0.1.40/27, 10.0.0.0/8; 192.168.0.0/16. 172.16.0.0/12) and 10.0.1.40/27",
        "at java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1145)",
        "ThreadPoolExecutor.java:1145",
        "Main.java:12, app.py:10, lib.rs:45:7, main.tf:3",
        "com.example.android.info and org.acme.shop, io.acme.cloud",
        "userName.site, myList.tech, a.b.c, x.y.io, foo.io[0], foo.io = 1, foo.io += 1",
        "README.md/LICENSE.md, this.id/that.id",
        "hello.my name is, ok.so what, yes.you can, e.g.this, wait.what",
        "v1.2.3, 1.2.3-beta.1, 3.am, 10.5.de",
        "Node.js, Vue.js, README.md, package.json, index.html, style.css, archive.tar.gz, photo.jpg",
        "she/her, and/or, 24/7, km/h, n/a, TCP/IP",
        "he said (.)(.) [.]",
        "",
    ] {
        assert_eq!(urls(text), [""; 0], "{text}");
    }
}

#[test]
fn prose_needs_no_search() {
    for text in [
        "The report is long (see page 12): it ends here. \"Yes.\" He left...",
        "Größe – l’été, «Москва»; naïve.",
        "",
    ] {
        assert!(prefilter::has_no_url(text), "{text}");
    }
    for text in [
        "a.com",
        "http://x",
        "a[.]com",
        "a(dot)com",
        "ａ.com",
        "see a。com",
        "//10.0.0.1",
    ] {
        assert!(!prefilter::has_no_url(text), "{text}");
    }
}

proptest! {
    #[test]
    fn the_prefilter_misses_nothing(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "a", "example", "com", ".", ".com", "..", ":", "/", "//", "http", "https:", "www.", "10", "[", "]", "(", ")", "{", "}", "dot", "at", "punkt",
                " ", "\n", "\\", "@", "-", "_", "'", "\"", ",", "%2e", "&#46;", "é", "ß", "Ж", "\u{AD}", "\u{34F}", "\u{200B}", "’", "…", "\u{2028}", "。", "．", "中",
                "xn--", "1", "de", "рф", "א", "ա", "\u{61C}", "·", "«", "\u{A0}",
            ]),
            0..12,
        ),
    ) {
        let text = pieces.concat();
        prop_assert!(!prefilter::has_no_url(&text) || search(&text).is_empty(), "{text:?}");
    }

    #[test]
    fn any_text_is_fine(text in "\\PC*|([a-z.:/\\[\\]()@\\\\ \u{200B}。ｈ中é]|http://|\\[\\.\\]|\\.com|hxxp|www\\.){0,40}") {
        let mut last = 0;
        for found in find(&text) {
            prop_assert!(found.range.start >= last && found.range.start < found.range.end);
            prop_assert!(text.is_char_boundary(found.range.start) && text.is_char_boundary(found.range.end));
            last = found.range.end;
            prop_assert!(Url::parse(found.url.as_str()).as_ref() == Ok(&found.url));
        }
    }

    #[test]
    fn finds_a_url_in_any_prose(before in "[\\p{L} ]{0,20}", after in "[\\p{L} ]{0,20}", disguise in 0..4_usize) {
        let url = ["https://evil.com/a/b", "hxxps://evil.com/a/b", "https://evil[.]com/a/b", "https[:]//ev\u{200B}il.com/a/b"][disguise];
        let text = format!("{before} {url} {after}");
        let found = find(&text);
        let hit = found.iter().find(|found| found.range.start == before.len() + 1);
        prop_assert_eq!(hit.map(|found| (found.url.as_str(), &text[found.range.clone()])), Some(("https://evil.com/a/b", url)));
    }
}

#[test]
fn hosts_belong_to_registrable_domains() {
    for (host, domain) in [
        ("www.example.co.uk", "example.co.uk"),
        ("example.com", "example.com"),
        ("a.b.github.io", "b.github.io"),
        ("192.168.0.1", "192.168.0.1"),
        ("[::1]", "[::1]"),
        ("localhost", "localhost"),
        ("com", "com"),
        ("", ""),
    ] {
        assert_eq!(super::registrable_domain(host), domain);
    }
}
