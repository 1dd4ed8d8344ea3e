//! Which strings look like a time to go-yaml: version 2 quotes them, version 3 reads them as times.

/// Whether `text` is a date, or a date and a time in one of the forms that go-yaml knows.
pub(super) fn is_timestamp(text: &str) -> bool {
    has_year(text) && parse(text).is_some()
}

/// The time as JSON has it, in the form of RFC 3339, if `text` is one.
pub(super) fn to_rfc3339(text: &str) -> Option<String> {
    if !has_year(text) {
        return None;
    }
    let Timestamp { date: [year, month, day], time: [hour, minute, second], fraction, zone } = parse(text)?;
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    // Go keeps nanoseconds.
    let fraction = &fraction[..fraction.len().min(9)];
    let zone = if zone.is_empty() || zone.ends_with("00:00") { "Z" } else { zone };
    let time = format_args!("{hour:02}:{minute:02}:{second:02}{dot}{fraction}{zone}");
    Some(format!("{year:04}-{month:02}-{day:02}T{time}"))
}

/// Quick to say no: every form begins with four digits and a dash.
fn has_year(text: &str) -> bool {
    matches!(text.as_bytes(), [a, b, c, d, b'-', ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_digit()))
}

struct Timestamp<'a> {
    date: [u32; 3],
    time: [u32; 3],
    /// The digits after the seconds.
    fraction: &'a str,
    /// `Z`, or an offset; empty if there is none.
    zone: &'a str,
}

fn parse(text: &str) -> Option<Timestamp<'_>> {
    let mut rest = Digits(text);
    let year = rest.exactly(4)?;
    rest.sign("-")?;
    let month = rest.one_or_two(1..=12)?;
    rest.sign("-")?;
    let day = rest.one_or_two(1..=31)?;
    if day > days_in(year, month) {
        return None;
    }
    let mut found = Timestamp { date: [year, month, day], time: [0; 3], fraction: "", zone: "" };
    if rest.0.is_empty() {
        return Some(found);
    }
    let zoned = rest.sign("T").or_else(|| rest.sign("t")).is_some();
    if !zoned {
        rest.sign(" ")?;
        // Go's layouts take a space for any number of spaces.
        rest.0 = rest.0.trim_start_matches(' ');
    }
    let hour = rest.one_or_two(0..=23)?;
    rest.sign(":")?;
    let minute = rest.one_or_two(0..=59)?;
    rest.sign(":")?;
    found.time = [hour, minute, rest.one_or_two(0..=59)?];
    found.fraction = rest.fraction();
    if zoned {
        found.zone = rest.0;
        rest.zone()?;
    }
    rest.0.is_empty().then_some(found)
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

/// What is left to read.
struct Digits<'a>(&'a str);

impl<'a> Digits<'a> {
    fn sign(&mut self, sign: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(sign)?;
        Some(())
    }

    fn exactly(&mut self, len: usize) -> Option<u32> {
        let digits = self.0.get(..len).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        self.0 = &self.0[len..];
        digits.parse().ok()
    }

    fn one_or_two(&mut self, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
        self.exactly(2).or_else(|| self.exactly(1)).filter(|number| range.contains(number))
    }

    fn fraction(&mut self) -> &'a str {
        let Some(after) = self.0.strip_prefix(['.', ',']) else { return "" };
        let rest = after.trim_start_matches(|char: char| char.is_ascii_digit());
        let digits = &after[..after.len() - rest.len()];
        if !digits.is_empty() {
            self.0 = rest;
        }
        digits
    }

    fn zone(&mut self) -> Option<()> {
        if self.sign("Z").is_some() {
            return Some(());
        }
        self.0 = self.0.strip_prefix(['+', '-'])?;
        self.exactly(2).filter(|hours| *hours <= 24)?;
        self.sign(":")?;
        self.exactly(2).filter(|minutes| *minutes <= 60)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_gos_forms() {
        for time in
            ["2001-12-14", "2001-1-1", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "2000-2-29"]
        {
            assert!(is_timestamp(time), "{time}");
        }
        for other in
            ["2001-02-29", "2001-13-01", "2001-12-14T21:59:43", "2001-12-14 21:59:43Z", "201-1-1", "2001-"]
        {
            assert!(!is_timestamp(other), "{other}");
        }
    }

    #[test]
    fn prints_times_as_json_has_them() {
        let print = |text| to_rfc3339(text).unwrap();
        assert_eq!(print("2001-1-2"), "2001-01-02T00:00:00Z");
        assert_eq!(print("2001-12-14t21:59:43.10-05:00"), "2001-12-14T21:59:43.1-05:00");
        assert_eq!(print("2001-12-14 1:2:3"), "2001-12-14T01:02:03Z");
    }
}
