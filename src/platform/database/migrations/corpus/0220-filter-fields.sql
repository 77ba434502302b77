-- Filters by metadata. {"space": ID, "metadata": {…}}: the fields at the top level that are no objects, as jsonb, which an index can search.
-- The metadata itself stays json. What jsonb cannot store, such as U+0000, has no Space here: a filter never matches such a document.
alter table documents add column filter_fields jsonb;

create or replace function set_filter_fields() returns trigger
  language plpgsql
  as $$
begin
  new.filter_fields := pg_catalog.jsonb_build_object('space', new.space_id, 'metadata', (
    select coalesce(pg_catalog.jsonb_object_agg(field.key, field.value), '{}')
    from pg_catalog.jsonb_each(coalesce(new.metadata, '{}')::jsonb) as field
    where pg_catalog.jsonb_typeof(field.value) <> 'object'));
  return new;
exception when data_exception then
  new.filter_fields := pg_catalog.jsonb_build_object('space', null);
  return new;
end
$$;

-- A trigger instead of code: instances of the version before write metadata, too.
create or replace trigger documents_filter_fields before insert or update of metadata, space_id on documents
  for each row execute function set_filter_fields();
