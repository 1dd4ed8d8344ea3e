//! Repositories behind SSH, from a server in this process.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use lynceus_source::compose::{Composition, Layout};
use lynceus_source::{Access, HostKeyProblem, Repository, Settings, SourceError, Sources};
use russh::keys::PrivateKey;
use support::ssh_server::{SshServer, new_key, pem};
use support::upload_pack::UploadPack;
use support::{Scratch, files, message, path};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn sources(scratch: &Scratch) -> Sources {
    Sources::new(scratch.path("cache"), Settings { max_age: Duration::ZERO, ..Settings::default() })
}

fn served(scratch: &Scratch) -> Composition {
    let made = Composition::create(scratch.path("served"), Layout::Bare).unwrap();
    made.commit("main", &message("first"), files(&[("a", "one")])).unwrap();
    made
}

fn access(server: &SshServer, key: &PrivateKey) -> Access {
    Access {
        ssh_private_key: pem(key).into(),
        known_hosts: Arc::from(server.known_hosts(&server.host_key)),
        ..Access::default()
    }
}

async fn read(sources: &Sources, repository: &Repository) -> String {
    let revision = sources.resolve(repository, "main").await.unwrap();
    let tree = sources.tree(repository, &revision).await.unwrap();
    String::from_utf8(tree.read(&path("a"), 1000).unwrap().to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_fetched_with_a_key() {
    let scratch = Scratch::new("ssh");
    let made = served(&scratch);
    let key = new_key();
    let server = SshServer::start(UploadPack::at(made.path()), key.public_key().clone()).await;
    let repository = Repository::at(server.url()).with_access(access(&server, &key));
    let sources = sources(&scratch);
    assert_eq!(read(&sources, &repository).await, "one");
    let big: String = (0..40_000).map(|n| n.to_string()).collect();
    made.commit("main", &message("second"), files(&[("a", "two"), ("big", &big)])).unwrap();
    assert_eq!(read(&sources, &repository).await, "two");
    assert!(
        server.commands.lock().unwrap().iter().all(|command| command == "git-upload-pack '/org/repo.git'")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_not_known_or_not_the_same_is_refused() {
    let scratch = Scratch::new("ssh-host");
    let made = served(&scratch);
    let key = new_key();
    let server = SshServer::start(UploadPack::at(made.path()), key.public_key().clone()).await;
    let sources = sources(&scratch);
    let problem = async |known_hosts: String| {
        let access = Access { known_hosts: Arc::from(known_hosts), ..access(&server, &key) };
        let repository = Repository::at(server.url()).with_access(access);
        match sources.resolve(&repository, "main").await.unwrap_err() {
            SourceError::HostKey { problem, .. } => problem,
            other => panic!("{other}"),
        }
    };
    let unknown = problem(String::new()).await;
    assert!(
        matches!(&unknown, HostKeyProblem::Unknown { fingerprint, .. } if fingerprint.starts_with("SHA256:"))
    );
    let other = new_key();
    assert!(matches!(problem(server.known_hosts(other.public_key())).await, HostKeyProblem::Mismatch { .. }));
    let revoked = format!("@revoked {}", server.known_hosts(&server.host_key));
    assert!(matches!(problem(revoked).await, HostKeyProblem::Revoked { .. }));
    let careless = Access { known_hosts: Arc::from(""), insecure: true, ..access(&server, &key) };
    assert_eq!(read(&sources, &Repository::at(server.url()).with_access(careless)).await, "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_a_missing_key_and_a_missing_repository_are_told_apart() {
    let scratch = Scratch::new("ssh-errors");
    let made = served(&scratch);
    let key = new_key();
    let server = SshServer::start(UploadPack::at(made.path()), key.public_key().clone()).await;
    let sources = sources(&scratch);
    let right = access(&server, &key);
    let error = async |url: String, access: Access| {
        sources.resolve(&Repository::at(url).with_access(access), "main").await.unwrap_err()
    };
    let refused = error(server.url(), access(&server, &new_key())).await;
    assert!(matches!(refused, SourceError::Authentication { anonymous: false, .. }), "{refused}");
    let nobody = error(server.url(), Access { ssh_private_key: "".into(), ..right.clone() }).await;
    assert!(matches!(nobody, SourceError::Authentication { anonymous: true, .. }), "{nobody}");
    let unreadable = error(server.url(), Access { ssh_private_key: "garbage".into(), ..right.clone() }).await;
    assert!(matches!(unreadable, SourceError::Credentials { what: "SSH private key", .. }), "{unreadable}");
    let missing = error(server.url().replace("repo", "nothing"), right.clone()).await;
    assert!(matches!(missing, SourceError::RepositoryNotFound { .. }), "{missing}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("ssh://git@{}/x", listener.local_addr().unwrap());
    drop(listener);
    let unreachable = error(closed, right).await;
    assert!(matches!(unreachable, SourceError::Unreachable { .. }), "{unreachable}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_every_kind_and_form_are_taken() {
    let scratch = Scratch::new("ssh-keys");
    let made = served(&scratch);
    let sources = sources(&scratch);
    for text in [
        include_str!("keys/rsa-pkcs1.pem"),
        include_str!("keys/rsa-pkcs8.pem"),
        include_str!("keys/ecdsa-sec1.pem"),
    ] {
        let key = russh::keys::decode_secret_key(text, None).unwrap();
        let server = SshServer::start(UploadPack::at(made.path()), key.public_key().clone()).await;
        // Without the last line break, as it often is in a Secret.
        let access = Access { ssh_private_key: text.trim_end().into(), ..access(&server, &new_key()) };
        assert_eq!(read(&sources, &Repository::at(server.url()).with_access(access)).await, "one");
    }
}

/// A proxy that takes one kind of greeting and passes the rest through to `to`.
async fn proxy(to: std::net::SocketAddr, http: bool) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut server = tokio::net::TcpStream::connect(to).await.unwrap();
                if http {
                    let mut seen = Vec::new();
                    while !seen.ends_with(b"\r\n\r\n") {
                        seen.push(client.read_u8().await.unwrap());
                    }
                    let seen = String::from_utf8(seen).unwrap();
                    assert!(
                        seen.contains("CONNECT 127.0.0.1:")
                            && seen.contains("Proxy-Authorization: Basic bWU6cHc=")
                    );
                    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                } else {
                    let mut seen = [0; 3];
                    client.read_exact(&mut seen).await.unwrap();
                    assert_eq!(seen, [5, 1, 2]);
                    client.write_all(&[5, 2]).await.unwrap();
                    let mut seen = [0; 7];
                    client.read_exact(&mut seen).await.unwrap();
                    assert_eq!(&seen, b"\x01\x02me\x02pw");
                    client.write_all(&[1, 0]).await.unwrap();
                    let mut seen = [0; 4 + 1 + 9 + 2];
                    client.read_exact(&mut seen).await.unwrap();
                    assert_eq!(&seen[..14], b"\x05\x01\x00\x03\x09127.0.0.1");
                    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
                }
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_is_gone_through() {
    let scratch = Scratch::new("ssh-proxy");
    let made = served(&scratch);
    let key = new_key();
    let server = SshServer::start(UploadPack::at(made.path()), key.public_key().clone()).await;
    let sources = sources(&scratch);
    for (scheme, http) in [("socks5", false), ("http", true)] {
        let at = proxy(server.address, http).await;
        let access = Access { proxy: format!("{scheme}://me:pw@{at}").into(), ..access(&server, &key) };
        assert_eq!(read(&sources, &Repository::at(server.url()).with_access(access)).await, "one");
    }
    let access = Access { proxy: "ftp://me:pw@h".into(), ..access(&server, &key) };
    let error = sources.resolve(&Repository::at(server.url()).with_access(access), "main").await.unwrap_err();
    assert!(matches!(error, SourceError::Unreachable { .. }) && !error.to_string().contains("pw"), "{error}");
}
