use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lynceus_object::{Gvk, Object};
use proptest::prelude::*;

use super::medium::Medium;
use super::*;

fn pods() -> Place {
    Place::new("", "pods")
}

fn pod(name: &str, text: &str) -> Object {
    let mut object = Object::named(&Gvk::new("", "v1", "Pod"), "shop", name);
    object.set(&["spec", "text"], text);
    object
}

fn put(store: &Store, name: &str, text: &str) -> Result<u64, WriteError> {
    let expect = match store.read(&pods(), "shop", name) {
        Some((_, revision)) => Expect::Revision(revision),
        None => Expect::Absent,
    };
    let write = Write { place: pods(), object: pod(name, text), expect, delete: false };
    store.write(write).map(|event| event.revision)
}

fn delete(store: &Store, name: &str) {
    if let Some((object, revision)) = store.read(&pods(), "shop", name) {
        let write = Write { place: pods(), object, expect: Expect::Revision(revision), delete: true };
        store.write(write).unwrap();
    }
}

/// A directory of its own for each test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("lynceus-store-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn log(&self) -> PathBuf {
        snapshot::list(&self.0, "log-").unwrap().pop().unwrap().1
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn contents(store: &Store) -> Vec<String> {
    let show = |object: &Object| {
        format!(
            "{}={}@{}",
            object.name(),
            object.value().str_at(&["spec", "text"]).unwrap(),
            object.resource_version()
        )
    };
    store.list("", "pods", None).iter().map(show).collect()
}

#[test]
fn a_write_that_expects_something_else_changes_nothing() {
    let store = Store::ephemeral();
    let first = put(&store, "a", "1").unwrap();
    let write = |expect, delete| store.write(Write { place: pods(), object: pod("a", "2"), expect, delete });
    assert!(matches!(write(Expect::Absent, false), Err(WriteError::Exists)));
    assert!(matches!(write(Expect::Revision(first + 1), false), Err(WriteError::Changed)));
    assert_eq!(store.revision(), first);
    assert!(write(Expect::Revision(first), true).is_ok());
    assert!(matches!(write(Expect::Revision(first), false), Err(WriteError::Gone)));
}

#[test]
fn events_are_read_from_a_revision_on() {
    let store = Store::ephemeral();
    let first = put(&store, "a", "1").unwrap();
    put(&store, "a", "2").unwrap();
    delete(&store, "a");
    let (events, complete) = store.events_since(&pods(), first, 10).unwrap();
    let words: Vec<&str> = events.iter().map(|event| event.kind.word()).collect();
    assert_eq!(words, ["MODIFIED", "DELETED"]);
    assert_eq!(complete, store.revision());
    let (events, complete) = store.events_since(&pods(), first, 1).unwrap();
    assert_eq!((events.len(), complete), (1, first + 1));
}

#[test]
fn a_revision_that_is_too_old_or_not_reached_is_refused() {
    let store = Store::ephemeral();
    for round in 0..=limits() {
        put(&store, "a", &round.to_string()).unwrap();
    }
    let current = store.revision();
    assert_eq!(store.events_since(&pods(), 1, 1).unwrap_err(), HistoryError::TooOld { oldest: 2 });
    assert_eq!(store.events_since(&pods(), current + 1, 1).unwrap_err(), HistoryError::Future { current });
}

fn limits() -> usize {
    crate::limits::HISTORY_EVENTS
}

#[test]
fn a_list_can_be_read_as_it_was() {
    let store = Store::ephemeral();
    put(&store, "a", "1").unwrap();
    let then = put(&store, "b", "1").unwrap();
    put(&store, "a", "2").unwrap();
    delete(&store, "b");
    put(&store, "c", "1").unwrap();
    let names: Vec<String> = store
        .read_all_at(&pods(), None, then)
        .unwrap()
        .iter()
        .map(|object| format!("{}@{}", object.name(), object.resource_version()))
        .collect();
    assert_eq!(names, ["a@2", "b@3"]);
}

#[test]
fn what_was_written_is_there_after_a_restart() {
    let scratch = Scratch::new();
    let before = {
        let (store, recovery) = Store::open(&scratch.0).unwrap();
        assert_eq!(recovery, Recovery::default());
        put(&store, "a", "1").unwrap();
        put(&store, "b", "1").unwrap();
        put(&store, "a", "2").unwrap();
        delete(&store, "b");
        contents(&store)
    };
    let (store, recovery) = Store::open(&scratch.0).unwrap();
    assert_eq!(contents(&store), before);
    assert_eq!(store.revision(), 5);
    assert_eq!(recovery, Recovery { replayed: 4, repairs: vec![] });
    assert_eq!(store.events_since(&pods(), 4, 1).unwrap_err(), HistoryError::TooOld { oldest: 5 });
}

#[test]
fn a_large_log_is_replaced_by_a_snapshot() {
    let scratch = Scratch::new();
    let text = "x".repeat(256 * 1024);
    let before = {
        let (store, _) = Store::open(&scratch.0).unwrap();
        for round in 0..100 {
            put(&store, "a", &format!("{round}{text}")).unwrap();
        }
        contents(&store)
    };
    // The last flush happens after the last write, so there may be one more growth to see.
    {
        let (store, _) = Store::open(&scratch.0).unwrap();
        assert_eq!(contents(&store), before);
        put(&store, "b", "1").unwrap();
    }
    let (store, _) = Store::open(&scratch.0).unwrap();
    assert_eq!(contents(&store).len(), 2);
    assert_eq!(store.revision(), 102);
}

