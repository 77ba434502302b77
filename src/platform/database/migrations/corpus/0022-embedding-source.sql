-- How the embedder of a generation is opened again ({kind, model, folder, dimensions}): after another one has been configured, it
-- answers searches until the new generation is complete. Null for generations from before this was kept.
alter table embedding_generations add column source jsonb;
