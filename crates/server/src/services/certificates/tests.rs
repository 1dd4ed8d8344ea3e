#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Value, json, value};

use crate::services::maps;
use crate::stage::{ALL, Stage};

/// GitHub's public host key, which everybody may know, and the fingerprint that GitHub publishes for it.
const KEY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
const FINGERPRINT: &str = "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU";

fn host(name: &str, data: &str) -> Value {
    item(name, "ssh", "ssh-ed25519", data)
}

fn item(name: &str, kind: &str, sort: &str, data: &str) -> Value {
    value!({"serverName": name, "certType": kind, "certSubType": sort, "certData": STANDARD.encode(data)})
}

fn create(items: &[Value], upsert: bool) -> Value {
    value!({"certificates": {"items": items}, "upsert": upsert})
}

fn infos(answer: &Value) -> Vec<String> {
    let line = |item: &Value| {
        let text = |field| item.str_at(&[field]).unwrap_or_default().to_owned();
        format!("{} {} {} {}", text("serverName"), text("certType"), text("certSubType"), text("certInfo"))
    };
    answer.items_at(&["items"]).iter().map(line).collect()
}

#[tokio::test]
async fn host_keys_are_added_listed_and_taken_away() {
    let stage = Stage::new().await;
    let ask = |method: &'static str, request: Value| {
        let stage = &stage;
        async move { stage.ask(ALL, &format!("CertificateService.{method}"), request).await }
    };
    let added =
        ask("CreateCertificate", create(&[host("github.com", KEY), host("[git.local]:2222", KEY)], false))
            .await;
    let first = format!("github.com ssh ssh-ed25519 {FINGERPRINT}");
    assert_eq!(infos(&added.unwrap())[0], first);
    let list =
        ask("ListCertificates", value!({"certType": "ssh", "hostNamePattern": "github*"})).await.unwrap();
    assert_eq!(infos(&list), [first]);
    assert_eq!(
        infos(&ask("ListCertificates", value!({"certType": "https"})).await.unwrap()),
        Vec::<String>::new()
    );
    // The same key again changes nothing, and another one needs to be meant.
    let again = ask("CreateCertificate", create(&[host("github.com", KEY)], false)).await.unwrap();
    assert_eq!(infos(&again), Vec::<String>::new());
    let mut other = STANDARD.decode(KEY).unwrap();
    *other.last_mut().unwrap() ^= 1;
    let other = STANDARD.encode(other);
    let refused = ask("CreateCertificate", create(&[host("github.com", &other)], false)).await.unwrap_err();
    assert_eq!(
        refused.message,
        "Key for 'github.com' (subtype: 'ssh-ed25519') already exist and upsert was not specified."
    );
    ask("CreateCertificate", create(&[host("github.com", &other)], true)).await.unwrap();
    let text = || maps::entries(&maps::get(&stage.server, "argocd-ssh-known-hosts-cm"))[0].1.clone();
    assert_eq!(text(), format!("[git.local]:2222 ssh-ed25519 {KEY}\ngithub.com ssh-ed25519 {other}\n"));
    ask("DeleteCertificate", value!({"hostNamePattern": "github.com", "certType": "ssh"})).await.unwrap();
    assert_eq!(text(), format!("[git.local]:2222 ssh-ed25519 {KEY}\n"));
}

#[tokio::test]
async fn certificates_are_added_listed_and_taken_away() {
    let stage = Stage::new().await;
    let pem = rcgen::generate_simple_self_signed(vec!["git.example.com".to_owned()]).unwrap().cert.pem();
    let ask = |rights: &'static str, method: &'static str, request: Value| {
        let stage = &stage;
        async move { stage.ask(rights, &format!("CertificateService.{method}"), request).await }
    };
    let request = create(&[item("Git.example.com", "https", "", &pem)], false);
    let refused = ask("certificates, create, other", "CreateCertificate", request.clone()).await.unwrap_err();
    assert_eq!(refused.message, "permission denied");
    let added = ask(ALL, "CreateCertificate", request).await.unwrap();
    assert_eq!(infos(&added), ["git.example.com https ecdsa CN=rcgen self signed cert"]);
    assert_eq!(infos(&ask("certificates, get, *", "ListCertificates", value!({})).await.unwrap()).len(), 1);
    assert_eq!(infos(&ask("projects, get, *", "ListCertificates", value!({})).await.unwrap()).len(), 0);
    let second = rcgen::generate_simple_self_signed(vec!["git.example.com".to_owned()]).unwrap().cert.pem();
    let request = create(&[item("git.example.com", "https", "", &second)], false);
    assert!(ask(ALL, "CreateCertificate", request).await.unwrap_err().message.contains("already exist"));
    ask(ALL, "DeleteCertificate", value!({"hostNamePattern": "*.example.com"})).await.unwrap();
    assert_eq!(maps::entries(&maps::get(&stage.server, "argocd-tls-certs-cm")), Vec::new());
}

#[tokio::test]
async fn what_is_no_certificate_or_would_be_another_line_is_refused() {
    let stage = Stage::new().await;
    for bad in [
        host("a\nevil.example.com", KEY),
        host("", KEY),
        host("a", "nonsense"),
        item("a", "ssh", "ssh-rsa", KEY),
        item("a", "https", "", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        item("a", "https", "", "nothing"),
        item("../a", "https", "", "nothing"),
        item("a", "ftp", "", "x"),
        value!({"serverName": "a", "certType": "ssh", "certData": "%%%"}),
        value!({}),
    ] {
        let said = stage
            .said(ALL, "CertificateService.CreateCertificate", create(std::slice::from_ref(&bad), true))
            .await;
        assert!(said.starts_with("InvalidArgument: "), "{}: {said}", json::to_string(&bad));
    }
}
