-- Tells who watches a Space (the console's event stream) that one of its documents changed, on whatever instance: the payload
-- is "<space> <document>". Repetitions within a transaction are sent once.
create function tell_document_change() returns trigger
  language plpgsql
  as $$
begin
  perform pg_notify('portico_documents', coalesce(new.space_id, old.space_id) || ' ' || coalesce(new.id, old.id));
  return null;
end
$$;

create trigger documents_changed
  after insert or update or delete on documents
  for each row execute function tell_document_change();
