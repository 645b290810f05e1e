//! Short numbers for names that many memories share.

use std::collections::HashMap;

/// Stands for no name.
pub(crate) const NO_NAME: u32 = u32::MAX;
/// Stands where a name would, for a memory that is not there.
pub(crate) const NO_MEMORY: u32 = u32::MAX - 1;

/// Gives each name a number, from 0.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    /// The one that was asked for last: often it is the next one too.
    last: u32,
}

impl Names {
    /// The number of a name, a new one if need be.
    pub(crate) fn intern(&mut self, name: &str) -> u32 {
        if self.names.get(self.last as usize).is_some_and(|last| last == name) {
            return self.last;
        }
        self.last = self.number(name).unwrap_or_else(|| self.add(name));
        self.last
    }

    fn add(&mut self, name: &str) -> u32 {
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The same for a name that may be missing.
    pub(crate) fn intern_some(&mut self, name: Option<&str>) -> u32 {
        name.map_or(NO_NAME, |name| self.intern(name))
    }

    /// The number of a name that is known.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// Every name, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}
