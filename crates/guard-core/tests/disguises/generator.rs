//! Disguises: ways to write a term so that a filter misses it, while a language model still reads it.

use std::fmt::Write;

use data_encoding::{BASE32, BASE64, BASE64URL_NOPAD, HEXLOWER};

/// A term in one disguise.
pub struct Disguise {
    /// The name of the disguise.
    pub name: &'static str,
    /// The disguised term.
    pub text: String,
}

/// The term in every disguise that changes it, without a sentence around it.
pub fn disguises(term: &str) -> Vec<Disguise> {
    let each = |write: &dyn Fn(char) -> String| term.chars().map(write).collect::<String>();
    let between = |mark: &str| {
        let letters: Vec<String> = term.chars().map(String::from).collect();
        letters.join(mark)
    };
    // Letters with a separator between them, and a longer one between words.
    let spelled = |mark: &str, gap: &str| {
        let words = term.split(' ').map(|word| {
            let letters: Vec<String> = word.chars().map(String::from).collect();
            letters.join(mark)
        });
        words.collect::<Vec<_>>().join(gap)
    };
    // The term with a mark after the third letter of each word.
    let cut = |mark: &str| {
        let words = term.split(' ').map(|word| {
            let at = word.char_indices().nth(3).map_or(word.len(), |(at, _)| at);
            format!("{}{mark}{}", &word[..at], &word[at..])
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let bytes = |write: &dyn Fn(u8) -> String, mark: &str| {
        let written: Vec<String> = term.bytes().map(write).collect();
        written.join(mark)
    };
    let letters = |upper: u32, lower: u32| {
        each(&|c| {
            let letter = match c {
                'A'..='Z' => char::from_u32(upper + c as u32 - 'A' as u32),
                'a'..='z' => char::from_u32(lower + c as u32 - 'a' as u32),
                _ => Some(c),
            };
            letter.unwrap_or(c).to_string()
        })
    };
    let table = |pairs: &str| {
        let characters: Vec<char> = pairs.chars().collect();
        each(&|c| {
            let found = characters.chunks(2).find(|pair| pair[0] == c);
            found.map_or(c, |pair| pair[1]).to_string()
        })
    };
    let reversed = |text: &str| text.chars().rev().collect::<String>();
    let rot13 = |text: &str| {
        let turn = |c: char| match c {
            'a'..='z' => char::from((c as u8 - b'a' + 13) % 26 + b'a'),
            'A'..='Z' => char::from((c as u8 - b'A' + 13) % 26 + b'A'),
            _ => c,
        };
        text.chars().map(turn).collect::<String>()
    };
    let grouped = |text: &str, size: usize, mark: &str| {
        let characters: Vec<char> = text.chars().collect();
        let groups = characters.chunks(size).map(|group| group.iter().collect::<String>());
        groups.collect::<Vec<_>>().join(mark)
    };
    let utf16 = |order: fn(u16) -> [u8; 2]| BASE64.encode(&term.encode_utf16().flat_map(order).collect::<Vec<u8>>());
    let base64 = BASE64.encode(term.as_bytes());
    let hex = HEXLOWER.encode(term.as_bytes());
    let percent = bytes(&|byte| format!("%{byte:02X}"), "");
    let decimal = bytes(&|byte| byte.to_string(), " ");
    let words = |mark: &str| term.split(' ').collect::<Vec<_>>().join(mark);
    let reversed_words = term.split(' ').map(reversed).collect::<Vec<_>>().join(" ");
    let alternating: String = term
        .chars()
        .enumerate()
        .map(|(at, c)| {
            if at % 2 == 0 {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect();
    let mirrored = reversed(term);
    let selectors = each(&|c| char::from_u32(0xE0100 - 16 + c as u32).map_or_else(String::new, String::from));
    let tags = each(&|c| char::from_u32(0xE0000 + c as u32).map_or_else(String::new, String::from));
    let mut list: Vec<(&'static str, String)> = vec![
        // Look-alike letters.
        ("mixed case", alternating),
        (
            "full width",
            each(&|c| {
                if c.is_ascii_graphic() {
                    char::from_u32(c as u32 + 0xFEE0).unwrap().into()
                } else {
                    c.into()
                }
            }),
        ),
        ("Cyrillic letters", table("aаcсeеiіjјoоpрsѕxхyуAАBВCСEЕHНKКMМOОPРTТ")),
        ("Greek letters", table("oοpρvνAΑBΒEΕIΙKΚMΜOΟPΡTΤaα")),
        ("leetspeak", table("a4e3i1o0s5t7")),
        ("mathematical letters", letters(0x1D400, 0x1D41A)),
        ("circled letters", letters(0x24B6, 0x24D0)),
        ("squared letters", letters(0x1F170, 0x1F170)),
        ("flags", letters(0x1F1E6, 0x1F1E6)),
        (
            "small capitals",
            table("aᴀbʙcᴄdᴅeᴇfꜰgɢhʜiɪjᴊkᴋlʟmᴍnɴoᴏpᴘrʀtᴛuᴜvᴠwᴡyʏzᴢ"),
        ),
        (
            "upside down",
            reversed(&table("aɐbqcɔdpeǝfɟgƃhɥiᴉjɾkʞlןmɯnupdqbrɹtʇunvʌwʍyʎ")),
        ),
        (
            "braille",
            table("a⠁b⠃c⠉d⠙e⠑f⠋g⠛h⠓i⠊j⠚k⠅l⠇m⠍n⠝o⠕p⠏q⠟r⠗s⠎t⠞u⠥v⠧w⠺x⠭y⠽z⠵ ⠀"),
        ),
        // Marks and invisible characters.
        (
            "dots above",
            each(&|c| if c == ' ' { " ".into() } else { format!("{c}\u{307}") }),
        ),
        (
            "dots below",
            each(&|c| if c == ' ' { " ".into() } else { format!("{c}\u{323}") }),
        ),
        ("struck through", each(&|c| format!("{c}\u{336}"))),
        ("piled marks", each(&|c| format!("{c}\u{301}\u{316}\u{489}"))),
        ("zero-width spaces", between("\u{200B}")),
        ("zero-width joiners", between("\u{200D}")),
        ("soft hyphens", between("\u{AD}")),
        ("variation selectors", between("\u{FE0F}")),
        ("word joiners", between("\u{2060}")),
        ("directional marks", between("\u{200E}")),
        ("override of the direction", format!("\u{202E}{mirrored}\u{202C}")),
        ("tag characters", tags),
        ("bytes of variation selectors", format!("\u{1F60A}{selectors}")),
        ("control characters", between("\0")),
        ("colours of terminals", cut("\u{1b}[31m")),
        // Separated letters.
        ("blanks", spelled(" ", "   ")),
        ("two blanks between letters", spelled("  ", "     ")),
        (
            "no-break spaces between letters",
            spelled("\u{A0}", "\u{A0}\u{A0}\u{A0}"),
        ),
        ("full stops", spelled(".", " ")),
        ("dashes", spelled("-", " ")),
        ("underscores", spelled("_", " ")),
        ("line by line", spelled("\n", "\n\n")),
        ("commas and blanks", spelled(", ", "   ")),
        ("list of strings", spelled("\", \"", "\", \" \", \"")),
        (
            "backslashes",
            each(&|c| if c == ' ' { " ".into() } else { format!("\\{c}") }),
        ),
        ("emoji between letters", spelled("🔥", " ")),
        ("hyphen at the end of a line", cut("-\n")),
        ("strings that are added", format!("\"{}\"", cut("\" + \""))),
        ("strings that are added over lines", format!("'{}'", cut("'\n    + '"))),
        ("strings with a dot between", format!("\"{}\"", cut("\" . \""))),
        // Markup.
        ("empty tags", cut("<b></b>")),
        (
            "letters in tags",
            each(&|c| if c == ' ' { " ".into() } else { format!("<b>{c}</b>") }),
        ),
        ("styled spans", cut("</span><span style=\"color: red\">")),
        ("comments of HTML", cut("<!-- -->")),
        ("comments of C", cut("/**/")),
        ("bold parts", cut("****")),
        (
            "a bold half",
            term.split(' ')
                .map(|word| {
                    let at = word.len() / 2;
                    format!("**{}**{}", &word[..at], &word[at..])
                })
                .collect::<Vec<_>>()
                .join(" "),
        ),
        ("special tokens", cut("<|im_start|>")),
        ("special tokens between all letters", between("<|endoftext|>")),
        ("marks of instructions", cut("[INST]")),
        ("braces", cut("{}")),
        // Encodings.
        ("base64", base64.clone()),
        ("base64 for URLs", BASE64URL_NOPAD.encode(term.as_bytes())),
        ("base64 in groups of four", grouped(&base64, 4, " ")),
        ("base64 in lines of eight", grouped(&base64, 8, "\n")),
        ("base64 of UTF-16, little end first", utf16(u16::to_le_bytes)),
        ("base64 of UTF-16, big end first", utf16(u16::to_be_bytes)),
        ("base64 of base64", BASE64.encode(base64.as_bytes())),
        ("base64 backwards", reversed(&base64)),
        ("base32", BASE32.encode(term.as_bytes())),
        ("hex", hex.clone()),
        ("hex in capitals", hex.to_uppercase()),
        ("hex of bytes", grouped(&hex, 2, " ")),
        ("hex in groups of four", grouped(&hex, 4, " ")),
        ("hex with colons", grouped(&hex, 2, ":")),
        ("hex with 0x", bytes(&|byte| format!("0x{byte:02x}"), ", ")),
        ("hex escapes", bytes(&|byte| format!("\\x{byte:02x}"), "")),
        ("hex escapes with blanks", bytes(&|byte| format!("\\x{byte:02x}"), " ")),
        ("decimal codes", decimal.clone()),
        ("decimal codes with commas", decimal.replace(' ', ", ")),
        ("decimal codes with dashes", decimal.replace(' ', "-")),
        (
            "decimal codes of a program",
            format!("String.fromCharCode({})", decimal.replace(' ', ",")),
        ),
        ("calls of chr", bytes(&|byte| format!("chr({byte})"), "+")),
        ("octal codes", bytes(&|byte| format!("{byte:o}"), " ")),
        ("octal codes with a nought", bytes(&|byte| format!("{byte:04o}"), " ")),
        ("octal escapes", bytes(&|byte| format!("\\{byte:03o}"), "")),
        ("octal escapes with blanks", bytes(&|byte| format!("\\{byte:03o}"), " ")),
        ("binary", bytes(&|byte| format!("{byte:08b}"), " ")),
        ("binary without gaps", bytes(&|byte| format!("{byte:08b}"), "")),
        ("binary of seven digits", bytes(&|byte| format!("{byte:07b}"), " ")),
        ("decimal entities", bytes(&|byte| format!("&#{byte};"), "")),
        ("decimal entities with blanks", bytes(&|byte| format!("&#{byte};"), " ")),
        (
            "decimal entities of seven digits",
            bytes(&|byte| format!("&#{byte:07}"), ""),
        ),
        ("hex entities", bytes(&|byte| format!("&#x{byte:x};"), "")),
        ("named entities", cut("&shy;")),
        ("an entity of no width", cut("&#8203;")),
        ("percent encoding", percent.clone()),
        ("percent encoding twice", percent.replace('%', "%25")),
        ("escapes of JSON", bytes(&|byte| format!("\\u{byte:04x}"), "")),
        ("escapes with braces", bytes(&|byte| format!("\\u{{{byte:x}}}"), "")),
        ("code points", bytes(&|byte| format!("U+{byte:04X}"), " ")),
        ("code points without blanks", bytes(&|byte| format!("U+{byte:04X}"), "")),
        ("quoted-printable", bytes(&|byte| format!("={byte:02X}"), "")),
        ("quoted-printable line breaks", cut("=\n")),
        ("rot13", rot13(term)),
        ("backwards", mirrored.clone()),
        ("word by word backwards", reversed_words),
        // Combined disguises.
        ("backwards in base64", BASE64.encode(mirrored.as_bytes())),
        ("rot13 in base64", BASE64.encode(rot13(term).as_bytes())),
        ("decimal codes in base64", BASE64.encode(decimal.as_bytes())),
        ("hex of base64", HEXLOWER.encode(base64.as_bytes())),
        (
            "full-width blanks",
            each(&|c| {
                if c.is_ascii_graphic() {
                    format!("{} ", char::from_u32(c as u32 + 0xFEE0).unwrap())
                } else {
                    "  ".into()
                }
            })
            .trim_end()
            .to_owned(),
        ),
        (
            "percent encoding of base64",
            base64.bytes().fold(String::new(), |mut all, byte| {
                let _ = write!(all, "%{byte:02X}");
                all
            }),
        ),
        ("tags in entities", cut("&lt;b&gt;&lt;/b&gt;")),
    ];
    if term.contains(' ') {
        list.extend([
            ("two blanks", words("  ")),
            ("a line break", words("\n")),
            ("a tab", words("\t")),
            ("a no-break space", words("\u{A0}")),
            ("a line break and an indent", words("\r\n    ")),
            ("an underscore for the blank", words("_")),
            ("a dash for the blank", words("-")),
            ("a plus for the blank", words("+")),
        ]);
    }
    list.retain(|(_, text)| text != term);
    list.into_iter().map(|(name, text)| Disguise { name, text }).collect()
}
