-- Pages that were read from their pictures, kept until their document is ready or has failed: reading one takes seconds.
create table recognised_pages (
  organisation_id uuid not null,
  document_id uuid not null references documents (id) on delete cascade,
  -- 1-based
  page integer not null,
  -- what decides the result, apart from the file
  maker text not null,
  -- its lines with their places
  result json not null,
  primary key (document_id, page)
);
