//! Encodings are decoded, and what only looks like them is not.

use guard_core::text::views::{revealing_views, views};
use proptest::prelude::*;

/// Sentences of several languages.
const SENTENCES: [&str; 12] = [
    "Please water the flowers in the evening, and never at noon.",
    "Tell me about the garden and then write a list of all the flowers.",
    "Show them how to bake a cake without eggs, because one of the guests is allergic.",
    "Bitte gieße die Blumen am Abend, und schreibe mir danach eine Nachricht.",
    "Arrose les fleurs le soir, puis envoie une photo du jardin à ta tante.",
    "Riega las flores por la tarde y escribe una lista de todas las plantas.",
    "Поливай цветы вечером, а потом напиши мне о погоде в саду.",
    "请在晚上给花浇水，然后告诉我花园里有什么。",
    "夕方に花に水をやり、庭の様子を教えてください。",
    "اسقِ الزهور في المساء ثم اكتب لي عن الحديقة.",
    "Zalewaj kwiaty wieczorem, a potem napisz mi o ogrodzie.",
    "शाम को फूलों को पानी दें और फिर मुझे बगीचे के बारे में बताएं।",
];

fn base85(bytes: &[u8], digits: &[u8]) -> String {
    let mut text = Vec::new();
    for chunk in bytes.chunks(4) {
        let mut group = [0; 4];
        group[..chunk.len()].copy_from_slice(chunk);
        let mut number = u32::from_be_bytes(group);
        let mut encoded = [0; 5];
        for digit in encoded.iter_mut().rev() {
            *digit = digits[(number % 85) as usize];
            number /= 85;
        }
        text.extend(&encoded[..chunk.len() + 1]);
    }
    String::from_utf8(text).unwrap()
}

fn ascii85(bytes: &[u8]) -> String {
    base85(bytes, &(b'!'..=b'u').collect::<Vec<u8>>())
}

fn rfc1924(bytes: &[u8]) -> String {
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    base85(bytes, digits)
}

fn z85(bytes: &[u8]) -> String {
    let digits = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    base85(bytes, digits)
}

fn uuencode(bytes: &[u8]) -> String {
    let digit = |value: u32| char::from(b' ' + (value & 0x3F) as u8);
    let lines = bytes.chunks(45).map(|line| {
        let groups = line.chunks(3).flat_map(|group| {
            let mut whole = [0; 4];
            whole[1..=group.len()].copy_from_slice(group);
            let number = u32::from_be_bytes(whole);
            [18, 12, 6, 0].map(|by| digit(number >> by))
        });
        let length = digit(line.len() as u32);
        format!("{length}{}\n", groups.collect::<String>())
    });
    lines.collect()
}

fn base58(bytes: &[u8]) -> String {
    bs58::encode(bytes).into_string()
}

fn base64(bytes: &[u8]) -> String {
    data_encoding::BASE64.encode(bytes)
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let data = miniz_oxide::deflate::compress_to_vec(bytes, 9);
    [&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255], &data[..], &[0; 8]].concat()
}

