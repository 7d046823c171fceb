//! What must hold of a number beside its shape: checksums, calendars, registries.
//!
//! Every check is a pure function of the text that a pattern matched, separators and all. Each names the standard or the
//! document that it follows.

pub mod address;
pub mod africa;
pub mod americas;
pub mod asia_pacific;
pub mod bank;
pub mod calendar;
pub mod cards;
pub mod china;
pub mod crypto;
pub mod europe;
pub mod network;
pub mod phone;
pub mod russia;
pub mod vehicle;
pub mod verhoeff;

use serde::Deserialize;

use phone::Phones;

/// A check, as the table of recognizers names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each is documented at its function")]
pub enum Check {
    Aba,
    Address,
    AddressEn,
    AddressEnDoubtful,
    AddressEs,
    AuAbn,
    AuAcn,
    AuMedicare,
    AuTfn,
    Base58check,
    Bech32,
    BrCnpj,
    BrCpf,
    CaSin,
    CreditCard,
    Date,
    Dea,
    DeIdCard,
    DeTaxId,
    EsNie,
    EsNif,
    Ethereum,
    FiHetu,
    FrNir,
    Iban,
    Imei,
    InAadhaar,
    Ip,
    ItFiscalCode,
    ItVat,
    KrRrn,
    NlBsn,
    PhoneInternational,
    PhoneNational,
    PhonePossible,
    PlPesel,
    RuInn,
    RuOgrn,
    RuSnils,
    SePersonnummer,
    SgNric,
    ThTnin,
    TrTckn,
    UkNhs,
    UkNino,
    Undated,
    UsItin,
    UsSsn,
    Vin,
    VinElsewhere,
    ZaId,
    ZhId,
    ZhUscc,
}

impl Check {
    /// Whether `value` passes. `phones` says in which regions telephone numbers are looked for.
    pub(super) fn passes(self, value: &str, phones: &Phones) -> bool {
        match self {
            Self::Aba => bank::is_aba(value),
            Self::Address => address::is_address(value),
            Self::AddressEn => address::is_address_en(value),
            Self::AddressEnDoubtful => address::is_address_en_doubtful(value),
            Self::AddressEs => address::is_address_es(value),
            Self::AuAbn => asia_pacific::is_au_abn(value),
            Self::AuAcn => asia_pacific::is_au_acn(value),
            Self::AuMedicare => asia_pacific::is_au_medicare(value),
            Self::AuTfn => asia_pacific::is_au_tfn(value),
            Self::Base58check => crypto::is_base58check(value),
            Self::Bech32 => crypto::is_bech32(value),
            Self::BrCnpj => americas::is_br_cnpj(value),
            Self::BrCpf => americas::is_br_cpf(value),
            Self::CaSin => americas::is_ca_sin(value),
            Self::CreditCard => cards::is_card(value),
            Self::Date => calendar::is_date(value),
            Self::Dea => americas::is_dea(value),
            Self::DeIdCard => europe::is_de_id_card(value),
            Self::DeTaxId => europe::is_de_tax_id(value),
            Self::EsNie => europe::is_es_nie(value),
            Self::EsNif => europe::is_es_nif(value),
            Self::Ethereum => crypto::is_ethereum(value),
            Self::FiHetu => europe::is_fi_hetu(value),
            Self::FrNir => europe::is_fr_nir(value),
            Self::Iban => bank::is_iban(value),
            Self::Imei => cards::is_imei(value),
            Self::InAadhaar => asia_pacific::is_in_aadhaar(value),
            Self::Ip => network::is_ip(value),
            Self::ItFiscalCode => europe::is_it_fiscal_code(value),
            Self::ItVat => europe::is_it_vat(value),
            Self::KrRrn => asia_pacific::is_kr_rrn(value),
            Self::NlBsn => europe::is_nl_bsn(value),
            Self::PhoneInternational => phone::is_valid_international(value),
            Self::PhoneNational => phones.is_valid_national(value),
            Self::PhonePossible => phone::is_possible_international(value),
            Self::PlPesel => europe::is_pl_pesel(value),
            Self::RuInn => russia::is_inn(value),
            Self::RuOgrn => russia::is_ogrn(value),
            Self::RuSnils => russia::is_snils(value),
            Self::SePersonnummer => europe::is_se_personnummer(value),
            Self::SgNric => asia_pacific::is_sg_nric(value),
            Self::ThTnin => asia_pacific::is_th_tnin(value),
            Self::TrTckn => europe::is_tr_tckn(value),
            Self::UkNhs => europe::is_uk_nhs(value),
            Self::UkNino => europe::is_uk_nino(value),
            Self::Undated => calendar::is_undated(value),
            Self::UsItin => americas::is_us_itin(value),
            Self::UsSsn => americas::is_us_ssn(value),
            Self::Vin => vehicle::is_vin(value),
            Self::VinElsewhere => vehicle::is_vin_elsewhere(value),
            Self::ZaId => africa::is_za_id(value),
            Self::ZhId => china::is_resident_id(value),
            Self::ZhUscc => china::is_uscc(value),
        }
    }
}

/// The values of the ASCII digits in `value`, in order.
fn digits(value: &str) -> Vec<u32> {
    value
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(|byte| u32::from(byte - b'0'))
        .collect()
}

/// The ASCII letters and digits in `value`, in upper case.
fn alphanumerics(value: &str) -> Vec<u8> {
    value
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_uppercase())
        .collect()
}

/// Letters and digits as numbers from 0 to 35: `A` is 10.
fn base36(byte: u8) -> u32 {
    match byte {
        b'0'..=b'9' => u32::from(byte - b'0'),
        b'A'..=b'Z' => u32::from(byte - b'A') + 10,
        _ => 0,
    }
}

/// The sum of the digits, each times the weight at its place.
fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The digits as one number.
fn number(digits: &[u32]) -> u64 {
    digits.iter().fold(0, |number, &digit| number * 10 + u64::from(digit))
}

/// Whether all digits are the same: what a person writes who has no number.
fn is_monotonous(digits: &[u32]) -> bool {
    digits.iter().all(|digit| Some(digit) == digits.first())
}

/// Asserts that a check takes all sound values and none of the others.
#[cfg(test)]
fn accepts(check: fn(&str) -> bool, sound: &[&str], unsound: &[&str]) {
    for value in sound {
        assert!(check(value), "{value}");
    }
    for value in unsound {
        assert!(!check(value), "{value}");
    }
}
