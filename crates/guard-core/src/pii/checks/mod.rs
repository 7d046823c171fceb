//! Checks of values beyond their pattern: checksums, calendars, registries.
//!
//! Every check is a pure function of the matched text, including separators. Each cites its standard or document.

pub mod address;
pub mod africa;
pub mod asia_pacific;
pub mod bank;
pub mod calendar;
pub mod cards;
pub mod china;
pub mod crypto;
pub(super) mod digits;
pub mod eastern_europe;
pub mod identity;
pub mod latin_america;
pub mod middle_east;
pub mod network;
pub mod north_america;
pub mod northern_europe;
pub mod phone;
pub mod russia;
pub mod vehicle;
pub mod verhoeff;
pub mod western_europe;

use serde::{Deserialize, Deserializer, de};

use crate::random::SplitMix64;
use phone::Phones;

/// A check, which recognizers refer to by name.
#[derive(Clone, Copy)]
pub struct Check {
    name: &'static str,
    test: Test,
    lookalike: Option<Lookalike>,
    is_checksum: bool,
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
    Check::new("account", identity::is_account).of_form(),
    Check::new("address", address::is_address).of_form(),
    Check::new("ae-id", middle_east::is_ae_id),
    Check::new("ar-cbu", latin_america::is_ar_cbu),
    Check::new("ar-cuit", latin_america::is_ar_cuit),
    Check::new("at-svnr", western_europe::is_at_svnr),
    Check::new("at-vat", western_europe::is_at_vat),
    Check::new("au-abn", asia_pacific::is_au_abn),
    Check::new("au-acn", asia_pacific::is_au_acn),
    Check::new("au-medicare", asia_pacific::is_au_medicare),
    Check::new("au-tfn", asia_pacific::is_au_tfn),
    Check::new("baltic-id", northern_europe::is_baltic_id),
    Check::new("bank-code", identity::is_bank_code).of_form(),
    Check::new("base58check", crypto::is_base58check).with_lookalikes(crypto::like_base58check),
    Check::new("be-enterprise", western_europe::is_be_enterprise),
    Check::new("be-national-number", western_europe::is_be_national_number),
    Check::new("bech32", crypto::is_bech32).with_lookalikes(crypto::like_bech32),
    Check::new("bg-egn", eastern_europe::is_bg_egn),
    Check::new("bg-eik", eastern_europe::is_bg_eik),
    Check::new("bg-lnch", eastern_europe::is_bg_lnch),
    Check::new("bic", bank::is_bic).of_form(),
    Check::new("birth-date", calendar::is_birth_date).of_form(),
    Check::new("br-cnh", latin_america::is_br_cnh),
    Check::new("br-cnpj", latin_america::is_br_cnpj),
    Check::new("br-cns", latin_america::is_br_cns),
    Check::new("br-cpf", latin_america::is_br_cpf),
    Check::new("br-pis", latin_america::is_br_pis),
    Check::new("br-voter", latin_america::is_br_voter),
    Check::new("ca-bc-phn", north_america::is_ca_bc_phn),
    Check::new("ca-business", north_america::is_ca_business),
    Check::new("ca-ohip", north_america::is_ca_ohip),
    Check::new("ca-sin", north_america::is_ca_sin),
    Check::new("ch-ahv", western_europe::is_ch_ahv),
    Check::new("ch-uid", western_europe::is_ch_uid),
    Check::new("cl-rut", latin_america::is_cl_rut),
    Check::new("co-nit", latin_america::is_co_nit),
    Check::new("credit-card", cards::is_card),
    Check::new("credit-card-apart", cards::is_card_apart),
    Check::new("credit-card-form", cards::is_issued).of_form(),
    Check::new("cu-id", latin_america::is_cu_id).of_form(),
    Check::new("cz-account", eastern_europe::is_cz_account),
    Check::new("cz-birth-number", eastern_europe::is_cz_birth_number),
    Check::new("cz-company", eastern_europe::is_cz_company),
    Check::new("date", calendar::is_date).of_form(),
    Check::new("de-health", western_europe::is_de_health),
    Check::new("de-id-card", western_europe::is_de_id_card),
    Check::new("de-pension", western_europe::is_de_pension),
    Check::new("de-tax-id", western_europe::is_de_tax_id),
    Check::new("de-vat", western_europe::is_de_vat),
    Check::new("dea", north_america::is_dea),
    Check::new("dk-cpr", northern_europe::is_dk_cpr).of_form(),
    Check::new("dk-cvr", northern_europe::is_dk_cvr),
    Check::new("do-cedula", latin_america::is_do_cedula),
    Check::new("do-rnc", latin_america::is_do_rnc),
    Check::new("ec-cedula", latin_america::is_ec_cedula),
    Check::new("eg-id", middle_east::is_eg_id).of_form(),
    Check::new("es-cif", western_europe::is_es_cif),
    Check::new("es-nie", western_europe::is_es_nie),
    Check::new("es-nif", western_europe::is_es_nif),
    Check::new("es-nss", western_europe::is_es_nss),
    Check::new("ethereum", crypto::is_ethereum).with_lookalikes(crypto::like_ethereum),
    Check::new("fi-business-id", northern_europe::is_fi_business_id),
    Check::new("fi-hetu", northern_europe::is_fi_hetu),
    Check::new("fr-nir", western_europe::is_fr_nir),
    Check::new("fr-rib", western_europe::is_fr_rib),
    Check::new("fr-siren", western_europe::is_fr_siren),
    Check::new("fr-tax-number", western_europe::is_fr_tax_number),
    Check::new("gr-afm", western_europe::is_gr_afm),
    Check::new("gr-amka", western_europe::is_gr_amka),
    Check::new("gt-cui", latin_america::is_gt_cui),
    Check::new("gt-nit", latin_america::is_gt_nit),
    Check::new("hk-id", asia_pacific::is_hk_id),
    Check::new("hr-oib", eastern_europe::is_hr_oib),
    Check::new("hu-company-tax", eastern_europe::is_hu_company_tax),
    Check::new("hu-taj", eastern_europe::is_hu_taj),
    Check::new("hu-tax-id", eastern_europe::is_hu_tax_id),
    Check::new("iban", bank::is_iban),
    Check::new("id-nik", asia_pacific::is_id_nik).of_form(),
    Check::new("identifier", identity::is_identifier).of_form(),
    Check::new("ie-pps", northern_europe::is_ie_pps),
    Check::new("il-id", middle_east::is_il_id),
    Check::new("imei", cards::is_imei),
    Check::new("in-aadhaar", asia_pacific::is_in_aadhaar),
    Check::new("in-gstin", asia_pacific::is_in_gstin),
    Check::new("in-vehicle", asia_pacific::is_in_vehicle).of_form(),
    Check::new("ip", network::is_ip).of_form(),
    Check::new("ir-code", middle_east::is_ir_code),
    Check::new("is-kennitala", northern_europe::is_is_kennitala),
    Check::new("it-fiscal-code", western_europe::is_it_fiscal_code),
    Check::new("it-vat", western_europe::is_it_vat),
    Check::new("jmbg", eastern_europe::is_jmbg),
    Check::new("jp-corporate", asia_pacific::is_jp_corporate),
    Check::new("jp-my-number", asia_pacific::is_jp_my_number),
    Check::new("known-ending", network::has_known_ending).of_form(),
    Check::new("kr-business", asia_pacific::is_kr_business),
    Check::new("kr-rrn", asia_pacific::is_kr_rrn),
    Check::new("kw-id", middle_east::is_kw_id),
    Check::new("kz-bin", eastern_europe::is_kz_bin),
    Check::new("kz-iin", eastern_europe::is_kz_iin),
    Check::new("lk-nic", asia_pacific::is_lk_nic).of_form(),
    Check::new("lt-company", eastern_europe::is_lt_company),
    Check::new("lu-matricule", western_europe::is_lu_matricule),
    Check::new("lv-personal-code", northern_europe::is_lv_personal_code),
    Check::new("md-idnp", eastern_europe::is_md_idnp),
    Check::new("mx-clabe", latin_america::is_mx_clabe),
    Check::new("mx-curp", latin_america::is_mx_curp),
    Check::new("mx-nss", latin_america::is_mx_nss),
    Check::new("mx-rfc", latin_america::is_mx_rfc),
    Check::new("my-kad", asia_pacific::is_my_kad).of_form(),
    Check::new("nl-bsn", western_europe::is_nl_bsn),
    Check::new("no-fnr", northern_europe::is_no_fnr),
    Check::new("no-orgnr", northern_europe::is_no_orgnr),
    Check::new("nz-ird", asia_pacific::is_nz_ird),
    Check::new("pe-ruc", latin_america::is_pe_ruc),
    Check::new("phone-exit", phone::is_valid_behind_exit).of_form(),
    Check::new("phone-international", phone::is_valid_international).of_form(),
    Check::of_phones("phone-national", Phones::is_valid_national),
    Check::new("phone-possible", phone::is_possible_international).of_form(),
    Check::new("pk-cnic", asia_pacific::is_pk_cnic).of_form(),
    Check::new("pl-account", eastern_europe::is_pl_account),
    Check::new("pl-id-card", eastern_europe::is_pl_id_card),
    Check::new("pl-nip", eastern_europe::is_pl_nip),
    Check::new("pl-pesel", eastern_europe::is_pl_pesel),
    Check::new("pl-regon", eastern_europe::is_pl_regon),
    Check::new("plate", identity::is_plate).of_form(),
    Check::new("postal-code", address::is_postal_code).of_form(),
    Check::new("pt-citizen-card", western_europe::is_pt_citizen_card),
    Check::new("pt-nif", western_europe::is_pt_nif),
    Check::new("pt-niss", western_europe::is_pt_niss),
    Check::new("py-ruc", latin_america::is_py_ruc),
    Check::new("ro-cnp", eastern_europe::is_ro_cnp),
    Check::new("ro-cui", eastern_europe::is_ro_cui),
    Check::new("rs-pib", eastern_europe::is_rs_pib),
    Check::new("ru-inn", russia::is_inn),
    Check::new("ru-ogrn", russia::is_ogrn),
    Check::new("ru-snils", russia::is_snils),
    Check::new("sa-id", middle_east::is_sa_id),
    Check::new("se-orgnr", northern_europe::is_se_orgnr),
    Check::new("se-personnummer", northern_europe::is_se_personnummer),
    Check::new("sg-nric", asia_pacific::is_sg_nric),
    Check::new("sg-uen", asia_pacific::is_sg_uen),
    Check::new("si-tax", eastern_europe::is_si_tax),
    Check::new("sk-vat", eastern_europe::is_sk_vat),
    Check::new("sv-dui", latin_america::is_sv_dui),
    Check::new("th-tnin", asia_pacific::is_th_tnin),
    Check::new("tr-tckn", middle_east::is_tr_tckn),
    Check::new("tr-vkn", middle_east::is_tr_vkn),
    Check::new("tw-company", asia_pacific::is_tw_company),
    Check::new("tw-id", asia_pacific::is_tw_id),
    Check::new("ua-company", eastern_europe::is_ua_company),
    Check::new("ua-tax", eastern_europe::is_ua_tax),
    Check::new("uk-nhs", northern_europe::is_uk_nhs),
    Check::new("uk-nino", northern_europe::is_uk_nino).of_form(),
    Check::new("uk-utr", northern_europe::is_uk_utr),
    Check::new("uk-vat", northern_europe::is_uk_vat),
    Check::new("undated", calendar::is_undated).of_form(),
    Check::new("us-itin", north_america::is_us_itin).of_form(),
    Check::new("us-npi", north_america::is_us_npi),
    Check::new("us-ssn", north_america::is_us_ssn).of_form(),
    Check::new("uy-ci", latin_america::is_uy_ci),
    Check::new("ve-rif", latin_america::is_ve_rif),
    Check::new("vin", vehicle::is_vin),
    Check::new("vin-elsewhere", vehicle::is_vin_elsewhere).of_form(),
    Check::new("vn-tax", asia_pacific::is_vn_tax),
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
            is_checksum: true,
        }
    }

    const fn of_phones(name: &'static str, test: fn(&Phones, &str) -> bool) -> Self {
        Self {
            name,
            test: Test::Phone(test),
            lookalike: None,
            is_checksum: false,
        }
    }

    /// Marks a check of a form without a checksum: a value that fails is certainly something else.
    const fn of_form(self) -> Self {
        Self {
            is_checksum: false,
            ..self
        }
    }

    /// Whether the check is a checksum, so that a mistyped value fails it.
    pub(super) fn is_checksum(self) -> bool {
        self.is_checksum
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

    /// The name by which recognizers refer to it.
    pub(super) fn name(self) -> &'static str {
        self.name
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
