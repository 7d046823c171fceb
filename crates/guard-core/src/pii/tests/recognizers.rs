//! Tests of the recognizers, separately and together.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;

use crate::pii::recognizer::FILES;
use crate::pii::{CustomPattern, Options, PatternLimits, Recognizers, check_examples, merge, sources};
use crate::rules::data::examples::Example;

fn only(entities: &[&str]) -> Options {
    Options {
        entities: Some(entities.iter().map(|&entity| entity.to_owned()).collect()),
        ..Options::default()
    }
}

fn found<'a>(options: &Options, text: &'a str) -> Vec<(String, &'a str)> {
    let findings = Recognizers::new(options).unwrap().find(text).unwrap();
    let findings = merge(text, findings, options.threshold);
    findings
        .into_iter()
        .map(|finding| (finding.entity.to_string(), &text[finding.range]))
        .collect()
}

#[test]
fn every_recognizer_finds_its_examples_and_nothing_else() {
    let mut wrong = Vec::new();
    for (file, toml) in FILES {
        wrong.extend(check_examples(file, toml).unwrap());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn ids_and_priorities_are_in_order() {
    let sources = sources().unwrap();
    let ids: HashSet<&str> = sources.iter().map(|source| source.id.as_str()).collect();
    assert_eq!(ids.len(), sources.len(), "an id occurs twice");
    let known: BTreeSet<&str> = sources.iter().map(|source| source.entity.as_str()).collect();
    let priority = crate::pii::recognizer::priority().unwrap();
    let listed: BTreeSet<&str> = priority.iter().map(String::as_str).collect();
    assert_eq!(listed, known);
    assert_eq!(listed.len(), priority.len(), "a type occurs twice");
}

#[test]
fn unknown_keys_and_checks_are_errors() {
    let problem = |line: &str| {
        let toml = format!(
            "[[recognizer]]\nentity = 'X'\nid = 'x'\nsource = 'a standard'\nscore = 0.9\n{line}\n\
             matches = ['{{{{ab12}}}}']\nmisses = ['ab']"
        );
        match check_examples("x.toml", &toml) {
            Ok(failures) => failures
                .first()
                .map(|failure| failure.problem.clone())
                .unwrap_or_default(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(problem("pattern = 'ab\\d{2}'"), "");
    for (line, expected) in [
        ("patern = 'ab'", "unknown field `patern`"),
        (
            "pattern = 'ab'\ncheck = 'luhn'",
            "unknown check luhn; known are: aba, account",
        ),
        ("pattern = 'ab{digits}'", "unknown abbreviation {digits}; known are: "),
        ("pattern = '('", "unclosed group"),
        ("finder = 'url'\npattern = 'a'", "expected either a pattern or a finder"),
        ("pattern = 'ab\\d'", "expected [\"ab12\"], found []"),
    ] {
        assert!(problem(line).contains(expected), "{line}: {}", problem(line));
    }
}

#[test]
fn all_at_once_agree_with_the_examples() {
    let options = Options::default();
    let recognizers = Recognizers::new(&options).unwrap();
    let mut wrong = Vec::new();
    for source in sources()
        .unwrap()
        .iter()
        .filter(|source| !source.opt_in && source.languages.is_empty())
    {
        for marked in &source.matches {
            let Example { text, marked: expected } = Example::of_match(marked, &source.id).unwrap();
            let merged = merge(&text, recognizers.find(&text).unwrap(), options.threshold);
            for range in expected {
                let covered = merged
                    .iter()
                    .any(|finding| finding.range.start <= range.start && finding.range.end >= range.end);
                if !covered {
                    wrong.push(format!("{}: {marked}: {merged:?}", source.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_nearer_word_decides() {
    let text = "ИНН 7707083893, телефон 8 495 637-58-05";
    let found = found(&Options::default(), text);
    assert_eq!(
        found,
        [
            ("RU_INN".to_owned(), "7707083893"),
            ("PHONE_NUMBER".to_owned(), "8 495 637-58-05")
        ]
    );
}

#[test]
fn a_word_speaks_of_the_value_beside_it() {
    let types = |text: &str| -> Vec<String> {
        let found = found(&Options::default(), text).into_iter();
        found.map(|(entity, _)| entity).collect()
    };
    for text in [
        "My driver's licence is D1234567 and my passport 123456789.",
        "Driver's license: D1234567\nPassport: 123456789",
        "driver's license D1234567 (issued 2019), passport no. 123456789",
        "D1234567 (driver's licence), 123456789 (passport)",
        "Führerschein B072RRE2155, Reisepass 123456789",
    ] {
        assert_eq!(types(text), ["DRIVER_LICENSE", "PASSPORT"], "{text}");
    }
    for text in [
        "My passport is 123456789 and my driver's licence D1234567.",
        "passport 123456789, driver's licence 987654321",
        "123456789 (passport), D1234567 (driver's licence)",
    ] {
        assert_eq!(types(text), ["PASSPORT", "DRIVER_LICENSE"], "{text}");
    }
    assert_eq!(types("passports 123456789 and 987654321"), ["PASSPORT", "PASSPORT"]);
}

#[test]
fn two_values_with_a_slash() {
    for (text, expected) in [
        (
            "тел. 8-916-123-45-67/8-916-765-43-21",
            &["PHONE_NUMBER 8-916-123-45-67", "PHONE_NUMBER 8-916-765-43-21"][..],
        ),
        (
            "тел. 8 (916) 123-45-67/8 (916) 765-43-21",
            &["PHONE_NUMBER 8 (916) 123-45-67", "PHONE_NUMBER 8 (916) 765-43-21"],
        ),
        (
            "call 415-555-2671/415-555-2672",
            &["PHONE_NUMBER 415-555-2671", "PHONE_NUMBER 415-555-2672"],
        ),
        (
            "我的电话13800138000/13900139000",
            &["PHONE_NUMBER 13800138000", "PHONE_NUMBER 13900139000"],
        ),
        ("ИНН/КПП 7707083893/770701001", &["RU_INN 7707083893"]),
        ("реквизиты: 7707083893/770701001", &["RU_INN 7707083893"]),
        (
            "СНИЛС/ИНН 112-233-445 95/500100732259",
            &["RU_SNILS 112-233-445 95", "RU_INN 500100732259"],
        ),
        (
            "SSN:239-02-7946/912-70-1234",
            &["US_SSN 239-02-7946", "US_ITIN 912-70-1234"],
        ),
        ("calls pass on 502/503/504", &[]),
    ] {
        let found = found(&Options::default(), text);
        let found: Vec<String> = found
            .iter()
            .map(|(entity, value)| format!("{entity} {value}"))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn an_account_is_no_card() {
    let types = |text: &str| -> Vec<String> {
        found(&Options::default(), text)
            .into_iter()
            .map(|(entity, _)| entity)
            .collect()
    };
    assert_eq!(types("银行卡号6222021234567890123"), ["ZH_BANK_ACCOUNT"]);
    assert_eq!(types("银行卡号6200000000000005"), ["CREDIT_CARD"]);
    assert_eq!(types("р/с 40702810900000012345"), ["RU_BANK_ACCOUNT"]);
}

#[test]
fn nothing_in_plain_texts() {
    for text in [
        "The recipe needs 250 grams of flour and two eggs.",
        "Order 7734-2210 contains 4 items for 129.99 in total.",
        "In 2024 the GDP grew by 3.2% to 27,720,700 million; see page 12-15, version 1.2.3.",
        "Встреча 12 марта в 15:30, бюджет 1 500 000 руб., код 404.",
        "会议持续30分钟，12项提案中的3项通过了，编号为20240115。",
        "for (let i = 0; i < 1000000; i++) total += i * 0x1f; // 123456789",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "",
    ] {
        assert_eq!(found(&Options::default(), text), [], "{text}");
    }
}

#[test]
fn nothing_beside_words_of_something_else() {
    for text in [
        "Документы по заказу 1234567890 готовы",
        "Номер документа 1234567890 в системе СЭД",
        "Договор №1234567890, документы",
        "Серия прошивки 1234567890",
        "Ваши права 1234567890 по закону",
        "полис 1234567890123456 КАСКО",
        "buy a 500 GB Hard Drive",
        "In 2020 Supreme Court decisions",
        "In 1999 Abbey Road was reissued",
        "Windows 11 Home Park",
        "Meet at 5 PM Central Park",
        "I have 15 GB Google Drive space",
        "On page 12 Park Street is mentioned",
        "2023 Toyota Park Way",
        "El camino de Santiago 2024",
        "La carretera A-7, 12 km",
        "площадь Ленина 300 метров",
        "The bank raised $12000000 in 2023",
        "Order 12345678 was charged to my debit card",
        "Please check my account settings for build 20240131",
        "Save 50% on savings: code 12345678",
        "MIT License Copyright 20230101",
        "We signed the license on 20240501",
        "This software license key 1234567890",
        "Version 2.10.3.1 released",
        "nuget package 13.0.100.4 and 4.18.2.10",
        "kernel 5.15.0.91",
        "section 10.2.3.4 of the manual",
        "Figure 12.1.3.4",
        "версия 2.10.3.1",
        "Call the function with 1234567890 as the seed",
        "Call me about ticket 4155552671",
        "Unix time 1712345678 when phone call ended",
        "phone case 1234567 costs $10",
        "звонок длился 1234567 секунд",
        "model ST123456A",
        "order 912-70-1234",
        "Dimensions 123 45 6789 mm",
        "编号15912345678的商品",
        "价格 1380013 8000",
        "born in Berlin; invoice 12/05/2023 paid",
        "会议 2023年5月6日 出生率 1.09",
    ] {
        assert_eq!(found(&Options::default(), text), [], "{text}");
    }
}

#[test]
fn addresses_are_whole() {
    for text in [
        "г Москва, ул Ленина, д 5, кв 12",
        "просп. Ленина, д.5к2",
        "ул. Ленина, 5-12",
        "1-я Тверская-Ямская ул., 10",
        "Б. Садовая ул., 10",
        "成都市武侯区人民南路四段11号附1号",
        "四川省成都市高新区天府大道北段1700号",
        "广州市体育西路101号维多利广场A座18楼",
    ] {
        assert_eq!(found(&Options::default(), text), [("STREET_ADDRESS".to_owned(), text)]);
    }
    let text = "地址：文三路 478 号 3 单元 502";
    let address = text.trim_start_matches("地址：");
    assert_eq!(
        found(&Options::default(), text),
        [("STREET_ADDRESS".to_owned(), address)]
    );
}

#[test]
fn full_width_characters() {
    let text =
        "卡号：４１１１　１１１１　１１１１　１１１１，邮箱ａｎｎ＠ｅｘａｍｐｌｅ．ｏｒｇ，电话（０１０）64265344。";
    let expected = [
        ("CREDIT_CARD", "４１１１　１１１１　１１１１　１１１１"),
        ("EMAIL_ADDRESS", "ａｎｎ＠ｅｘａｍｐｌｅ．ｏｒｇ"),
        ("PHONE_NUMBER", "（０１０）64265344"),
    ];
    assert_eq!(
        found(&Options::default(), text),
        expected.map(|(entity, value)| (entity.to_owned(), value))
    );
    let mut options = only(&["EMAIL_ADDRESS"]);
    options.allowed.push("ａｎｎ＠ｅｘａｍｐｌｅ．ｏｒｇ".to_owned());
    assert_eq!(found(&options, text), []);
}

#[test]
fn fields_in_snake_case() {
    let found = found(
        &Options::default(),
        "card_4111111111111111, phone_number: 020 7946 0958",
    );
    assert_eq!(
        found,
        [
            ("CREDIT_CARD".to_owned(), "4111111111111111"),
            ("PHONE_NUMBER".to_owned(), "020 7946 0958")
        ]
    );
}

#[test]
fn patterns_of_the_user() {
    let mut options = only(&["EMAIL_ADDRESS"]);
    options.patterns.push(CustomPattern {
        id: "staff".to_owned(),
        entity: "STAFF_ID".to_owned(),
        expressions: vec![r"\bE-\d{5}\b".to_owned(), r"(?<=no )\d{4}".to_owned()],
        words: Vec::new(),
        context: vec!["staff".to_owned()],
        score: 0.3,
        languages: Vec::new(),
    });
    assert_eq!(found(&options, "E-12345"), []);
    let text = "staff no 1234 and E-12345, a@b.org";
    let expected = [
        ("STAFF_ID", "1234"),
        ("STAFF_ID", "E-12345"),
        ("EMAIL_ADDRESS", "a@b.org"),
    ];
    assert_eq!(
        found(&options, text),
        expected.map(|(entity, value)| (entity.to_owned(), value))
    );

    options.patterns[0].expressions.push("(".to_owned());
    assert_eq!(Recognizers::new(&options).unwrap_err().path, "patterns.0.expressions.2");
    options.patterns[0].score = 1.5;
    assert_eq!(Recognizers::new(&options).unwrap_err().path, "patterns.0.score");
}

#[test]
fn words_of_the_user() {
    let mut options = only(&[]);
    options.patterns.push(CustomPattern {
        id: "titles.words".to_owned(),
        entity: "TITLE".to_owned(),
        words: vec!["Mr.".to_owned(), "Fräulein".to_owned()],
        score: 1.0,
        ..CustomPattern::default()
    });
    let text = "MR. Smith, fra\u{308}ulein X, Mrs. Y, Fräuleins";
    let of_title = |value: &str| ("TITLE".to_owned(), value.to_owned());
    let found: Vec<_> = found(&options, text)
        .into_iter()
        .map(|(entity, value)| (entity, value.to_owned()))
        .collect();
    assert_eq!(found, [of_title("MR."), of_title("fra\u{308}ulein")]);

    options.patterns[0].words.push(String::new());
    assert_eq!(Recognizers::new(&options).unwrap_err().path, "patterns.0.words.2");
}

#[test]
fn patterns_of_a_request_take_linear_time() {
    let path_of = |expression: &str| {
        let pattern = CustomPattern {
            entity: "MINE".to_owned(),
            expressions: vec!["a".to_owned(), expression.to_owned()],
            ..CustomPattern::default()
        };
        let options = Options {
            patterns: vec![pattern],
            pattern_limits: PatternLimits::Request,
            ..only(&[])
        };
        Recognizers::new(&options).err().map(|error| error.path)
    };
    for expression in [
        r"(?ims)\b\d{3}-\d{2}-\d{4}\b",
        r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
        r"\w{8}",
    ] {
        assert_eq!(path_of(expression), None, "{expression}");
    }
    let path = Some("patterns.0.expressions.1".to_owned());
    for expression in [r"(?<=no )\d{4}", r"(a)\1", r"\w{500}", "(?:[ab]{1,100}c?){100}x", "("] {
        assert_eq!(path_of(expression), path, "{expression}");
    }
}

#[test]
fn evidence() {
    let evidence = |text: &str| {
        let findings = Recognizers::new(&Options::default()).unwrap().find(text).unwrap();
        let found = merge(text, findings, 0.5).remove(0);
        let check = found.evidence.check.map(|check| (check.name, check.has_passed));
        (
            found.recognizer.to_string(),
            found.evidence.context.map(|word| word.to_string()),
            check,
        )
    };
    let of =
        |recognizer: &str, context: Option<&str>, check| (recognizer.to_owned(), context.map(str::to_owned), check);
    assert_eq!(evidence("ann@example.org"), of("email", None, None));
    assert_eq!(
        evidence("PESEL: 44051401359"),
        of("pl-pesel", Some("pesel"), Some(("pl-pesel", true)))
    );
    assert_eq!(
        evidence("PESEL: 44051401358"),
        of("pl-pesel", Some("pesel"), Some(("pl-pesel", false)))
    );
    assert_eq!(
        evidence("4111 1111 1111 1111"),
        of("credit-card", None, Some(("credit-card", true)))
    );
}

#[test]
fn regions_and_allowed_values() {
    let text = "Rufen Sie an: Telefon 030/9045575";
    let mut options = only(&["PHONE_NUMBER"]);
    options.regions = Some(vec!["DE".to_owned()]);
    assert_eq!(found(&options, text), [("PHONE_NUMBER".to_owned(), "030/9045575")]);
    options.regions = Some(vec!["US".to_owned()]);
    assert_eq!(found(&options, text), []);
    options.regions = Some(vec!["US".to_owned(), "??".to_owned()]);
    assert_eq!(Recognizers::new(&options).unwrap_err().path, "regions.1");

    let mut options = only(&["EMAIL_ADDRESS"]);
    options.allowed.push("Info@Example.com".to_owned());
    let text = "info@example.com, boss@example.com";
    assert_eq!(
        found(&options, text),
        [("EMAIL_ADDRESS".to_owned(), "boss@example.com")]
    );
}

#[test]
fn languages_choose_recognizers_and_words() {
    let mut options = only(&["PHONE_NUMBER_ZH"]);
    options.languages = vec!["en".to_owned()];
    assert_eq!(found(&options, "电话13011112222"), []);
    options.languages = vec!["zh".to_owned()];
    assert_eq!(
        found(&options, "电话13011112222"),
        [("PHONE_NUMBER_ZH".to_owned(), "13011112222")]
    );
    let mut options = only(&["RU_INN"]);
    options.languages = vec!["de".to_owned()];
    assert_eq!(found(&options, "ИНН 7707083893"), []);
    options.languages = vec!["ru".to_owned()];
    assert_eq!(found(&options, "ИНН 7707083893").len(), 1);
}

proptest! {
    #[test]
    fn any_text(text in "(?s).{0,200}", noise in r"[0-9@+().:/ \-a-zа-я№省市号,#$]{0,200}") {
        thread_local! {
            static ALL: Recognizers = Recognizers::new(&Options { threshold: 0.0, ..Options::default() }).unwrap();
        }
        for text in [text.clone(), noise.clone(), text + &noise] {
            let findings = ALL.with(|all| all.find(&text)).unwrap();
            for finding in &findings {
                prop_assert!(text.get(finding.range.clone()).is_some_and(|value| !value.is_empty()));
            }
            let merged = merge(&text, findings, 0.0);
            for pair in merged.windows(2) {
                prop_assert!(pair[0].range.end <= pair[1].range.start);
            }
            for finding in &merged {
                prop_assert!(text.get(finding.range.clone()).is_some_and(|value| !value.is_empty()));
            }
        }
    }
}
