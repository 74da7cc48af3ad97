//! Lines of CSV that are put together in one piece of memory.
//!
//! A cell is quoted where it must be: if it holds the separator, a quote or a line's end, or is all there is of its line and empty.

/// Lines, one behind the other.
#[derive(Debug)]
pub(super) struct Lines {
    /// The text, and room behind it whose bytes say nothing: writing to it needs no growing, and most of the time no look at how much of it there is.
    bytes: Vec<u8>,
    /// Where the text ends.
    end: usize,
    /// Where the present line begins.
    start: usize,
    separator: u8,
    /// Numbers may hold the separator: digits, signs and letters do only if someone chose it so.
    numbers_are_cells: bool,
}

/// Room that a line begins with, for short cells.
const ROOM: usize = 1 << 10;

impl Lines {
    pub(super) fn new(separator: u8) -> Self {
        let numbers_are_cells = separator.is_ascii_alphanumeric() || matches!(separator, b'.' | b'-' | b'+');
        Lines { bytes: Vec::new(), end: 0, start: 0, separator, numbers_are_cells }
    }

    /// Forgets the lines and keeps their memory.
    pub(super) fn clear(&mut self) {
        (self.end, self.start) = (0, 0);
    }

    /// The lines.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// Adds text that needs no quotes.
    #[inline]
    pub(super) fn plain(&mut self, text: &[u8]) {
        let end = self.end + text.len();
        if end >= self.bytes.len() {
            self.grow(end);
        }
        let room = &mut self.bytes[self.end..=end];
        if let Some((separator, room)) = room.split_last_mut() {
            *separator = self.separator;
            copy_short(room, text);
        }
        self.end = end + 1;
    }

    /// Adds a cell, in quotes if it needs them.
    pub(super) fn cell(&mut self, cell: &[u8]) {
        let special = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r') || *byte == self.separator;
        // Without an early end the scan is a few wide comparisons.
        if !cell.iter().fold(false, |found, byte| found | special(byte)) {
            return self.plain(cell);
        }
        let mut quoted = Vec::with_capacity(cell.len() + 8);
        quoted.push(b'"');
        for &byte in cell {
            if byte == b'"' {
                quoted.push(b'"');
            }
            quoted.push(byte);
        }
        quoted.push(b'"');
        self.plain(&quoted);
    }

    /// Adds a number.
    #[inline]
    pub(super) fn number(&mut self, number: &str) {
        if self.numbers_are_cells {
            return self.cell(number.as_bytes());
        }
        self.plain(number.as_bytes());
    }

    /// Ends the line, which has one cell at least.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.end == self.start + 1 {
            // One empty cell: an empty line would be no line.
            self.end = self.start;
            self.plain(b"\"\"");
        }
        // In place of the last cell's separator.
        if let Some(last) = self.bytes.get_mut(self.end.wrapping_sub(1)) {
            *last = b'\n';
        }
        self.start = self.end;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, end: usize) {
        self.bytes.resize(2 * end + ROOM, 0);
    }
}

/// Copies a text to a place of the same length. A short one goes as its first and its last bytes, which overlap: copies of a known length are no calls.
#[inline]
fn copy_short(place: &mut [u8], text: &[u8]) {
    match text.len() {
        8..=16 => copy_ends::<8>(place, text),
        17..=32 => copy_ends::<16>(place, text),
        33..=64 => copy_ends::<32>(place, text),
        _ => place.copy_from_slice(text),
    }
}

/// The same for `N` bytes at least, and twice as many at most.
#[inline]
fn copy_ends<const N: usize>(place: &mut [u8], text: &[u8]) {
    if let (Some(first), Some(last)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) {
        if let Some(place) = place.first_chunk_mut::<N>() {
            *place = *first;
        }
        if let Some(place) = place.last_chunk_mut::<N>() {
            *place = *last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_copied_and_memory_is_used_again() {
        let all: Vec<u8> = (b'a'..=b'z').cycle().take(3_000).collect();
        let mut lines = Lines::new(b',');
        for _ in 0..2 {
            let mut expected = Vec::new();
            lines.clear();
            for length in (1..100).chain([all.len()]) {
                lines.plain(&all[..length]);
                lines.cell(&all[all.len() - length..]);
                lines.end();
                expected.extend_from_slice(&all[..length]);
                expected.push(b',');
                expected.extend_from_slice(&all[all.len() - length..]);
                expected.push(b'\n');
            }
            assert_eq!(lines.text(), expected);
        }
    }

    #[test]
    fn a_single_empty_cell_is_seen() {
        let mut lines = Lines::new(b';');
        for cells in [&[&b""[..]][..], &[b"", b""], &[b"a\"b;"]] {
            cells.iter().for_each(|cell| lines.cell(cell));
            lines.end();
        }
        assert_eq!(lines.text(), b"\"\"\n;\n\"a\"\"b;\"\n");
    }
}
