//! Which proxy a cluster is reached through.
//!
//! A proxy that the configuration names is used. One that the environment names is used as Go does it: not for this
//! machine itself, and not for what `NO_PROXY` lists. (kube compares `NO_PROXY` with the proxy's own address.)

use http::Uri;

/// The proxy for a target.
pub(crate) fn choose(
    named: Option<&str>,
    target: &Uri,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<Uri> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return named.parse().ok();
    }
    let first = |names: [&str; 2]| names.into_iter().filter_map(&variable).find(|value| !value.is_empty());
    let proxy = first(["HTTPS_PROXY", "https_proxy"])?;
    let spared = first(["NO_PROXY", "no_proxy"]).unwrap_or_default();
    let host = target.host().unwrap_or_default().trim_matches(['[', ']']);
    if is_local(host) || spared.split(',').any(|rule| spares(rule.trim(), host)) {
        return None;
    }
    proxy.parse().ok()
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// `*`, a host, a domain with or without its leading dot, or a block of addresses.
fn spares(rule: &str, host: &str) -> bool {
    if rule.is_empty() {
        return false;
    }
    let domain = rule.trim_start_matches("*.").trim_start_matches('.');
    rule == "*"
        || host.eq_ignore_ascii_case(domain)
        || host.to_ascii_lowercase().ends_with(&format!(".{}", domain.to_ascii_lowercase()))
        || block(rule, host).unwrap_or(false)
}

/// Whether an address is in a block such as `10.0.0.0/8`.
fn block(rule: &str, host: &str) -> Option<bool> {
    let (network, bits) = rule.split_once('/')?;
    let bits: u32 = bits.parse().ok()?;
    let (network, host): (std::net::IpAddr, std::net::IpAddr) = (network.parse().ok()?, host.parse().ok()?);
    let (network, host, width) = match (network, host) {
        (std::net::IpAddr::V4(a), std::net::IpAddr::V4(b)) => (a.to_bits().into(), b.to_bits().into(), 32),
        (std::net::IpAddr::V6(a), std::net::IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return Some(false),
    };
    let shift = width - bits.min(width);
    // A shift by the whole width is everything.
    let cut = |address: u128| address.checked_shr(shift).unwrap_or_default();
    Some(cut(network) == cut(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(named: Option<&str>, target: &str, spared: &str) -> String {
        let variable = |name: &str| match name {
            "HTTPS_PROXY" => Some("http://proxy:3128".to_owned()),
            "NO_PROXY" => Some(spared.to_owned()),
            _ => None,
        };
        choose(named, &target.parse().unwrap(), variable).map(|uri| uri.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_proxy_that_is_named_is_used_and_the_environments_as_it_says() {
        assert_eq!(chosen(Some("socks5://mine:1080"), "https://127.0.0.1:6443", "*"), "socks5://mine:1080/");
        assert_eq!(chosen(None, "https://api.example.com", ""), "http://proxy:3128/");
        assert_eq!(chosen(None, "https://api.example.com", "other.com,.example.com"), "");
        assert_eq!(chosen(None, "https://10.1.2.3:6443", "10.0.0.0/8"), "");
        assert_eq!(chosen(None, "https://11.1.2.3:6443", "10.0.0.0/8"), "http://proxy:3128/");
        assert_eq!(chosen(None, "https://127.0.0.1:6443", ""), "");
    }
}
