//! Columns of text, as Go's tabwriter lays them out: each as wide as its widest cell, two blanks between.

/// Rows of cells on their way to being columns.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a header.
    pub(crate) fn new(header: &[&str]) -> Self {
        let mut table = Table::default();
        table.row(header.iter().map(|cell| (*cell).to_owned()));
        table
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        // A cell is one line: a message with line feeds would break the columns.
        self.rows.push(cells.into_iter().map(|cell| cell.replace(['\n', '\t', '\r'], " ")).collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            self.rows
                .iter()
                // What ends a line makes no column wider.
                .filter(|row| column + 1 < row.len())
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                line.push_str(cell);
                if column + 1 < row.len() {
                    let pad = widths[column] + 2 - cell.chars().count();
                    line.extend(std::iter::repeat_n(' ', pad));
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["NAME", "STATUS"]);
        table.row(["catalog".to_owned(), "Synced".to_owned()]);
        table.row(["db".to_owned(), String::new()]);
        assert_eq!(table.to_string(), "NAME     STATUS\ncatalog  Synced\ndb\n");
    }

    #[test]
    fn a_message_of_many_lines_stays_in_its_cell() {
        let mut table = Table::new(&["A", "B"]);
        table.row(["x\ny".to_owned(), "z".to_owned()]);
        assert_eq!(table.to_string(), "A    B\nx y  z\n");
    }
}
