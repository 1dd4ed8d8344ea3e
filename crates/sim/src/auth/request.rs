//! Requests for certificates (PKCS#10), taken apart.

use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use rustls::pki_types::CertificateSigningRequestDer;
use rustls::pki_types::pem::PemObject;

use super::certificate::{Part, subject};
use super::der::{BIT_STRING, Der, INTEGER, OBJECT, OCTET_STRING, SEQUENCE, SET};

/// `extensionRequest`, by which a request asks for extensions of the certificate.
const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e];
/// `subjectAltName`.
pub(super) const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// A kind of alternative name, by its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Email,
    Dns,
    Uri,
    Address,
    Other,
}

/// What a request asks for, in DER.
#[derive(Debug)]
pub(super) struct Request {
    /// The subject, whole.
    pub(super) subject: Vec<u8>,
    /// The public key with its algorithm, whole.
    pub(super) key: Vec<u8>,
    /// The value of the extension with the alternative names, empty if there is none.
    pub(super) alternatives: Vec<u8>,
    pub(super) common_name: String,
    pub(super) organizations: Vec<String>,
    pub(super) names: Vec<Name>,
    /// Whether it is signed with the key that it is for.
    pub(super) is_signed: bool,
}

impl Request {
    /// Reads a request in PEM. `None` if it is none.
    pub(super) fn read(pem: &[u8]) -> Option<Self> {
        let der = CertificateSigningRequestDer::from_pem_slice(pem).ok()?;
        let mut outer = Der::new(Der::new(&der).read(SEQUENCE)?);
        let mut signed = outer;
        let mut fields = Der::new(outer.read(SEQUENCE)?);
        let mut algorithm = Der::new(outer.read(SEQUENCE)?);
        let signature = outer.read(BIT_STRING)?.get(1..)?;
        fields.read(INTEGER)?;
        let name = fields.whole(SEQUENCE)?;
        let key = fields.whole(SEQUENCE)?;
        let alternatives = fields.read(0xa0).and_then(alternatives).unwrap_or_default();
        let said = subject(Der::new(name).read(SEQUENCE)?)?;
        let of =
            |wanted| said.iter().filter(move |(part, _)| *part == wanted).map(|(_, text)| text.to_string());
        Some(Request {
            subject: name.to_vec(),
            key: key.to_vec(),
            alternatives: alternatives.to_vec(),
            common_name: of(Part::CommonName).next_back().unwrap_or_default(),
            organizations: of(Part::Organization).collect(),
            names: names(alternatives)?,
            is_signed: is_signed(algorithm.read(OBJECT)?, key, signed.whole(SEQUENCE)?, signature),
        })
    }
}

/// The value of the extension with alternative names that the attributes ask for.
fn alternatives(attributes: &[u8]) -> Option<&[u8]> {
    let mut attributes = Der::new(attributes);
    while let Some(attribute) = attributes.read(SEQUENCE) {
        let mut attribute = Der::new(attribute);
        if attribute.read(OBJECT)? != EXTENSION_REQUEST {
            continue;
        }
        let mut extensions = Der::new(Der::new(attribute.read(SET)?).read(SEQUENCE)?);
        while let Some(extension) = extensions.read(SEQUENCE) {
            let mut extension = Der::new(extension);
            if extension.read(OBJECT)? == ALTERNATIVE_NAMES {
                extension.skip_if(0x01);
                return extension.read(OCTET_STRING);
            }
        }
    }
    None
}

fn names(alternatives: &[u8]) -> Option<Vec<Name>> {
    if alternatives.is_empty() {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    let mut names = Der::new(Der::new(alternatives).read(SEQUENCE)?);
    while let Some((tag, _)) = names.next() {
        found.push(match tag {
            0x81 => Name::Email,
            0x82 => Name::Dns,
            0x86 => Name::Uri,
            0x87 => Name::Address,
            _ => Name::Other,
        });
    }
    Some(found)
}

fn is_signed(algorithm: &[u8], key: &[u8], signed: &[u8], signature: &[u8]) -> bool {
    let Some(point) = public_key(key) else { return false };
    // The algorithms are told apart by the ends of their names, curves by the length of a point.
    let known: &dyn VerificationAlgorithm = match (algorithm, point.len()) {
        ([.., 0x0d, 0x01, 0x01, 0x0b], _) => &signature::RSA_PKCS1_2048_8192_SHA256,
        ([.., 0x0d, 0x01, 0x01, 0x0c], _) => &signature::RSA_PKCS1_2048_8192_SHA384,
        ([.., 0x0d, 0x01, 0x01, 0x0d], _) => &signature::RSA_PKCS1_2048_8192_SHA512,
        ([.., 0x3d, 0x04, 0x03, 0x02], 65) => &signature::ECDSA_P256_SHA256_ASN1,
        ([.., 0x3d, 0x04, 0x03, 0x03], 65) => &signature::ECDSA_P256_SHA384_ASN1,
        ([.., 0x3d, 0x04, 0x03, 0x02], _) => &signature::ECDSA_P384_SHA256_ASN1,
        ([.., 0x3d, 0x04, 0x03, 0x03], _) => &signature::ECDSA_P384_SHA384_ASN1,
        ([0x2b, 0x65, 0x70], _) => &signature::ED25519,
        _ => return false,
    };
    UnparsedPublicKey::new(known, point).verify(signed, signature).is_ok()
}

/// The key's own bytes.
fn public_key(key: &[u8]) -> Option<&[u8]> {
    let mut fields = Der::new(Der::new(key).read(SEQUENCE)?);
    fields.read(SEQUENCE)?;
    fields.read(BIT_STRING)?.get(1..)
}
