//! What waits for what, as a tree.

use std::fmt::Write as _;

use crate::examination::Chain;

/// Draws what waits for something, below it.
pub(super) fn draw(chain: &Chain, indent: &str, out: &mut String) {
    for (place, part) in chain.waiting.iter().enumerate() {
        let is_last = place + 1 == chain.waiting.len();
        let (corner, line) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let more = if part.more > 0 { format!(", and {} more", part.more) } else { String::new() };
        let state = if part.state.is_empty() { String::new() } else { format!(" ({})", part.state) };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{indent}{corner}{}{state}{more}", part.node);
        draw(part, &format!("{indent}{line}"), out);
    }
}
