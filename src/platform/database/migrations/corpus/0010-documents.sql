-- Uploaded files of Spaces. organisation_id and space_id stand in every key, so that sharding stays possible.
create table documents (
  id uuid primary key,
  organisation_id uuid not null,
  space_id uuid not null,
  name text not null,
  status text not null default 'processing' check (status in ('processing', 'ready', 'failed')),
  -- json, not jsonb: key order and escapes come back as they were given
  metadata json,
  -- metadata.url where it is a link that may be shown; kept apart so that search needs no json
  source_url text,
  error_code text,
  error_message text,
  -- pages or parts that could not be read while the rest could
  warnings json,
  format text not null,
  mime_type text not null,
  size_bytes bigint not null,
  content_sha256 bytea not null,
  blob_key text not null,
  -- progress for people: which stage, how many of its parts
  stage text not null default 'queued',
  parts_done integer,
  parts_total integer,
  -- sources embedded for this document, for the audit
  chunk_count integer,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint documents_error_iff_failed check ((status = 'failed') = (error_code is not null))
);

create index documents_by_space on documents (organisation_id, space_id, created_at desc, id desc);
create index documents_by_content on documents (organisation_id, space_id, content_sha256);
create unique index documents_by_blob on documents (blob_key);

-- Idempotency-Key of uploads; a key names one upload of one organisation for a day.
create table upload_keys (
  organisation_id uuid not null,
  key text not null,
  document_id uuid not null,
  space_id uuid not null,
  -- SHA-256 over content, name and metadata: the same key with another upload is refused
  fingerprint bytea not null,
  document_name text not null,
  created_at timestamptz not null default now(),
  primary key (organisation_id, key)
);

create index upload_keys_by_age on upload_keys (created_at);