#[test]
fn a_torn_tail_is_cut_and_told_of() {
    let scratch = Scratch::new();
    {
        let (store, _) = Store::open(&scratch.0).unwrap();
        put(&store, "a", "1").unwrap();
        put(&store, "b", "1").unwrap();
    }
    let log = scratch.log();
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, &bytes[..bytes.len() - 3]).unwrap();
    {
        let (store, recovery) = Store::open(&scratch.0).unwrap();
        assert_eq!(contents(&store), ["a=1@2"]);
        assert_eq!(recovery.repairs.len(), 1);
        put(&store, "c", "1").unwrap();
    }
    let (store, recovery) = Store::open(&scratch.0).unwrap();
    assert_eq!(contents(&store), ["a=1@2", "c=1@3"]);
    assert_eq!(recovery.repairs, Vec::<String>::new());
}

#[test]
fn a_damaged_snapshot_is_passed_over_if_the_logs_reach_back() {
    let scratch = Scratch::new();
    {
        let (store, _) = Store::open(&scratch.0).unwrap();
        put(&store, "a", "1").unwrap();
    }
    fs::write(scratch.0.join(format!("snapshot-{:020}", 2)), b"nonsense").unwrap();
    let (store, recovery) = Store::open(&scratch.0).unwrap();
    assert_eq!(contents(&store), ["a=1@2"]);
    assert_eq!(recovery.repairs.len(), 1);
}

#[test]
fn a_missing_log_is_refused() {
    let scratch = Scratch::new();
    drop(Log::create(&scratch.0, 7).unwrap());
    assert!(matches!(Store::open(&scratch.0), Err(OpenError::Missing { from: 2, to: 7, .. })));
}

/// A disk that is full while `full` is set, after taking half of what it is given.
#[derive(Debug)]
struct FullDisk {
    bytes: Arc<RwLock<Vec<u8>>>,
    full: Arc<AtomicBool>,
}

impl Medium for FullDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let full = self.full.load(Ordering::Relaxed);
        let taken = if full { bytes.len() / 2 } else { bytes.len() };
        self.bytes.write().unwrap().extend_from_slice(&bytes[..taken]);
        if full { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.bytes.write().unwrap().truncate(length as usize);
        Ok(())
    }
}

#[test]
fn a_full_disk_refuses_the_write_and_nothing_else() {
    let (bytes, full) = (Arc::new(RwLock::new(Vec::new())), Arc::new(AtomicBool::new(false)));
    let mut inner = Inner::new(1);
    inner.log = Some(Log::on(Box::new(FullDisk { bytes: Arc::clone(&bytes), full: Arc::clone(&full) })));
    let store = Store::with(inner, None);
    put(&store, "a", "1").unwrap();
    let length = bytes.read().unwrap().len();
    full.store(true, Ordering::Relaxed);
    assert!(matches!(put(&store, "a", "2"), Err(WriteError::Log(_))));
    assert_eq!(bytes.read().unwrap().len(), length);
    assert_eq!(contents(&store), ["a=1@2"]);
    full.store(false, Ordering::Relaxed);
    assert_eq!(put(&store, "a", "3").unwrap(), 3);
}

#[tokio::test]
async fn a_write_is_durable_after_a_flush() {
    let scratch = Scratch::new();
    let (store, _) = Store::open(&scratch.0).unwrap();
    let revision = put(&store, "a", "1").unwrap();
    store.durable(revision).await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is cut off or flipped, what comes back is a prefix of what was written.
    #[test]
    fn a_damaged_log_gives_a_prefix_of_the_history(
        writes in prop::collection::vec((0..4_u8, prop::option::of("[a-z]{0,9}")), 1..20),
        damage_at in 0.0..1.0_f64,
        flip in prop::option::of(1..=255_u8),
    ) {
        let scratch = Scratch::new();
        let mut states = vec![Vec::new()];
        {
            let (store, _) = Store::open(&scratch.0).unwrap();
            for (name, text) in &writes {
                let name = name.to_string();
                match text {
                    Some(text) => drop(put(&store, &name, text).unwrap()),
                    None => delete(&store, &name),
                }
                states.push(contents(&store));
            }
        }
        let log = scratch.log();
        let mut bytes = fs::read(&log).unwrap();
        let at = (bytes.len() as f64 * damage_at) as usize;
        match flip {
            Some(mask) => bytes[at] ^= mask,
            None => bytes.truncate(at),
        }
        fs::write(&log, &bytes).unwrap();
        let (store, _) = Store::open(&scratch.0).unwrap();
        prop_assert!(states.contains(&contents(&store)));
        put(&store, "after", "x").unwrap();
        let expected = contents(&store);
        drop(store);
        let (store, recovery) = Store::open(&scratch.0).unwrap();
        prop_assert_eq!(contents(&store), expected);
        prop_assert!(recovery.repairs.is_empty());
    }
}
