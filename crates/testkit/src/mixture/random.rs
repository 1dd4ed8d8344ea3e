//! Chance that is the same for the same seed, and names out of it.

use std::collections::BTreeSet;

const THINGS: [&str; 24] = [
    "orders", "billing", "search", "catalog", "mail", "ledger", "media", "login", "report", "fleet", "stock",
    "quota", "events", "graph", "cache", "maps", "chat", "forms", "votes", "audit", "news", "labels",
    "tickets", "rates",
];
const ROLES: [&str; 12] = [
    "api", "web", "worker", "core", "gateway", "backend", "sync", "portal", "proxy", "store", "engine",
    "feed",
];

/// Chance that is the same for the same seed.
#[derive(Debug)]
pub(super) struct Random {
    state: u64,
    taken: BTreeSet<String>,
}

impl Random {
    pub(super) fn seeded(seed: u64) -> Self {
        Random { state: seed.wrapping_mul(0x2545_f491_4f6c_dd1d), taken: BTreeSet::new() }
    }

    /// The next 64 bits (splitmix64).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below a bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or_default()
    }

    pub(super) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A name that nothing else has: `billing-worker`.
    pub(super) fn name(&mut self) -> String {
        for _ in 0..1_000 {
            let name = format!("{}-{}", self.pick(&THINGS), self.pick(&ROLES));
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
        format!("thing-{}", self.next())
    }

    /// Puts a list into another order.
    pub(super) fn shuffle<T>(&mut self, all: &mut [T]) {
        for place in (1..all.len()).rev() {
            all.swap(place, self.below(place + 1));
        }
    }
}
