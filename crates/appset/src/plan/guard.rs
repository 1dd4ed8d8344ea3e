//! The guard against deleting more than anyone means.

use std::fmt;

/// When deletions have to be confirmed: when they are more than a share of all, and more than a few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The share in percent that may go unasked; 100 asks for nothing.
    pub percent: u8,
    /// How many may go unasked, whatever their share is.
    pub few: usize,
}

impl Default for Guard {
    /// A quarter, and always two.
    fn default() -> Self {
        Guard { percent: 25, few: 2 }
    }
}

/// Deletions that wait for somebody to confirm them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The Applications, in order.
    pub names: Vec<String>,
    /// How many Applications there are.
    pub of: usize,
    /// The share that may go unasked, in percent.
    pub percent: u8,
    /// What confirms these deletions, and no others.
    pub token: String,
}

impl Guard {
    /// Holds deletions back, unless they are few or confirmed.
    pub(super) fn holds(self, names: &[&str], of: usize, confirmed: Option<&str>) -> Option<Held> {
        let count = names.len();
        if count <= self.few || count * 100 <= of * usize::from(self.percent) {
            return None;
        }
        let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        names.sort_unstable();
        let token = format!("{count}-{:08x}", digest(&names));
        (confirmed != Some(token.as_str())).then_some(Held { names, of, percent: self.percent, token })
    }
}

/// What tells one list of names from others. It guards against mistakes, not against malice.
fn digest(names: &[String]) -> u32 {
    let bytes = names.iter().flat_map(|name| name.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |digest, byte| (digest ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Held { names, of, percent, token } = self;
        let count = names.len();
        let shown = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = count.checked_sub(NAMED).filter(|more| *more > 0);
        let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
        write!(
            f,
            "{count} of {of} Applications would be deleted ({shown}{more}), and more than {percent} % have to be \
             confirmed: {token}"
        )
    }
}

/// How many Applications are named whose deletion is held.
const NAMED: usize = 10;
