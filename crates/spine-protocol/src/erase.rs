//! Taking memory texts out of an envelope, which still verifies: for erasure, and for readers who may not see them.

use serde_json::Value;

use crate::MemoryId;
use crate::envelope::Envelope;
use crate::json;
use crate::read::{ReadError, to_value};

impl Envelope {
    /// The same envelope, with the same id and digest, without the texts and salts of these memories.
    pub fn without_texts(&self, is_erased: impl Fn(MemoryId) -> bool) -> Result<Self, ReadError> {
        let mut value = json::read_value(self.canonical_bytes())?;
        let mut body = (**self).clone();
        for (index, memory) in body.memories.iter_mut().enumerate().filter(|(_, m)| is_erased(m.id))
        {
            memory.text = None;
            memory.salt = None;
            let stored =
                value.pointer_mut(&format!("/memories/{index}")).and_then(Value::as_object_mut);
            if let Some(stored) = stored {
                stored.remove("text");
                stored.remove("salt");
            }
        }
        Ok(Self::sealed(body, json::canonical(&value)?))
    }

    /// The envelope as JSON.
    pub fn to_value(&self) -> Result<Value, ReadError> {
        serde_json::from_slice(self.canonical_bytes())
            .map_err(|error| ReadError::at("", error.to_string()))
    }
}

impl crate::envelope::Body {
    /// The body as JSON, for reading.
    pub fn to_value(&self) -> Result<Value, ReadError> {
        to_value(self)
    }
}
