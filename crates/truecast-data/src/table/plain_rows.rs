//! Splitting CSV as long as it has no quotes: the text is read in pieces and stays where it is, and only the places of cells are noted.
//!
//! Rows are the ones that the `csv` crate finds: a line ends with LF, CR or both, blank lines are none, the last one may lack its end. The first quote stops it,
//! since then a cell is no longer what stands in the file. Separators and line ends are found 64 bytes at a time.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::mem;
use std::sync::Arc;

use super::grid::Grid;

/// Bytes that are asked for at once: as many as the source buffers, which then hands them through.
const STEP: usize = 1 << 18;
/// Bytes that are looked at together. As many lie behind the text, so that its end needs no care.
const BLOCK: usize = 64;
/// Pieces whose memory is used again once nobody reads them. More are under way only if someone keeps them all.
const KEPT: usize = 8;

/// Lines, counted as the `csv` crate does: by their LF.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    /// LF up to the end of the last row, plus one.
    pub(super) before: u64,
    /// Those of blank lines after it.
    pub(super) blank: u64,
    /// 1 if a line's end is counted with the line, 0 if (for CR LF) with the next one.
    pub(super) end: u64,
}

impl Lines {
    /// The line on which a row began, which has `inside` line ends within its cells and took the count to `after`.
    pub(super) fn row(&mut self, after: u64, inside: impl FnOnce() -> u64) -> u64 {
        let before = mem::replace(&mut self.before, after);
        self.blank = 0;
        if after == before + self.end {
            return before;
        }
        (after - self.end).saturating_sub(inside()).max(before)
    }
}

/// Rows that were split.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) grid: Arc<Grid>,
    /// The line of each row.
    pub(super) lines: Vec<u64>,
    /// Lines of rows with another number of cells, and how many they have.
    pub(super) misfits: Vec<(u64, usize)>,
    /// The next row cannot be split here, as it has a quote.
    pub(super) stopped: bool,
}

/// Text on its way to being rows.
#[derive(Debug, Default)]
pub(super) struct PlainRows {
    grid: Grid,
    /// How much of the grid's bytes is text.
    filled: usize,
    /// Nothing is left to read. A terminal would be asked again.
    ended: bool,
    past: VecDeque<Arc<Grid>>,
}

impl PlainRows {
    /// Text that was read and not split yet.
    pub(super) fn text(&self) -> &[u8] {
        &self.grid.bytes[..self.filled]
    }

    /// Begins behind the header, which has `width` cells and took this many bytes.
    pub(super) fn begin(&mut self, bytes: usize, width: usize, separator: u8) {
        self.grid.bytes.copy_within(bytes..self.filled, 0);
        self.filled -= bytes;
        (self.grid.stride, self.grid.separator) = (width + 1, separator);
    }

