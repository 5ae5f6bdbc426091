//! Archives of the kind zip: what PyTorch and NumPy write, with 64-bit sizes where they have them, and what others deflated.

use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::Read;

const FILE: u32 = 0x0403_4b50;
const ENTRY: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
/// Bytes of these without names, comments and extra fields.
const FILE_BYTES: usize = 30;
const ENTRY_BYTES: usize = 46;
const END_BYTES: usize = 22;
const LOCATOR_BYTES: usize = 20;
/// The names are UTF-8.
const UTF8: u16 = 1 << 11;
/// The extra fields of 64-bit sizes, and of ours, which only fills.
const SIZES_64: u16 = 1;
const FILLING: u16 = 0x4246;

/// A file of an archive, not read yet.
pub struct Entry<'a> {
    pub name: String,
    pub size: u64,
    packed: &'a [u8],
    method: u16,
    crc: u32,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

fn place(n: u64) -> Option<usize> {
    usize::try_from(n).ok()
}

/// The files of an archive.
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, &'static str> {
    let (count, mut at) = directory(bytes).ok_or("invalid Zip archive: could not find its end")?;
    let mut out = Vec::new();
    for _ in 0..count {
        let (entry, next) = entry(bytes, at).ok_or("invalid Zip archive: a file's entry is damaged")?;
        out.push(entry);
        at = next;
    }
    Ok(out)
}

/// How many entries there are, and where they begin.
fn directory(bytes: &[u8]) -> Option<(u64, usize)> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    // A comment of at most 64 KiB may follow.
    let end = (last.saturating_sub(0xffff)..=last).rev().find(|at| u32_at(bytes, *at) == Some(END))?;
    let (mut count, mut start) = (u64::from(u16_at(bytes, end + 10)?), u64::from(u32_at(bytes, end + 16)?));
    let locator = end.checked_sub(LOCATOR_BYTES).filter(|at| u32_at(bytes, *at) == Some(LOCATOR_64));
    if let Some(locator) = locator {
        let end = place(u64_at(bytes, locator + 8)?)?;
        if u32_at(bytes, end)? != END_64 {
            return None;
        }
        (count, start) = (u64_at(bytes, end.checked_add(32)?)?, u64_at(bytes, end.checked_add(48)?)?);
    }
    Some((count, place(start)?))
}

/// An entry, and where the next one is.
fn entry(bytes: &[u8], at: usize) -> Option<(Entry<'_>, usize)> {
    if u32_at(bytes, at)? != ENTRY {
        return None;
    }
    let length = |field: usize| u16_at(bytes, at + field).map(usize::from);
    let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
    let fields = (at + ENTRY_BYTES).checked_add(name)?;
    let mut wide = wide_sizes(bytes.get(fields..fields.checked_add(extra)?)?);
    // What does not fit into 32 bits stands there, in this order.
    let mut number = |field: usize| match u32_at(bytes, at + field)? {
        u32::MAX => {
            let (value, rest) = wide.split_at_checked(8)?;
            wide = rest;
            u64_at(value, 0)
        }
        n => Some(u64::from(n)),
    };
    let (size, packed, head) = (number(24)?, place(number(20)?)?, place(number(42)?)?);
    if u32_at(bytes, head)? != FILE {
        return None;
    }
    let local = usize::from(u16_at(bytes, head + 26)?) + usize::from(u16_at(bytes, head + 28)?);
    let start = head + FILE_BYTES + local;
    let entry = Entry {
        name: String::from_utf8_lossy(bytes.get(at + ENTRY_BYTES..fields)?).into_owned(),
        size,
        packed: bytes.get(start..start.checked_add(packed)?)?,
        method: u16_at(bytes, at + 10)?,
        crc: u32_at(bytes, at + 16)?,
    };
    Some((entry, fields + extra + comment))
}

/// The 64-bit sizes among extra fields.
fn wide_sizes(mut extra: &[u8]) -> &[u8] {
    while let (Some(kind), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let Some(content) = extra.get(4..4 + usize::from(length)) else { break };
        if kind == SIZES_64 {
            return content;
        }
        extra = &extra[4 + usize::from(length)..];
    }
    &[]
}

impl Entry<'_> {
    /// What the file holds: no more than it says, whose checksum has to be right.
    pub fn read(&self) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        match self.method {
            0 => out.extend_from_slice(self.packed),
            8 => drop(DeflateDecoder::new(self.packed).take(self.size).read_to_end(&mut out).map_err(|e| e.to_string())?),
            _ => return Err("a file of the archive is compressed in an unknown way".into()),
        }
        let mut crc = Crc::new();
        crc.update(&out);
        if out.len() as u64 != self.size || crc.sum() != self.crc { Err("Invalid checksum".into()) } else { Ok(out) }
    }
}

