//! What stands in front of every saved state: magic, version, length, checksum. The layout is `docs/formats.md`.

use crate::error::SnapshotError;

const HEADER: usize = 8 + 2 + 8 + 4;

/// Puts a header in front of a payload.
pub fn seal(magic: &[u8; 8], version: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(magic);
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Checks the header and gives the payload: the right kind of state, of a version up to `newest`, whole and undamaged.
pub fn open<'a>(magic: &[u8; 8], newest: u16, bytes: &'a [u8]) -> Result<&'a [u8], SnapshotError> {
    let found = bytes.get(..magic.len()).unwrap_or(bytes);
    if found.is_empty() || !magic.starts_with(found) {
        return Err(SnapshotError::BadMagic);
    }
    let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
        return Err(SnapshotError::WrongLength { expected: HEADER, found: bytes.len() });
    };
    let found = u16::from_le_bytes([header[8], header[9]]);
    if found == 0 || found > newest {
        return Err(SnapshotError::UnsupportedVersion { found, newest });
    }
    let mut length = [0; 8];
    length.copy_from_slice(&header[10..18]);
    let length = u64::from_le_bytes(length);
    if length != payload.len() as u64 {
        let expected = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(HEADER);
        return Err(SnapshotError::WrongLength { expected, found: bytes.len() });
    }
    let expected = u32::from_le_bytes([header[18], header[19], header[20], header[21]]);
    let found = crc32fast::hash(payload);
    if expected != found {
        return Err(SnapshotError::WrongChecksum { expected, found });
    }
    Ok(payload)
}
