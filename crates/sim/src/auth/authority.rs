//! Signs the requests for certificates that were approved, as the signers of kube-controller-manager do.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use lynceus_object::{Object, Value, value};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, SigningKey};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use sha2::{Digest, Sha256};

use super::der::{self, Der, INTEGER, OBJECT, OCTET_STRING, SEQUENCE};
use super::request::{ALTERNATIVE_NAMES, Name, Request};
use crate::ApiError;

/// How long a certificate is good unless less is asked for, in seconds.
const YEAR: i64 = 365 * 24 * 3600;
/// How much earlier it begins, for clocks that are late, in seconds.
const EARLIER: i64 = 300;
/// `ecdsa-with-SHA256`.
const ALGORITHM: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const TRUE: [u8; 3] = [0x01, 0x01, 0xff];

/// Usages of a key, by their bit.
const USAGES: [(&str, u32); 10] = [
    ("signing", 0),
    ("digital signature", 0),
    ("content commitment", 1),
    ("key encipherment", 2),
    ("data encipherment", 3),
    ("key agreement", 4),
    ("cert sign", 5),
    ("crl sign", 6),
    ("encipher only", 7),
    ("decipher only", 8),
];
/// Extended usages, by the last number of their name below `id-kp`.
const PURPOSES: [(&str, u8); 10] = [
    ("server auth", 1),
    ("client auth", 2),
    ("code signing", 3),
    ("email protection", 4),
    ("s/mime", 4),
    ("ipsec end system", 5),
    ("ipsec tunnel", 6),
    ("ipsec user", 7),
    ("timestamping", 8),
    ("ocsp signing", 9),
];
const PURPOSE: [u8; 7] = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03];
const ANY_PURPOSE: [u8; 4] = [0x55, 0x1d, 0x25, 0x00];

/// The cluster's root, as the one who signs.
pub(super) struct Authority {
    key: KeyPair,
    name: Vec<u8>,
}

/// Keys are secret, so that nothing of it is shown.
impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Authority")
    }
}

impl Authority {
    /// The one of a root certificate and its key, both in PEM.
    pub(super) fn new(certificate: &str, key: &str) -> Result<Self, ApiError> {
        let key = KeyPair::from_pem(key).map_err(|_| ApiError::internal("the root's key cannot be read"))?;
        if key.algorithm() != &PKCS_ECDSA_P256_SHA256 {
            return Err(ApiError::internal("the root's key is not a P-256 key"));
        }
        let name =
            CertificateDer::from_pem_slice(certificate.as_bytes()).ok().and_then(|root| name_of(&root));
        Ok(Authority { key, name: name.ok_or_else(|| ApiError::internal("the root cannot be read"))? })
    }

    /// A CertificateSigningRequest with its certificate, or with the reason why there is none; nothing if there is nothing
    /// to do for it.
    pub(super) fn answered(&self, object: &Object, now: Timestamp) -> Option<Object> {
        let has = |type_: &str| {
            let conditions = object.value().items_at(&["status", "conditions"]);
            conditions.iter().any(|condition| condition.str_at(&["type"]) == Some(type_))
        };
        let certified =
            object.value().str_at(&["status", "certificate"]).is_some_and(|text| !text.is_empty());
        if certified || !has("Approved") || has("Denied") || has("Failed") {
            return None;
        }
        let spec = object.at(&["spec"])?;
        let request = Request::read(&STANDARD.decode(spec.str_at(&["request"])?).ok()?)?;
        let usages: Vec<&str> = spec.items_at(&["usages"]).iter().filter_map(Value::as_str).collect();
        let checked = check(spec.str_at(&["signerName"])?, &request, &usages)?;
        let mut answered = object.clone();
        match checked.and_then(|()| self.sign(object, &request, &usages, now)) {
            Ok(certificate) => answered.set(&["status", "certificate"], STANDARD.encode(certificate)),
            Err(why) => {
                let time = crate::clock::text(now);
                let mut conditions = object.value().items_at(&["status", "conditions"]).to_vec();
                conditions.push(value!({
                    "type": "Failed", "status": "True", "reason": "SignerValidationFailure", "message": why,
                    "lastUpdateTime": time.as_str(), "lastTransitionTime": time.as_str(),
                }));
                answered.set(&["status", "conditions"], conditions);
            }
        }
        Some(answered)
    }

