//! Names that look like another.

/// The name that looks most like another one, if one does.
pub(super) fn near<'a>(name: &str, all: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).clamp(2, 4);
    let distances =
        all.into_iter().map(|one| (distance(name, one), one)).filter(|(distance, _)| *distance <= most);
    distances.min().map(|(_, one)| one)
}

/// How many letters have to be changed, added or left out.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = place + 1;
        for (column, second) in other.iter().enumerate() {
            let change = corner + usize::from(letter != *second);
            corner = row[column + 1];
            row[column + 1] = change.min(corner + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        assert_eq!(near("mian", ["main", "develop"]), Some("main"));
        assert_eq!(near("release-1.2", ["release-1.3", "main"]), Some("release-1.3"));
        assert_eq!(near("stage1-complete", ["main"]), None);
    }
}
