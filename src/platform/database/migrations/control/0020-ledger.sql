-- The ledger. Money is int8 in picoUsd (1e-12 US dollar), prices int8 in attoUsd (1e-18) per token.
--
-- Invariants, proved by the audit (src/billing/audit.ts):
--   committed = settled + sum(leases.granted)            per organisation and period
--   committed <= ceiling                                 the highest budget that was in force in the period
--   settled + sum(open holds) <= granted                 per lease
--   sum(entries.billed) = settled + sum(leases.settled)  per organisation and period

-- One row per running process; a row whose heartbeat stopped belongs to a dead one.
create table ledger_instances (
  instance_id uuid primary key,
  started_at timestamptz not null default clock_timestamp(),
  heartbeat_at timestamptz not null default clock_timestamp()
);

create table ledger_periods (
  organisation_id uuid not null,
  period text not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  -- as last seen by an instance that asked for a lease
  budget_pico_usd int8 not null,
  -- the highest that budget_pico_usd has been in this period
  ceiling_pico_usd int8 not null,
  committed_pico_usd int8 not null default 0,
  -- billed through leases that have been closed
  settled_pico_usd int8 not null default 0,
  primary key (organisation_id, period),
  check (starts_at < ends_at),
  check (committed_pico_usd >= 0 and committed_pico_usd <= ceiling_pico_usd),
  check (settled_pico_usd >= 0 and settled_pico_usd <= committed_pico_usd)
);

-- A slice of a period's budget that one instance may spend without asking.
create table ledger_leases (
  organisation_id uuid not null,
  period text not null,
  instance_id uuid not null,
  granted_pico_usd int8 not null,
  -- the part of granted that has been billed
  settled_pico_usd int8 not null default 0,
  primary key (organisation_id, period, instance_id),
  check (settled_pico_usd >= 0 and settled_pico_usd <= granted_pico_usd)
) with (fillfactor = 50);

-- Money set aside for calls that run. A row lives from the hold to its settlement.
create table ledger_holds (
  request_id text primary key,
  organisation_id uuid not null,
  period text not null,
  instance_id uuid not null,
  amount_pico_usd int8 not null check (amount_pico_usd >= 0),
  surface text not null,
  space_id uuid,
  model text not null,
  started_at timestamptz not null,
  -- what a crash bills: the prompt's estimate and the output known so far, at these prices
  prompt_tokens int8 not null,
  output_tokens int8 not null default 0,
  input_atto_usd int8 not null,
  output_atto_usd int8 not null,
  price_source text not null,
  markup_basis_points int4 not null
) with (fillfactor = 70);

-- One entry per request, written when its hold is settled and never changed: the ledger and the usage record in one.
create table ledger_entries (
  request_id text primary key,
  organisation_id uuid not null,
  period text not null,
  surface text not null,
  space_id uuid,
  model text not null,
  deployment_id text,
  provider_id text,
  hosting text,
  started_at timestamptz not null,
  settled_at timestamptz not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cached_tokens int8 not null,
  cache_write_tokens int8 not null,
  reasoning_tokens int8 not null,
  input_atto_usd int8 not null,
  output_atto_usd int8 not null,
  cache_read_atto_usd int8 not null,
  cache_write_atto_usd int8 not null,
  reasoning_atto_usd int8 not null,
  price_source text not null,
  -- the base cost that the provider stated itself, in attoUsd; null: the sum of tokens and prices counts
  stated_atto_usd numeric,
  markup_basis_points int4 not null,
  billed_pico_usd int8 not null check (billed_pico_usd >= 0),
  written_off_pico_usd int8 not null check (written_off_pico_usd >= 0),
  estimated boolean not null,
  ending text not null,
  finish_reason text
);
create index ledger_entries_by_organisation on ledger_entries (organisation_id, started_at);

create function ledger_entries_are_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'ledger_entries is append-only' using errcode = 'restrict_violation';
end $$;
create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
  for each statement execute function ledger_entries_are_append_only();

-- Thresholds that were reached: once per period each.
create table ledger_thresholds (
  organisation_id uuid not null,
  period text not null,
  percent int4 not null,
  reached_at timestamptz not null default clock_timestamp(),
  primary key (organisation_id, period, percent)
);

-- Events waiting to be delivered to an organisation's webhook.
create table ledger_outbox (
  event_id uuid primary key,
  organisation_id uuid not null,
  kind text not null,
  body text not null,
  created_at timestamptz not null default clock_timestamp(),
  attempts int4 not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp(),
  -- delivered, or given up with the last failure
  finished_at timestamptz,
  failure text
);
create index ledger_outbox_waiting on ledger_outbox (next_attempt_at) where finished_at is null;
