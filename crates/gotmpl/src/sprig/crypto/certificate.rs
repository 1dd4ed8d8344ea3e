//! Certificates as Go's `x509.CreateCertificate` makes them for sprig.

use core::net::IpAddr;

use rsa::sha2::{Digest, Sha256};

use super::der::{self, Reader};
use super::key::PrivateKey;
use crate::sprig::time::{Moment, format};

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1D, 0x0E];
const KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x0F];
const ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1D, 0x11];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1D, 0x13];
const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1D, 0x23];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x25];
const SERVER_AUTH: &[u8] = &[0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
const CLIENT_AUTH: &[u8] = &[0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];

/// What a certificate says.
pub(super) struct Request {
    pub(super) common_name: String,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) names: Vec<String>,
    pub(super) is_authority: bool,
    pub(super) serial: [u8; 16],
    pub(super) from: Moment,
    pub(super) until: Moment,
}

/// Who signs a certificate, if it is not the key itself.
pub(super) struct Issuer {
    /// The name as it stands in the issuer's certificate.
    pub(super) subject: Vec<u8>,
    pub(super) key_id: Vec<u8>,
    /// The public key in the issuer's certificate.
    pub(super) public: Vec<u8>,
}

impl Issuer {
    /// Reads the certificate of an issuer.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut certificate = Reader(Reader(bytes).expect(der::SEQUENCE)?);
        let mut body = Reader(certificate.expect(der::SEQUENCE)?);
        body.optional(der::explicit(0));
        body.expect(der::INTEGER)?;
        // The algorithm, the issuer's own issuer, and the dates.
        for _ in 0..3 {
            body.expect(der::SEQUENCE)?;
        }
        let subject = body.next().filter(|element| element.tag == der::SEQUENCE)?;
        let public = body.next().filter(|element| element.tag == der::SEQUENCE)?;
        let mut key_id = Vec::new();
        if let Some(extensions) = body.optional(der::explicit(3)) {
            let mut extensions = Reader(Reader(extensions).expect(der::SEQUENCE)?);
            while let Some(extension) = extensions.optional(der::SEQUENCE) {
                let mut extension = Reader(extension);
                let name = extension.expect(der::OID)?;
                extension.optional(der::BOOLEAN);
                let value = extension.expect(der::OCTET_STRING)?;
                if name == SUBJECT_KEY_ID {
                    key_id = Reader(value).expect(der::OCTET_STRING)?.to_vec();
                }
            }
        }
        Some(Self { subject: subject.whole.to_vec(), key_id, public: public.whole.to_vec() })
    }
}

/// Makes a certificate for a key, signed by another or by itself.
pub(super) fn create(
    request: &Request,
    key: &PrivateKey,
    issuer: Option<(&Issuer, &PrivateKey)>,
) -> Result<Vec<u8>, String> {
    let signer = issuer.map_or(key, |(_, signer)| signer);
    let public = key.public()?;
    let subject = subject(&request.common_name);
    let (issuer_name, authority_key_id) = match issuer {
        Some((issuer, _)) => (issuer.subject.clone(), issuer.key_id.as_slice()),
        None => (subject.clone(), &[][..]),
    };
    if issuer
        .is_some_and(|(issuer, signer)| signer.public().is_ok_and(|public| public.der() != issuer.public))
    {
        return Err("x509: provided PrivateKey doesn't match parent's PublicKey".to_owned());
    }
    // Who signs for a namesake needs no pointer to its key.
    let authority_key_id = if issuer_name == subject { &[][..] } else { authority_key_id };
    let subject_key_id =
        if request.is_authority { Sha256::digest(&public.bytes)[..20].to_vec() } else { Vec::new() };
    let extensions = extensions(request, &subject, &subject_key_id, authority_key_id)?;
    let algorithm = signer.signature_algorithm();
    let body = der::nest(
        der::SEQUENCE,
        &[
            &der::value(der::explicit(0), &der::unsigned(&[2])),
            &der::unsigned(&request.serial),
            &algorithm,
            &issuer_name,
            &der::nest(der::SEQUENCE, &[&time(&request.from)?, &time(&request.until)?]),
            &subject,
            &public.der(),
            &der::value(der::explicit(3), &der::value(der::SEQUENCE, &extensions)),
        ],
    );
    let signature = signer.sign(&body)?;
    Ok(der::nest(der::SEQUENCE, &[&body, &algorithm, &der::bits(&signature)]))
}

