//! The records of one segment, in a file of its own: one behind the other, in the order of documents.
//!
//! Tantivy keeps the file with the segment, merges it and removes it. As columns of its own, each record
//! would be some sixty values to pack and to unpack.
//!
//! The file: the records; where each ends, 8 bytes each; which memory each is of, 4 bytes each; how many
//! there are, 8 bytes.

use std::any::Any;
use std::io::Write as _;

use tantivy::directory::{OwnedBytes, TerminatingWrite as _, WritePtr};
use tantivy::index::SegmentComponent;
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::schema::document::ErasedDocument;
use tantivy::schema::{Field, Schema, Value as _};
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, Segment, SegmentPlugin,
    SegmentReader, TantivyDocument, TantivyError,
};

use crate::record::Record;

const EXTENSION: &str = "records";
const COUNT_BYTES: usize = 8;
const END_BYTES: usize = 8;
const NUMBER_BYTES: usize = 4;

fn component() -> SegmentComponent {
    SegmentComponent::Custom(EXTENSION.to_owned())
}

/// Lets every segment have its records.
pub(crate) struct RecordsPlugin {
    /// The field of a document that holds its record.
    pub(crate) field: Field,
}

impl SegmentPlugin for RecordsPlugin {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(
        &self,
        context: &PluginWriterContext<'_>,
    ) -> tantivy::Result<Box<dyn PluginWriter>> {
        let file = context.segment.open_write(component())?;
        Ok(Box::new(RecordsWriter { field: self.field, file, places: Places::default() }))
    }

    /// Documents keep their order, without those that were deleted: the index is sorted by nothing.
    fn merge(&self, context: PluginMergeContext<'_>) -> tantivy::Result<()> {
        let mut file = context.target_segment.open_write(component())?;
        let mut places = Places::default();
        for reader in context.readers {
            let records = Records::open(reader)?;
            for document in reader.doc_ids_alive() {
                let bytes = records.bytes(document).ok_or_else(|| damaged(document))?;
                file.write_all(bytes)?;
                places.add(bytes.len(), records.number(document));
            }
        }
        places.finish(file)
    }
}

fn damaged(document: DocId) -> TantivyError {
    TantivyError::InternalError(format!("document {document} has no record"))
}

/// Where records end, and which memories they are of.
#[derive(Default)]
struct Places {
    ends: Vec<u64>,
    numbers: Vec<u32>,
}

impl Places {
    fn add(&mut self, length: usize, number: u32) {
        self.ends.push(self.ends.last().copied().unwrap_or_default() + length as u64);
        self.numbers.push(number);
    }

    fn finish(self, mut file: WritePtr) -> tantivy::Result<()> {
        for end in &self.ends {
            file.write_all(&end.to_le_bytes())?;
        }
        for number in &self.numbers {
            file.write_all(&number.to_le_bytes())?;
        }
        file.write_all(&(self.ends.len() as u64).to_le_bytes())?;
        Ok(file.terminate()?)
    }
}

/// Writes the records of a new segment as they come.
struct RecordsWriter {
    field: Field,
    file: WritePtr,
    places: Places,
}

impl PluginWriter for RecordsWriter {
    fn add_document(
        &mut self,
        document: DocId,
        fields: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        let fields = fields.as_any().downcast_ref::<TantivyDocument>();
        let value = fields.and_then(|fields| fields.get_first(self.field));
        let bytes = value.and_then(|value| value.as_custom()).ok_or_else(|| damaged(document))?;
        let number = Record::number_of(bytes).ok_or_else(|| damaged(document))?;
        self.file.write_all(bytes)?;
        self.places.add(bytes.len(), number);
        Ok(())
    }

    fn serialize(self: Box<Self>, _: &Segment, _: Option<&DocIdMapping>) -> tantivy::Result<()> {
        self.places.finish(self.file)
    }

    fn mem_usage(&self) -> usize {
        self.places.ends.len() * (END_BYTES + NUMBER_BYTES)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// The records of one segment, to read.
pub(crate) struct Records {
    records: OwnedBytes,
    ends: OwnedBytes,
    numbers: OwnedBytes,
}

impl Records {
    pub(crate) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        let bytes = reader.open_read(component())?.read_bytes()?;
        Self::split(bytes).ok_or_else(|| TantivyError::InternalError("records are cut off".into()))
    }

    fn split(bytes: OwnedBytes) -> Option<Self> {
        let count = u64::from_le_bytes(*bytes.last_chunk::<COUNT_BYTES>()?) as usize;
        let tables = bytes.len().checked_sub(COUNT_BYTES)?;
        let numbers = tables.checked_sub(count.checked_mul(NUMBER_BYTES)?)?;
        let ends = numbers.checked_sub(count.checked_mul(END_BYTES)?)?;
        Some(Self {
            records: bytes.slice(0..ends),
            ends: bytes.slice(ends..numbers),
            numbers: bytes.slice(numbers..tables),
        })
    }

    fn end(&self, document: usize) -> Option<usize> {
        let (ends, _) = self.ends.as_slice().as_chunks::<END_BYTES>();
        Some(u64::from_le_bytes(*ends.get(document)?) as usize)
    }

    fn bytes(&self, document: DocId) -> Option<&[u8]> {
        let document = document as usize;
        let start = document.checked_sub(1).map_or(Some(0), |before| self.end(before))?;
        self.records.as_slice().get(start..self.end(document)?)
    }

    /// The record of a document; `None` when it cannot be read.
    pub(crate) fn read(&self, document: DocId) -> Option<Record<'_>> {
        Record::read(self.bytes(document)?)
    }

    /// Only which memory a document stands for; 0 for none.
    pub(crate) fn number(&self, document: DocId) -> u32 {
        let (numbers, _) = self.numbers.as_slice().as_chunks::<NUMBER_BYTES>();
        numbers.get(document as usize).map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }
}
