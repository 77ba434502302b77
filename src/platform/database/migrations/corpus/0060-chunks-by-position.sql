-- The viewer reads a document's text by ranges of code points.
create index chunks_by_position on chunks (document_id, character_from);
