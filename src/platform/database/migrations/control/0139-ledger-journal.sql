-- The journal of the ledger (src/billing/journal/): this database is its projection.

-- One row. Records up to the sequence are in the tables of the ledger.
create table ledger_journals (
  journal_id uuid primary key,
  applied_sequence int8 not null default 0,
  created_at timestamptz not null default clock_timestamp()
);

-- Records that the tables could not take, as they were in the journal. The audit reports each.
create table ledger_journal_rejects (
  journal_id uuid not null,
  -- the last record of its batch
  sequence int8 not null,
  request_id text not null,
  reason text not null,
  record text not null,
  rejected_at timestamptz not null default clock_timestamp()
);

-- Applies the records `first` to `last` of one instance, once: they move the applied sequence in the same transaction.
-- `applied` false: nothing was done, because the sequence before `first` is not the last applied one; `at_sequence` is (null: no such journal).
create function ledger_apply_journal(journal uuid, first int8, last int8, instance uuid, opens json, changes jsonb, settlements json)
returns table (applied boolean, at_sequence int8, rejected int4)
language plpgsql as $function$
#variable_conflict use_column
declare
  is_alive boolean;
  opened text[];
  entered text[];
  count int4 := 0;
begin
  update ledger_journals set applied_sequence = $3 where journal_id = $1 and applied_sequence = $2 - 1;
  if not found then
    return query select false, (select applied_sequence from ledger_journals where journal_id = $1), 0;
    return;
  end if;
  select b.alive, b.opened_ids, b.entered_ids into is_alive, opened, entered from ledger_write_batch($4, $5, $6, $7) b;
  if cardinality(opened) < json_array_length($5) or cardinality(entered) < json_array_length($7) then
    with records as (
      select 'open' as kind, opened as written, value as record from json_array_elements($5)
      union all
      select 'settle', entered, value from json_array_elements($7)
    ), kept as (
      insert into ledger_journal_rejects (journal_id, sequence, request_id, reason, record)
      select $1, $3, record ->> 'request_id',
        case when not is_alive then 'the instance ' || $4 || ' is not registered'
          when kind = 'open' then 'the request id was used before'
          else 'the request has no hold, or was settled before' end,
        record::text
      from records where (record ->> 'request_id') <> all (written)
      returning 1
    )
    select count(*)::int4 into count from kept;
  end if;
  return query select true, $3, count;
end $function$;
