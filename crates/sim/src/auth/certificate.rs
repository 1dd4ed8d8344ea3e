//! Reads who a client certificate is for. Its chain has been verified by TLS before.

use lynceus_object::Str;

use crate::attributes::User;

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

/// The user of a certificate in DER: the subject's common name, in the groups that are its
/// organizations. `None` if it has no common name or cannot be read.
pub(crate) fn user_of(der: &[u8]) -> Option<User> {
    let certificate = Der::new(der).read(0x30)?;
    let tbs = Der::new(certificate).read(0x30)?;
    let mut fields = Der::new(tbs);
    fields.skip_if(0xa0);
    // Serial number, signature algorithm, issuer, validity; then the subject.
    fields.read(0x02)?;
    for _ in 0..3 {
        fields.read(0x30)?;
    }
    let mut subject = Der::new(fields.read(0x30)?);
    let mut user = User::default();
    while let Some(set) = subject.read(0x31) {
        let mut attributes = Der::new(set);
        while let Some(attribute) = attributes.read(0x30) {
            let mut pair = Der::new(attribute);
            let kind = pair.read(0x06)?;
            let (_, text) = pair.next()?;
            let text = Str::from(std::str::from_utf8(text).ok()?);
            match kind {
                COMMON_NAME => user.name = text,
                ORGANIZATION => user.groups.push(text),
                _ => {}
            }
        }
    }
    user.groups.push("system:authenticated".into());
    (!user.name.is_empty()).then_some(user)
}

/// A cursor over a sequence of DER values.
struct Der<'a> {
    rest: &'a [u8],
}

impl<'a> Der<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Der { rest: bytes }
    }

    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.rest.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            if count == 0 || count > 4 {
                return None;
            }
            let (bytes, rest) = rest.split_at_checked(count)?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some((tag, value))
    }

    /// The next value, which has to have this tag.
    fn read(&mut self, tag: u8) -> Option<&'a [u8]> {
        match self.next()? {
            (found, value) if found == tag => Some(value),
            _ => None,
        }
    }

    fn skip_if(&mut self, tag: u8) {
        if self.rest.first() == Some(&tag) {
            self.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_names_user_and_groups() {
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::OrganizationName, "devs");
        params.distinguished_name.push(rcgen::DnType::CommonName, "alice");
        let certificate = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap();
        let user = user_of(certificate.der()).unwrap();
        assert_eq!(user.name, "alice");
        assert_eq!(user.groups, ["devs", "system:authenticated"]);
        assert_eq!(user_of(b"\x30\x82\xff"), None);
    }
}
