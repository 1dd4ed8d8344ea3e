//! Durations as Go writes them: `1h30m`, `5s`, `250ms`.

use jiff::SignedDuration;

/// A text that is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unable to parse {0} as a duration")]
pub struct DurationError(pub String);

/// Reads a duration; a plain number counts seconds.
pub fn parse_duration(text: &str) -> Result<SignedDuration, DurationError> {
    if let Ok(seconds) = text.parse::<i64>() {
        return Ok(SignedDuration::from_secs(seconds));
    }
    go_duration(text).ok_or_else(|| DurationError(text.to_owned()))
}

fn go_duration(text: &str) -> Option<SignedDuration> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest.is_empty() {
        return None;
    }
    let mut total: f64 = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(digits);
        let unit_end = behind.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(behind.len());
        let (unit, next) = behind.split_at(unit_end);
        total += number.parse::<f64>().ok()? * seconds_of(unit)?;
        rest = next;
    }
    SignedDuration::try_from_secs_f64(if negative { -total } else { total }).ok()
}

fn seconds_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_does() {
        for (text, millis) in
            [("5", 5000), ("5s", 5000), ("1m30s", 90_000), ("1.5h", 5_400_000), ("-250ms", -250)]
        {
            assert_eq!(parse_duration(text), Ok(SignedDuration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "5x", "5 s", "1m30", "-"] {
            assert_eq!(parse_duration(text), Err(DurationError(text.into())));
        }
    }
}
