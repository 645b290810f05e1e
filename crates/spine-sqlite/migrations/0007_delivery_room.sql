-- Room that a new delivery takes up beside its story, and gives back at its first transition: a row that grew
-- would be too large for its page, and each transition would split pages and write their neighbours anew.
ALTER TABLE deliveries ADD COLUMN room BLOB;
