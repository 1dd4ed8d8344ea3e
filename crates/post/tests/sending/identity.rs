//! Services that are used by where the program runs: keys of Google and Amazon from files, variables and the machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_notify::{Answer, Destination, Notification, Place, Service, ServiceConfig};
use lynceus_object::yaml;
use lynceus_post::{Options, Post};

use crate::stand_in::StandIn;
use crate::{now, send};

/// A key of the tests, on one line of JSON.
fn key() -> String {
    include_str!("../../../source/tests/keys/rsa-pkcs1.pem").replace('\n', "\\n")
}

/// A program around which these variables and files stand: `NAME=text` and `/path=text`.
fn around(things: &[&str]) -> Post {
    let things: BTreeMap<String, String> = things
        .iter()
        .map(|thing| thing.split_once('=').unwrap())
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect();
    let look = move |place: &Place| {
        let name = match place {
            Place::File(path) => path.as_str(),
            Place::Variable(name) => name,
        };
        match things.get(name) {
            Some(text) => Answer { status: 200, body: text.clone().into_bytes() },
            None => Answer { status: 404, body: b"there is no such file".to_vec() },
        }
    };
    Post::new(Options { environment_proxy: false, surroundings: Arc::new(look), ..Options::default() })
}

fn reply(status: u16, body: &str) -> (u16, &'static str, String) {
    (status, "", body.to_owned())
}