    /// The certificate in PEM. Subject, key and alternative names are taken over as they are.
    fn sign(
        &self,
        object: &Object,
        request: &Request,
        usages: &[&str],
        now: Timestamp,
    ) -> Result<String, String> {
        let asked = object.value().int_at(&["spec", "expirationSeconds"]).unwrap_or(YEAR);
        let time = |seconds| time(now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(now));
        let algorithm = der::value(SEQUENCE, &[&der::value(OBJECT, &[ALGORITHM])]);
        let certificate = der::value(
            SEQUENCE,
            &[
                &der::value(0xa0, &[&der::value(INTEGER, &[&[2]])]),
                &der::value(INTEGER, &[&serial(object.uid())]),
                &algorithm,
                &self.name,
                &der::value(SEQUENCE, &[&time(-EARLIER), &time(asked.min(YEAR) - EARLIER)]),
                &request.subject,
                &request.key,
                &der::value(0xa3, &[&der::value(SEQUENCE, &[&extensions(request, usages)])]),
            ],
        );
        let signature =
            self.key.sign(&certificate).map_err(|_| "the certificate cannot be signed".to_owned())?;
        Ok(pem(&der::value(SEQUENCE, &[&certificate, &algorithm, &der::bits(&signature)])))
    }
}

/// Whether a signer signs this, and why not. `None` if nobody here is that signer.
fn check(signer: &str, request: &Request, usages: &[&str]) -> Option<Result<(), String>> {
    let result = match signer.strip_prefix("kubernetes.io/")? {
        "kube-apiserver-client" => check_client(usages),
        "kube-apiserver-client-kubelet" => check_kubelet(request, usages, "client auth"),
        "kubelet-serving" => check_kubelet(request, usages, "server auth"),
        "legacy-unknown" => Ok(()),
        _ => return None,
    };
    Some(result.and_then(|()| match request.is_signed {
        true => Ok(()),
        false => Err("the request is not signed with its own key".to_owned()),
    }))
}

fn check_client(usages: &[&str]) -> Result<(), String> {
    const KNOWN: [&str; 3] = ["digital signature", "key encipherment", "client auth"];
    if let Some(usage) = usages.iter().find(|usage| !KNOWN.contains(usage)) {
        return Err(format!("invalid usage for client certificate: {usage}"));
    }
    match usages.contains(&"client auth") {
        true => Ok(()),
        false => Err("missing required usage for client certificate: client auth".to_owned()),
    }
}

/// What a kubelet may ask for, as a client or as a server.
fn check_kubelet(request: &Request, usages: &[&str], purpose: &str) -> Result<(), String> {
    let has = |name| request.names.contains(&name);
    let serving = purpose == "server auth";
    let mut wanted = ["digital signature", "key encipherment", purpose];
    wanted.sort_unstable();
    let complete = wanted.iter().all(|usage| *usage == "key encipherment" || usages.contains(usage));
    let why = if request.organizations != ["system:nodes"] {
        "subject organization is not system:nodes"
    } else if serving && !has(Name::Dns) && !has(Name::Address) {
        "DNS or IP subjectAltName is required"
    } else if !serving && has(Name::Dns) {
        "DNS subjectAltNames are not allowed"
    } else if has(Name::Email) {
        "Email subjectAltNames are not allowed"
    } else if !serving && has(Name::Address) {
        "IP subjectAltNames are not allowed"
    } else if has(Name::Uri) {
        "URI subjectAltNames are not allowed"
    } else if !complete || !usages.iter().all(|usage| wanted.contains(usage)) {
        return Err(format!("usages did not match [{}]", wanted.join(" ")));
    } else if !request.common_name.starts_with("system:node:") {
        "subject common name does not begin with system:node:"
    } else {
        return Ok(());
    };
    Err(why.to_owned())
}

