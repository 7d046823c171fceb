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
    Check::of("aba", bank::is_aba),
    Check::of("address", address::is_address),
    Check::of("address-en", address::is_address_en),
    Check::of("address-en-doubtful", address::is_address_en_doubtful),
    Check::of("address-es", address::is_address_es),
    Check::of("au-abn", asia_pacific::is_au_abn),
    Check::of("au-acn", asia_pacific::is_au_acn),
    Check::of("au-medicare", asia_pacific::is_au_medicare),
    Check::of("au-tfn", asia_pacific::is_au_tfn),
    Check::of("base58check", crypto::is_base58check).with_lookalikes(crypto::like_base58check),
    Check::of("bech32", crypto::is_bech32).with_lookalikes(crypto::like_bech32),
    Check::of("br-cnpj", americas::is_br_cnpj),
    Check::of("br-cpf", americas::is_br_cpf),
    Check::of("ca-sin", americas::is_ca_sin),
    Check::of("credit-card", cards::is_card),
    Check::of("credit-card-apart", cards::is_card_apart),
    Check::of("credit-card-form", cards::is_issued),
    Check::of("date", calendar::is_date),
    Check::of("de-id-card", europe::is_de_id_card),
    Check::of("de-tax-id", europe::is_de_tax_id),
    Check::of("dea", americas::is_dea),
    Check::of("es-nie", europe::is_es_nie),
    Check::of("es-nif", europe::is_es_nif),
    Check::of("ethereum", crypto::is_ethereum).with_lookalikes(crypto::like_ethereum),
    Check::of("fi-hetu", europe::is_fi_hetu),
    Check::of("fr-nir", europe::is_fr_nir),
    Check::of("iban", bank::is_iban),
    Check::of("imei", cards::is_imei),
    Check::of("in-aadhaar", asia_pacific::is_in_aadhaar),
    Check::of("ip", network::is_ip),
    Check::of("it-fiscal-code", europe::is_it_fiscal_code),
    Check::of("it-vat", europe::is_it_vat),
    Check::of("known-ending", network::has_known_ending),
    Check::of("kr-rrn", asia_pacific::is_kr_rrn),
    Check::of("nl-bsn", europe::is_nl_bsn),
    Check::of("phone-exit", phone::is_valid_behind_exit),
    Check::of("phone-international", phone::is_valid_international),
    Check::of_phones("phone-national", Phones::is_valid_national),
    Check::of("phone-possible", phone::is_possible_international),
    Check::of("pl-pesel", europe::is_pl_pesel),
    Check::of("postal-code", address::is_postal_code),
    Check::of("ru-inn", russia::is_inn),
    Check::of("ru-ogrn", russia::is_ogrn),
    Check::of("ru-snils", russia::is_snils),
    Check::of("se-personnummer", europe::is_se_personnummer),
    Check::of("sg-nric", asia_pacific::is_sg_nric),
    Check::of("th-tnin", asia_pacific::is_th_tnin),
    Check::of("tr-tckn", europe::is_tr_tckn),
    Check::of("uk-nhs", europe::is_uk_nhs),
    Check::of("uk-nino", europe::is_uk_nino),
    Check::of("undated", calendar::is_undated),
    Check::of("us-itin", americas::is_us_itin),
    Check::of("us-ssn", americas::is_us_ssn),
    Check::of("vin", vehicle::is_vin),
    Check::of("vin-elsewhere", vehicle::is_vin_elsewhere),
    Check::of("za-id", africa::is_za_id),
    Check::of("zh-id", china::is_resident_id),
    Check::of("zh-uscc", china::is_uscc),
];

impl Check {
    const fn of(name: &'static str, test: fn(&str) -> bool) -> Self {
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
    fn named(name: &str) -> Option<Self> {
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
        Self::named(&name).ok_or_else(|| {
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
