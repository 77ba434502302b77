-- Web addresses whose content is a document of a Space, and sitemaps that name such addresses.
create table web_sources (
  -- of a page also the id of its document
  id uuid primary key,
  organisation_id uuid not null,
  space_id uuid not null,
  kind text not null check (kind in ('page', 'sitemap')),
  url text not null,
  -- host and port: requests to one host are spread over time
  host text not null,
  -- the sitemap that named the page
  sitemap_id uuid,
  -- of a sitemap: how many of its pages
  page_limit integer,
  name text,
  metadata json,
  refresh text check (refresh in ('day', 'week')),
  -- removed: its document was deleted, and its sitemap must not add it again
  state text not null default 'waiting' check (state in ('waiting', 'read', 'gone', 'failing', 'failed', 'removed')),
  error_code text,
  error_message text,
  etag text,
  last_modified text,
  content_sha256 bytea,
  -- in a row
  failures integer not null default 0,
  started_at timestamptz,
  read_at timestamptz,
  -- null: not read again
  next_read_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index web_sources_by_url on web_sources (space_id, kind, url);
create index web_sources_by_space on web_sources (organisation_id, space_id, created_at, id);
create index web_sources_due on web_sources (next_read_at) where next_read_at is not null;
create index web_sources_by_host on web_sources (organisation_id, host, started_at);
