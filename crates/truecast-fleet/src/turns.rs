//! Which part of a batch a row belongs to, guessed from the row before.
//!
//! Rows of one series come together, or series take turns: the part that came next after the last row's part the time before, or else that part itself, is
//! most often right, and comparing one key is all it takes. Keys are kept here, close together: those of the series lie beside what other cores
//! are changing.

/// The parts of a batch with their keys, and who came after whom.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// The keys of all parts, one behind the other.
    keys: Vec<u8>,
    parts: Vec<Turn>,
    /// The part of the last row.
    last: usize,
}

#[derive(Debug, Clone, Copy)]
struct Turn {
    /// Where the key begins and ends.
    start: usize,
    end: usize,
    /// The part whose row came after this one's last row; at first itself.
    next: usize,
}

impl Turns {
    /// The part of a row that has this key, if the guess is right.
    #[inline]
    pub(crate) fn guess(&self, key: &[u8]) -> Option<usize> {
        let next = self.parts.get(self.last)?.next;
        let is_it = |part: usize| {
            let turn = self.parts[part];
            &self.keys[turn.start..turn.end] == key
        };
        [next, self.last].into_iter().find(|&part| is_it(part))
    }

    /// Takes note of a row's part; a new one has the number that comes next.
    #[inline]
    pub(crate) fn take(&mut self, part: usize, key: &[u8]) {
        if part == self.parts.len() {
            let start = self.keys.len();
            self.keys.extend_from_slice(key);
            self.parts.push(Turn { start, end: self.keys.len(), next: part });
        }
        self.parts[self.last].next = part;
        self.last = part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_and_runs_are_guessed_and_never_wrongly() {
        let mut turns = Turns::default();
        assert_eq!(turns.guess(b"a"), None);
        let keys: [&[u8]; 3] = [b"a", b"", b"ab"];
        keys.iter().enumerate().for_each(|(part, key)| turns.take(part, key));
        assert_eq!(turns.guess(b"a"), None);
        turns.take(0, b"a");
        // In turns from now on.
        for part in [1, 2, 0, 1, 2] {
            assert_eq!(turns.guess(keys[part]), Some(part));
            turns.take(part, keys[part]);
        }
        // The same again and again.
        for _ in 0..3 {
            assert_eq!(turns.guess(b"ab"), Some(2));
            turns.take(2, b"ab");
        }
        assert_eq!(turns.guess(b"abc"), None);
    }
}