/// An archive that is being written: files are not compressed, and begin at multiples of 64.
#[derive(Default)]
pub struct Writer {
    out: Vec<u8>,
    directory: Vec<u8>,
    count: u64,
}

impl Writer {
    /// # Errors
    ///
    /// Of names and files that are too long for an archive that every reader reads.
    pub fn add(&mut self, name: &str, content: &[u8]) -> Result<(), &'static str> {
        const ALIGNED: usize = 64;
        let head = u32::try_from(self.out.len()).map_err(|_| "the archive is larger than 4 GiB")?;
        let size = u32::try_from(content.len()).ok().filter(|n| *n != u32::MAX).ok_or("a file of the archive is larger than 4 GiB")?;
        let length = u16::try_from(name.len()).map_err(|_| "the name of a file is too long")?;
        let filling = (ALIGNED - (self.out.len() + FILE_BYTES + name.len() + 4) % ALIGNED) % ALIGNED;
        let mut crc = Crc::new();
        crc.update(content);
        // Version, flags, method, time and date (the first there is), checksum, both sizes, the name's length.
        let mut common = Vec::new();
        for n in [20, UTF8, 0, 0, 0x21] {
            common.extend(u16::to_le_bytes(n));
        }
        for n in [crc.sum(), size, size] {
            common.extend(n.to_le_bytes());
        }
        common.extend(length.to_le_bytes());
        self.out.extend(FILE.to_le_bytes());
        self.out.extend(&common);
        self.out.extend((filling as u16 + 4).to_le_bytes());
        self.out.extend(name.bytes());
        self.out.extend(FILLING.to_le_bytes());
        self.out.extend((filling as u16).to_le_bytes());
        self.out.resize(self.out.len() + filling, 0);
        self.out.extend(content);
        self.directory.extend(ENTRY.to_le_bytes());
        self.directory.extend(20_u16.to_le_bytes());
        self.directory.extend(&common);
        // Of extra fields, the comment, the disk and attributes there is nothing.
        self.directory.extend([0; 12]);
        self.directory.extend(head.to_le_bytes());
        self.directory.extend(name.bytes());
        self.count += 1;
        Ok(())
    }

    /// # Errors
    ///
    /// Of an archive that is too large for that.
    pub fn finish(mut self) -> Result<Vec<u8>, &'static str> {
        let start = u32::try_from(self.out.len()).map_err(|_| "the archive is larger than 4 GiB")?;
        let count = u16::try_from(self.count).ok().filter(|n| *n != u16::MAX).ok_or("the archive has too many files")?;
        self.out.append(&mut self.directory);
        let length = self.out.len() as u64 - u64::from(start);
        self.out.extend(END.to_le_bytes());
        self.out.extend([0; 4]);
        self.out.extend(count.to_le_bytes());
        self.out.extend(count.to_le_bytes());
        self.out.extend((length as u32).to_le_bytes());
        self.out.extend(start.to_le_bytes());
        self.out.extend([0; 2]);
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut archive = Writer::default();
        archive.add("a/data.pkl", b"hello").unwrap();
        archive.add("ä", &[7; 1000]).unwrap();
        archive.add("", b"").unwrap();
        archive.finish().unwrap()
    }

    #[test]
    fn files_survive() {
        let bytes = written();
        let found: Vec<_> = entries(&bytes).unwrap().iter().map(|e| (e.name.clone(), e.read().unwrap())).collect();
        assert_eq!(found, [("a/data.pkl".into(), b"hello".to_vec()), ("ä".into(), vec![7; 1000]), (String::new(), Vec::new())]);
        for entry in entries(&bytes).unwrap() {
            assert_eq!((entry.packed.as_ptr() as usize - bytes.as_ptr() as usize) % 64, 0);
        }
    }

    #[test]
    fn damaged_archives_are_errors() {
        let bytes = written();
        for end in 0..bytes.len() {
            let _ = entries(&bytes[..end]).map(|all| all.iter().map(Entry::read).filter(Result::is_ok).count());
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] = !bytes[at];
            let _ = entries(&bytes).map(|all| all.iter().map(Entry::read).filter(Result::is_ok).count());
        }
        assert!(entries(b"PK").is_err() && entries(&[0; 100]).is_err());
    }
}
