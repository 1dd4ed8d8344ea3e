//! A small issuer on loopback, which signs with real keys and can be told to do everything wrong.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use lynceus_object::{Value, json, value};
use ring::digest;
use ring::rand::SystemRandom;
use ring::rsa;
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;

use crate::request::pairs;

/// What an issuer signs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Rsa,
    Ec,
    Ed,
}

/// An issuer.
#[derive(Clone)]
pub(super) struct Issuer(Arc<Inside>);

struct Inside {
    address: String,
    rsa: rsa::KeyPair,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
    way: Mutex<Way>,
    codes: Mutex<HashMap<String, HashMap<String, String>>>,
    claims: Mutex<Value>,
    key_id: Mutex<String>,
    info: Mutex<Value>,
    asked: AtomicUsize,
}

impl Issuer {
    pub(super) async fn start() -> Self {
        let listener = crate::listen::listen(([127, 0, 0, 1], 0).into()).await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let issuer = Issuer::new(address);
        let router = issuer.router();
        tokio::spawn(crate::listen::serve(listener, router, std::future::pending()));
        issuer
    }

    /// One that speaks TLS, with the certificate that it is to be known by.
    pub(super) async fn start_tls() -> (Self, String) {
        let listener = crate::listen::listen(([127, 0, 0, 1], 0).into()).await.unwrap();
        let address = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let issuer = Issuer::new(address);
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let config =
            config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        let router = issuer.router();
        tokio::spawn(crate::listen::serve_tls(
            listener,
            router,
            crate::Tls::with(config),
            std::future::pending(),
        ));
        (issuer, made.cert.pem())
    }

    fn new(address: String) -> Self {
        let random = SystemRandom::new();
        let pem = include_bytes!("../../../../source/tests/keys/rsa-pkcs8.pem");
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem).unwrap();
        let way = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
        let ec = EcdsaKeyPair::generate_pkcs8(way, &random).unwrap();
        let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        Issuer(Arc::new(Inside {
            address,
            rsa: rsa::KeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap(),
            ec: EcdsaKeyPair::from_pkcs8(way, ec.as_ref(), &random).unwrap(),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap(),
            way: Mutex::new(Way::Rsa),
            codes: Mutex::default(),
            claims: Mutex::new(value!({})),
            key_id: Mutex::new("one".to_owned()),
            info: Mutex::default(),
            asked: AtomicUsize::new(0),
        }))
    }

    pub(super) fn address(&self) -> &str {
        &self.0.address
    }

    /// Signs in another way from now on.
    pub(super) fn sign_with(&self, way: Way) {
        *self.0.way.lock().unwrap() = way;
    }

    /// Signs with a key of another name from now on.
    pub(super) fn rename_key(&self, id: &str) {
        *self.0.key_id.lock().unwrap() = id.to_owned();
    }

    /// Says something else in its tokens from now on.
    pub(super) fn say(&self, claims: Value) {
        *self.0.claims.lock().unwrap() = claims;
    }

    /// Says this of somebody who asks with their token, from now on; nothing refuses it.
    pub(super) fn tell(&self, info: Value) {
        *self.0.info.lock().unwrap() = info;
    }

    /// How often it was asked for that.
    pub(super) fn asked(&self) -> usize {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// Somebody agrees at the address that their browser was sent to. Gives the query that it comes back with.
    pub(super) fn agree(&self, place: &str) -> String {
        let (_, query) = place.split_once('?').unwrap();
        let query: HashMap<String, String> = pairs(query).into_iter().collect();
        let code = format!("code-{}", self.0.codes.lock().unwrap().len());
        let state = query["state"].clone();
        self.0.codes.lock().unwrap().insert(code.clone(), query);
        format!("code={code}&state={state}")
    }

    /// A token for somebody, as it would be given for a code.
    pub(super) fn token(&self, nonce: &str) -> String {
        let now = 1_800_000_000;
        let mut claims = value!({
            "iss": self.address(), "sub": "1234", "aud": "lynceus", "exp": now + 600, "iat": now, "jti": nonce,
            "email": "carol@example.com", "groups": ["devs", "role:admin"], "nonce": nonce,
        });
        if let Value::Map(own) = &*self.0.claims.lock().unwrap() {
            own.iter().for_each(|(key, value)| claims.set(&[key], value.clone()));
        }
        let way = *self.0.way.lock().unwrap();
        let algorithm = match way {
            Way::Rsa => "RS256",
            Way::Ec => "ES256",
            Way::Ed => "EdDSA",
        };
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(json::to_vec(value));
        let head =
            value!({"alg": algorithm, "kid": format!("{}-{algorithm}", self.0.key_id.lock().unwrap())});
        let signed = format!("{}.{}", part(&head), part(&claims));
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(self.sign(way, signed.as_bytes())))
    }

    fn sign(&self, way: Way, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match way {
            Way::Rsa => {
                let mut mark = vec![0; self.0.rsa.public().modulus_len()];
                self.0.rsa.sign(&signature::RSA_PKCS1_SHA256, &random, message, &mut mark).unwrap();
                mark
            }
            Way::Ec => self.0.ec.sign(&random, message).unwrap().as_ref().to_vec(),
            Way::Ed => self.0.ed.sign(message).as_ref().to_vec(),
        }
    }

    /// Its keys, for everybody.
    pub(super) fn keys(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let rsa: rsa::PublicKeyComponents<Vec<u8>> = self.0.rsa.public().into();
        let ec = self.0.ec.public_key().as_ref();
        let id = self.0.key_id.lock().unwrap().clone();
        value!({"keys": [
            {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": format!("{id}-RS256"), "n": text(&rsa.n), "e": text(&rsa.e)},
            {"kty": "EC", "crv": "P-256", "kid": format!("{id}-ES256"), "x": text(&ec[1..33]), "y": text(&ec[33..])},
            {"kty": "OKP", "crv": "Ed25519", "kid": format!("{id}-EdDSA"), "x": text(self.0.ed.public_key().as_ref())},
            {"kty": "oct", "kid": "odd", "k": "AAAA"},
        ]})
    }

    /// The modulus, which somebody may try to take for a shared key.
    pub(super) fn public_bytes(&self) -> Vec<u8> {
        let rsa: rsa::PublicKeyComponents<Vec<u8>> = self.0.rsa.public().into();
        rsa.n
    }

    fn router(&self) -> Router {
        Router::new()
            .route("/.well-known/openid-configuration", get(document))
            .route("/keys", get(async |State(issuer): State<Issuer>| said(&issuer.keys())))
            .route("/token", post(exchange))
            .route("/userinfo", get(information))
            .route("/own/people", get(information))
            .with_state(self.clone())
    }
}

