//! Maps and lists in braces and brackets, which is also how JSON is written.

use super::{Cursor, Entry, Item, Kind, Node, Unreadable, name_of};

impl Cursor<'_> {
    /// Reads a value inside of brackets, or one that begins with them.
    pub(in super::super) fn flow_node(&mut self) -> Result<Node, Unreadable> {
        self.skip_gap();
        let start = self.pos;
        let properties = self.properties();
        if properties.any {
            self.skip_gap();
        }
        let node = match self.byte() {
            Some(b'*') => self.alias(),
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote)?,
            Some(b'[') => self.flow_seq()?,
            Some(b'{') => self.flow_map()?,
            Some(b',' | b']' | b'}') | None if properties.any => Node::empty(properties.end),
            _ => self.plain(-1, true)?,
        };
        self.pos = node.end;
        Ok(Node { start, anchor: properties.anchor, ..node })
    }

    fn flow_map(&mut self) -> Result<Node, Unreadable> {
        let start = self.pos;
        self.pos += 1;
        let mut entries = Vec::new();
        while self.separator(b'}')? {
            let entry = self.flow_entry()?;
            self.pos = entry.end();
            entries.push(entry);
        }
        let kind = Kind::Map { flow: true, entries };
        Ok(Node { start, body: start, end: self.pos, anchor: None, kind })
    }

    fn flow_seq(&mut self) -> Result<Node, Unreadable> {
        let start = self.pos;
        self.pos += 1;
        let mut items = Vec::new();
        while self.separator(b']')? {
            let start = self.pos;
            let value = self.flow_item()?;
            self.pos = value.end;
            items.push(Item { start, after: start, value });
        }
        let kind = Kind::Seq { flow: true, items };
        Ok(Node { start, body: start, end: self.pos, anchor: None, kind })
    }

    /// Steps to the next item; says whether there is one. What closes the list is stepped over.
    fn separator(&mut self, close: u8) -> Result<bool, Unreadable> {
        self.skip_gap();
        if self.byte() == Some(b',') {
            self.pos += 1;
            self.skip_gap();
        }
        match self.byte() {
            None => Err(Unreadable),
            Some(byte) if byte == close => {
                self.pos += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
        }
    }

    /// An item of a list, which may be a map of one field without braces.
    fn flow_item(&mut self) -> Result<Node, Unreadable> {
        let start = self.pos;
        let entry = self.flow_entry()?;
        if !entry.has_colon && entry.start == entry.key.start {
            return Ok(entry.key);
        }
        let end = entry.end();
        let kind = Kind::Map { flow: true, entries: vec![entry] };
        Ok(Node { start, body: start, end, anchor: None, kind })
    }

    fn flow_entry(&mut self) -> Result<Entry, Unreadable> {
        let start = self.pos;
        if self.is_sign(b'?') {
            self.pos += 1;
            self.skip_gap();
        }
        let key = if self.byte() == Some(b':') { Node::empty(self.pos) } else { self.flow_node()? };
        self.skip_gap();
        let has_colon = self.byte() == Some(b':');
        let after = if has_colon { self.pos + 1 } else { key.end };
        self.pos = after;
        let mut value = Node::empty(after);
        if has_colon {
            self.skip_gap();
            if !matches!(self.byte(), Some(b',' | b']' | b'}')) {
                value = self.flow_node()?;
            }
        }
        Ok(Entry { start, name: name_of(self.text, &key), key, after, has_colon, value })
    }
}
