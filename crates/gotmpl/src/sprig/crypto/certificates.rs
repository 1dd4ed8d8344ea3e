//! Certificates and keys for templates: `genCA`, `genSignedCert` and their kin.

use core::net::IpAddr;
use std::any::Any;

use super::Effort;
use super::certificate::{Issuer, Request, create};
use super::dsa::Dsa;
use super::key::PrivateKey;
use super::pem;
use crate::sprig::args::{any, int, text};
use crate::sprig::encodings::decode_base64;
use crate::sprig::time::Moment;
use crate::types::{self, LIST, STRING, Type};
use crate::{Context, Failure, Functions, Object, Shape, Str, TypeInfo, Value, signature};

use types::INT;

static CERTIFICATE: TypeInfo = TypeInfo::declared("sprig.certificate", Shape::Struct, &[]);

/// How many bits keys of certificates have.
const CERTIFICATE_BITS: usize = 2048;

/// How many bits a key has that is asked for by itself.
const KEY_BITS: usize = 4096;

pub(super) fn register(to: &mut Functions) {
    to.add("genPrivateKey", signature!((STRING) -> STRING), |context, args| {
        Ok(private_key(context, text(args, 0))?.into())
    });
    to.add("buildCustomCert", takes!((STRING, STRING) -> CERTIFICATE), |_, args| {
        custom(text(args, 0), text(args, 1))
    });
    to.add("genCA", takes!((STRING, INT) -> CERTIFICATE), |context, args| {
        let key = new_key(context)?;
        authority(context, args, &key)
    });
    to.add("genCAWithKey", takes!((STRING, INT, STRING) -> CERTIFICATE), |context, args| {
        authority(context, args, &given_key(text(args, 2))?)
    });
    to.add("genSelfSignedCert", takes!((STRING, LIST, LIST, INT) -> CERTIFICATE), |context, args| {
        let key = new_key(context)?;
        self_signed(context, args, &key)
    });
    to.add(
        "genSelfSignedCertWithKey",
        takes!((STRING, LIST, LIST, INT, STRING) -> CERTIFICATE),
        |context, args| self_signed(context, args, &given_key(text(args, 4))?),
    );
    to.add(
        "genSignedCert",
        takes!((STRING, LIST, LIST, INT, CERTIFICATE) -> CERTIFICATE),
        |context, args| {
            let key = new_key(context)?;
            signed(context, args, &key)
        },
    );
    to.add(
        "genSignedCertWithKey",
        takes!((STRING, LIST, LIST, INT, CERTIFICATE, STRING) -> CERTIFICATE),
        |context, args| signed(context, args, &given_key(text(args, 5))?),
    );
}

/// A certificate and its key as PEM texts.
#[derive(Clone, Default)]
struct Certificate {
    cert: Str,
    key: Str,
}

impl Object for Certificate {
    fn go_type(&self) -> Type {
        &CERTIFICATE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        vec![("Cert", self.cert.clone().into()), ("Key", self.key.clone().into())]
    }

    fn equals(&self, other: &dyn Object) -> Option<bool> {
        other.as_any().downcast_ref::<Self>().map(|other| self.cert == other.cert && self.key == other.key)
    }
}

fn private_key(context: &mut Context<'_>, kind: &str) -> Result<String, Failure> {
    let key = match kind {
        "" | "rsa" => {
            Effort::Rsa4096.spend(context)?;
            PrivateKey::rsa(context, KEY_BITS)
        }
        "dsa" => {
            Effort::Dsa.spend(context)?;
            Ok(PrivateKey::Dsa(Box::new(Dsa::generate(context))))
        }
        "ecdsa" => Ok(PrivateKey::p256(context)),
        "ed25519" => Ok(PrivateKey::ed25519(context)),
        _ => return Ok(format!("Unknown type {kind}")),
    };
    let pem = key.and_then(|key| key.pem());
    Ok(pem.unwrap_or_else(|error| format!("failed to generate private key: {error}")))
}

fn new_key(context: &mut Context<'_>) -> Result<PrivateKey, Failure> {
    Effort::Rsa2048.spend(context)?;
    PrivateKey::rsa(context, CERTIFICATE_BITS)
        .map_err(|error| Failure::new(format!("error generating rsa key: {error}")))
}

