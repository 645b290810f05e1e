-- What the engine noted beside an envelope, such as why each memory is in it. No part of the envelope.
ALTER TABLE envelopes ADD COLUMN notes BLOB NOT NULL DEFAULT x'';
