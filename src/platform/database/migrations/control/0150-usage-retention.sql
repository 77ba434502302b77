-- Entries can be removed some time after their call (src/billing/retention.store.ts). What is removed is added up here in the same
-- transaction, so that the audit still compares every counter and every sum of usage reports with what was billed.
create table ledger_removed_sums (
  organisation_id uuid not null,
  period text not null,
  model text not null,
  surface text not null,
  requests int8 not null,
  estimated_requests int8 not null,
  failed_requests int8 not null,
  completed_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  billed_pico_usd int8 not null,
  written_off_pico_usd int8 not null,
  primary key (organisation_id, period, model, surface)
) with (fillfactor = 70);

create table ledger_removed_tags (
  organisation_id uuid not null,
  tag_id int8 not null,
  requests int8 not null,
  billed_pico_usd int8 not null,
  primary key (organisation_id, tag_id)
) with (fillfactor = 70);

-- One row. Entries of calls that began before this time are removed, or will be soon.
create table ledger_removal (
  only_row boolean primary key default true check (only_row),
  removed_to timestamptz not null default '-infinity'
);
insert into ledger_removal default values;

-- Only the removal may delete entries; it names itself for its transaction.
create or replace function ledger_entries_are_append_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('portico.removes_entries', true) = 'on' then
    return null;
  end if;
  raise exception 'ledger_entries is append-only' using errcode = 'restrict_violation';
end $$;
