-- Local journals in front of a server: one for each run of a process.

-- Who applies the journal. A process that takes it over, or a release, changes it, and the former holder can write nothing more.
alter table ledger_journals add column holder uuid;
-- Host and folder, for the operator. Null: the journal of an embedded database.
alter table ledger_journals add column place text;
-- How often a lease of its instance has grown. A journal that has seen more growths is newer than the database.
alter table ledger_journals add column lease_growths int8 not null default 0;
-- Everything in it is in the tables, or was given up by a release.
alter table ledger_journals add column closed_at timestamptz;
alter table ledger_journals add column released_at timestamptz;

-- The journal that the instance writes to first. While it has a holder, others must not settle its holds: their records may be there.
alter table ledger_instances add column journal_id uuid;
alter table ledger_instances add column journal_holder uuid;

-- Also stops instances of earlier versions, which do not know journals, from settling the holds of a silent one.
create function ledger_instances_keep_journals() returns trigger language plpgsql as $$
begin
  if old.journal_holder is not null and current_setting('portico.ledger_journal', true) is distinct from old.journal_id::text then
    raise exception 'the instance % has a local journal: only its next start may settle its holds, or a release of the journal',
      old.instance_id;
  end if;
  return old;
end $$;
create trigger ledger_instances_keep_journals before delete on ledger_instances
  for each row execute function ledger_instances_keep_journals();

-- As in 0139, for the holder of a journal that is open in a database that has all growths of leases which the records rely on.
-- Otherwise nothing is done, and `at_sequence` is null. The row stays locked, so that the journal cannot be taken over meanwhile.
create function ledger_apply_journal(journal uuid, holder uuid, growths int8, first int8, last int8, instance uuid,
  opens json, changes jsonb, settlements json)
returns table (applied boolean, at_sequence int8, rejected int4)
language plpgsql as $function$
#variable_conflict use_column
begin
  perform 1 from ledger_journals
  where journal_id = $1 and holder = $2 and lease_growths >= $3 and closed_at is null
  for update;
  if found then
    return query select * from ledger_apply_journal($1, $4, $5, $6, $7, $8, $9);
  else
    return query select false, null::int8, 0;
  end if;
end $function$;
