//! Maps and lists on lines of their own.

use super::{Cursor, Entry, Item, Kind, Node, Unreadable, name_of};

impl Cursor<'_> {
    /// The value of a document.
    pub(in super::super) fn root(&mut self) -> Result<Node, Unreadable> {
        self.block_node(-1, false)
    }

    /// Reads what belongs to something that is `parent` far in and ends where the cursor is.
    fn block_node(&mut self, parent: i64, may_be_indentless: bool) -> Result<Node, Unreadable> {
        let from = self.pos;
        if !self.goes_on(from, parent, may_be_indentless) {
            self.pos = from;
            return Ok(Node::empty(from));
        }
        if let Some(collection) = self.collection()? {
            return Ok(collection);
        }
        let start = self.pos;
        let properties = self.properties();
        if properties.any && !self.goes_on(properties.end, parent, may_be_indentless) {
            self.pos = properties.end;
            return Ok(Node { start, anchor: properties.anchor, ..Node::empty(properties.end) });
        }
        let is_below = properties.any && !self.is_one_line(properties.end, self.pos);
        let collection = if is_below { self.collection()? } else { None };
        let node = match collection {
            Some(collection) => collection,
            None => self.content(parent)?,
        };
        Ok(Node { start, anchor: properties.anchor.or(node.anchor), ..node })
    }

    /// Steps to what follows; says whether that still belongs to something that is `parent` far in.
    fn goes_on(&mut self, from: usize, parent: i64, may_be_indentless: bool) -> bool {
        self.skip_gap();
        if self.is_over() {
            return false;
        }
        let column = self.column(self.pos) as i64;
        let is_indentless = may_be_indentless && column == parent && self.is_sign(b'-');
        self.is_one_line(from, self.pos) || column > parent || is_indentless
    }

    /// The map or list that begins here, if one does.
    fn collection(&mut self) -> Result<Option<Node>, Unreadable> {
        let column = self.column(self.pos);
        if self.is_sign(b'-') {
            return self.block_seq(column).map(Some);
        }
        if self.is_sign(b'?') || self.is_key() {
            return self.block_map(column).map(Some);
        }
        Ok(None)
    }

    /// Whether a key stands here, with its colon, on one line.
    fn is_key(&self) -> bool {
        let mut ahead = self.clone();
        let is_read = ahead.key().is_ok();
        ahead.skip_blanks();
        is_read && ahead.is_sign(b':') && self.is_one_line(self.pos, ahead.pos)
    }

    fn key(&mut self) -> Result<Node, Unreadable> {
        let start = self.pos;
        let properties = self.properties();
        let node = match self.byte() {
            Some(b'*') => self.alias(),
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote)?,
            Some(b'[' | b'{') => self.flow_node()?,
            Some(b'|' | b'>' | b'#' | b'\n') | None => return Err(Unreadable),
            Some(_) => {
                let from = self.pos;
                self.plain_line(false);
                self.scalar(from, super::Quotes::Plain)
            }
        };
        Ok(Node { start, anchor: properties.anchor, ..node })
    }

    fn content(&mut self, parent: i64) -> Result<Node, Unreadable> {
        match self.byte() {
            Some(b'*') => Ok(self.alias()),
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote),
            Some(b'[' | b'{') => self.flow_node(),
            Some(b'|' | b'>') => Ok(self.block_scalar(parent)),
            _ => self.plain(parent, false),
        }
    }

    fn block_seq(&mut self, column: usize) -> Result<Node, Unreadable> {
        let start = self.pos;
        let mut items = Vec::new();
        let mut end = self.pos;
        while !self.is_over() && self.column(self.pos) == column && self.is_sign(b'-') {
            let start = self.pos;
            self.pos += 1;
            let item = Item { start, after: self.pos, value: self.block_node(column as i64, false)? };
            end = item.end();
            items.push(item);
            self.skip_gap();
        }
        self.pos = end;
        Ok(Node { start, body: start, end, anchor: None, kind: Kind::Seq { flow: false, items } })
    }

    fn block_map(&mut self, column: usize) -> Result<Node, Unreadable> {
        let start = self.pos;
        let mut entries: Vec<Entry> = Vec::new();
        let mut end = self.pos;
        while !self.is_over() && self.column(self.pos) == column {
            let entry = match (self.is_sign(b'?'), self.is_key()) {
                (true, _) => self.long_entry(column as i64)?,
                (false, true) => self.entry(column as i64)?,
                (false, false) => break,
            };
            end = entry.end();
            entries.push(entry);
            self.skip_gap();
        }
        self.pos = end;
        Ok(Node { start, body: start, end, anchor: None, kind: Kind::Map { flow: false, entries } })
    }

    fn entry(&mut self, column: i64) -> Result<Entry, Unreadable> {
        let start = self.pos;
        let key = self.key()?;
        self.skip_blanks();
        self.pos += 1;
        let after = self.pos;
        let value = self.block_node(column, true)?;
        Ok(Entry { start, name: name_of(self.text, &key), key, after, has_colon: true, value })
    }

    /// Reads a key after a question mark, and the value after a colon on a line of its own.
    fn long_entry(&mut self, column: i64) -> Result<Entry, Unreadable> {
        let start = self.pos;
        self.pos += 1;
        let key = self.block_node(column, false)?;
        let key_end = self.pos;
        self.skip_gap();
        let has_colon = self.is_sign(b':') && self.column(self.pos) as i64 == column;
        self.pos = if has_colon { self.pos + 1 } else { key_end };
        let after = self.pos;
        let value = if has_colon { self.block_node(column, true)? } else { Node::empty(after) };
        Ok(Entry { start, name: name_of(self.text, &key), key, after, has_colon, value })
    }
}
