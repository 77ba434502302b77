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

-- As in 0139, which stays for earlier versions; for the holder of a journal that is open in a database that has all growths of leases
-- which the records rely on.
create function ledger_apply_journal(journal uuid, holder uuid, growths int8, first int8, last int8, instance uuid,
  opens json, changes jsonb, settlements json)
returns table (applied boolean, at_sequence int8, rejected int4)
language plpgsql as $function$
#variable_conflict use_column
declare
  is_alive boolean;
  opened text[];
  entered text[];
  count int4 := 0;
begin
  update ledger_journals set applied_sequence = $5
  where journal_id = $1 and holder = $2 and lease_growths >= $3 and closed_at is null and applied_sequence = $4 - 1;
  if not found then
    return query select false, (
      select applied_sequence from ledger_journals
      where journal_id = $1 and holder = $2 and lease_growths >= $3 and closed_at is null), 0;
    return;
  end if;
  select b.alive, b.opened_ids, b.entered_ids into is_alive, opened, entered from ledger_write_batch($6, $7, $8, $9) b;
  if cardinality(opened) < json_array_length($7) or cardinality(entered) < json_array_length($9) then
    with records as (
      select 'open' as kind, opened as written, value as record from json_array_elements($7)
      union all
      select 'settle', entered, value from json_array_elements($9)
    ), kept as (
      insert into ledger_journal_rejects (journal_id, sequence, request_id, reason, record)
      select $1, $5, record ->> 'request_id',
        case when not is_alive then 'the instance ' || $6 || ' is not registered'
          when kind = 'open' then 'the request id was used before'
          else 'the request has no hold, or was settled before' end,
        record::text
      from records where (record ->> 'request_id') <> all (written)
      returning 1
    )
    select count(*)::int4 into count from kept;
  end if;
  return query select true, $5, count;
end $function$;