fn said(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json::to_vec(value)).into_response()
}

async fn document(State(issuer): State<Issuer>) -> Response {
    let at = |path: &str| format!("{}/{path}", issuer.address());
    said(&value!({
        "issuer": issuer.address(), "authorization_endpoint": at("authorize"), "token_endpoint": at("token"),
        "jwks_uri": at("keys"), "userinfo_endpoint": at("userinfo"), "token_endpoint_auth_methods_supported": ["client_secret_basic"],
    }))
}

/// What it says of the bearer of a token.
async fn information(State(issuer): State<Issuer>, headers: HeaderMap) -> Response {
    issuer.0.asked.fetch_add(1, Ordering::Relaxed);
    let info = issuer.0.info.lock().unwrap().clone();
    let is_known = headers.get(header::AUTHORIZATION).is_some_and(|own| own == "Bearer x");
    if is_known && info != Value::Null { said(&info) } else { StatusCode::UNAUTHORIZED.into_response() }
}

/// Gives the token for a code, once, to whoever proves to be the one who asked.
async fn exchange(State(issuer): State<Issuer>, headers: HeaderMap, body: Bytes) -> Response {
    let form: HashMap<String, String> = pairs(&String::from_utf8_lossy(&body)).into_iter().collect();
    let asked =
        issuer.0.codes.lock().unwrap().remove(form.get("code").map(String::as_str).unwrap_or_default());
    let login = format!("Basic {}", STANDARD.encode("lynceus:hush%20hush"));
    let refused =
        |what: &str| (StatusCode::BAD_REQUEST, json::to_vec(&value!({"error": what}))).into_response();
    let Some(asked) = asked else { return refused("invalid_grant") };
    let verifier = form.get("code_verifier").map(String::as_str).unwrap_or_default();
    let challenge = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes()));
    if asked["code_challenge"] != challenge || asked["redirect_uri"] != form["redirect_uri"] {
        return refused("invalid_grant");
    }
    if headers.get(header::AUTHORIZATION).is_none_or(|own| *own != login) {
        return refused("invalid_client");
    }
    said(&value!({"id_token": issuer.token(&asked["nonce"]), "access_token": "x", "token_type": "Bearer"}))
}
