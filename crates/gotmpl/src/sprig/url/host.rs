//! Hosts: names, and IPv6 addresses in brackets.

use core::net::Ipv6Addr;

use super::escape::{Part, unescape};
use crate::Str;
use crate::format::quote::double;

/// Whether a text is a colon and digits, or nothing.
pub(super) fn is_port(text: &[u8]) -> bool {
    match text.split_first() {
        None => true,
        Some((b':', digits)) => digits.iter().all(u8::is_ascii_digit),
        Some(_) => false,
    }
}

pub(super) fn parse(scheme: &[u8], host: &[u8]) -> Result<Vec<u8>, String> {
    match host.iter().rposition(|&byte| byte == b'[') {
        Some(0) => return parse_literal(host),
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    let mut colons = host.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at);
    if let Some(first) = colons.next() {
        // Lists of hosts with ports are known from databases; on the web a second colon is wrong.
        let web = matches!(scheme, b"http" | b"https");
        let colon = if web { first } else { colons.next_back().unwrap_or(first) };
        check_port(&host[colon..])?;
    }
    unescape(host, Part::Host)
}

fn check_port(text: &[u8]) -> Result<(), String> {
    if is_port(text) {
        Ok(())
    } else {
        Err(format!("invalid port {} after host", double(&Str::from_bytes(text))))
    }
}

fn parse_literal(host: &[u8]) -> Result<Vec<u8>, String> {
    let Some(close) = host.iter().rposition(|&byte| byte == b']') else {
        return Err("missing ']' in host".to_owned());
    };
    let port = &host[close + 1..];
    check_port(port)?;
    let port = unescape(port, Part::Host)?;
    let name = &host[1..close];
    let zone = name.windows(3).position(|three| three == b"%25").unwrap_or(name.len());
    let mut address = unescape(&name[..zone], Part::Host)?;
    address.extend(unescape(&name[zone..], Part::Zone)?);
    check_address(&address)?;
    Ok([b"[", &*address, b"]", &*port].concat())
}

/// Only IPv6 addresses may stand in brackets.
fn check_address(text: &[u8]) -> Result<(), String> {
    let shown = Str::from_bytes(text);
    let (address, zone) = shown.split_once('%').map_or((shown.as_str(), None), |(a, zone)| (a, Some(zone)));
    if zone.is_none() && address.parse::<core::net::Ipv4Addr>().is_ok() {
        return Err("invalid IP-literal".to_owned());
    }
    let wrong = |why: &str| Err(format!("invalid host: ParseAddr({}): {why}", double(&shown)));
    match (address.parse::<Ipv6Addr>(), zone) {
        (Ok(_), Some("")) => wrong("zone must be a non-empty string"),
        (Ok(_), _) => Ok(()),
        (Err(_), _) => wrong("unable to parse IP"),
    }
}
