//! Signatures of commits and tags, checked against keys that are made here.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

#[path = "support/signer.rs"]
mod signer;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use lynceus_files::FilePath;
use lynceus_object::{Object, value};
use lynceus_source::compose::{Change, Composition, Layout, Message};
use lynceus_source::{CommitId, Keyring, Repository, Settings, Sources};
use signer::Signer;

/// What makes the signature of some bytes, if anything does.
type Sign<'a> = Option<&'a mut dyn FnMut(&[u8]) -> String>;

/// A repository with its own folder.
struct Fixture {
    folder: PathBuf,
    repository: Composition,
    count: u32,
    now: Timestamp,
}

impl Fixture {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lynceus-signatures-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let repository = Composition::create(folder.join("repository"), Layout::Bare).unwrap();
        Fixture { folder, repository, count: 0, now: Timestamp::now() }
    }

    /// Commits something, with a signature if there is one to make it.
    fn commit(&mut self, text: &str, sign: Sign<'_>) -> CommitId {
        self.count += 1;
        let change = (FilePath::new("a").unwrap(), Change::Write(self.count.to_string().into_bytes()));
        let message = message(text, self.count);
        match sign {
            Some(sign) => self.repository.signed_commit("main", &message, [change], sign).unwrap(),
            None => self.repository.commit("main", &message, [change]).unwrap(),
        }
    }

    /// What is known of the signatures: `revision verdict key`, with the first word of each commit's message.
    async fn check(&self, revision: &str, deep: bool, keys: &[&Signer]) -> Vec<String> {
        let mut map = Object::default();
        for signer in keys {
            map.set(&["data", signer.id().as_str()], signer.public());
        }
        let (keyring, findings) = Keyring::read(&map);
        assert_eq!(findings, []);
        let sources = Sources::new(self.folder.join("cache"), Settings::default());
        let repository = Repository::at(self.folder.join("repository").display().to_string());
        let revision = sources.resolve(&repository, revision).await.unwrap();
        let found = sources.signatures(&repository, &revision, deep, &Arc::new(keyring), self.now).await;
        let mut lines = Vec::new();
        for signature in found.unwrap() {
            let name = if signature.is_tag { signature.revision } else { "commit".to_owned() };
            lines.push(format!("{name}: {} {}", signature.verdict, signature.key).trim().to_owned());
        }
        lines
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn message(text: &str, second: u32) -> Message<'_> {
    let when = Timestamp::from_second(1_767_225_600 + i64::from(second)).unwrap();
    Message { name: "Test", email: "test@example.com", when, text }
}

#[tokio::test]
async fn a_commit_is_signed_by_a_key_of_the_ring_or_by_its_subkey() {
    let mut fixture = Fixture::new("good");
    let mut jane = Signer::new(1);
    fixture.commit("one\n", Some(&mut |data| jane.sign(data)));
    assert_eq!(fixture.check("main", false, &[&jane]).await, [format!("commit: signed {}", jane.id())]);
    fixture.commit("two\n", Some(&mut |data| jane.sign_by_subkey(data)));
    assert_eq!(
        fixture.check("main", false, &[&jane]).await,
        [format!("commit: signed {}", jane.subkey_id())]
    );
}

#[tokio::test]
async fn a_commit_without_a_signature_and_one_of_a_stranger_are_told_apart() {
    let mut fixture = Fixture::new("stranger");
    let (jane, mut eve) = (Signer::new(1), Signer::new(2));
    fixture.commit("one\n", None);
    assert_eq!(fixture.check("main", false, &[&jane]).await, ["commit: unsigned"]);
    fixture.commit("two\n", Some(&mut |data| eve.sign(data)));
    let expect = format!("commit: signed with key not in keyring {}", eve.id());
    assert_eq!(fixture.check("main", false, &[&jane]).await, [expect]);
}

#[tokio::test]
async fn a_signature_of_something_else_is_bad_and_so_is_one_that_cannot_be_read() {
    let mut fixture = Fixture::new("bad");
    let mut jane = Signer::new(1);
    fixture.commit("one\n", Some(&mut |_| jane.sign(b"something else")));
    assert_eq!(
        fixture.check("main", false, &[&jane]).await,
        [format!("commit: bad signature {}", jane.id())]
    );
    let armour = "-----BEGIN PGP SIGNATURE-----\n\nnonsense\n-----END PGP SIGNATURE-----\n";
    fixture.commit("two\n", Some(&mut |_| armour.to_owned()));
    assert_eq!(fixture.check("main", false, &[&jane]).await, ["commit: bad signature"]);
    let foreign = "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n";
    fixture.commit("three\n", Some(&mut |_| foreign.to_owned()));
    assert_eq!(fixture.check("main", false, &[&jane]).await, ["commit: signed, but not with GnuPG"]);
}