    /// Reads more text; false at the end.
    pub(super) fn fill(&mut self, source: &mut impl Read) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let room = self.filled + STEP;
        if self.grid.bytes.len() < room + BLOCK {
            self.grid.bytes.resize(room + BLOCK, 0);
        }
        loop {
            match source.read(&mut self.grid.bytes[self.filled..room]) {
                Ok(read) => {
                    self.filled += read;
                    self.ended = read == 0;
                    return Ok(!self.ended);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Splits at most `rows` rows.
    pub(super) fn read(
        &mut self,
        source: &mut impl Read,
        rows: usize,
        count: &mut Lines,
    ) -> io::Result<Split> {
        let (stride, separator) = (self.grid.stride, self.grid.separator);
        let (mut lines, mut misfits) = (Vec::with_capacity(rows), Vec::new());
        let mut starts = mem::take(&mut self.grid.starts);
        starts.clear();
        starts.push(0);
        // Where the present row begins, in the text and among the starts; how much of the text was looked at.
        let (mut row, mut first, mut seen) = (0, 0, 0);
        let mut stopped = false;
        let mut end_row = |starts: &mut Vec<u32>, first: &mut usize, end: usize, line: u64| {
            starts.push(place(end + 1));
            if starts.len() - *first == stride {
                lines.push(line);
                *first = starts.len();
            } else {
                misfits.push((line, starts.len() - *first - 1));
                starts.truncate(*first);
            }
            starts.push(place(end + 1));
            lines.len()
        };
        'text: loop {
            if seen == self.filled {
                if self.filled > u32::MAX as usize - STEP - BLOCK {
                    stopped = true; // places would not fit; whoever takes quotes takes this too
                    break;
                }
                if self.fill(source)? {
                    continue;
                }
                if row < self.filled {
                    let line = count.row(count.before + count.blank, || 0);
                    end_row(&mut starts, &mut first, self.filled, line);
                    row = self.filled;
                }
                break;
            }
            let Some((block, _)) = self.grid.bytes[seen..].split_first_chunk::<BLOCK>() else { break };
            let mut found = candidates(block, separator);
            if self.filled - seen < BLOCK {
                found &= (1 << (self.filled - seen)) - 1;
            }
            while found != 0 {
                let within = found.trailing_zeros() as usize;
                found &= found - 1;
                let (at, byte) = (seen + within, block[within % BLOCK]);
                if byte == separator {
                    starts.push(place(at + 1));
                    continue;
                }
                if byte == b'"' {
                    stopped = true;
                    break 'text;
                }
                if !matches!(byte, b'\n' | b'\r') {
                    continue;
                }
                let newline = u64::from(byte == b'\n');
                if at == row {
                    count.blank += newline;
                    row = at + 1;
                    starts[first] = place(row);
                    continue;
                }
                row = at + 1;
                let line = count.row(count.before + count.blank + newline, || 0);
                if end_row(&mut starts, &mut first, at, line) == rows {
                    break 'text;
                }
            }
            seen = self.filled.min(seen + BLOCK);
        }
        starts.truncate(first);
        self.grid.starts = starts;
        Ok(Split { grid: self.hand_over(row), lines, misfits, stopped })
    }

    /// Gives the piece away and goes on with a new one, which begins with what was not split.
    fn hand_over(&mut self, split: usize) -> Arc<Grid> {
        let mut next = self.spare();
        (next.stride, next.separator) = (self.grid.stride, self.grid.separator);
        let left = &self.grid.bytes[split..self.filled];
        if next.bytes.len() < left.len() + BLOCK {
            next.bytes.resize(left.len() + BLOCK, 0);
        }
        next.bytes[..left.len()].copy_from_slice(left);
        self.filled = left.len();
        let grid = Arc::new(mem::replace(&mut self.grid, next));
        self.past.push_back(Arc::clone(&grid));
        grid
    }

    /// A piece that nobody reads any more, or else a new one.
    fn spare(&mut self) -> Grid {
        let free = self.past.front_mut().is_some_and(|grid| Arc::get_mut(grid).is_some());
        if free || self.past.len() == KEPT {
            let oldest = self.past.pop_front().map(Arc::try_unwrap);
            if let Some(Ok(grid)) = oldest {
                return grid;
            }
        }
        Grid::default()
    }
}

/// A place in a piece; pieces are kept short enough.
fn place(at: usize) -> u32 {
    at as u32
}

/// A bit for each byte that is a separator, or one of those up to the quote, which line ends are among: few others are, and one comparison finds them all.
#[inline]
fn candidates(block: &[u8; BLOCK], separator: u8) -> u64 {
    let bit = |byte: u8, bit: u8| if (byte == separator) | (byte <= b'"') { bit } else { 0 };
    // Sixteen bytes at a time are compared at once; of byte 16 j + b the bit 2 j of byte b is set.
    let mut found = [0; BLOCK / 4];
    for (b, found) in found.iter_mut().enumerate() {
        *found = bit(block[b], 1) | bit(block[b + 16], 4) | bit(block[b + 32], 16) | bit(block[b + 48], 64);
    }
    // The second eight bytes go to the odd bits: then bit k of byte b says byte 8 k + b, which is bit b of byte k once rows and columns of the 8 × 8 bits have changed
    // places. First they do so within squares of 2 × 2, then squares of two, then of four (H. S. Warren, Hacker's Delight, section 7-3).
    let found = u128::from_le_bytes(found);
    let mut bits = found as u64 | (found >> 64 << 1) as u64;
    for (distance, upper) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0xf0f0_f0f0)] {
        let differ = (bits ^ (bits >> distance)) & upper;
        bits ^= differ ^ (differ << distance);
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn candidates_are_found_where_they_are(
            block in prop::collection::vec(prop::sample::select(b"a,\n\r\" #!;x\0\x8a\xff\x0b0".to_vec()), BLOCK),
            separator in prop::sample::select(b",;x\t\xff".to_vec()),
        ) {
            let block: &[u8; BLOCK] = block.first_chunk().unwrap();
            let wanted = (0..BLOCK).filter(|&k| block[k] == separator || block[k] <= b'"');
            prop_assert_eq!(candidates(block, separator), wanted.fold(0, |bits, k| bits | 1 << k));
        }
    }
}