fn subject(common_name: &str) -> Vec<u8> {
    if common_name.is_empty() {
        return der::value(der::SEQUENCE, &[]);
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte);
    let tag = if common_name.bytes().all(plain) { der::PRINTABLE_STRING } else { der::UTF8_STRING };
    let name = der::value(tag, common_name.as_bytes());
    let pair = der::nest(der::SEQUENCE, &[&der::value(der::OID, COMMON_NAME), &name]);
    der::value(der::SEQUENCE, &der::value(der::SET, &pair))
}

/// A date; years have two digits until 2049.
fn time(moment: &Moment) -> Result<Vec<u8>, String> {
    let year: i64 = format(moment, "2006").parse().unwrap_or(i64::MAX);
    match year {
        1950..2050 => Ok(der::value(der::UTC_TIME, format(moment, "060102150405Z").as_bytes())),
        0..=9999 => Ok(der::value(der::GENERALIZED_TIME, format(moment, "20060102150405Z").as_bytes())),
        _ => Err("asn1: structure error: cannot represent time as GeneralizedTime".to_owned()),
    }
}

fn extensions(
    request: &Request,
    subject: &[u8],
    subject_key_id: &[u8],
    authority_key_id: &[u8],
) -> Result<Vec<u8>, String> {
    // The first number is how many bits are unused. An authority may sign, encipher keys and sign certificates.
    let usage: &[u8] = if request.is_authority { &[2, 0xA4] } else { &[5, 0xA0] };
    let purposes = [SERVER_AUTH, CLIENT_AUTH].map(|purpose| der::value(der::OID, purpose)).concat();
    let authority = if request.is_authority { der::value(der::BOOLEAN, &[0xFF]) } else { Vec::new() };
    let mut all = vec![
        extension(KEY_USAGE, true, &der::value(der::BIT_STRING, usage)),
        extension(EXTENDED_KEY_USAGE, false, &der::value(der::SEQUENCE, &purposes)),
        extension(BASIC_CONSTRAINTS, true, &der::value(der::SEQUENCE, &authority)),
    ];
    if !subject_key_id.is_empty() {
        all.push(extension(SUBJECT_KEY_ID, false, &der::value(der::OCTET_STRING, subject_key_id)));
    }
    if !authority_key_id.is_empty() {
        let id = der::value(der::SEQUENCE, &der::value(0x80, authority_key_id));
        all.push(extension(AUTHORITY_KEY_ID, false, &id));
    }
    let names = alternative_names(request)?;
    if !names.is_empty() {
        // Without a subject, these names are all there is.
        let nameless = subject == der::value(der::SEQUENCE, &[]);
        all.push(extension(ALTERNATIVE_NAME, nameless, &der::value(der::SEQUENCE, &names)));
    }
    Ok(all.concat())
}

fn alternative_names(request: &Request) -> Result<Vec<u8>, String> {
    let mut names = Vec::new();
    for name in &request.names {
        if !name.is_ascii() {
            return Err(format!(
                "x509: {} cannot be encoded as an IA5String",
                crate::format::quote::double(name)
            ));
        }
        names.extend(der::value(0x82, name.as_bytes()));
    }
    for address in &request.addresses {
        names.extend(match address.to_canonical() {
            IpAddr::V4(address) => der::value(0x87, &address.octets()),
            IpAddr::V6(address) => der::value(0x87, &address.octets()),
        });
    }
    Ok(names)
}

fn extension(name: &[u8], critical: bool, value: &[u8]) -> Vec<u8> {
    let critical = if critical { der::value(der::BOOLEAN, &[0xFF]) } else { Vec::new() };
    let value = der::value(der::OCTET_STRING, value);
    der::nest(der::SEQUENCE, &[&der::value(der::OID, name), &critical, &value])
}
