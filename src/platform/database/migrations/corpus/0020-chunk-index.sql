-- The index of documents: chunks, their terms, their vectors. Visibility hangs on one row per document (indexed_documents),
-- so that a document of any size becomes searchable, or vanishes, by one small write; see docs/retrieval.md.

-- One row per document that is being indexed or is searchable. Everything below refers to it and goes with it.
create table indexed_documents (
  document_id uuid primary key references documents (id) on delete cascade,
  organisation_id uuid not null,
  space_id uuid not null,
  -- the run that may add chunks; a new run takes the place of an old one, which can then add nothing any more
  run_id uuid not null,
  searchable boolean not null default false,
  chunk_count integer not null default 0,
  term_count bigint not null default 0,
  -- languages found in the text: a query is stemmed by these
  languages text[] not null default '{}',
  updated_at timestamptz not null default now()
);

create index indexed_documents_by_space on indexed_documents (organisation_id, space_id) where searchable;

create table chunks (
  organisation_id uuid not null,
  space_id uuid not null,
  id uuid not null,
  document_id uuid not null references indexed_documents (document_id) on delete cascade,
  chunk_index integer not null,
  content text not null,
  heading_path text[] not null,
  table_header text,
  tokens integer not null,
  page_from integer,
  page_to integer,
  character_from integer not null,
  character_to integer not null,
  row_from integer,
  row_to integer,
  -- the document's name as it was embedded with the text: a new embedding model gets the same context
  document_name text not null,
  primary key (space_id, id)
);

create unique index chunks_by_document on chunks (document_id, chunk_index);

-- Words of a chunk, apart from its text so that a scan reads nothing else. A term is a hash of Space, language and stem; the
-- array is sorted and holds a term as often as it occurs, so that width_bucket counts it by binary search.
create table chunk_terms (
  organisation_id uuid not null,
  space_id uuid not null,
  chunk_id uuid not null,
  document_id uuid not null references indexed_documents (document_id) on delete cascade,
  terms integer[] not null,
  primary key (space_id, chunk_id)
);

-- Hashes do not compress: never try, and move them out of line only where a row would not fit a page.
alter table chunk_terms alter column terms set storage external;
create index chunk_terms_by_term on chunk_terms using gin (terms) with (fastupdate = off);
create index chunk_terms_by_document on chunk_terms (document_id);

-- What a BM25 index (pg_textsearch, one per large Space, made by src/retrieval/index-maintenance.store.ts) reads.
create function chunk_terms_text (terms integer[]) returns text
  language sql immutable strict parallel safe
  as $$ select pg_catalog.array_to_string(terms, ' ') $$;

-- One embedding model = one generation = one table embeddings_<id>, made when the generation begins and dropped whole when
-- another has taken its place.
create table embedding_generations (
  id integer generated always as identity primary key,
  embedder_id text not null,
  dimensions integer not null,
  storage text not null check (storage in ('vector', 'halfvec')),
  state text not null check (state in ('building', 'active', 'retired')),
  -- how far a re-index has come: all chunks up to here have their vector
  position_space_id uuid,
  position_chunk_id uuid,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now()
);

create unique index embedding_generations_one_active on embedding_generations (state) where state = 'active';
create unique index embedding_generations_one_building on embedding_generations (state) where state = 'building';
