//! Private keys: made, read, written, and used to sign.

use ed25519_dalek::SigningKey as Ed25519;
use p256::ecdsa::{Signature, SigningKey as P256};
use rsa::RsaPrivateKey;
use rsa::pkcs1::{DecodeRsaPrivateKey, EncodeRsaPrivateKey, EncodeRsaPublicKey};
use rsa::pkcs1v15::SigningKey as RsaSigner;
use rsa::sha2::Sha256;
use rsa::signature::{SignatureEncoding, Signer};

use super::Random;
use super::der::{self, Reader};
use super::dsa::Dsa;
use super::pem;
use crate::Context;

const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01];
const SHA256_WITH_RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B];
const EC: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
const CURVE_P256: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07];
const ECDSA_WITH_SHA256: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02];
const ED25519: &[u8] = &[0x2B, 0x65, 0x70];

/// A private key of a kind that sprig knows. Of curves there is P-256, the one that it makes keys on.
pub(super) enum PrivateKey {
    Rsa(Box<RsaPrivateKey>),
    P256(Box<P256>),
    Ed25519(Box<Ed25519>),
    Dsa(Box<Dsa>),
}

impl PrivateKey {
    /// A new RSA key.
    pub(super) fn rsa(context: &mut Context<'_>, bits: usize) -> Result<Self, String> {
        let key = RsaPrivateKey::new(&mut Random(context), bits).map_err(|error| error.to_string())?;
        Ok(Self::Rsa(Box::new(key)))
    }

    /// A new key on the curve P-256.
    pub(super) fn p256(context: &mut Context<'_>) -> Self {
        loop {
            let mut scalar = [0; 32];
            context.random(&mut scalar);
            // All but a few numbers of this size are keys.
            if let Ok(key) = P256::from_slice(&scalar) {
                return Self::P256(Box::new(key));
            }
        }
    }

    /// A new Ed25519 key.
    pub(super) fn ed25519(context: &mut Context<'_>) -> Self {
        let mut seed = [0; 32];
        context.random(&mut seed);
        Self::Ed25519(Box::new(Ed25519::from_bytes(&seed)))
    }

    /// The key of a PEM text; errors have sprig's words.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let block = pem::decode(text).ok_or("no PEM data in input")?;
        if block.label == "PRIVATE KEY" {
            return parse_pkcs8(&block.bytes).map_err(|error| format!("decoding PEM as PKCS#8: {error}"));
        }
        let Some(kind) = block.label.strip_suffix(" PRIVATE KEY") else {
            return Err(format!("no private key data in PEM block of type {}", block.label));
        };
        match kind {
            "RSA" => {
                parse_rsa(&block.bytes).map_err(|error| format!("parsing RSA private key from PEM: {error}"))
            }
            "EC" => parse_ec(&block.bytes, None)
                .map_err(|error| format!("parsing EC private key from PEM: {error}")),
            "DSA" => Dsa::parse(&block.bytes).map(|key| Self::Dsa(Box::new(key))).ok_or_else(|| {
                "parsing DSA private key from PEM: asn1: syntax error: data truncated".to_owned()
            }),
            _ => Err(format!("invalid private key type {}", block.label)),
        }
    }

    /// The key as PEM text, in the form that is usual for its kind.
    pub(super) fn pem(&self) -> Result<String, String> {
        Ok(match self {
            Self::Rsa(key) => {
                let document = key.to_pkcs1_der().map_err(|error| error.to_string())?;
                pem::encode("RSA PRIVATE KEY", document.as_bytes())
            }
            Self::P256(key) => {
                let public = der::value(der::explicit(1), &der::bits(&p256_point(key)));
                let curve = der::value(der::explicit(0), &der::value(der::OID, CURVE_P256));
                let scalar = der::value(der::OCTET_STRING, &key.to_bytes());
                let key = der::nest(der::SEQUENCE, &[&der::unsigned(&[1]), &scalar, &curve, &public]);
                pem::encode("EC PRIVATE KEY", &key)
            }
            Self::Ed25519(key) => {
                let algorithm = der::value(der::SEQUENCE, &der::value(der::OID, ED25519));
                let seed = der::value(der::OCTET_STRING, &der::value(der::OCTET_STRING, &key.to_bytes()));
                pem::encode(
                    "PRIVATE KEY",
                    &der::nest(der::SEQUENCE, &[&der::unsigned(&[0]), &algorithm, &seed]),
                )
            }
            Self::Dsa(key) => pem::encode("DSA PRIVATE KEY", &key.der()),
        })
    }

    /// The public key: how it is called and its bytes.
    pub(super) fn public(&self) -> Result<Public, String> {
        let oid = |oid: &[u8]| der::value(der::OID, oid);
        Ok(match self {
            Self::Rsa(key) => Public {
                algorithm: der::nest(der::SEQUENCE, &[&oid(RSA), &der::value(der::NULL, &[])]),
                bytes: key.to_public_key().to_pkcs1_der().map_err(|error| error.to_string())?.into_vec(),
            },
            Self::P256(key) => Public {
                algorithm: der::nest(der::SEQUENCE, &[&oid(EC), &oid(CURVE_P256)]),
                bytes: p256_point(key),
            },
            Self::Ed25519(key) => Public {
                algorithm: der::value(der::SEQUENCE, &oid(ED25519)),
                bytes: key.verifying_key().to_bytes().to_vec(),
            },
            Self::Dsa(_) => return Err("x509: unsupported public key type: *dsa.PublicKey".to_owned()),
        })
    }

    /// How signatures of the key are called.
    pub(super) fn signature_algorithm(&self) -> Vec<u8> {
        let oid = |oid: &[u8]| der::value(der::OID, oid);
        match self {
            Self::Rsa(_) => der::nest(der::SEQUENCE, &[&oid(SHA256_WITH_RSA), &der::value(der::NULL, &[])]),
            Self::P256(_) => der::value(der::SEQUENCE, &oid(ECDSA_WITH_SHA256)),
            Self::Ed25519(_) => der::value(der::SEQUENCE, &oid(ED25519)),
            Self::Dsa(_) => der::value(der::SEQUENCE, &[]),
        }
    }

    /// Signs; a DSA key signs no certificates.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Rsa(key) => {
                let signer = RsaSigner::<Sha256>::new((**key).clone());
                signer
                    .try_sign(message)
                    .map(|signature| signature.to_vec())
                    .map_err(|error| error.to_string())
            }
            Self::P256(key) => {
                let signature: Signature = key.try_sign(message).map_err(|error| error.to_string())?;
                Ok(signature.to_der().as_bytes().to_vec())
            }
            Self::Ed25519(key) => {
                key.try_sign(message).map(|signature| signature.to_vec()).map_err(|error| error.to_string())
            }
            Self::Dsa(_) => Err("x509: certificate private key does not implement crypto.Signer".to_owned()),
        }
    }
}

