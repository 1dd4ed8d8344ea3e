#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use axum::body::Body;
use axum::http::Request;
use flate2::Compression;
use flate2::write::GzEncoder;
use lynceus_object::{Value, value};

use super::*;
use crate::access::tests::Stage;
use crate::method::methods;

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {colour: blue}\n";
const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {password: hidden}\n";

fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        // The builder would refuse what an attacker writes by hand.
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        archive.append(&header, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

/// Sends files in pieces over gRPC, and gives what is answered: the manifests, or the refusal.
async fn sent(stage: &Stage, token: &str, archive: &[u8], checksum: &str) -> Result<Vec<String>, String> {
    let method = methods().by_call("/application.ApplicationService/GetManifestsWithFiles").unwrap();
    let query = value!({"query": {"name": "shop", "checksum": checksum, "project": "default"}});
    let pieces = archive.chunks(100).map(|piece| value!({"chunk": {"chunk": STANDARD.encode(piece)}}));
    let mut body = Vec::new();
    for message in std::iter::once(query).chain(pieces) {
        let message = lynceus_object::protobuf::encode_message(&message, method.input).unwrap();
        body.push(0);
        body.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
        body.extend_from_slice(&message);
    }
    let request = Request::post("/application.ApplicationService/GetManifestsWithFiles")
        .header("content-type", "application/grpc-web+proto")
        .header("token", token)
        .body(Body::from(body))
        .unwrap();
    let bytes = stage.bytes(request).await;
    let length = u32::from_be_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]) as usize;
    match bytes[0] {
        0 => {
            let answer =
                lynceus_object::protobuf::decode_message(&bytes[5..5 + length], method.output).unwrap();
            let texts = answer.items_at(&["manifests"]).iter().filter_map(Value::as_str);
            Ok(texts.map(str::to_owned).collect())
        }
        _ => {
            Err(String::from_utf8_lossy(&bytes[5..]).lines().nth(1).unwrap_or_default().replace("%22", "\""))
        }
    }
}

async fn shop() -> (Stage, String) {
    let stage = Stage::new("").await;
    stage.world.commit(&[("shop/config.yaml", &CONFIG.replace("blue", "red"))]);
    stage.world.deliver("shop", "shop", &value!({})).await;
    stage.world.until("shop", |world| world.state("shop").starts_with("OutOfSync")).await;
    let token = stage.session("admin", &stage.initial_password().await).await;
    (stage, token)
}

#[tokio::test]
async fn files_are_rendered_in_the_place_of_gits_and_do_not_stay() {
    let (stage, token) = shop().await;
    let archive = packed(&[("shop/config.yaml", CONFIG), ("shop/secret.yaml", SECRET)]);
    let manifests = sent(&stage, &token, &archive, &sum(&archive)).await.unwrap();
    assert_eq!(manifests.len(), 2);
    assert!(manifests.iter().any(|text| text.contains(r#""colour":"blue""#)), "{manifests:?}");
    assert!(!manifests.concat().contains("hidden"), "{manifests:?}");
    // The next one who asks for the same revision gets Git's.
    let said = stage.ask("GET", "/api/v1/applications/shop/manifests", &token, "").await;
    let git = said.body.items_at(&["manifests"])[0].as_str().unwrap().to_owned();
    assert!(git.contains(r#""colour":"red""#), "{git}");
}

#[tokio::test]
async fn what_was_changed_on_the_way_or_leads_out_is_refused() {
    let (stage, token) = shop().await;
    let archive = packed(&[("shop/config.yaml", CONFIG)]);
    for (bytes, checksum, why) in [
        (archive.clone(), "00".to_owned(), "the files are not those that the checksum is of"),
        (Vec::new(), sum(b""), "there are no files"),
        (b"no archive".to_vec(), sum(b"no archive"), "the archive cannot be read"),
    ] {
        let refused = sent(&stage, &token, &bytes, &checksum).await.err().unwrap();
        assert!(refused.contains(why), "{refused}");
    }
    let outside = packed(&[("../../etc/x", CONFIG)]);
    assert!(sent(&stage, &token, &outside, &sum(&outside)).await.is_err());
}

#[tokio::test]
async fn files_for_a_source_that_the_project_does_not_allow_give_nothing() {
    let (stage, token) = shop().await;
    stage
        .patch("AppProject", "default", &value!({"spec": {"sourceRepos": ["https://git.example.com/*"]}}))
        .await;
    let archive = packed(&[("shop/config.yaml", CONFIG)]);
    let refused = sent(&stage, &token, &archive, &sum(&archive)).await.err().unwrap();
    assert!(refused.contains("is not permitted in project"), "{refused}");
}

#[tokio::test]
async fn an_application_cannot_be_created_with_manifests_to_sync() {
    let (stage, token) = shop().await;
    let application = value!({
        "metadata": {"name": "local", "namespace": "argocd"},
        "spec": {"project": "default", "destination": {"server": "https://kubernetes.default.svc", "namespace": "default"},
            "source": {"repoURL": stage.world.repository(), "path": "shop", "targetRevision": "main"}},
        "operation": {"sync": {"manifests": [r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"mine"}}"#]}},
    });
    let body = lynceus_object::json::to_string(&application);
    let said = stage.ask("POST", "/api/v1/applications", &token, &body).await;
    assert_eq!((said.status, said.body.get("operation")), (200, None), "{}", said.text("message"));
}

#[tokio::test]
async fn the_name_of_a_new_application_is_never_a_path() {
    let (stage, token) = shop().await;
    for name in ["Not A Name", "Bad_Name", "..", "../../secrets/argocd-secret", "a?b=c"] {
        let application = value!({
            "metadata": {"name": name, "namespace": "argocd"},
            "spec": {"project": "default", "destination": {"server": "https://kubernetes.default.svc", "namespace": "default"},
                "source": {"repoURL": stage.world.repository(), "path": "shop", "targetRevision": "main"}},
        });
        let body = lynceus_object::json::to_string(&application);
        let said = stage.ask("POST", "/api/v1/applications", &token, &body).await;
        assert_eq!(said.status, 400, "{name}: {}", said.text("message"));
        assert!(said.text("message").contains("metadata.name"), "{name}: {}", said.text("message"));
    }
}