fn extensions(request: &Request, usages: &[&str]) -> Vec<u8> {
    let extension = |name: &[u8], critical: &[u8], content: &[u8]| {
        let (name, content) = (der::value(OBJECT, &[name]), der::value(OCTET_STRING, &[content]));
        der::value(SEQUENCE, &[&name, critical, &content])
    };
    let mut all = Vec::new();
    if let Some(bits) = key_usage(usages) {
        all.extend(extension(KEY_USAGE, &TRUE, &bits));
    }
    let purposes = purposes(usages);
    if !purposes.is_empty() {
        all.extend(extension(EXTENDED_KEY_USAGE, &[], &der::value(SEQUENCE, &[&purposes])));
    }
    all.extend(extension(BASIC_CONSTRAINTS, &TRUE, &der::value(SEQUENCE, &[])));
    if !request.alternatives.is_empty() {
        all.extend(extension(ALTERNATIVE_NAMES, &[], &request.alternatives));
    }
    all
}

/// The usages that are bits, without the zeros at the end.
fn key_usage(usages: &[&str]) -> Option<Vec<u8>> {
    let set = USAGES
        .iter()
        .filter(|(name, _)| usages.contains(name))
        .fold(0u16, |set, (_, bit)| set | 0x8000 >> bit);
    let unused = set.trailing_zeros();
    let bytes = set.to_be_bytes();
    let used = if unused >= 8 { &bytes[..1] } else { &bytes[..] };
    let unused = u8::try_from(unused % 8).ok()?;
    (set != 0).then(|| der::value(der::BIT_STRING, &[&[unused], used]))
}

fn purposes(usages: &[&str]) -> Vec<u8> {
    let mut all = Vec::new();
    if usages.contains(&"any") {
        all.extend(der::value(OBJECT, &[&ANY_PURPOSE]));
    }
    let mut numbers: Vec<u8> =
        PURPOSES.iter().filter(|(name, _)| usages.contains(name)).map(|(_, number)| *number).collect();
    numbers.dedup();
    for number in numbers {
        all.extend(der::value(OBJECT, &[&PURPOSE, &[number]]));
    }
    all
}

/// A positive number that belongs to this request alone.
fn serial(uid: &str) -> Vec<u8> {
    let mut serial = Sha256::digest(uid)[..16].to_vec();
    serial[0] = serial[0] & 0x3f | 0x40;
    serial
}

fn time(at: Timestamp) -> Vec<u8> {
    let at = at.to_zoned(TimeZone::UTC);
    let (tag, form) = if at.year() < 2050 { (0x17, "%y%m%d%H%M%SZ") } else { (0x18, "%Y%m%d%H%M%SZ") };
    der::value(tag, &[at.strftime(form).to_string().as_bytes()])
}

/// The subject of a certificate, whole.
fn name_of(certificate: &[u8]) -> Option<Vec<u8>> {
    let mut fields = Der::new(Der::new(Der::new(certificate).read(SEQUENCE)?).read(SEQUENCE)?);
    fields.skip_if(0xa0);
    fields.read(INTEGER)?;
    for _ in 0..3 {
        fields.read(SEQUENCE)?;
    }
    fields.whole(SEQUENCE).map(<[u8]>::to_vec)
}

fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
    for line in text.as_bytes().chunks(64) {
        pem.extend(line.iter().map(|byte| char::from(*byte)));
        pem.push('\n');
    }
    pem + "-----END CERTIFICATE-----\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use rcgen::{CertificateParams, DistinguishedName, DnType};
    use rustls::server::WebPkiClientVerifier;

    const NOW: &str = "2026-01-01T00:00:00Z";

    /// What a signer says to the request of `/O=…/CN=…` with alternative names, or whom the certificate is for.
    fn answer(signer: &str, subject: (&str, &str), names: &[&str], usages: &[&str]) -> String {
        let identity = Identity::generate().unwrap();
        let keys = identity.keys().root.unwrap();
        let now = NOW.parse().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, subject.0);
        params.distinguished_name.push(DnType::CommonName, subject.1);
        let request = params.serialize_request(&KeyPair::generate().unwrap()).unwrap().pem().unwrap();
        let mut object = Object::new(value!({
            "metadata": {"name": "foo", "uid": "0b1c"},
            "spec": {"request": STANDARD.encode(request), "signerName": signer},
            "status": {"conditions": [{"type": "Approved", "status": "True"}]},
        }))
        .unwrap();
        object.set(&["spec", "usages"], usages.iter().copied().collect::<Value>());
        let authority = Authority::new(&keys.0, &keys.1).unwrap();
        let Some(answered) = authority.answered(&object, now) else { return "nothing".to_owned() };
        assert!(authority.answered(&answered, now).is_none(), "it is answered once");
        match answered.value().str_at(&["status", "certificate"]) {
            Some(certificate) => user_of(&identity.root, &STANDARD.decode(certificate).unwrap()),
            None => answered.value().items_at(&["status", "conditions"])[1]
                .str_at(&["message"])
                .unwrap()
                .to_owned(),
        }
    }

    /// Whom a certificate lets in by TLS.
    fn user_of(root: &str, certificate: &[u8]) -> String {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(root.as_bytes()).unwrap()).unwrap();
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap();
        let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
        let now = NOW.parse::<Timestamp>().unwrap().as_second().unsigned_abs();
        let at = rustls::pki_types::UnixTime::since_unix_epoch(std::time::Duration::from_secs(now));
        match verifier.verify_client_cert(&certificate, &[], at) {
            Ok(_) => {
                let user = super::super::certificate::user_of(&certificate).unwrap();
                format!("{} in {}", user.name, user.groups.join(", "))
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_approved_client_gets_a_certificate_that_lets_it_in() {
        let usages = ["client auth", "digital signature", "key encipherment"];
        let signer = "kubernetes.io/kube-apiserver-client";
        assert_eq!(answer(signer, ("ops", "alice"), &[], &usages), "alice in ops, system:authenticated");
        assert_eq!(
            answer(signer, ("ops", "alice"), &["a.example.com"], &usages[..1]),
            "alice in ops, system:authenticated"
        );
    }

    #[test]
    fn a_signer_refuses_what_it_does_not_sign_and_says_why() {
        let client =
            |usages: &[&str]| answer("kubernetes.io/kube-apiserver-client", ("ops", "alice"), &[], usages);
        assert_eq!(client(&["server auth"]), "invalid usage for client certificate: server auth");
        assert_eq!(
            client(&["digital signature"]),
            "missing required usage for client certificate: client auth"
        );
        let kubelet = |subject: (&str, &str), names: &[&str], usages: &[&str]| {
            answer("kubernetes.io/kubelet-serving", subject, names, usages)
        };
        let (node, usages) = (("system:nodes", "system:node:a"), ["digital signature", "server auth"]);
        assert_eq!(kubelet(("ops", "a"), &[], &usages), "subject organization is not system:nodes");
        assert_eq!(kubelet(node, &[], &usages), "DNS or IP subjectAltName is required");
        assert_eq!(
            kubelet(node, &["a.example.com"], &["client auth"]),
            "usages did not match [digital signature key encipherment server auth]"
        );
        assert_eq!(
            kubelet(("system:nodes", "a"), &["a.example.com"], &usages),
            "subject common name does not begin with system:node:"
        );
        assert_eq!(answer("example.com/own", node, &[], &usages), "nothing");
    }

    #[test]
    fn usages_are_bits_without_zeros_at_the_end() {
        assert_eq!(key_usage(&["signing"]), Some(vec![3, 2, 7, 0x80]));
        assert_eq!(key_usage(&["digital signature", "key encipherment"]), Some(vec![3, 2, 5, 0xa0]));
        assert_eq!(key_usage(&["decipher only"]), Some(vec![3, 3, 7, 0, 0x80]));
        assert_eq!(key_usage(&["client auth"]), None);
    }
}
