//! Checks of values beyond their pattern: checksums, calendars, registries.
//!
//! Every check is a pure function of the matched text, including separators. Each cites its standard or document.

pub mod address;
pub mod africa;
pub mod americas;
pub mod asia_pacific;
pub mod bank;
pub mod calendar;
pub mod cards;
pub mod china;
pub mod crypto;
mod digits;
pub mod europe;
pub mod network;
pub mod phone;
pub mod russia;
pub mod vehicle;
pub mod verhoeff;

use serde::{Deserialize, Deserializer, de};

use crate::random::SplitMix64;
use phone::Phones;

/// A check, which recognizers refer to by name.
#[derive(Clone, Copy)]
pub struct Check {
    name: &'static str,
    test: Test,
    lookalike: Option<Lookalike>,
}

/// The function of a check.
#[derive(Clone, Copy)]
enum Test {
    Value(fn(&str) -> bool),
    /// A test that depends on the selected telephone regions.
    Phone(fn(&Phones, &str) -> bool),
}

/// Makes another value that passes a check from one that does.
pub(super) type Lookalike = fn(&str, &mut SplitMix64) -> Option<String>;

/// All checks by name. To add one, write a function in the module of its country or kind, and a row here.
const CHECKS: &[Check] = &[
    Check::new("aba", bank::is_aba),
    Check::new("address", address::is_address),
    Check::new("address-en", address::is_address_en),
    Check::new("address-en-doubtful", address::is_address_en_doubtful),
    Check::new("address-es", address::is_address_es),
    Check::new("au-abn", asia_pacific::is_au_abn),
    Check::new("au-acn", asia_pacific::is_au_acn),
    Check::new("au-medicare", asia_pacific::is_au_medicare),
    Check::new("au-tfn", asia_pacific::is_au_tfn),
    Check::new("base58check", crypto::is_base58check).with_lookalikes(crypto::like_base58check),
    Check::new("bech32", crypto::is_bech32).with_lookalikes(crypto::like_bech32),
    Check::new("br-cnpj", americas::is_br_cnpj),
    Check::new("br-cpf", americas::is_br_cpf),
    Check::new("ca-sin", americas::is_ca_sin),
    Check::new("credit-card", cards::is_card),
    Check::new("credit-card-apart", cards::is_card_apart),
    Check::new("credit-card-form", cards::is_issued),
    Check::new("date", calendar::is_date),
    Check::new("de-id-card", europe::is_de_id_card),
    Check::new("de-tax-id", europe::is_de_tax_id),
    Check::new("dea", americas::is_dea),
    Check::new("es-nie", europe::is_es_nie),
    Check::new("es-nif", europe::is_es_nif),
    Check::new("ethereum", crypto::is_ethereum).with_lookalikes(crypto::like_ethereum),
    Check::new("fi-hetu", europe::is_fi_hetu),
    Check::new("fr-nir", europe::is_fr_nir),
    Check::new("iban", bank::is_iban),
    Check::new("imei", cards::is_imei),
    Check::new("in-aadhaar", asia_pacific::is_in_aadhaar),
    Check::new("ip", network::is_ip),
    Check::new("it-fiscal-code", europe::is_it_fiscal_code),
    Check::new("it-vat", europe::is_it_vat),
    Check::new("known-ending", network::has_known_ending),
    Check::new("kr-rrn", asia_pacific::is_kr_rrn),
    Check::new("nl-bsn", europe::is_nl_bsn),
    Check::new("phone-exit", phone::is_valid_behind_exit),
    Check::new("phone-international", phone::is_valid_international),
    Check::of_phones("phone-national", Phones::is_valid_national),
    Check::new("phone-possible", phone::is_possible_international),
    Check::new("pl-pesel", europe::is_pl_pesel),
    Check::new("postal-code", address::is_postal_code),
    Check::new("ru-inn", russia::is_inn),
    Check::new("ru-ogrn", russia::is_ogrn),
    Check::new("ru-snils", russia::is_snils),
    Check::new("se-personnummer", europe::is_se_personnummer),
    Check::new("sg-nric", asia_pacific::is_sg_nric),
    Check::new("th-tnin", asia_pacific::is_th_tnin),
    Check::new("tr-tckn", europe::is_tr_tckn),
    Check::new("uk-nhs", europe::is_uk_nhs),
    Check::new("uk-nino", europe::is_uk_nino),
    Check::new("undated", calendar::is_undated),
    Check::new("us-itin", americas::is_us_itin),
    Check::new("us-ssn", americas::is_us_ssn),
    Check::new("vin", vehicle::is_vin),
    Check::new("vin-elsewhere", vehicle::is_vin_elsewhere),
    Check::new("za-id", africa::is_za_id),
    Check::new("zh-id", china::is_resident_id),
    Check::new("zh-uscc", china::is_uscc),
];

impl Check {
    const fn new(name: &'static str, test: fn(&str) -> bool) -> Self {
        Self {
            name,
            test: Test::Value(test),
            lookalike: None,
        }
    }

    const fn of_phones(name: &'static str, test: fn(&Phones, &str) -> bool) -> Self {
        Self {
            name,
            test: Test::Phone(test),
            lookalike: None,
        }
    }

    /// Adds a generator of lookalikes, for values whose checksum is a hash: random changes hardly ever lead to another
    /// valid value.
    const fn with_lookalikes(self, lookalike: Lookalike) -> Self {
        Self {
            lookalike: Some(lookalike),
            ..self
        }
    }

    /// The check of this name.
    fn from_name(name: &str) -> Option<Self> {
        CHECKS.iter().find(|check| check.name == name).copied()
    }

    /// Whether `value` passes. `phones` selects the telephone regions.
    pub(super) fn passes(self, value: &str, phones: &Phones) -> bool {
        match self.test {
            Test::Value(test) => test(value),
            Test::Phone(test) => test(phones, value),
        }
    }

    /// The generator of lookalikes, if random changes don't lead to valid values.
    pub(super) fn lookalike(self) -> Option<Lookalike> {
        self.lookalike
    }
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<'de> Deserialize<'de> for Check {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| {
            let known: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
            de::Error::custom(format!("unknown check {name}; known are: {}", known.join(", ")))
        })
    }
}

/// Asserts that a check accepts all sound values and none of the others.
#[cfg(test)]
fn accepts(check: fn(&str) -> bool, sound: &[&str], unsound: &[&str]) {
    for value in sound {
        assert!(check(value), "{value}");
    }
    for value in unsound {
        assert!(!check(value), "{value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own_and_a_recognizer() {
        assert!(CHECKS.windows(2).all(|pair| pair[0].name < pair[1].name));
        let sources = crate::pii::sources().unwrap();
        for check in CHECKS {
            assert!(sources.iter().any(|source| source.check == Some(*check)), "{check:?}");
        }
    }
}
