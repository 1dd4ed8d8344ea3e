//! SSH host keys that are trusted, in OpenSSH's format.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use russh::keys::ssh_key::certificate::CertType;
use russh::keys::{Algorithm, Certificate, HashAlg, PublicKey, PublicKeyOrCertificate};

use crate::error::HostKeyProblem;

/// The lines of a known-hosts file that speak of one host.
#[derive(Debug, Default)]
pub(crate) struct HostKeys {
    trusted: Vec<PublicKey>,
    revoked: Vec<PublicKey>,
    authorities: Vec<PublicKey>,
}

impl HostKeys {
    /// Reads what a known-hosts text says of a host. Lines that cannot be read are passed over, as in ssh:
    /// a key that is not read is a key that is not trusted.
    pub(crate) fn of(text: &str, host: &str, port: u16) -> Self {
        let name = if port == 22 { host.to_lowercase() } else { format!("[{}]:{port}", host.to_lowercase()) };
        let mut keys = HostKeys::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut words = line.split_ascii_whitespace();
            let first = words.next().unwrap_or_default();
            let (marker, hosts) =
                if first.starts_with('@') { (first, words.next().unwrap_or_default()) } else { ("", first) };
            let key = words.nth(1).and_then(|key| russh::keys::parse_public_key_base64(key).ok());
            let Some(key) = key.filter(|_| names(hosts, &name)) else { continue };
            match marker {
                "" => keys.trusted.push(key),
                "@revoked" => keys.revoked.push(key),
                "@cert-authority" => keys.authorities.push(key),
                _ => {}
            }
        }
        keys
    }

    /// The algorithms to ask the host for, those first for which a key is known.
    pub(crate) fn algorithms(&self, all: &[Algorithm]) -> Vec<Algorithm> {
        let known =
            |algorithm: &&Algorithm| self.trusted.iter().any(|key| same_kind(&key.algorithm(), algorithm));
        let (mut first, rest): (Vec<&Algorithm>, Vec<&Algorithm>) = all.iter().partition(known);
        first.extend(rest);
        first.into_iter().cloned().collect()
    }

    /// Whether a certificate of the host could be checked.
    pub(crate) fn has_authorities(&self) -> bool {
        !self.authorities.is_empty()
    }

    /// Says whether what the host shows is trusted. `now` is in seconds since 1970.
    pub(crate) fn check(
        &self,
        shown: &PublicKeyOrCertificate,
        host: &str,
        now: u64,
    ) -> Result<(), HostKeyProblem> {
        let key = shown.public_key();
        let same = |known: &PublicKey| known.key_data() == key.key_data();
        let algorithm = key.algorithm().to_string();
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        if self.revoked.iter().any(same) {
            return Err(HostKeyProblem::Revoked { algorithm, fingerprint });
        }
        if let Some(certificate) = shown.certificate() {
            return self.check_certificate(certificate, host, now);
        }
        if self.trusted.iter().any(same) {
            return Ok(());
        }
        Err(if self.trusted.is_empty() {
            HostKeyProblem::Unknown { algorithm, fingerprint }
        } else {
            HostKeyProblem::Mismatch { algorithm, fingerprint }
        })
    }

    fn check_certificate(
        &self,
        certificate: &Certificate,
        host: &str,
        now: u64,
    ) -> Result<(), HostKeyProblem> {
        let refuse = |reason: &str| Err(HostKeyProblem::Certificate { reason: reason.to_owned() });
        if certificate.cert_type() != CertType::Host {
            return refuse("it is not the certificate of a host");
        }
        // A certificate that names no host is good for none.
        if !certificate.valid_principals().iter().any(|principal| pattern(principal, host)) {
            return refuse("it is for other hosts");
        }
        if self.revoked.iter().any(|revoked| revoked.key_data() == certificate.signature_key()) {
            return refuse("its authority is revoked");
        }
        let authorities: Vec<_> =
            self.authorities.iter().map(|key| key.fingerprint(HashAlg::Sha256)).collect();
        match certificate.validate_at(now, &authorities) {
            Ok(()) => Ok(()),
            Err(error) => refuse(&error.to_string()),
        }
    }
}

