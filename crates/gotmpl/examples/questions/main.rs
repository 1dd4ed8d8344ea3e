//! Makes questions for the oracle in `xtask/oracle/gotmpl` and for the example `answers`, one JSON object per
//! line: calls of every function of sprig with arguments that fit, nearly fit and do not fit, and texts made up in
//! the languages that some of them read.
//!
//! ```text
//! cargo run --example questions -- SEED COUNT > questions
//! oracle < questions > theirs;  cargo run --example answers < questions > ours;  diff theirs ours
//! ```
//!
//! Only functions whose answer depends on nothing else are asked, so that the answers can be compared to the byte.

mod calls;
mod chance;
mod texts;

use std::io::{self, Write};

use chance::Chance;
use lynceus_gotmpl::Value;
use lynceus_gotmpl::json::{Style, encode};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let number = |at: usize, default: u64| {
        std::env::args().nth(at).and_then(|arg| arg.parse().ok()).unwrap_or(default)
    };
    let mut chance = Chance::new(number(1, 1));
    let count = number(2, 10_000);
    for i in 0..count {
        // Half of the questions are calls with arguments from pools, half are made-up texts.
        let template =
            if i % 2 == 0 { calls::call(&mut chance, i / 2) } else { texts::text(&mut chance, i / 2) };
        let question = Value::map([("template", Value::str(template)), ("values", calls::values())]);
        let line = encode(&question, Style::Raw).map_err(io::Error::other)?;
        writeln!(out, "{line}")?;
    }
    Ok(())
}
