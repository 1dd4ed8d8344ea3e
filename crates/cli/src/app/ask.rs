//! Questions to whoever sits at the terminal.

use std::io::{BufRead as _, Write as _};

use crate::exit::{Doing as _, Outcome};

/// Asks, and gives whether the answer was yes. No answer is no.
pub(crate) fn confirmed(question: &str) -> Outcome<bool> {
    print!("{question}");
    std::io::stdout().flush().doing("cannot ask")?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).doing("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
