-- The last installation of a local embedding model that the console began (src/documents/retrieval/semantic-search/local-model.ts).
create table local_model_installs (
  only_row boolean primary key default true check (only_row),
  id uuid not null,
  model text not null,
  host text not null,
  folder text not null,
  state text not null,
  bytes_done bigint not null,
  problem text,
  updated_at timestamptz not null
);