/// What a server was asked, without what changes with a key.
fn asked(server: &StandIn) -> String {
    let asked = server.asked();
    let lines = asked.lines().map(|line| match line.split_once("assertion=") {
        Some((before, _)) => format!("{before}assertion=…"),
        None => line.split(", Signature=").next().unwrap_or_default().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_topic_is_written_to_without_a_login_where_an_emulator_is_named() {
    let server = StandIn::answering(200, "{}").await;
    let post = around(&[&format!("PUBSUB_EMULATOR_HOST={}", server.url.trim_start_matches("http://"))]);
    let message = "{message: it is ready, gcppubsub: {attributes: {app: shop, size: 2}}}";
    send(&post, "gcppubsub:", "{project: p, topic: t}", message).await.unwrap();
    send(&post, "gcppubsub:other/../topic", "{project: p, topic: t}", "message: m").await.unwrap();
    assert_eq!(
        asked(&server),
        "POST /v1/projects/p/topics/t:publish\ncontent-type: application/json\n\
         {\"messages\":[{\"attributes\":{\"app\":\"shop\",\"size\":\"2\"},\"data\":\"aXQgaXMgcmVhZHk=\"}]}\n\n\
         POST /v1/projects/p/topics/other%2F..%2Ftopic:publish\ncontent-type: application/json\n\
         {\"messages\":[{\"data\":\"bQ==\"}]}"
    );
}

#[tokio::test]
async fn a_key_of_a_service_account_is_changed_for_a_token() {
    let server = StandIn::new(vec![reply(401, r#"{"error": "invalid_grant"}"#)]).await;
    let account = format!(
        "/key.json={{\"type\": \"service_account\", \"client_email\": \"a@b\", \"private_key\": \"{}\", \"token_uri\": \"{}/token\"}}",
        key(),
        server.url
    );
    let post = around(&[&account]);
    let options = "{project: p, topic: t, keyFile: /key.json}";
    let told = send(&post, "gcppubsub:", options, "message: m").await.unwrap_err();
    assert_eq!(told.to_string(), "the server answered 401: {\"error\": \"invalid_grant\"}");
    assert_eq!(
        asked(&server),
        "POST /token\ncontent-type: application/x-www-form-urlencoded\n\
         grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=…"
    );
    let post =
        around(&["GOOGLE_APPLICATION_CREDENTIALS=/other.json", "/other.json={\"type\": \"external\"}"]);
    let told = send(&post, "gcppubsub:", "{project: p, topic: t}", "message: m").await.unwrap_err();
    assert_eq!(told.to_string(), "/other.json is a key of the type external; use one of a service account");
    let told = send(&post, "gcppubsub:", options, "message: m").await.unwrap_err();
    assert_eq!(told.to_string(), "/key.json cannot be read: there is no such file");
}

#[tokio::test]
async fn the_machine_is_asked_for_a_token_where_there_is_no_key() {
    let server = StandIn::new(vec![reply(404, "not on this machine")]).await;
    let post = around(&[&format!("GCE_METADATA_HOST={}", server.url.trim_start_matches("http://"))]);
    let told = send(&post, "gcppubsub:", "{project: p, topic: t}", "message: m").await.unwrap_err();
    assert_eq!(told.to_string(), "the server answered 404: not on this machine");
    assert_eq!(asked(&server), "GET /computeMetadata/v1/instance/service-accounts/default/token");
}

#[tokio::test]
async fn keys_of_amazon_come_from_variables_an_account_of_the_cluster_or_a_container() {
    let queue = r#"{"QueueUrl": "https://sqs/1/q"}"#;
    let server = StandIn::new(vec![reply(200, queue), reply(200, "{}")]).await;
    let options = format!("{{region: r, queue: q, endpointUrl: '{}'}}", server.url);
    let post = around(&["AWS_ACCESS_KEY_ID=AK", "AWS_SECRET_ACCESS_KEY=word", "AWS_SESSION_TOKEN=tk"]);
    send(&post, "awssqs:", &options, "message: m").await.unwrap();
    let signed = "authorization: AWS4-HMAC-SHA256 Credential=AK/20260102/r/sqs/aws4_request, \
                  SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target";
    assert_eq!(asked(&server).lines().filter(|line| *line == signed).count(), 2, "{}", server.asked());

    let keys =
        r#"{"AccessKeyId": "AR", "SecretAccessKey": "s", "SessionToken": "t", "Expiration": 1767326645.0}"#;
    let keys = format!(
        r#"{{"AssumeRoleWithWebIdentityResponse": {{"AssumeRoleWithWebIdentityResult": {{"Credentials": {keys}}}}}}}"#
    );
    let server =
        StandIn::new(vec![reply(200, &keys), reply(200, queue), reply(200, "{}"), reply(200, queue)]).await;
    let options = format!("{{region: r, queue: q, endpointUrl: '{}'}}", server.url);
    let post = around(&[
        "AWS_ROLE_ARN=arn:aws:iam::1:role/x",
        "AWS_WEB_IDENTITY_TOKEN_FILE=/token",
        "/token=jwt\n",
        &format!("AWS_ENDPOINT_URL_STS={}", server.url),
    ]);
    send(&post, "awssqs:", &options, "message: m").await.unwrap();
    send(&post, "awssqs:", &options, "message: m").await.unwrap();
    let heard = asked(&server);
    assert!(heard.starts_with(
        "POST /\ncontent-type: application/x-www-form-urlencoded\naccept: application/json\n\
         Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx&\
         RoleSessionName=lynceus&WebIdentityToken=jwt\n"
    ));
    assert_eq!(heard.matches("AssumeRole").count(), 1, "keys that still hold are asked for once: {heard}");
    assert_eq!(heard.matches("Credential=AR/").count(), 4, "{heard}");

    let keys = r#"{"AccessKeyId": "AC", "SecretAccessKey": "s", "Token": "t", "Expiration": "2026-01-02T04:04:05Z"}"#;
    let server = StandIn::new(vec![reply(200, keys), reply(200, queue), reply(200, "{}")]).await;
    let options = format!("{{region: r, queue: q, endpointUrl: '{}'}}", server.url);
    let post = around(&[
        &format!("AWS_CONTAINER_CREDENTIALS_FULL_URI={}/keys", server.url),
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=/token",
        "/token=pass",
    ]);
    send(&post, "awssqs:", &options, "message: m").await.unwrap();
    assert!(asked(&server).starts_with("GET /keys\nauthorization: pass\n"), "{}", server.asked());
    assert_eq!(asked(&server).matches("Credential=AC/").count(), 2);

    let told = send(&around(&[]), "awssqs:", &options, "message: m").await.unwrap_err();
    assert_eq!(
        told.to_string(),
        "there are no keys for AWS: set the options key and secret, or give the controller a role"
    );
}

#[test]
fn a_namespaces_own_configuration_cannot_use_what_the_controller_is_trusted_with() {
    for (kind, options) in
        [("gcppubsub", "{project: p, topic: t, keyFile: /etc/passwd}"), ("awssqs", "{region: r, queue: q}")]
    {
        let options = yaml::parse_str(options).unwrap();
        let config = ServiceConfig { kind: kind.into(), options, is_operators: false };
        let to = Destination { service: kind.into(), recipient: "".into() };
        let made =
            Service::new(&config)
                .unwrap()
                .deliver(&Notification::default(), &to, now(), &mut |bytes| bytes.fill(7));
        let told = made.err().unwrap().to_string();
        assert!(told.contains("cannot use the credentials of the controller"), "{told}");
    }
}
