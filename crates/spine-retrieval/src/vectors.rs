//! The vectors of a workspace, one behind the other by number.

/// A byte a dimension, and what each vector is multiplied by. A memory without one has zeros.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    dimensions: usize,
    values: Vec<i8>,
    scales: Vec<f32>,
}

impl Vectors {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self { dimensions, ..Self::default() }
    }

    /// Makes room for so many.
    pub(crate) fn resize(&mut self, count: usize) {
        if self.values.is_empty() {
            // Memory that is zero from the start is not written twice.
            (self.values, self.scales) = (vec![0; count * self.dimensions], vec![0.0; count]);
        }
        self.values.resize(count * self.dimensions, 0);
        self.scales.resize(count, 0.0);
    }

    /// Sets a vector, bytes and scale, or clears it.
    pub(crate) fn set(&mut self, number: u32, vector: Option<(&[u8], f32)>) {
        let start = number as usize * self.dimensions;
        let places = self.values.get_mut(start..start + self.dimensions).unwrap_or_default();
        match vector {
            Some((bytes, _)) => {
                places.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from as i8)
            }
            None => places.fill(0),
        }
        let scale = vector.map_or(0.0, |(_, scale)| scale);
        self.scales.get_mut(number as usize).into_iter().for_each(|place| *place = scale);
    }

    /// The vector of a memory.
    #[inline]
    pub(crate) fn values(&self, number: u32) -> &[i8] {
        let start = number as usize * self.dimensions;
        self.values.get(start..start + self.dimensions).unwrap_or_default()
    }

    /// What it is multiplied by.
    #[inline]
    pub(crate) fn scale(&self, number: u32) -> f32 {
        self.scales.get(number as usize).copied().unwrap_or_default()
    }

    /// All of them.
    pub(crate) fn all(&self) -> (&[i8], &[f32]) {
        (&self.values, &self.scales)
    }
}
