//! Extends a street to the whole address: the unit, town, region, postal code and country around it, in one line or
//! several.
//!
//! The formats are those of UPU S42 (International postal addressing) and of the postal services named next to them. A
//! line break or a comma separates the parts, so only text that ends with a postal code or is a country counts: a name
//! alone may belong to the next sentence.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The most bytes before and after a street that are read, which bounds the cost of a street.
const REACH: usize = 200;
/// The most parts after the unit: quarter, town, region, code and country.
const PARTS: usize = 5;

/// The text before a street: the part of a house, or a Japanese postal code's sign.
static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let part = r"(?-u:\b)(?i:unit|flat|apt\.?|apartment|suite|level|shop|lot) ?#?[0-9A-Z]{1,5}[,/]? ?";
    Regex::new(&format!(r"(?:{part}|〒 ?|(?-u:\b)[0-9]{{6}}, ?)\z")).ok()
});

/// The text after a street: the unit, and the parts after it.
static AFTER: LazyLock<Option<(Regex, Regex)>> = LazyLock::new(|| {
    // Word ends are checked in ASCII: the Unicode check takes a hundred times as long in a non-ASCII text.
    let space = r"[ \u{a0}]";
    // A comma, a line break or both.
    let next = format!(r"(?:{space}?,{space}{{0,3}}(?:\r?\n{space}{{0,12}})?|{space}{{0,3}}\r?\n{space}{{0,12}})");
    // The class excludes what is no letter, since a class of letters is much larger.
    let name = r#"\p{Lu}[^\s,;:!?()\[\]"0-9./]*"#;
    let small = r"(?:(?i:de|des|da|do|del|di|du|la|le|les|am|an|der|upon|of|y|en|sur|sous|na|nad|in) ){0,2}";
    let town = format!(r"(?:{name}\.? {small}){{0,3}}{name}");
    let state = r"(?:[A-Z]{2,3}|N\.Y\.|D\.C\.|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming|Ontario|Quebec|Québec|Alberta|Manitoba|Victoria|Queensland|Karnataka|Maharashtra|Tamil Nadu|Kerala|Telangana|Gujarat|Delhi)";
    let of_letters = r"(?:[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]|[A-Z][0-9][0-9W] ?[A-Z0-9]{4})(?-u:\b)";
    let of_digits = r"(?:[0-9]{5}(?:-[0-9]{3,4})?|[0-9]{6}|[0-9]{4}(?:-[0-9]{3})?|[0-9]{3}[ -][0-9]{2,3})(?-u:\b)";
    let code = format!("(?:{of_letters}|{of_digits})");
    // The United States, Canada, Australia, India: a town, a region and a code.
    let region = format!(r"{town}(?:{next}|{space}){state}(?:{next}|{space}{{1,2}}|{space}?-{space}?){code}");
    // The United Kingdom and Ireland: a town, and a code of letters after it or in the next line.
    let british = format!(r"{town}(?:{next}{town}){{0,2}}(?:{next}|{space}){of_letters}");
    let last = format!(r"{town}{space}{of_digits}");
    // Continental Europe and Mexico: a code before the town.
    let first = format!(
        r"(?:[A-Z]{{1,2}}-)?(?:[0-9]{{5}}|[0-9]{{4}}(?:{space}?[A-Z]{{2}})?|[0-9]{{3}}{space}[0-9]{{2}}|[0-9]{{2}}-[0-9]{{3}}|[0-9]{{4}}-[0-9]{{3}}){space}{town}(?:,{space}[A-Z]{{2,4}}(?-u:\b))?"
    );
    let alone = format!(r"(?:{state}{space})?{code}");
    // Brazil: a quarter and a town, the region after a hyphen, and a code.
    let region_br = format!(r"{town}(?:(?:{next}|{space}?[-–]{space}?){town})?{space}?[-–/]{space}?[A-Z]{{2}}(?-u:\b)");
    let brazil = format!("{region_br}{next}[0-9]{{5}}-[0-9]{{3}}");
    let russia = r"(?:(?:г|гор|пос|с|дер)\. ?|(?:город|г|посёлок|село) )\p{Lu}[\p{L}\-]+(?: \p{Lu}[\p{L}\-]+)?|\p{Lu}[\p{L}\-]+ (?:область|обл\.?|край|район|р-н)|(?:Республика|респ\.) \p{Lu}[\p{L}\-]+|Москва|Санкт-Петербург|[0-9]{6}";
    // Mexico (Correos de México, NOM-213-SCFI): the name of a quarter, borough or municipality, the code after "C.P.",
    // and the state.
    let state_mx = r"(?:CDMX|D\.F\.|Ciudad de México|Ags\.|B\.C\.(?:S\.)?|Camp\.|Chis\.|Chih\.|Coah\.|Col\.|Dgo\.|Gto\.|Gro\.|Hgo\.|Jal\.|(?:Edo\.|Estado) de Méx(?:ico|\.)|Mich\.|Mor\.|Nay\.|N\.L\.|Oax\.|Pue\.|Qro\.|Q\.R\.|S\.L\.P\.|Sin\.|Son\.|Tab\.|Tamps\.|Tlax\.|Ver\.|Yuc\.|Zac\.|Aguascalientes|Baja California(?: Sur)?|Campeche|Chiapas|Chihuahua|Coahuila|Durango|Guanajuato|Guerrero|Hidalgo|Jalisco|Michoacán|Morelos|Nayarit|Nuevo León|Oaxaca|Puebla|Querétaro|Quintana Roo|San Luis Potosí|Sinaloa|Sonora|Tabasco|Tamaulipas|Tlaxcala|Veracruz|Yucatán|Zacatecas)";
    let quarter_mx =
        r"(?:Col\.|Colonia|Fracc\.|Fraccionamiento|Del\.|Deleg\.|Delegación|Alc\.|Alcaldía|Mpio\.|Municipio(?: de)?)";
    let mexico = format!(
        r"{quarter_mx}{space}{town}(?:{space}[0-9]{{5}}(?-u:\b))?|(?i:c\.?{space}?p\.?):?{space}?[0-9]{{5}}(?-u:\b)(?:(?:{next}|{space}){town}(?:{next}{state_mx})?)?|{state_mx}"
    );
    let country = r"(?:USA|U\.S\.A\.|U\.S\.|US|UK|U\.K\.|United States(?: of America)?|United Kingdom|Great Britain|England|Scotland|Wales|Northern Ireland|Ireland|Canada|Australia|New Zealand|India|Germany|Deutschland|Austria|Österreich|Switzerland|Schweiz|Suisse|Svizzera|France|Belgium|Belgique|België|Netherlands|The Netherlands|Nederland|Luxembourg|Spain|España|Portugal|Italy|Italia|Mexico|México|Brazil|Brasil|Argentina|Chile|Colombia|Peru|Perú|Uruguay|Sweden|Sverige|Norway|Norge|Denmark|Danmark|Finland|Suomi|Iceland|Poland|Polska|Czechia|Czech Republic|Česko|Slovakia|Slovenia|Hungary|Magyarország|Romania|Bulgaria|Greece|Turkey|Türkiye|Russia|Россия|РФ|Ukraine|Украина|Україна|China|中国|Japan|日本|South Korea|Korea|대한민국|Singapore|Israel|South Africa|Nigeria|Kenya|Egypt|Greenland)";
    let unit = r"(?:(?:(?i:apt|apartment|suite|ste|unit|flat|floor|fl|room|rm|app|top|stiege|whg|wohnung|bureau|bâtiment|bat|piso|puerta|int|interior|depto|lok|m|кв|квартира|оф|офис|корп|стр|подъезд|этаж)\.?{space}?#?{space}?[0-9A-Z]{1,6}|#{space}?[0-9A-Z]{1,6})(?-u:\b)|[0-9]{1,2}\.?[ºª°]{space}?[A-Za-z0-9]{0,4})"
        .replace("{space}", space);
    let doors = r"(?:/[0-9]{1,4}){1,3}(?-u:\b)";
    let part = format!("{mexico}|{region}|{british}|{first}|{last}|{brazil}|{russia}|{alone}|{country}");
    let hyphen = format!(r"{space}?[-–]{space}?{region_br}(?:{next}[0-9]{{5}}-[0-9]{{3}})?");
    let compiled = [
        format!(r"\A(?:{doors})?(?:(?:{next}|{space}){unit}){{0,2}}"),
        format!(r"\A(?:{next}(?:{part})|{space}{region}|{hyphen})"),
    ];
    let [door, part] = compiled.map(|pattern| Regex::new(&pattern).ok());
    Some((door?, part?))
});

