//! Writes that follow each other in a file, kept together until they are wanted there.

use std::collections::TryReserveError;

/// As much as SQLite writes to a file at once: of more it would write a part, and take the disk for full.
const BYTES_MAX: usize = 0x1_ffff;

/// The bytes of writes that each began where the one before had ended.
pub(super) struct Gathered {
    start: i64,
    bytes: Vec<u8>,
}

impl Gathered {
    pub(super) fn new() -> Result<Self, TryReserveError> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(BYTES_MAX)?;
        Ok(Self { start: 0, bytes })
    }

    /// Keeps a write, after writing those that it does not follow. What fails is forgotten, since who hears of it here
    /// gives the whole commit up.
    pub(super) fn keep<E>(
        &mut self,
        data: &[u8],
        at: i64,
        write: impl Fn(&[u8], i64) -> Result<(), E>,
    ) -> Result<(), E> {
        let follows = at.checked_sub(self.start) == i64::try_from(self.bytes.len()).ok();
        if !follows || self.bytes.len() + data.len() > BYTES_MAX {
            self.hand_over(write)?;
        }
        if self.bytes.is_empty() {
            self.start = at;
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// Writes what is kept. What fails stays, for the next who needs it written.
    pub(super) fn flush<E>(
        &mut self,
        write: impl Fn(&[u8], i64) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        write(&self.bytes, self.start)?;
        self.bytes.clear();
        Ok(())
    }

    /// Writes what is kept, or forgets it.
    pub(super) fn hand_over<E>(
        &mut self,
        write: impl Fn(&[u8], i64) -> Result<(), E>,
    ) -> Result<(), E> {
        let written = self.flush(write);
        self.bytes.clear();
        written
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::cell::{Cell, RefCell};

    use fastrand::Rng;

    use super::*;

    /// A file that can be full.
    #[derive(Default)]
    struct File {
        content: RefCell<Vec<u8>>,
        writes: RefCell<Vec<(i64, usize)>>,
        is_full: Cell<bool>,
    }

    impl File {
        fn write(&self, data: &[u8], at: i64) -> Result<(), &'static str> {
            if self.is_full.get() {
                return Err("full");
            }
            self.writes.borrow_mut().push((at, data.len()));
            overwrite(&mut self.content.borrow_mut(), data, at);
            Ok(())
        }
    }

    fn overwrite(content: &mut Vec<u8>, data: &[u8], at: i64) {
        let at = usize::try_from(at).unwrap();
        content.resize(content.len().max(at + data.len()), 0);
        content[at..at + data.len()].copy_from_slice(data);
    }

    /// What reaches the file, as offsets and lengths, of writes that are then flushed.
    fn check(writes: &[(i64, usize)], expected: &[(i64, usize)]) {
        let (file, mut gathered) = (File::default(), Gathered::new().unwrap());
        for (at, bytes) in writes {
            gathered.keep(&vec![7; *bytes], *at, |data, at| file.write(data, at)).unwrap();
        }
        gathered.flush(|data, at| file.write(data, at)).unwrap();
        assert_eq!(*file.writes.borrow(), expected);
    }

    #[test]
    fn writes_that_follow_each_other_become_one() {
        check(&[], &[]);
        check(&[(32, 24), (56, 4096), (4152, 24)], &[(32, 4144)]);
    }

    #[test]
    fn others_are_written_in_their_order() {
        check(&[(100, 10), (0, 32)], &[(100, 10), (0, 32)]);
        check(&[(0, 10), (11, 10)], &[(0, 10), (11, 10)]);
        check(&[(0, 10), (5, 10), (15, 1)], &[(0, 10), (5, 11)]);
    }

    #[test]
    fn no_more_is_kept_than_the_limit() {
        let most = BYTES_MAX as i64;
        check(&[(0, BYTES_MAX), (most, 1)], &[(0, BYTES_MAX), (most, 1)]);
        check(&[(0, 1), (1, BYTES_MAX)], &[(0, 1), (1, BYTES_MAX)]);
    }

    #[test]
    fn what_could_not_be_written_for_a_read_is_written_later() {
        let (file, mut gathered) = (File::default(), Gathered::new().unwrap());
        let write = |data: &[u8], at| file.write(data, at);
        gathered.keep(b"ab", 0, write).unwrap();
        file.is_full.set(true);
        assert_eq!(gathered.flush(write), Err("full"));
        gathered.keep(b"c", 2, write).unwrap();
        file.is_full.set(false);
        gathered.hand_over(write).unwrap();
        assert_eq!(*file.content.borrow(), b"abc");
    }

    #[test]
    fn what_was_given_up_is_forgotten() {
        let (file, mut gathered) = (File::default(), Gathered::new().unwrap());
        let write = |data: &[u8], at| file.write(data, at);
        file.is_full.set(true);
        gathered.keep(b"given up", 0, write).unwrap();
        assert_eq!(gathered.hand_over(write), Err("full"));
        gathered.keep(b"given up", 0, write).unwrap();
        assert_eq!(gathered.keep(b"far behind", 100, write), Err("full"));
        file.is_full.set(false);
        gathered.keep(b"anew", 0, write).unwrap();
        gathered.hand_over(write).unwrap();
        assert_eq!(*file.content.borrow(), b"anew");
    }

    #[test]
    fn file_is_the_same_as_with_every_write_at_once() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut rng = Rng::with_seed(seed);
        let (file, mut gathered) = (File::default(), Gathered::new().unwrap());
        let (mut at_once, mut end) = (Vec::new(), 0);
        for _ in 0..5_000 {
            let at = if rng.u8(..8) == 0 { rng.i64(0..500_000) } else { end };
            let data = vec![rng.u8(..); rng.usize(..5_000)];
            end = at + data.len() as i64;
            overwrite(&mut at_once, &data, at);
            gathered.keep(&data, at, |data, at| file.write(data, at)).unwrap();
            if rng.u8(..16) == 0 {
                gathered.flush(|data, at| file.write(data, at)).unwrap();
                assert!(*file.content.borrow() == at_once);
            }
        }
    }
}
