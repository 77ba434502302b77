-- A replaced document keeps its id while another row holds its new content: the row's own id is that of its chunks, blob and job,
-- public_id (null: the same) that of the document for clients.
alter table documents
  add column public_id uuid,
  -- false for new content that is not ready yet; the current row is served until then
  add column is_current boolean not null default true;

create unique index documents_by_public_id on documents ((coalesce(public_id, id)), is_current);
create index documents_by_name on documents (organisation_id, space_id, name);

-- The payload is "<space> <row> <document>".
create or replace function tell_document_change() returns trigger
  language plpgsql
  as $$
declare
  changed record;
begin
  if tg_op = 'DELETE' then changed := old; else changed := new; end if;
  perform pg_notify(
    'portico_documents', changed.space_id || ' ' || changed.id || ' ' || coalesce(changed.public_id, changed.id));
  return null;
end
$$;