/// RSA keys are one kind, whatever hash signs with them.
fn same_kind(left: &Algorithm, right: &Algorithm) -> bool {
    left == right || matches!((left, right), (Algorithm::Rsa { .. }, Algorithm::Rsa { .. }))
}

/// Whether a list of patterns names a host: one has to, and none with a `!` may.
fn names(patterns: &str, name: &str) -> bool {
    let mut named = false;
    for entry in patterns.split(',') {
        match entry.strip_prefix('!') {
            Some(entry) if pattern(entry, name) => return false,
            Some(_) => {}
            None if entry.starts_with("|1|") => named |= hashed(entry, name),
            None => named |= pattern(entry, name),
        }
    }
    named
}

/// `|1|salt|hash`, which hides the name of the host from whoever reads the file.
fn hashed(entry: &str, name: &str) -> bool {
    let mut parts = entry.split('|').skip(2).map(|part| STANDARD.decode(part));
    match (parts.next(), parts.next()) {
        (Some(Ok(salt)), Some(Ok(hash))) => {
            let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &salt);
            hmac::verify(&key, name.as_bytes(), &hash).is_ok()
        }
        _ => false,
    }
}

/// `*` and `?`, without regard to case. Steps back to the last `*` only, so that it takes no more than
/// quadratic time.
fn pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n, mut star) = (0, 0, None);
    while let Some(byte) = name.get(n) {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(wanted) if wanted == byte || *wanted == b'?' => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
    const OTHER: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf";

    fn check(line: &str, host: &str, port: u16) -> String {
        let key = russh::keys::parse_public_key_base64(KEY).unwrap();
        match HostKeys::of(line, host, port).check(&key.into(), host, 0) {
            Ok(()) => "trusted".to_owned(),
            Err(HostKeyProblem::Unknown { .. }) => "unknown".to_owned(),
            Err(HostKeyProblem::Mismatch { .. }) => "mismatch".to_owned(),
            Err(other) => other.to_string(),
        }
    }

    #[test]
    fn a_host_is_trusted_by_name_pattern_and_hash() {
        assert_eq!(check(&format!("git.example.com ssh-ed25519 {KEY}"), "git.example.com", 22), "trusted");
        assert_eq!(
            check(&format!("a,git.example.com,b ssh-ed25519 {KEY} comment"), "Git.example.com", 22),
            "trusted"
        );
        assert_eq!(check(&format!("*.example.com ssh-ed25519 {KEY}"), "git.example.com", 22), "trusted");
        assert_eq!(
            check(&format!("*.example.com,!git.* ssh-ed25519 {KEY}"), "git.example.com", 22),
            "unknown"
        );
        assert_eq!(
            check(&format!("[git.example.com]:2222 ssh-ed25519 {KEY}"), "git.example.com", 2222),
            "trusted"
        );
        assert_eq!(check(&format!("git.example.com ssh-ed25519 {KEY}"), "git.example.com", 2222), "unknown");
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, b"salt");
        let hash = hmac::sign(&key, b"git.example.com");
        let entry = format!("|1|{}|{} ssh-ed25519 {KEY}", STANDARD.encode("salt"), STANDARD.encode(hash));
        assert_eq!(check(&entry, "git.example.com", 22), "trusted");
        assert_eq!(check(&entry, "other.example.com", 22), "unknown");
    }

    #[test]
    fn another_key_is_a_mismatch_and_a_revoked_one_is_named() {
        assert_eq!(check(&format!("h ssh-ed25519 {OTHER}"), "h", 22), "mismatch");
        assert!(
            check(&format!("h ssh-ed25519 {KEY}\n@revoked h ssh-ed25519 {KEY}"), "h", 22)
                .contains("is revoked")
        );
        assert_eq!(check(&format!("@cert-authority h ssh-ed25519 {KEY}"), "h", 22), "unknown");
        assert_eq!(check("# h\n\nh ssh-ed25519 not-a-key", "h", 22), "unknown");
    }

    #[test]
    fn the_algorithms_of_known_keys_are_asked_for_first() {
        let all = [Algorithm::Rsa { hash: Some(HashAlg::Sha512) }, Algorithm::Ed25519];
        let keys = HostKeys::of(&format!("h ssh-ed25519 {KEY}"), "h", 22);
        assert_eq!(keys.algorithms(&all), [all[1].clone(), all[0].clone()]);
    }
}
