//! What is as desired is told so without allocating for its fields.

#![allow(clippy::expect_used, reason = "a test stops where it cannot go on")]

mod sample;

use lynceus_diff::{Pairs, Settings, compare_all};
use sample::{Applied, unchanged};

#[test]
fn an_unchanged_object_costs_no_allocation() {
    for applied in [Applied::ClientSide, Applied::ServerSide] {
        let settings = Settings::default();
        let pairs = |count| Pairs { pairs: unchanged(count, applied), hooks: Vec::new() };
        // What is read once and kept, such as the table of kinds, is not what is measured.
        assert!(compare_all(pairs(16), &settings, &|_| true).in_sync());
        let (few, many) = (pairs(80), pairs(800));
        let count = |pairs: Pairs| {
            let mut changes = None;
            let info =
                allocation_counter::measure(|| changes = Some(compare_all(pairs, &settings, &|_| true)));
            assert!(changes.expect("it was measured").in_sync());
            info.count_total
        };
        let (few, many) = (count(few), count(many));
        // The list of verdicts is all that grows, and that in one piece.
        assert!(many <= few + 2, "{few} allocations for 80 objects, {many} for 800");
        assert!(few <= 4, "{few} allocations for 80 objects");
    }
}
