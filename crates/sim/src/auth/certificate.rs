//! Reads who a client certificate is for. Its chain has been verified by TLS before.

use lynceus_object::Str;

use super::der::{Der, INTEGER, OBJECT, SEQUENCE, SET};
use crate::attributes::User;

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

/// A part of a subject that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    CommonName,
    Organization,
}

/// What a subject says, in its order. `None` if it cannot be read.
pub(super) fn subject(name: &[u8]) -> Option<Vec<(Part, Str)>> {
    let mut said = Vec::new();
    let mut sets = Der::new(name);
    while let Some(set) = sets.read(SET) {
        let mut attributes = Der::new(set);
        while let Some(attribute) = attributes.read(SEQUENCE) {
            let mut pair = Der::new(attribute);
            let part = match pair.read(OBJECT)? {
                COMMON_NAME => Part::CommonName,
                ORGANIZATION => Part::Organization,
                _ => continue,
            };
            let (_, text) = pair.next()?;
            said.push((part, Str::from(std::str::from_utf8(text).ok()?)));
        }
    }
    Some(said)
}

/// The user of a certificate in DER: the subject's common name, in the groups that are its
/// organizations. `None` if it has no common name or cannot be read.
pub(crate) fn user_of(der: &[u8]) -> Option<User> {
    let certificate = Der::new(der).read(SEQUENCE)?;
    let tbs = Der::new(certificate).read(SEQUENCE)?;
    let mut fields = Der::new(tbs);
    fields.skip_if(0xa0);
    // Serial number, signature algorithm, issuer, validity; then the subject.
    fields.read(INTEGER)?;
    for _ in 0..3 {
        fields.read(SEQUENCE)?;
    }
    let mut user = User::default();
    for (kind, text) in subject(fields.read(SEQUENCE)?)? {
        match kind {
            Part::CommonName => user.name = text,
            Part::Organization => user.groups.push(text),
        }
    }
    user.groups.push("system:authenticated".into());
    (!user.name.is_empty()).then_some(user)
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
