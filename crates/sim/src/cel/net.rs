//! Addresses and networks; and the named formats, which are strings with rules too.

use std::net::IpAddr;

use super::error::EvalError;
use super::value::Val;

type Outcome = Result<Val, EvalError>;

pub(super) fn call(name: &str, _: bool, args: &[Val]) -> Option<Outcome> {
    let flag = |found: bool| Ok(Val::Bool(found));
    Some(match (name, args) {
        ("ip", [Val::String(text)]) => address(text).map(Val::Ip),
        ("ip", [Val::Cidr(ip, _)]) => Ok(Val::Ip(*ip)),
        ("isIP", [Val::String(text)]) => flag(address(text).is_ok()),
        ("ip.isCanonical", [Val::String(text)]) => address(text).map(|ip| Val::Bool(ip.to_string() == *text)),
        ("family", [Val::Ip(ip)]) => Ok(Val::Int(if ip.is_ipv4() { 4 } else { 6 })),
        ("isUnspecified", [Val::Ip(ip)]) => flag(ip.is_unspecified()),
        ("isLoopback", [Val::Ip(ip)]) => flag(ip.is_loopback()),
        ("isLinkLocalMulticast", [Val::Ip(ip)]) => flag(match ip {
            IpAddr::V4(ip) => ip.octets()[..3] == [224, 0, 0],
            IpAddr::V6(ip) => ip.segments()[0] & 0xff0f == 0xff02,
        }),
        ("isLinkLocalUnicast", [Val::Ip(ip)]) => flag(is_link_local(ip)),
        ("isGlobalUnicast", [Val::Ip(ip)]) => flag(
            !ip.is_unspecified()
                && !ip.is_loopback()
                && !ip.is_multicast()
                && !is_link_local(ip)
                && *ip != IpAddr::from([255, 255, 255, 255]),
        ),
        ("cidr", [Val::String(text)]) => network(text),
        ("isCIDR", [Val::String(text)]) => flag(network(text).is_ok()),
        ("containsIP", [Val::Cidr(net, bits), other]) => match other {
            Val::Ip(ip) => flag(contains(net, *bits, ip)),
            Val::String(text) => address(text).map(|ip| Val::Bool(contains(net, *bits, &ip))),
            _ => Err(EvalError::Overload),
        },
        ("containsCIDR", [Val::Cidr(net, bits), other]) => {
            let other = match other {
                Val::String(text) => network(text),
                other => Ok(other.clone()),
            };
            other.and_then(|other| match other {
                Val::Cidr(inner, inner_bits) => flag(inner_bits >= *bits && contains(net, *bits, &inner)),
                _ => Err(EvalError::Overload),
            })
        }
        ("prefixLength", [Val::Cidr(_, bits)]) => Ok(Val::Int((*bits).into())),
        ("masked", [Val::Cidr(ip, bits)]) => Ok(Val::Cidr(masked(ip, *bits), *bits)),
        ("format.named", [Val::String(name)]) => {
            let known = NAMED.iter().find(|known| **known == name.as_str());
            Ok(Val::Optional(known.map(|name| Val::Format(name).into())))
        }
        (name, []) if name.starts_with("format.") => {
            let known = NAMED.iter().find(|known| name.strip_prefix("format.") == Some(known));
            known.map(|name| Val::Format(name)).ok_or(EvalError::Overload)
        }
        ("validate", [Val::Format(name), Val::String(text)]) => {
            let problems = crate::crd::format_problems(name, text);
            let problems =
                (!problems.is_empty()).then(|| Val::list(problems.into_iter().map(Val::text)).into());
            Ok(Val::Optional(problems))
        }
        _ => return None,
    })
}

const NAMED: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

fn address(text: &str) -> Result<IpAddr, EvalError> {
    let failed = |why: &str| {
        EvalError::failed(format!("IP Address {text:?} parse error during conversion from string: {why}"))
    };
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(ip)) if ip.to_ipv4_mapped().is_some() => {
            Err(failed("IPv4-mapped IPv6 address is not allowed"))
        }
        Ok(ip) => Ok(ip),
        Err(_) => Err(failed(&format!("ParseAddr({text:?}): unable to parse IP"))),
    }
}

fn network(text: &str) -> Outcome {
    let failed = || {
        EvalError::failed(format!(
            "network address parse error during conversion from string: netip.ParsePrefix({text:?}): no '/'"
        ))
    };
    let (ip, bits) = text.split_once('/').ok_or_else(failed)?;
    let ip = address(ip)?;
    let bits: u8 = bits.parse().map_err(|_| failed())?;
    if bits > if ip.is_ipv4() { 32 } else { 128 } {
        return Err(failed());
    }
    Ok(Val::Cidr(ip, bits))
}

fn bits_of(ip: &IpAddr) -> (u128, u8) {
    match ip {
        IpAddr::V4(ip) => (u128::from(u32::from(*ip)), 32),
        IpAddr::V6(ip) => (u128::from(*ip), 128),
    }
}

fn keep(value: u128, bits: u8, width: u8) -> u128 {
    match width - bits.min(width) {
        128 => 0,
        drop => value >> drop << drop,
    }
}

fn masked(ip: &IpAddr, bits: u8) -> IpAddr {
    let (value, width) = bits_of(ip);
    let value = keep(value, bits, width);
    match ip {
        IpAddr::V4(_) => IpAddr::from(u32::try_from(value).unwrap_or_default().to_be_bytes()),
        IpAddr::V6(_) => IpAddr::from(value.to_be_bytes()),
    }
}

fn contains(net: &IpAddr, bits: u8, ip: &IpAddr) -> bool {
    let ((a, width), (b, other_width)) = (bits_of(net), bits_of(ip));
    width == other_width && keep(a, bits, width) == keep(b, bits, width)
}

fn is_link_local(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.segments()[0] & 0xffc0 == 0xfe80,
    }
}
