//! The example with two hundred applications: a handful of sets makes all of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use lynceus_files::{FilePath, MemoryTree, Tree};

use super::*;

#[test]
fn five_sets_make_the_inventory() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/inventory/repository");
    let mut tree = MemoryTree::new();
    for entry in std::fs::read_dir(repository.join("environments")).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("environments/{}", path.file_name().unwrap().to_str().unwrap());
        tree.insert(FilePath::new(&name).unwrap(), std::fs::read(path).unwrap().as_slice());
    }
    let tree: Arc<dyn Tree> = Arc::new(tree);
    let (mut made, mut by_hand, mut sets) = (BTreeSet::new(), BTreeSet::new(), 0);
    for entry in std::fs::read_dir(repository.join("sets")).unwrap() {
        sets += 1;
        let set: ApplicationSet = read(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
        let generation = loop_until_done(&set, &tree);
        assert!(generation.is_complete(), "{:?}", generation.faults);
        for one in generation.applications {
            let (name, spec) = (one.application.metadata.name.to_string(), &one.application.spec);
            let source = spec.source.clone().unwrap();
            assert!(repository.join(source.path.as_str()).is_dir(), "{name} has no {}", source.path);
            if spec.automated().is_none() {
                by_hand.insert(name.clone());
            }
            assert!(made.insert(name), "two of one name");
        }
    }
    assert_eq!((sets, made.len()), (5, 63 * 3 + 10));
    let by_hand: Vec<&str> = by_hand.iter().map(String::as_str).collect();
    assert_eq!(
        by_hand,
        [
            "dev-foundation-coredns-config",
            "production-foundation-coredns-config",
            "staging-foundation-coredns-config"
        ]
    );
}

fn loop_until_done(set: &ApplicationSet, tree: &Arc<dyn Tree>) -> Generation {
    let mut answers = Answers::new();
    loop {
        match generate(set, &answers, &mut Still) {
            Outcome::Done(generation) => return generation,
            Outcome::Needs(needs) => {
                needs.iter().for_each(|need| answers.give(need, Answer::Tree(tree.clone())));
            }
        }
    }
}
