//! What goes wrong in a script.

/// Why a script gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct ScriptError {
    /// What kind of failure it is.
    pub kind: ScriptErrorKind,
    /// The line of the script, from 1, where that is known.
    pub line: Option<u32>,
    /// What happened, without the line.
    pub message: String,
}

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptErrorKind {
    /// The text is no Lua.
    Syntax,
    /// The script raised an error, or did something that cannot be done.
    Run,
    /// The script took more instructions, memory or time than it may.
    Limit,
    /// What the script returned cannot be used.
    Output,
}

impl ScriptError {
    pub(crate) fn new(kind: ScriptErrorKind, line: Option<u32>, message: impl Into<String>) -> Self {
        ScriptError { kind, line, message: message.into() }
    }

    pub(crate) fn output(message: impl Into<String>) -> Self {
        ScriptError::new(ScriptErrorKind::Output, None, message)
    }

    /// The place is written as Argo CD writes it: people search their logs for it.
    fn text(&self) -> String {
        match self.line {
            Some(line) => format!("<string>:{line}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Reads an error of the interpreter.
    pub(crate) fn from_lua(error: &mlua::Error) -> Self {
        let kind = match root(error) {
            mlua::Error::SyntaxError { .. } => ScriptErrorKind::Syntax,
            mlua::Error::MemoryError(_) => ScriptErrorKind::Limit,
            _ => ScriptErrorKind::Run,
        };
        if kind == ScriptErrorKind::Limit {
            let message = format!("the script needs more than {} MiB of memory", crate::limits::MEMORY >> 20);
            return ScriptError::new(kind, traced_line(error), message);
        }
        let text = match root(error) {
            mlua::Error::SyntaxError { message, .. } | mlua::Error::RuntimeError(message) => message.clone(),
            other => other.to_string(),
        };
        let text = text.split("\nstack traceback:").next().unwrap_or_default().trim_end();
        match placed(text) {
            Some((line, message)) => ScriptError::new(kind, Some(line), message),
            None => ScriptError::new(kind, traced_line(error), text),
        }
    }
}

/// The error at the bottom: those of library functions come wrapped.
fn root(error: &mlua::Error) -> &mlua::Error {
    match error {
        mlua::Error::CallbackError { cause, .. } | mlua::Error::BadArgument { cause, .. } => root(cause),
        mlua::Error::WithContext { cause, .. } => root(cause),
        other => other,
    }
}

/// The line in which a library function was called, which is told by the traceback alone.
fn traced_line(error: &mlua::Error) -> Option<u32> {
    let text = match error {
        mlua::Error::CallbackError { traceback, .. } => traceback.clone(),
        other => other.to_string(),
    };
    text.lines().find_map(|line| placed(line.trim_start())).map(|(line, _)| line)
}

/// Splits `<string>:3: message`.
fn placed(text: &str) -> Option<(u32, &str)> {
    let (line, message) = text.strip_prefix("<string>:")?.split_once(':')?;
    Some((line.parse().ok()?, message.trim_start()))
}