fn given_key(text: &str) -> Result<PrivateKey, Failure> {
    PrivateKey::parse(text).map_err(|error| Failure::new(format!("parsing private key: {error}")))
}

/// Takes a certificate and a key that someone else has made.
fn custom(cert: &Str, key: &Str) -> Result<Value, Failure> {
    let decoded = |text: &Str| decode_base64(&text.bytes()).map(|bytes| Str::from_bytes(&bytes));
    let cert = decoded(cert).map_err(|_| "unable to decode base64 certificate")?;
    let key = decoded(key).map_err(|_| "unable to decode base64 private key")?;
    let block = pem::decode(&cert).ok_or("unable to decode certificate")?;
    if Issuer::parse(&block.bytes).is_none() {
        return Err("error parsing certificate: decodedCert.Bytes: x509: malformed certificate".into());
    }
    PrivateKey::parse(&key).map_err(|error| format!("error parsing private key: {error}"))?;
    Ok(Value::object(Certificate { cert, key }))
}

fn authority(context: &mut Context<'_>, args: &[Value], key: &PrivateKey) -> Result<Value, Failure> {
    let request = Request { is_authority: true, ..request(context, args, int(args, 1))? };
    finish(create(&request, key, None), key)
}

fn self_signed(context: &mut Context<'_>, args: &[Value], key: &PrivateKey) -> Result<Value, Failure> {
    let request = request_with_names(context, args)?;
    finish(create(&request, key, None), key)
}

fn signed(context: &mut Context<'_>, args: &[Value], key: &PrivateKey) -> Result<Value, Failure> {
    let ca = any(args, 4).as_object::<Certificate>().cloned().unwrap_or_default();
    let block = pem::decode(&ca.cert).ok_or("unable to decode certificate")?;
    let issuer = Issuer::parse(&block.bytes)
        .ok_or("error parsing certificate: decodedSignerCert.Bytes: x509: malformed certificate")?;
    let signer = PrivateKey::parse(&ca.key).map_err(|error| format!("error parsing private key: {error}"))?;
    let request = request_with_names(context, args)?;
    finish(create(&request, key, Some((&issuer, &signer))), key)
}

fn finish(created: Result<Vec<u8>, String>, key: &PrivateKey) -> Result<Value, Failure> {
    let bytes = created.map_err(|error| format!("error creating certificate: {error}"))?;
    let key = key.pem().map_err(|error| format!("error pem-encoding key: {error}"))?;
    Ok(Value::object(Certificate { cert: pem::encode("CERTIFICATE", &bytes).into(), key: key.into() }))
}

/// What the first argument asks for, and the number of days.
fn request(context: &mut Context<'_>, args: &[Value], days: i64) -> Result<Request, Failure> {
    const DAY: i64 = 86_400 * 1_000_000_000;
    let mut serial = [0; 16];
    context.random(&mut serial);
    let from = Moment::now(context.now());
    Ok(Request {
        common_name: text(args, 0).to_string(),
        addresses: Vec::new(),
        names: Vec::new(),
        is_authority: false,
        serial,
        until: from.plus(days.wrapping_mul(DAY)),
        from,
    })
}

fn request_with_names(context: &mut Context<'_>, args: &[Value]) -> Result<Request, Failure> {
    let mut addresses = Vec::new();
    for item in items(any(args, 1)) {
        let Some(text) = item.as_str() else {
            return Err(Failure::new(format!("error parsing ip: {} is not a string", context.text(&item)?)));
        };
        let address: Result<IpAddr, _> = text.parse();
        addresses.push(address.map_err(|_| Failure::new(format!("error parsing ip: {text}")))?);
    }
    let mut names = Vec::new();
    for item in items(any(args, 2)) {
        let Some(text) = item.as_str() else {
            let item = context.text(&item)?;
            return Err(Failure::new(format!("error processing alternate dns name: {item} is not a string")));
        };
        names.push(text.to_string());
    }
    Ok(Request { addresses, names, ..request(context, args, int(args, 3))? })
}

fn items(value: &Value) -> Vec<Value> {
    value.as_list().map(|list| list.to_vec()).unwrap_or_default()
}
