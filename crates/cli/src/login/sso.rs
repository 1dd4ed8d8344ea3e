//! Logging in with the issuer that a server names: the browser is sent there with a challenge (PKCE) and comes back to a port
//! of this machine with a code, which is exchanged for a token. No browser is started: the address is printed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_object::{Value, json, value};
use lynceus_source::{Access, tls_config};
use reqwest::{Client, Response};
use ring::digest;
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::net::TcpListener;

use super::callback;
use crate::api::{Api, Destination, misuse};
use crate::exit::{Doing as _, Outcome};
use crate::limits;

// How an issuer is gone to.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// The port to which the browser comes back.
    #[arg(long, value_name = "PORT", default_value_t = 8085)]
    sso_port: u16,
    /// The scheme, host and port that the issuer knows us by, if it is not http://localhost:PORT.
    #[arg(long, value_name = "ADDRESS")]
    callback: Option<String>,
    /// Accepted for scripts: no browser is started, the address is printed.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    sso_launch_browser: Option<bool>,
}

/// What an issuer gives.
#[derive(Default)]
pub(crate) struct Tokens {
    /// Who we are.
    pub(crate) token: String,
    /// With what a new one can be got.
    pub(crate) refresh: String,
}

/// Logs in with the issuer of a server.
pub(crate) async fn login(api: &Api, destination: &Destination, flags: &Flags) -> Outcome<Tokens> {
    let settings = api.call("cannot ask how to log in", "SettingsService.Get", value!({})).await?;
    let issuer = Issuer::of(&settings, destination)?;
    let client = client(destination)?;
    let known = issuer.known(&client).await?;
    let listener = TcpListener::bind(("127.0.0.1", flags.sso_port))
        .await
        .doing(format!("cannot wait for the browser on port {}", flags.sso_port))
        .map_err(|failure| failure.hint("choose another with --sso-port PORT; the issuer has to know it"))?;
    let port = listener.local_addr().doing("cannot wait for the browser")?.port();
    let back = match &flags.callback {
        Some(address) if address.contains("://") => {
            format!("{}/auth/callback", address.trim_end_matches('/'))
        }
        Some(address) => format!("http://{address}/auth/callback"),
        None => format!("http://localhost:{port}/auth/callback"),
    };
    let (state, nonce, verifier) = (random()?, random()?, random()?);
    let challenge = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes()));
    let place = issuer.address(&known, "authorization_endpoint")?;
    let query: [(&str, &str); 8] = [
        ("response_type", "code"),
        ("client_id", &issuer.client),
        ("redirect_uri", &back),
        ("scope", &issuer.scopes),
        ("state", &state),
        ("nonce", &nonce),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    let joint = if place.contains('?') { '&' } else { '?' };
    println!(
        "To authenticate, copy-and-paste the following URL into your preferred browser: {place}{joint}{}{}",
        form(&query),
        issuer.claims
    );
    let code = callback::code(&listener, &state).await?;
    let body = form(&[
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", &back),
        ("client_id", &issuer.client),
        ("code_verifier", &verifier),
    ]);
    let tokens = exchange(&client, &issuer.address(&known, "token_endpoint")?, body).await?;
    // The server checks who signed it; that it is the answer to our question only we can know.
    match super::claims(&tokens.token).str_at(&["nonce"]) == Some(nonce.as_str()) {
        true => Ok(tokens),
        false => Err(misuse("the token of the issuer is the answer to another login")),
    }
}

struct Issuer {
    address: String,
    client: String,
    scopes: String,
    /// What more is asked for, as a piece of the query.
    claims: String,
}

