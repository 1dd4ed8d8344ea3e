//! How much and how long at the most.

use std::time::Duration;

/// The longest answer of a server.
pub(crate) const ANSWER: usize = 256 << 20;

/// The longest line of a stream.
pub(crate) const LINE: usize = 16 << 20;

/// For how long a server may take to be there.
pub(crate) const CONNECT: Duration = Duration::from_secs(30);

/// For how long a server may say nothing on the way to an answer.
pub(crate) const SILENCE: Duration = Duration::from_secs(180);

/// The longest password or token that is read from standard input.
pub(crate) const PASSWORD: u64 = 64 << 10;

/// The longest file with keys, certificates or a project.
pub(crate) const FILE: u64 = 16 << 20;

/// For how long somebody may take to log in in a browser.
pub(crate) const BROWSER: Duration = Duration::from_secs(600);

/// The longest request that a browser may send to where it comes back to.
pub(crate) const CALLBACK: usize = 16 << 10;
