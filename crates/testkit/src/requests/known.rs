//! Where the answers are known to differ, and why.
//!
//! `crates/testkit/requests/known` holds, for each reason, the cases that it excuses: a part of the case's name and a part of
//! the difference, so that a reason excuses nothing but what it speaks of.

/// The list, as it stands in the repository.
const LIST: &str = include_str!("../../requests/known");

/// Known differences.
pub(super) struct Known {
    entries: Vec<Entry>,
}

struct Entry {
    reason: &'static str,
    case: &'static str,
    detail: &'static str,
    /// Whether the answers agree now and then, by chance.
    wavers: bool,
}

impl Known {
    /// Reads the list.
    pub(super) fn read() -> Result<Self, String> {
        let mut entries = Vec::new();
        let mut reason = "";
        for line in LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix("  ") {
                None => reason = line,
                Some(excused) => {
                    let (wavers, excused) =
                        excused.strip_prefix('~').map_or((false, excused), |rest| (true, rest));
                    let (case, detail) = excused
                        .split_once(" :: ")
                        .ok_or_else(|| format!("known: no \" :: \" in {line:?}"))?;
                    entries.push(Entry { reason, case: case.trim(), detail: detail.trim(), wavers });
                }
            }
        }
        Ok(Known { entries })
    }

    /// Why a case that agrees this time may differ the next: it counts as one that differs, so that the number of those that
    /// agree does not depend on chance.
    pub(super) fn chance(&self, case: &str) -> Option<&'static str> {
        self.entries.iter().find(|entry| entry.wavers && case.contains(entry.case)).map(|entry| entry.reason)
    }

    /// Why a case may differ in this way. Every single difference needs its reason.
    pub(super) fn reason(&self, case: &str, detail: &str) -> Option<&'static str> {
        let mut reasons = detail.lines().map(|line| {
            let excuses = |entry: &&Entry| case.contains(entry.case) && line.contains(entry.detail);
            self.entries.iter().find(excuses).map(|entry| entry.reason)
        });
        let first = reasons.next().flatten();
        reasons.all(|reason| reason.is_some()).then_some(first).flatten()
    }
}
