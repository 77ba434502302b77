-- The embedding model that operators chose in the console (src/documents/retrieval/semantic-search). No row: none. The configuration wins.
create table semantic_search (
  only_row boolean primary key default true check (only_row),
  model text not null,
  dimensions integer not null,
  chosen_at timestamptz not null
);
