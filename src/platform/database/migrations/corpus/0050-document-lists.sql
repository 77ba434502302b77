-- Lists of documents stay fast at 100,000 documents of a Space: one index for each order, read from both ends and without the rows.
-- Replacements that are not ready (is_current = false) are few and have a separate index. The generated columns rewrite the table,
-- about a second for 100,000 documents.
alter table documents
  -- pages of a PDF; null for other formats and for documents that were processed before this column existed
  add column page_count integer,
  -- metadata.path, the folder of an uploaded folder; separate so that lists need no json
  add column path text,
  -- the id for clients
  add column document_id uuid generated always as (coalesce(public_id, id)) stored,
  -- for order and search without case; decomposed, so that an accented letter is next to its base letter on every system
  add column name_key text collate "C" generated always as (lower(normalize(name, NFD))) stored;

create index documents_by_time on documents (organisation_id, space_id, created_at, document_id) where is_current;
create index documents_by_name_key on documents (organisation_id, space_id, name_key, document_id) where is_current;
create index documents_by_size on documents (organisation_id, space_id, size_bytes, document_id) where is_current;
-- Counts by status, failure code and format.
create index documents_by_state on documents
  (organisation_id, space_id, status, error_code, format) where is_current;
create index documents_by_replacement on documents (organisation_id, space_id) where not is_current;
drop index documents_by_space;

-- Deletions and retries of many documents, done in batches by a job.
create table document_operations (
  id uuid primary key,
  organisation_id uuid not null,
  space_id uuid not null,
  kind text not null check (kind in ('delete', 'retry')),
  -- {ids} or {filter, except}
  selection jsonb not null,
  -- SHA-256 of kind and selection: a repeated request finds the unfinished operation
  fingerprint bytea not null,
  -- only documents that were there and had their state at this time
  requested_at timestamptz not null default now(),
  -- documents of the selection when it was requested
  total integer not null,
  done integer not null default 0,
  -- the last document that was handled: created_at and id
  position_time timestamptz,
  position_id uuid,
  finished_at timestamptz
);
create unique index document_operations_live on document_operations (space_id, fingerprint) where finished_at is null;
create index document_operations_by_space on document_operations (organisation_id, space_id, requested_at);
