//! Questions to whoever sits at the terminal.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::limits;

/// Asks, and gives whether the answer was yes. No answer is no.
pub(crate) fn confirmed(question: &str) -> Outcome<bool> {
    Ok(matches!(asked(question)?.trim(), "y" | "Y" | "yes"))
}

/// Asks for a line.
pub(crate) fn asked(question: &str) -> Outcome<String> {
    print!("{question}");
    std::io::stdout().flush().doing("cannot ask")?;
    line("the answer")
}

/// Asks for a password, which nobody sees while it is typed. A program may write it to standard input.
pub(crate) fn secret(question: &str) -> Outcome<String> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let given = line("the password")?;
        return match given.is_empty() {
            false => Ok(given),
            true => Err(Failure::new(Code::Other, "there is no password")
                .hint("give it with its flag, or write it to standard input")),
        };
    }
    eprint!("{question}");
    let before = tcgetattr(&stdin).doing("cannot ask for a password")?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Now, &silent).doing("cannot ask for a password")?;
    let typed = line("the password");
    let shown = tcsetattr(&stdin, OptionalActions::Now, &before);
    eprintln!();
    shown.doing("cannot show again what is typed")?;
    typed
}

/// Asks for a password twice.
pub(crate) fn new_secret(question: &str) -> Outcome<String> {
    let first = secret(question)?;
    if !std::io::stdin().is_terminal() || secret("*** Confirm it: ")? == first {
        return Ok(first);
    }
    Err(Failure::new(Code::Other, "the two passwords are not the same"))
}

fn line(what: &str) -> Outcome<String> {
    let mut text = String::new();
    let mut input = std::io::stdin().lock().take(limits::PASSWORD);
    input.read_line(&mut text).doing(format!("cannot read {what}"))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// A file, or standard input where none is named or it is `-`; never more than there is room for.
pub(crate) fn file(path: Option<&std::path::Path>) -> Outcome<String> {
    let mut text = String::new();
    let (name, read) = match path.filter(|path| path.as_os_str() != "-") {
        Some(path) => {
            let name = path.display().to_string();
            let file = std::fs::File::open(path).doing(format!("cannot read {name}"))?;
            (name, file.take(limits::FILE + 1).read_to_string(&mut text))
        }
        None => {
            let read = std::io::stdin().lock().take(limits::FILE + 1).read_to_string(&mut text);
            ("standard input".to_owned(), read)
        }
    };
    read.doing(format!("cannot read {name}"))?;
    match text.len() as u64 > limits::FILE {
        true => Err(Failure::new(Code::Other, format!("{name} has more than {} bytes", limits::FILE))),
        false => Ok(text),
    }
}
