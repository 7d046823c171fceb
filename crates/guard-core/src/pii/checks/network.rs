//! Network addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IPv4 address (four decimal numbers, RFC 1123, section 2.1) or IPv6 address (RFC 4291, section 2.2; with a zone,
/// RFC 4007), perhaps with a prefix length (RFC 4632). Unspecified addresses are excluded, and so are IPv6 addresses
/// that are as short as parts of programs.
pub fn is_ip(value: &str) -> bool {
    let (address, prefix) = match value.split_once('/') {
        Some((address, prefix)) => (address, prefix.parse::<u8>().ok()),
        None => (value, Some(0)),
    };
    let address = address.split('%').next().unwrap_or_default();
    match address.parse() {
        Ok(IpAddr::V4(address)) => address != Ipv4Addr::UNSPECIFIED && prefix.is_some_and(|prefix| prefix <= 32),
        // In programs, "f64::" is a path and "[0::2]" a slice.
        Ok(IpAddr::V6(ip)) => {
            let groups = address.split(':').filter(|group| !group.is_empty());
            let has_digit = address.bytes().any(|byte| byte.is_ascii_digit());
            ip != Ipv6Addr::UNSPECIFIED
                && prefix.is_some_and(|prefix| prefix <= 128)
                && has_digit
                && groups.clone().count() > 1
                && groups.clone().any(|group| group.len() > 2)
        }
        Err(_) => false,
    }
}

/// Whether a value ends with a top-level domain of the [Public Suffix List](https://publicsuffix.org/), and is no file
/// name.
///
/// The list of file extensions is shorter than that of [`crate::rules::urls`] for bare names: this check applies after
/// a word such as "domain", where `datawerk.ai` and `acme.cc` are names and `main.py` is still a file.
pub fn has_known_ending(value: &str) -> bool {
    const FILES: [&str; 9] = ["py", "rs", "sh", "md", "zip", "pl", "java", "so", "ps"];
    let lower = value.to_lowercase();
    let ending = lower.rsplit('.').next().unwrap_or_default();
    !FILES.contains(&ending) && guard_suffixes::suffix(&lower).is_some_and(|suffix| suffix.is_known())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for address in [
            "192.168.0.1",
            "10.0.0.0/8",
            "fe80::ae1b",
            "fe80::1%eth0",
            "::ffff:10.0.0.1",
            "2001:db8::/32",
        ] {
            assert!(is_ip(address), "{address}");
        }
        for none in [
            "256.1.1.1",
            "1.2.3",
            "01.2.3.4",
            "0.0.0.0",
            "::",
            "10.0.0.0/33",
            "12:30",
            "1::2::3",
            "add::dead",
            "",
        ] {
            assert!(!is_ip(none), "{none}");
        }
    }
}
