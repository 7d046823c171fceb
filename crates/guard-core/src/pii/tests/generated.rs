//! Thousands of generated numbers: all valid ones are found in context, and none with a wrong check digit.

use std::sync::LazyLock;

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::pii::checks::phone::Phones;
use crate::pii::{Checksum, Options, Recognizers, sources};

/// A type, the text before its numbers, its format, the letters of the format, and its check characters. The check is
/// that of the first recognizer of the type.
///
/// In the format, `0` is any digit, `A` any of the letters, and `#` a check character.
type Kind = (&'static str, &'static str, &'static str, &'static [u8], &'static [u8]);

const DIGITS: &[u8] = b"0123456789";
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const KINDS: [Kind; 44] = [
    // After a word such as "карта", a grouped number is found whatever its checksum, so other words are used here.
    ("CREDIT_CARD", "card", "400000000000000#", b"", DIGITS),
    ("CREDIT_CARD", "оплата", "2200 0000 0000 000#", b"", DIGITS),
    ("CREDIT_CARD", "银行卡号", "622000000000000000#", b"", DIGITS),
    ("CREDIT_CARD", "paid with", "3700-000000-0000#", b"", DIGITS),
    ("IBAN_CODE", "IBAN", "DE## 0000 0000 0000 0000 00", b"", DIGITS),
    ("IBAN_CODE", "IBAN", "GB##NWBK00000000000000", b"", DIGITS),
    ("US_ABA_ROUTING", "routing number", "02100000#", b"", DIGITS),
    ("UK_NHS", "NHS number", "400 000 000#", b"", DIGITS),
    ("ES_NIF", "DNI", "00000000#", b"", LETTERS),
    ("ES_NIE", "NIE", "X0000000#", b"", LETTERS),
    (
        "IT_FISCAL_CODE",
        "codice fiscale",
        "AAAAAA81A11A000#",
        b"ABCDEHLMPRST",
        LETTERS,
    ),
    ("IT_VAT_CODE", "partita IVA", "0000000000#", b"", DIGITS),
    ("DE_TAX_ID", "Steuer-ID", "1123456789#", b"", DIGITS),
    ("DE_ID_CARD", "Personalausweis", "L00A00T00#", b"CFGHJK", DIGITS),
    ("FR_NIR", "sécurité sociale", "1800575000000##", b"", DIGITS),
    ("PL_PESEL", "PESEL", "8112140000#", b"", DIGITS),
    ("NL_BSN", "BSN", "10000000#", b"", DIGITS),
    (
        "FI_PERSONAL_IDENTITY_CODE",
        "hetu",
        "131052-000#",
        b"",
        b"0123456789ABCDEFHJKLMNPRSTUVWXY",
    ),
    ("SE_PERSONNUMMER", "personnummer", "811214-000#", b"", DIGITS),
    ("TR_NATIONAL_ID", "TCKN", "100000000##", b"", DIGITS),
    ("RU_INN", "ИНН", "770000000#", b"", DIGITS),
    ("RU_INN", "ИНН", "5000000000##", b"", DIGITS),
    ("RU_SNILS", "СНИЛС", "100-000-000 ##", b"", DIGITS),
    ("RU_SNILS", "СНИЛС", "100000000##", b"", DIGITS),
    ("RU_OGRN", "ОГРН", "102000000000#", b"", DIGITS),
    ("RU_OGRN", "ОГРНИП", "30400000000000#", b"", DIGITS),
    ("ZH_ID", "身份证号", "11010519811214000#", b"", b"0123456789X"),
    (
        "ZH_USCC",
        "统一社会信用代码",
        "9135010000A0000A0#",
        b"ACDEFGHJ",
        b"0123456789ABCDEFGHJKLMNPQRTUWXY",
    ),
    ("IN_AADHAAR", "Aadhaar", "2000 0000 000#", b"", DIGITS),
    ("AU_TFN", "TFN", "10000000#", b"", DIGITS),
    ("AU_ABN", "ABN", "##000000000", b"", DIGITS),
    ("AU_ACN", "ACN", "00000000#", b"", DIGITS),
    ("AU_MEDICARE", "Medicare", "20000000#0", b"", DIGITS),
    ("SG_NRIC_FIN", "NRIC", "S0000000#", b"", LETTERS),
    ("KR_RRN", "주민등록번호", "911214-100000#", b"", DIGITS),
    ("TH_TNIN", "Thai ID", "1-0000-00000-00-#", b"", DIGITS),
    ("BR_CPF", "CPF", "000.000.000-##", b"", DIGITS),
    ("BR_CNPJ", "CNPJ", "00.000.000/0001-##", b"", DIGITS),
    ("BR_CNPJ", "CNPJ", "A0.A00.0A0/0001-##", LETTERS, DIGITS),
    ("CA_SIN", "SIN", "100 000 00#", b"", DIGITS),
    ("MEDICAL_LICENSE", "DEA", "AB000000#", b"AB", DIGITS),
    ("ZA_ID", "ID number", "811214000018#", b"", DIGITS),
    ("IMEI", "IMEI", "35000000000000#", b"", DIGITS),
    (
        "VIN",
        "VIN",
        "1AAAA000#AA000000",
        b"ABCDEFGHJKLMNPRSTUVWXYZ",
        b"0123456789X",
    ),
];

static NO_PHONES: LazyLock<Phones> = LazyLock::new(|| Phones::new::<String>(&[]).unwrap());
static ALL: LazyLock<Recognizers> = LazyLock::new(|| {
    let options = Options {
        checksum: Checksum::Strict,
        ..Options::default()
    };
    Recognizers::new(&options).unwrap()
});

/// A number with valid check characters, and one whose last check character is wrong; `None` if no check character
/// fits, as with modulus 11.
fn make(kind: &Kind, seed: &[u16]) -> Option<(String, String)> {
    let &(entity, _, form, letters, checks) = kind;
    let source = sources()
        .unwrap()
        .iter()
        .find(|source| source.entity == entity)
        .unwrap();
    let check = source.check.unwrap();
    let mut seed = seed.iter().map(|&value| usize::from(value));
    let mut pick = |from: &[u8]| from[seed.next().unwrap_or(7) % from.len()];
    let mut value: Vec<u8> = Vec::new();
    let mut check_indices = Vec::new();
    // Literal digits are few; zeros from the third character on stand for any digit.
    for (index, byte) in form.bytes().enumerate() {
        value.push(match byte {
            b'0' if index > 1 || letters == LETTERS => pick(DIGITS),
            b'A' if !letters.is_empty() => pick(letters),
            other => other,
        });
        if byte == b'#' {
            check_indices.push(index);
        }
    }
    let mut fits = Vec::new();
    let combinations = checks.len().pow(check_indices.len() as u32);
    for combination in 0..combinations {
        let mut rest = combination;
        for &index in &check_indices {
            value[index] = checks[rest % checks.len()];
            rest /= checks.len();
        }
        if check.passes(std::str::from_utf8(&value).unwrap(), &NO_PHONES) {
            fits.push(value.clone());
        }
    }
    let valid = fits.first()?.clone();
    let last = *check_indices.last()?;
    let wrong = checks.iter().map(|&check| {
        let mut wrong = valid.clone();
        wrong[last] = check;
        wrong
    });
    let wrong = wrong.into_iter().find(|wrong| !fits.contains(wrong))?;
    Some((String::from_utf8(valid).unwrap(), String::from_utf8(wrong).unwrap()))
}

fn has(entity: &str, text: &str, value: &str) -> bool {
    let start = text.find(value).unwrap();
    let findings = ALL.find(text).unwrap();
    findings
        .iter()
        .any(|finding| *finding.entity == *entity && finding.range == (start..start + value.len()))
}

proptest! {
    #[test]
    fn valid_numbers_are_found_and_wrong_ones_are_not(
        seed in prop::collection::vec(any::<u16>(), 32),
        tail in prop::sample::select(vec![".", "", ", thanks", " и ещё", "。", "\n"]),
    ) {
        for kind in &KINDS {
            let (entity, lead, ..) = *kind;
            let Some((valid, wrong)) = make(kind, &seed) else { continue };
            for lead in [format!("{lead} "), format!("{lead}: ")] {
                let text = format!("{lead}{valid}{tail}");
                prop_assert!(has(entity, &text, &valid), "{entity}: {text}");
                let text = format!("{lead}{wrong}{tail}");
                prop_assert!(!has(entity, &text, &wrong), "{entity}: {text}");
            }
        }
    }

    #[test]
    fn addresses_of_wallets(payload in any::<[u8; 20]>(), script in any::<bool>(), flip in 0usize..20) {
        let mut bytes = vec![if script { 5 } else { 0 }];
        bytes.extend(payload);
        let checksum = Sha256::digest(Sha256::digest(&bytes));
        bytes.extend(&checksum[..4]);
        let address = bs58::encode(&bytes).into_string();
        let text = format!("send to {address}.");
        prop_assert!(has("CRYPTO", &text, &address), "{text}");
        bytes[1 + flip] ^= 1;
        let wrong = bs58::encode(&bytes).into_string();
        let text = format!("send to {wrong}.");
        prop_assert!(!has("CRYPTO", &text, &wrong), "{text}");

        let network = bech32::Hrp::parse("bc").unwrap();
        let address = bech32::segwit::encode(network, bech32::Fe32::Q, &payload).unwrap();
        let text = format!("to {address},");
        prop_assert!(has("CRYPTO", &text, &address), "{text}");
    }
}

#[test]
fn every_kind_can_be_made() {
    let seeds = [
        [3u16, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8],
        [2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 6],
        [1, 6, 1, 8, 0, 3, 3, 9, 8, 8, 7, 5],
    ];
    for kind in &KINDS {
        assert!(
            seeds.iter().any(|seed| make(kind, seed).is_some()),
            "{} {}",
            kind.0,
            kind.2
        );
    }
}