/// An encoding by its view, and the function that applies it.
type Encoding = (&'static str, fn(&[u8]) -> String);

const ENCODINGS: [Encoding; 13] = [
    ("base58", base58),
    ("base85", ascii85),
    ("base85", |bytes| format!("<~{}~>", ascii85(bytes))),
    ("base85", rfc1924),
    ("base85", z85),
    ("uuencode", uuencode),
    ("uuencode", |bytes| {
        format!("begin 644 note.txt\n{}`\nend\n", uuencode(bytes))
    }),
    ("base32", |bytes| data_encoding::BASE32HEX.encode(bytes)),
    ("base64>deflate", |bytes| base64(&gzip(bytes))),
    ("base64>deflate", |bytes| base64(&zlib(bytes))),
    ("base64>deflate", |bytes| {
        base64(&miniz_oxide::deflate::compress_to_vec(bytes, 6))
    }),
    ("hex>deflate", |bytes| data_encoding::HEXLOWER.encode(&zlib(bytes))),
    ("base85>deflate", |bytes| rfc1924(&zlib(bytes))),
];

fn is_shown(text: &str, plain: &str, name: &str) -> bool {
    // The view that is shown may be a normalized form of the one with the sentence.
    views(text).iter().any(|view| view.text().contains(plain))
        && revealing_views(text)
            .iter()
            .any(|chosen| chosen.view.name().contains(name))
}

#[test]
fn encoded_sentences_are_read_alone_and_in_other_text() {
    for (name, encode) in ENCODINGS {
        for plain in SENTENCES {
            let encoded = encode(plain.as_bytes());
            for text in [
                encoded.clone(),
                format!("Decode this and do what it says: {encoded}"),
                format!("Good morning.\n\n{encoded}\nThank you, and until tomorrow."),
            ] {
                assert!(is_shown(&text, plain, name), "{name}: {text}");
            }
        }
    }
}

#[test]
fn encodings_of_encodings_are_read() {
    let plain = SENTENCES[0];
    for text in [
        base64(ascii85(plain.as_bytes()).as_bytes()),
        rfc1924(base64(plain.as_bytes()).as_bytes()),
        base58(data_encoding::HEXLOWER.encode(plain.as_bytes()).as_bytes()),
        base64(uuencode(plain.as_bytes()).as_bytes()),
    ] {
        assert!(views(&text).iter().any(|view| view.text().trim() == plain), "{text}");
    }
}

proptest! {
    #[test]
    fn any_sentence_is_found_again(
        words in prop::collection::vec(prop::sample::select(SENTENCES[..3].join(" ").split(' ').map(str::to_owned).collect::<Vec<_>>()), 6..30),
        which in 0..ENCODINGS.len(),
    ) {
        let plain = words.join(" ");
        let (name, encode) = ENCODINGS[which];
        let text = encode(plain.as_bytes());
        let found = views(&text);
        prop_assert!(found.iter().any(|view| view.text().contains(&plain)), "{} {}", name, text);
        for view in found {
            prop_assert!(text.get(view.original(0..view.text().len())).is_some());
        }
    }
}

/// Makes ordinary texts, from the numbers of a generator (xorshift64, Marsaglia 2003).
struct Maker(u64);

impl Maker {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn number(&mut self, below: usize) -> usize {
        (self.next() % below as u64) as usize
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.number(of.len())]
    }

    fn digits(&mut self, of: &str, length: usize) -> String {
        let of: Vec<char> = of.chars().collect();
        (0..length).map(|_| of[self.number(of.len())]).collect()
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }

    fn list(&mut self, length: usize, gap: &str, mut one: impl FnMut(&mut Self) -> String) -> String {
        (0..length).map(|_| one(self)).collect::<Vec<_>>().join(gap)
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const ALL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const NAMES: [&str; 16] = [
    "get", "user", "name", "list", "data", "index", "value", "event", "target", "render", "props", "state", "node",
    "style", "key", "cache",
];

/// The kinds of ordinary texts that look encoded, with a function that makes one.
type Kind = (&'static str, fn(&mut Maker) -> String);

const KINDS: [Kind; 19] = [
    ("token", |make| {
        let length = 16 + make.number(60);
        format!("token: {}", make.digits(&format!("{ALL}-_"), length))
    }),
    ("hash", |make| {
        let length = [16, 20, 32, 64][make.number(4)];
        let hash = make.bytes(length);
        match make.number(3) {
            0 => data_encoding::HEXLOWER.encode(&hash),
            1 => format!("sha512-{}", base64(&hash)),
            _ => data_encoding::BASE32.encode(&hash),
        }
    }),
    ("address", |make| {
        let length = 26 + make.number(20);
        make.digits(BASE58, length)
    }),
    ("password", |make| {
        let length = 20 + make.number(20);
        (0..length).map(|_| char::from(b'!' + make.number(94) as u8)).collect()
    }),
    ("id", |make| {
        let id = data_encoding::HEXLOWER.encode(&make.bytes(16));
        format!(
            "{}-{}-{}-{}-{} {}",
            &id[..8],
            &id[8..12],
            &id[12..16],
            &id[16..20],
            &id[20..],
            make.digits("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 26)
        )
    }),
    ("SSH key", |make| {
        let key = base64(&[b"\0\0\0\x0bssh-ed25519\0\0\0 ", &make.bytes(32)[..]].concat());
        format!("ssh-ed25519 {key} {}@{}", make.digits(LOWER, 6), make.digits(LOWER, 8))
    }),
    ("PEM", |make| {
        let key = base64(&make.bytes(400));
        let lines: Vec<&str> = key
            .as_bytes()
            .chunks(64)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        format!(
            "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----",
            lines.join("\n")
        )
    }),
    ("licence key", |make| {
        make.list(5, "-", |make| make.digits(&format!("{UPPER}0123456789"), 5))
    }),
    ("chess", |make| {
        let squares = |make: &mut Maker| {
            format!(
                "{}{}{}",
                make.pick(&["", "N", "B", "R", "Q", "K"]),
                make.digits("abcdefgh", 1),
                make.digits("12345678", 1)
            )
        };
        let moves = (1..40).map(|number| format!("{number}. {} {}", squares(make), squares(make)));
        moves.collect::<Vec<_>>().join(" ")
    }),
    ("chords", |make| {
        make.list(24, " | ", |make| {
            format!(
                "{}{}{}",
                make.digits("ABCDEFG", 1),
                make.pick(&["", "m", "7", "maj7", "#m", "b", "sus4", "/E"]),
                make.pick(&["", " ", "  - "])
            )
        })
    }),
    ("image", |make| {
        let head = [
            &b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR"[..],
            b"\xFF\xD8\xFF\xE0\0\x10JFIF",
            b"GIF89a",
            b"RIFF\0\0\0\0WEBP",
        ][make.number(4)];
        let length = make.number(600);
        let bytes = [head, &make.bytes(length)[..]].concat();
        format!("<img src=\"data:image/png;base64,{}\">", base64(&bytes))
    }),
    ("minified code", |make| {
        make.list(30, ";", |make| {
            let (one, other) = (make.digits(LOWER, 1), make.digits(LOWER, 1));
            format!(
                "{one}.{}={}?({other})=>{other}.{}[\"{}\"]||{one}&&!{}:{other}<<{}",
                make.pick(&NAMES),
                make.pick(&NAMES),
                make.pick(&NAMES),
                make.pick(&NAMES),
                make.pick(&NAMES),
                make.number(30)
            )
        })
    }),
    ("log", |make| {
        make.list(12, "\n", |make| {
            format!(
                "2026-11-{:02}T10:{:02}:{:02}.{:03}Z {} [{}-{}] {}={} id={} took={}ms",
                1 + make.number(28),
                make.number(60),
                make.number(60),
                make.number(1000),
                make.pick(&["INFO", "WARN", "DEBUG"]),
                make.pick(&NAMES),
                make.number(90),
                make.pick(&NAMES),
                make.number(9000),
                make.digits("0123456789abcdef", 16),
                make.number(900)
            )
        })
    }),
    ("stack trace", |make| {
        make.list(12, "\n", |make| {
            format!(
                "    at {}.{}$lambda${}({}.java:{}) [0x{}]",
                make.pick(&NAMES),
                make.pick(&NAMES),
                make.number(90),
                make.pick(&NAMES),
                make.number(900),
                make.digits("0123456789abcdef", 12)
            )
        })
    }),
    ("commits", |make| {
        make.list(8, "\n", |make| {
            format!(
                "{} {} the {} of {}",
                make.digits("0123456789abcdef", 40),
                make.pick(&["Fix", "Move", "Name"]),
                make.pick(&NAMES),
                make.pick(&NAMES)
            )
        })
    }),
    ("letters of a crossword", |make| {
        make.list(10, "\n", |make| make.list(12, " ", |make| make.digits(UPPER, 1)))
    }),
    ("grid of words", |make| {
        make.list(12, "\n", |make| make.digits(UPPER, 12))
    }),
    ("product codes", |make| {
        make.list(12, ", ", |make| {
            format!(
                "{}{}-{}/{}",
                make.digits(UPPER, 3),
                make.digits("0123456789", 4),
                make.digits(&format!("{UPPER}0123456789"), 6),
                make.digits("ABCDEFGHIJK0123456789", 5)
            )
        })
    }),
    ("table", |make| {
        make.list(12, "\n", |make| {
            format!(
                "| {} | {}.{} | {}:{} | {} | - | -- | ... |",
                make.number(900),
                make.number(900),
                make.number(90),
                make.number(24),
                make.number(60),
                make.digits("ABCDEFGHIJK23456789:;<=>?@", 6)
            )
        })
    }),
];

#[test]
fn ordinary_texts_are_not_decoded() {
    let mut make = Maker(0x9E37_79B9_7F4A_7C15);
    for (kind, one) in KINDS {
        for _ in 0..300 {
            let text = one(&mut make);
            for chosen in revealing_views(&text) {
                let name = chosen.view.name();
                let shown = chosen.view.text();
                assert!(
                    ["markup", "rows", "spaced", "quoted_printable"].contains(&name.as_str()),
                    "{kind}, {name}:\n{text}\n\n{shown}"
                );
            }
        }
    }
}
