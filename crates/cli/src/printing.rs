//! Standard output, and how a command ends when it cannot be written to any more.

use std::io::{ErrorKind, Write as _};

use crate::exit::Code;

/// 128 and the number of the signal that ends other programs here, as shells have it.
const BROKEN_PIPE: i32 = 128 + 13;

/// Prints what is there as a whole: manifests, completions, a page.
pub(crate) fn bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
        stop(error.kind() == ErrorKind::BrokenPipe, &format!("failed printing to stdout: {error}"));
    }
}

/// `lynceus … | head` closes the pipe after a few lines. That is no mistake of anybody's: the program ends as others do
/// that are stopped by the signal for it. What is printed by a macro panics there, so that is where it is caught: there is
/// no other place that all of it goes through.
pub(crate) fn watch() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload_as_str().unwrap_or_default();
        if said.starts_with("failed printing to") {
            stop(said.contains("Broken pipe"), said);
        }
        usual(panic);
    }));
}

/// Ends the program because nobody can be told what it has found.
pub(crate) fn stop(quietly: bool, why: &str) -> ! {
    if quietly {
        std::process::exit(BROKEN_PIPE);
    }
    // Nobody is left to be told that nobody could be told.
    let _ = writeln!(std::io::stderr(), "error: {why}");
    std::process::exit(Code::Other.number().into());
}