/// A public key in the parts of which certificates have it.
pub(super) struct Public {
    pub(super) algorithm: Vec<u8>,
    pub(super) bytes: Vec<u8>,
}

impl Public {
    /// As it stands in a certificate.
    pub(super) fn der(&self) -> Vec<u8> {
        der::nest(der::SEQUENCE, &[&self.algorithm, &der::bits(&self.bytes)])
    }
}

fn p256_point(key: &P256) -> Vec<u8> {
    key.verifying_key().to_sec1_point(false).as_bytes().to_vec()
}

fn parse_rsa(bytes: &[u8]) -> Result<PrivateKey, String> {
    RsaPrivateKey::from_pkcs1_der(bytes)
        .map(|key| PrivateKey::Rsa(Box::new(key)))
        .map_err(|_| "asn1: structure error: tags don't match".to_owned())
}

/// A key in the form of SEC 1; where it stands inside of PKCS#8, the curve is told outside.
fn parse_ec(bytes: &[u8], curve_outside: Option<&[u8]>) -> Result<PrivateKey, String> {
    let malformed =
        || "x509: failed to parse EC private key: asn1: structure error: tags don't match".to_owned();
    let mut outer = Reader(bytes);
    let mut key = Reader(outer.expect(der::SEQUENCE).ok_or_else(malformed)?);
    key.expect(der::INTEGER).ok_or_else(malformed)?;
    let scalar = key.expect(der::OCTET_STRING).ok_or_else(malformed)?;
    let curve = key.optional(der::explicit(0)).and_then(|curve| Reader(curve).expect(der::OID));
    if curve.or(curve_outside) != Some(CURVE_P256) {
        return Err("x509: unknown elliptic curve".to_owned());
    }
    let mut padded = [0; 32];
    let start = 32usize.checked_sub(scalar.len()).ok_or("x509: invalid private key length")?;
    padded[start..].copy_from_slice(scalar);
    let key =
        P256::from_slice(&padded).map_err(|_| "x509: invalid elliptic curve private key value".to_owned())?;
    Ok(PrivateKey::P256(Box::new(key)))
}

fn parse_pkcs8(bytes: &[u8]) -> Result<PrivateKey, String> {
    let malformed = || "asn1: structure error: tags don't match".to_owned();
    let mut outer = Reader(bytes);
    let mut key = Reader(outer.expect(der::SEQUENCE).ok_or_else(malformed)?);
    key.expect(der::INTEGER).ok_or_else(malformed)?;
    let mut algorithm = Reader(key.expect(der::SEQUENCE).ok_or_else(malformed)?);
    let name = algorithm.expect(der::OID).ok_or_else(malformed)?;
    let inner = key.expect(der::OCTET_STRING).ok_or_else(malformed)?;
    match name {
        RSA => parse_rsa(inner),
        EC => parse_ec(inner, algorithm.expect(der::OID)),
        ED25519 => {
            let seed = Reader(inner).expect(der::OCTET_STRING).and_then(|seed| seed.try_into().ok());
            let seed: &[u8; 32] = seed.ok_or("x509: invalid Ed25519 private key length")?;
            Ok(PrivateKey::Ed25519(Box::new(Ed25519::from_bytes(seed))))
        }
        _ => Err(format!(
            "x509: PKCS#8 wrapping contained private key with unknown algorithm: {}",
            dotted(name)
        )),
    }
}

/// The number of an algorithm as people write it.
fn dotted(oid: &[u8]) -> String {
    let mut arcs: Vec<u64> = Vec::new();
    let mut arc = 0u64;
    for &byte in oid {
        arc = arc << 7 | u64::from(byte & 0x7F);
        if byte < 0x80 {
            match arcs.is_empty() {
                true => arcs.extend([(arc / 40).min(2), arc - 40 * (arc / 40).min(2)]),
                false => arcs.push(arc),
            }
            arc = 0;
        }
    }
    arcs.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}