impl Issuer {
    fn of(settings: &Value, destination: &Destination) -> Outcome<Self> {
        let oidc = settings.get("oidcConfig").filter(|config| config.str_at(&["issuer"]).is_some());
        let text = |name: &str| oidc.and_then(|oidc| oidc.str_at(&[name])).unwrap_or_default();
        let scopes: Vec<&str> = oidc
            .map_or(&[][..], |oidc| oidc.items_at(&["scopes"]))
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let scopes =
            if scopes.is_empty() { "openid profile email groups".to_owned() } else { scopes.join(" ") };
        if oidc.is_some() {
            let own = text("cliClientID");
            let client = if own.is_empty() { text("clientID") } else { own };
            let claims = oidc.and_then(|oidc| oidc.get("idTokenClaims")).filter(|claims| !claims.is_empty());
            let claims = claims.map(|claims| json::to_string(&value!({"id_token": claims.clone()})));
            let claims =
                claims.map(|claims| format!("&{}", form(&[("claims", &claims)]))).unwrap_or_default();
            return Ok(Issuer {
                address: text("issuer").to_owned(),
                client: client.to_owned(),
                scopes,
                claims,
            });
        }
        if !settings.items_at(&["dexConfig", "connectors"]).is_empty() {
            let scheme = if destination.plain { "http" } else { "https" };
            let address = format!("{scheme}://{}{}/api/dex", destination.address, destination.root_path);
            return Ok(Issuer { address, client: "argo-cd-cli".to_owned(), scopes, claims: String::new() });
        }
        Err(misuse("the server names no issuer to log in with")
            .hint("log in with a name and a password: leave out --sso\nor set oidc.config in the ConfigMap argocd-cm"))
    }

    async fn known(&self, client: &Client) -> Outcome<Value> {
        let place = format!("{}/.well-known/openid-configuration", self.address.trim_end_matches('/'));
        safe(&place)?;
        let answer = client.get(place).send().await.map_err(|_| self.silent())?;
        read(answer).await.map_err(|_| self.silent())
    }

    fn address(&self, known: &Value, name: &str) -> Outcome<String> {
        let place = known.str_at(&[name]).unwrap_or_default();
        safe(place)?;
        Ok(place.to_owned())
    }

    fn silent(&self) -> crate::exit::Failure {
        misuse(format!("the issuer {} does not say how to log in", self.address))
            .hint("is its address in oidc.config of the ConfigMap argocd-cm right, and can it be reached from here?")
    }
}

/// An issuer is talked to over TLS, except on this machine.
fn safe(place: &str) -> Outcome {
    let local = ["http://localhost", "http://127.0.0.1", "http://[::1]"];
    let is_local =
        local.iter().any(|host| place.strip_prefix(host).is_some_and(|rest| rest.starts_with([':', '/'])));
    match place.starts_with("https://") || is_local {
        true => Ok(()),
        false => Err(misuse(format!("the issuer is not reached over TLS: {place:?}"))),
    }
}

fn client(destination: &Destination) -> Outcome<Client> {
    let access = Access { certificate_authority: destination.authority.clone(), ..Access::default() };
    let tls = tls_config("the issuer", &access).doing("cannot talk to the issuer")?;
    let client = Client::builder().tls_backend_preconfigured(tls).connect_timeout(limits::CONNECT);
    let client = client.timeout(limits::SILENCE).redirect(reqwest::redirect::Policy::none());
    client.build().doing("cannot talk to the issuer")
}

async fn exchange(client: &Client, place: &str, body: String) -> Outcome<Tokens> {
    let request = client.post(place).header("content-type", "application/x-www-form-urlencoded");
    // What the issuer says about a code that it does not take may quote it.
    let refused = || misuse("the issuer gave no token for its code");
    let answer = request.body(body).send().await.map_err(|_| refused())?;
    let answer = read(answer).await.map_err(|_| refused())?;
    let text = |name: &str| answer.str_at(&[name]).unwrap_or_default().to_owned();
    match text("id_token").is_empty() {
        true => Err(refused()),
        false => Ok(Tokens { token: text("id_token"), refresh: text("refresh_token") }),
    }
}

async fn read(mut answer: Response) -> Result<Value, ()> {
    let is_good = answer.status().is_success();
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(drop)? {
        if body.len() + piece.len() > limits::LINE {
            return Err(());
        }
        body.extend_from_slice(&piece);
    }
    json::parse(&body).map_err(drop).and_then(|value| if is_good { Ok(value) } else { Err(()) })
}

fn random() -> Outcome<String> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| misuse("the system gives no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn form(pairs: &[(&str, &str)]) -> String {
    let encoded = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    (byte as char).to_string()
                }
                _ => format!("%{byte:02X}"),
            })
            .collect()
    };
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    pairs.join("&")
}
