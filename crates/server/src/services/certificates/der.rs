//! As much of X.509 as it takes to say whose a certificate is and what sort of key it has.

/// What is told of a certificate.
pub(super) struct Facts {
    /// `rsa`, `ecdsa`, `ed25519` or `dsa`.
    pub(super) algorithm: String,
    /// Whose it is, the last part first: `CN=host,O=Company`.
    pub(super) subject: String,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT: u8 = 0x06;
const VERSION: u8 = 0xa0;

/// Reads a certificate; none if it is not one.
pub(super) fn facts(bytes: &[u8]) -> Option<Facts> {
    let (certificate, _) = take(bytes, SEQUENCE)?;
    let (body, _) = take(certificate, SEQUENCE)?;
    let rest = take(body, VERSION).map_or(body, |(_, rest)| rest);
    // Serial number, algorithm of the signature, issuer and validity come before the subject.
    let mut rest = rest;
    for _ in 0..4 {
        rest = element(rest)?.2;
    }
    let (subject, rest) = take(rest, SEQUENCE)?;
    let (key, _) = take(rest, SEQUENCE)?;
    let (algorithm, _) = take(key, SEQUENCE)?;
    let (algorithm, _) = take(algorithm, OBJECT)?;
    Some(Facts { algorithm: algorithm_name(algorithm), subject: names(subject)? })
}

/// The tag, the content and what comes behind the first element.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let count = usize::from(first & 0x7f);
            let digits = rest.get(..count)?;
            let length = digits.iter().fold(0_usize, |length, digit| (length << 8) | usize::from(*digit));
            (length, rest.get(count..)?)
        }
        _ => return None,
    };
    Some((tag, rest.get(..length)?, rest.get(length..)?))
}

fn take(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(bytes)?;
    (tag == wanted).then_some((content, rest))
}

fn algorithm_name(id: &[u8]) -> String {
    match id {
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01] => "rsa",
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01] => "ecdsa",
        [0x2b, 0x65, 0x70] => "ed25519",
        [0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x01] => "dsa",
        _ => "0",
    }
    .to_owned()
}

/// A name, the last part first, as Go prints it.
fn names(mut sets: &[u8]) -> Option<String> {
    let mut parts = Vec::new();
    while !sets.is_empty() {
        let (mut set, rest) = take(sets, SET)?;
        sets = rest;
        let mut pairs = Vec::new();
        while !set.is_empty() {
            let (pair, rest) = take(set, SEQUENCE)?;
            set = rest;
            let (id, value) = take(pair, OBJECT)?;
            let (_, text, _) = element(value)?;
            pairs.push(format!("{}={}", attribute(id), escaped(&String::from_utf8_lossy(text))));
        }
        parts.push(pairs.join("+"));
    }
    parts.reverse();
    Some(parts.join(","))
}

fn attribute(id: &[u8]) -> String {
    let name = match id {
        [0x55, 0x04, last] => match last {
            3 => "CN",
            5 => "SERIALNUMBER",
            6 => "C",
            7 => "L",
            8 => "ST",
            9 => "STREET",
            10 => "O",
            11 => "OU",
            17 => "POSTALCODE",
            _ => "",
        },
        _ => "",
    };
    match name {
        "" => id.iter().map(|byte| format!("{byte:02x}")).collect(),
        name => name.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, ',' | '+' | '"' | '\\' | '<' | '>' | ';') {
            out.push('\\');
        }
        out.push(if c.is_control() { '\u{fffd}' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_short_or_made_up_is_no_certificate() {
        for bytes in [
            &b""[..],
            b"\x30",
            b"\x30\x84\xff\xff\xff\xff",
            b"\x30\x03\x30\x01\x02",
            b"\x30\x80\x00\x00",
            &[0xff; 64],
        ] {
            assert!(facts(bytes).is_none());
        }
    }
}