#[tokio::test]
async fn keys_that_are_revoked_or_have_expired_are_no_good() {
    let mut fixture = Fixture::new("over");
    let (mut revoked, mut expired) = (Signer::new(3), Signer::new(4));
    fixture.commit("one\n", Some(&mut |data| revoked.sign_by_subkey(data)));
    revoked.revoke();
    let expect = format!("commit: signed with revoked key {}", revoked.subkey_id());
    assert_eq!(fixture.check("main", false, &[&revoked]).await, [expect]);
    fixture.commit("two\n", Some(&mut |data| expired.sign(data)));
    expired.expire();
    fixture.now += SignedDuration::from_hours(1);
    let expect = format!("commit: signed with expired key {}", expired.id());
    assert_eq!(fixture.check("main", false, &[&expired]).await, [expect]);
}

#[tokio::test]
async fn of_a_tag_with_a_message_its_own_signature_counts() {
    let mut fixture = Fixture::new("tag");
    let mut jane = Signer::new(1);
    let commit = fixture.commit("one\n", None);
    fixture
        .repository
        .signed_tag("v1.0.0", commit, &message("release\n", 9), &mut |data| jane.sign(data))
        .unwrap();
    fixture.repository.annotated_tag("v0.9.0", commit, &message("old\n", 9)).unwrap();
    fixture.repository.tag("plain", commit).unwrap();
    let keys = [&jane];
    assert_eq!(fixture.check("v1.0.0", false, &keys).await, [format!("v1.0.0: signed {}", jane.id())]);
    assert_eq!(fixture.check(">=1", false, &keys).await, [format!("v1.0.0: signed {}", jane.id())]);
    assert_eq!(fixture.check("v0.9.0", false, &keys).await, ["v0.9.0: unsigned"]);
    assert_eq!(fixture.check("plain", false, &keys).await, ["commit: unsigned"]);
    let both = [format!("v1.0.0: signed {}", jane.id()), "commit: unsigned".to_owned()];
    assert_eq!(fixture.check("v1.0.0", true, &keys).await, both);
}

#[tokio::test]
async fn a_whole_history_is_checked_as_far_back_as_somebody_vouches_for_the_rest() {
    let mut fixture = Fixture::new("history");
    let mut jane = Signer::new(1);
    fixture.commit("one\n", None);
    fixture.commit("two\n", Some(&mut |data| jane.sign(data)));
    let signed = format!("commit: signed {}", jane.id());
    let signed = signed.as_str();
    assert_eq!(fixture.check("main", true, &[&jane]).await, [signed, "commit: unsigned"]);
    // A seal that nobody signed vouches for nothing.
    fixture.commit("three\n\nArgocd-gpg-seal: trust me\n", None);
    let three = ["commit: unsigned", signed, "commit: unsigned"];
    assert_eq!(fixture.check("main", true, &[&jane]).await, three);
    fixture.commit("four\n\nargocd-gpg-seal: reviewed\n", Some(&mut |data| jane.sign(data)));
    assert_eq!(fixture.check("main", true, &[&jane]).await, [signed]);
    fixture.commit("five\n", None);
    assert_eq!(fixture.check("main", true, &[&jane]).await, ["commit: unsigned", signed]);
}

#[test]
fn keys_that_cannot_be_used_are_told_of_and_the_others_are_kept() {
    let (jane, eve) = (Signer::new(1), Signer::new(2));
    let mut map = Object::new(value!({"data": {"1111111111111111": "nonsense"}})).unwrap();
    map.set(&["data", jane.id().as_str()], jane.public());
    map.set(&["data", "2222222222222222"], eve.public());
    let (keyring, findings) = Keyring::read(&map);
    assert!(!keyring.is_empty());
    let told: Vec<String> = findings.iter().map(|finding| finding.message.clone()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("1111111111111111, which is no public key"), "{}", told[0]);
    let expect =
        format!("argocd-gpg-keys-cm has 2222222222222222, which is not the key of that id but {}", eve.id());
    assert_eq!(told[1], expect);
}
