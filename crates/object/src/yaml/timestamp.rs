//! Which strings look like a time to go-yaml, so that they need quotes.

/// Whether `text` is a date, or a date and a time in one of the forms that go-yaml knows.
pub(super) fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_year = bytes.len() > 4 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-';
    is_year && parse(text).is_some()
}

fn parse(text: &str) -> Option<()> {
    let mut rest = Digits(text);
    let year = rest.exactly(4)?;
    rest.sign("-")?;
    let month = rest.one_or_two(1..=12)?;
    rest.sign("-")?;
    let day = rest.one_or_two(1..=31)?;
    if day > days_in(year, month) {
        return None;
    }
    if rest.0.is_empty() {
        return Some(());
    }
    let zoned = rest.sign("T").or_else(|| rest.sign("t")).is_some();
    if !zoned {
        rest.sign(" ")?;
        // Go's layouts take a space for any number of spaces.
        rest.0 = rest.0.trim_start_matches(' ');
    }
    rest.one_or_two(0..=23)?;
    rest.sign(":")?;
    rest.one_or_two(0..=59)?;
    rest.sign(":")?;
    rest.one_or_two(0..=59)?;
    rest.fraction();
    if zoned {
        rest.zone()?;
    }
    rest.0.is_empty().then_some(())
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

impl Digits<'_> {
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

    fn fraction(&mut self) {
        if let Some(after) = self.0.strip_prefix(['.', ','])
            && after.starts_with(|char: char| char.is_ascii_digit())
        {
            self.0 = after.trim_start_matches(|char: char| char.is_ascii_digit());
        }
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
