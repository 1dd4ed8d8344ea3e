//! The bounds of what this crate does, in one place.

use std::time::Duration;

/// How long an answer may take, and a conversation about one mail.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// How long a connection may take.
pub const CONNECT: Duration = Duration::from_secs(10);

/// How often a redirect is followed.
pub const REDIRECTS: usize = 5;

/// How often a server that is asked too much is asked again, if it says when.
pub const ASKED_TOO_MUCH: u32 = 2;

/// The longest pause that a server may ask for.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The most often that a request is tried again, whatever the configuration says.
pub const RETRIES: u32 = 10;

/// How many clients are kept.
pub const CLIENTS: usize = 64;

/// How many bytes one answer of a mail server may have.
pub const MAIL_ANSWER_BYTES: usize = 64 << 10;

/// How many bytes one line of a server of NATS may have.
pub const NATS_ANSWER_BYTES: usize = 64 << 10;

/// How many lines such a server may say before it answers.
pub const NATS_LINES: usize = 1_000;

/// How many bytes a file with credentials may have.
pub const CREDENTIALS_BYTES: u64 = 1 << 20;

/// How many characters of an answer of a mail server are repeated in an error.
pub const TOLD_CHARACTERS: usize = 200;