/// Extends `range`, a street in `text`, to its whole address.
pub(super) fn extend_address(text: &str, range: &Range<usize>) -> Range<usize> {
    let (Some(before), Some((door, part))) = (BEFORE.as_ref(), AFTER.as_ref()) else {
        return range.clone();
    };
    let from = text.ceil_char_boundary(range.start.saturating_sub(REACH));
    let to = text.floor_char_boundary(text.len().min(range.end + REACH));
    let start = before
        .find(&text[from..range.start])
        .map_or(range.start, |found| from + found.start());
    let mut end = range.end;
    for pattern in std::iter::once(door).chain(std::iter::repeat_n(part, PARTS)) {
        let next = end + pattern.find(&text[end..to]).map_or(0, |found| found.end());
        // If the match ends within a word, the word and the text after it do not belong to the address.
        if text[..next].ends_with(char::is_alphanumeric) && text[next..].starts_with(char::is_alphanumeric) {
            break;
        }
        end = next;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str, street: &str) -> String {
        let start = text.find(street).unwrap();
        text[extend_address(text, &(start..start + street.len()))].to_owned()
    }

    #[test]
    fn what_belongs_to_an_address() {
        for (text, street) in [
            (
                "1600 Amphitheatre Parkway\nMountain View, CA 94043",
                "1600 Amphitheatre Parkway",
            ),
            ("221B Baker Street\nLondon NW1 6XE\nUnited Kingdom", "221B Baker Street"),
            ("4 Rosewood Close\nBristol\nBS8 1TH", "4 Rosewood Close"),
            (
                "Unit 5, 48 George Street, Sydney NSW 2000",
                "48 George Street, Sydney NSW 2000",
            ),
            ("Hauptstraße 12\n10115 Berlin", "Hauptstraße 12"),
            (
                "Mariahilfer Straße 88a/2/14, 1070 Wien, Österreich",
                "Mariahilfer Straße 88a",
            ),
            (
                "ул. Ленина, д. 5, кв. 12, г. Москва, 101000",
                "ул. Ленина, д. 5, кв. 12",
            ),
            (
                "Av. Paulista, 1578 - Bela Vista, São Paulo - SP, 01310-200",
                "Av. Paulista, 1578",
            ),
            (
                "Calle Orizaba 45, Col. Roma Norte, C.P. 06700, CDMX",
                "Calle Orizaba 45",
            ),
            (
                "Av. Chapultepec 15 int. 3, Colonia Americana, Alcaldía Cuauhtémoc, CP 44160 Guadalajara, Jal., México",
                "Av. Chapultepec 15",
            ),
            ("Koskikatu 25 Apt. 864, Artilleros, CO 88111, Uruguay", "Koskikatu 25"),
        ] {
            assert_eq!(around(text, street), text);
        }
    }

    #[test]
    fn what_does_not() {
        for text in [
            "12 Oak Street\nBob Miller",
            "12 Oak Street, and then",
            "12 Oak Street. Call 94107",
            "12 Oak Street\nThe meeting is at 10",
            "12 Oak Street, 5 people",
        ] {
            assert_eq!(around(text, "12 Oak Street"), "12 Oak Street");
        }
    }
}
