//! Several cells as one key, so that no two lists of cells have the same one, and `1` and `01` differ.
//!
//! One cell is its own key. Several are joined by the unit separator; where a cell holds that, or the escape, an escape stands before it.

use std::borrow::Cow;

const SEPARATOR: u8 = 0x1f;
const ESCAPE: u8 = 0x1b;

/// The key of some cells.
pub(crate) fn join<'a, I: ExactSizeIterator<Item = Cow<'a, [u8]>>>(cells: I) -> Vec<u8> {
    if cells.len() == 1 {
        return cells.flat_map(Cow::into_owned).collect();
    }
    let mut key = Vec::new();
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            key.push(SEPARATOR);
        }
        for &byte in cell.iter() {
            if matches!(byte, SEPARATOR | ESCAPE) {
                key.push(ESCAPE);
            }
            key.push(byte);
        }
    }
    key
}

/// The cells of a key of so many.
pub(crate) fn split(key: &[u8], count: usize) -> Vec<Vec<u8>> {
    if count < 2 {
        return (0..count).map(|_| key.to_vec()).collect();
    }
    let mut cells = vec![Vec::new()];
    let mut escaped = false;
    for &byte in key {
        match byte {
            _ if escaped => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(byte);
                }
                escaped = false;
            }
            ESCAPE => escaped = true,
            SEPARATOR => cells.push(Vec::new()),
            _ => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(byte);
                }
            }
        }
    }
    cells
}

/// A time as the text by which it is compared: whether it came as a date, an instant or a number, and from whatever kind of file.
pub(crate) fn of_time(time: f64) -> Vec<u8> {
    // -0 is 0.
    (time + 0.0).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lists_of_cells_have_the_same_key() {
        let lists: [&[&[u8]]; 8] = [
            &[b"a", b"b"],
            &[b"a\x1fb", b""],
            &[b"a", b"\x1fb"],
            &[b"a\x1b", b"b"],
            &[b"a", b"\x1bb"],
            &[b"", b"ab"],
            &[b"ab", b""],
            &[b"01", b"1"],
        ];
        let keys: Vec<Vec<u8>> =
            lists.iter().map(|list| join(list.iter().map(|&cell| Cow::Borrowed(cell)))).collect();
        for (at, key) in keys.iter().enumerate() {
            assert_eq!(split(key, 2), lists[at]);
            assert!(keys[..at].iter().all(|other| other != key), "{at}");
        }
        assert_eq!(join([Cow::Borrowed(&b"a\x1f"[..])].into_iter()), b"a\x1f");
        assert_eq!((split(b"a\x1f", 1), split(b"", 0)), (vec![b"a\x1f".to_vec()], vec![]));
    }
}
