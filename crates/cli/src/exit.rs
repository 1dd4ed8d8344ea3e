//! How a command ends: the exit codes that scripts around `argocd` already know.

use std::fmt;

/// Why a command could not do what it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// What the command is about is so: differences were found, an operation has failed.
    Answer,
    /// The cluster cannot be reached.
    Connection,
    /// The server refused.
    Refused,
    /// The rights do not allow it, or it does not exist: whoever may not see something is not told which.
    Denied,
    /// What was named does not exist.
    NotFound,
    /// Anything else.
    Other,
    /// Anything else, of a command that ends as `diff` does.
    Trouble,
}

impl Code {
    /// The exit code. `argocd` ends with 20 whatever went wrong, so that 1 is left for answers.
    pub(crate) fn number(self) -> u8 {
        match self {
            Code::Answer => 1,
            Code::Trouble => 2,
            Code::Connection | Code::Refused | Code::Denied | Code::NotFound | Code::Other => 20,
        }
    }
}

/// An error at the face: what could not be done, the causes below it, and what to do now.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    /// What could not be done.
    pub(crate) message: String,
    /// Why, from the nearest cause to the first.
    pub(crate) causes: Vec<String>,
    /// What to do about it.
    pub(crate) hints: Vec<String>,
}

impl Failure {
    /// Something that could not be done, for no deeper reason.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// Says what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What could not be done and why, for a place with room for one line.
    pub(crate) fn on_one_line(&self) -> String {
        let words: Vec<&str> =
            std::iter::once(&self.message).chain(&self.causes).map(String::as_str).collect();
        words.join(": ")
    }

    /// Something that could not be done because of an error; code and hints are chosen by what it is.
    pub(crate) fn because(message: impl Into<String>, error: &(dyn std::error::Error + 'static)) -> Self {
        let mut causes: Vec<String> = Vec::new();
        let mut next = Some(error);
        while let Some(error) = next {
            let text = error.to_string();
            // Some libraries repeat their source in their own message.
            if !causes.last().is_some_and(|last| last.contains(&text)) {
                causes.push(text);
            }
            next = error.source();
        }
        let (code, hints) = crate::hint::choose(error);
        Failure { code, message: message.into(), causes, hints }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use anstyle::{AnsiColor, Style};
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let cyan = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
        write!(f, "{red}error{red:#}: {}", self.message)?;
        for cause in &self.causes {
            write!(f, "\n  caused by: {cause}")?;
        }
        for hint in &self.hints {
            let mut lines = hint.lines();
            write!(f, "\n  {cyan}hint{cyan:#}: {}", lines.next().unwrap_or_default())?;
            for line in lines {
                write!(f, "\n        {line}")?;
            }
        }
        Ok(())
    }
}

/// Says why a command could not do what it was asked to, if it could not, and gives the exit code.
pub(crate) fn told(outcome: Outcome) -> std::process::ExitCode {
    let Err(failure) = outcome else { return std::process::ExitCode::SUCCESS };
    if !failure.message.is_empty() {
        anstream::eprintln!("{failure}");
    }
    std::process::ExitCode::from(failure.code.number())
}

/// What every command gives.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Turns an error into a failure, saying what could not be done.
pub(crate) trait Doing<T> {
    /// `file.read().doing("cannot read the file")?`
    fn doing(self, what: impl Into<String>) -> Outcome<T>;
}

impl<T, E: std::error::Error + 'static> Doing<T> for Result<T, E> {
    fn doing(self, what: impl Into<String>) -> Outcome<T> {
        self.map_err(|error| Failure::because(what, &error))
    }
}
