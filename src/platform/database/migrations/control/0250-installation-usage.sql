-- Sums of the whole installation by day, organisation, provider, model and hosting, for the pages of operators
-- (src/gateway/billing/installation-usage.store.ts). What is taken from usage_queue is added by a trigger, in the same transaction, whatever
-- version of the service counts it. Only the holder of the counting lock changes these tables.

-- false: the entry is older than this migration, and the backfill adds it
alter table ledger_entries add column installation_queued boolean not null default false;
alter table ledger_entries alter column installation_queued set default true;

-- Older entries are added in the order of their ids.
create table installation_backfill (
  only_row boolean primary key default true check (only_row),
  after_request_id text not null default '',
  finished_at timestamptz
);
insert into installation_backfill (finished_at)
  select case when not exists (select from ledger_entries) then clock_timestamp() end;

-- Days are those of the organisation's time zone when an entry is counted. Empty texts: the call reached no provider.
create table installation_days (
  day date not null,
  organisation_id uuid not null,
  provider_id text not null,
  model text not null,
  hosting text not null,
  requests int8 not null,
  failed_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  billed_pico_usd int8 not null,
  primary key (day, organisation_id, provider_id, model, hosting)
) with (fillfactor = 70);

-- The same without organisations, and by organisation only: a report of many days reads few rows.
create table installation_provider_days (
  day date not null,
  provider_id text not null,
  model text not null,
  hosting text not null,
  requests int8 not null,
  failed_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  billed_pico_usd int8 not null,
  primary key (day, provider_id, model, hosting)
) with (fillfactor = 70);

create table installation_organisation_days (
  day date not null,
  organisation_id uuid not null,
  requests int8 not null,
  failed_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  billed_pico_usd int8 not null,
  primary key (day, organisation_id)
) with (fillfactor = 70);

-- Durations by bucket, as in usage_latency_days.
create table installation_provider_latency (
  day date not null,
  provider_id text not null,
  model text not null,
  hosting text not null,
  bucket int2 not null,
  first_tokens int8 not null,
  totals int8 not null,
  primary key (day, provider_id, model, hosting, bucket)
) with (fillfactor = 70);

create table installation_organisation_latency (
  day date not null,
  organisation_id uuid not null,
  bucket int2 not null,
  first_tokens int8 not null,
  totals int8 not null,
  primary key (day, organisation_id, bucket)
) with (fillfactor = 70);

-- Adds entries to the sums. `queued`: only those from after this migration, or only those from before it.
create function installation_count(ids text[], queued boolean) returns void language plpgsql as $$
begin
  with found as materialized (
    select organisation_id, date_bin('15 minutes', started_at, 'epoch') as slot, coalesce(provider_id, '') as provider_id, model,
      coalesce(hosting, '') as hosting, prompt_tokens, completion_tokens, billed_pico_usd,
      ending in ('provider_failed', 'budget_ended', 'shutdown', 'crashed')
        or (ending = 'unanswered' and failure is distinct from 'client_closed') as failed,
      case when first_token_ms is not null then floor(4 * ln(greatest(first_token_ms, 1)::float8) / ln(2::float8) + 1e-9)::int2 end as first_bucket,
      case when ending = 'completed' then
        floor(4 * ln(greatest(date_part('epoch', settled_at - started_at) * 1000, 1)::float8) / ln(2::float8) + 1e-9)::int2 end as total_bucket
    from ledger_entries where request_id = any(ids) and installation_queued = queued
  ), zones as materialized (
    select organisation_id, usage_zone_of(organisation_id) as zone from (select distinct organisation_id from found) as present
  ), alike as materialized (
    select organisation_id, slot, provider_id, model, hosting, failed, first_bucket, total_bucket, count(*) as requests,
      sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(billed_pico_usd) as billed
    from found group by 1, 2, 3, 4, 5, 6, 7, 8
  ), counted as materialized (
    select alike.*, (slot at time zone zone)::date as day, case when failed then requests else 0 end as failed_requests
    from alike join zones using (organisation_id)
  ), in_days as (
    insert into installation_days as d
    select day, organisation_id, provider_id, model, hosting, sum(requests)::int8, sum(failed_requests)::int8, sum(prompt_tokens)::int8,
      sum(completion_tokens)::int8, sum(billed)::int8
    from counted group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (day, organisation_id, provider_id, model, hosting) do update set requests = d.requests + excluded.requests,
      failed_requests = d.failed_requests + excluded.failed_requests, prompt_tokens = d.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = d.completion_tokens + excluded.completion_tokens, billed_pico_usd = d.billed_pico_usd + excluded.billed_pico_usd
  ), in_provider_days as (
    insert into installation_provider_days as d
    select day, provider_id, model, hosting, sum(requests)::int8, sum(failed_requests)::int8, sum(prompt_tokens)::int8,
      sum(completion_tokens)::int8, sum(billed)::int8
    from counted group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (day, provider_id, model, hosting) do update set requests = d.requests + excluded.requests,
      failed_requests = d.failed_requests + excluded.failed_requests, prompt_tokens = d.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = d.completion_tokens + excluded.completion_tokens, billed_pico_usd = d.billed_pico_usd + excluded.billed_pico_usd
  ), in_organisation_days as (
    insert into installation_organisation_days as d
    select day, organisation_id, sum(requests)::int8, sum(failed_requests)::int8, sum(prompt_tokens)::int8,
      sum(completion_tokens)::int8, sum(billed)::int8
    from counted group by 1, 2 order by 1, 2
    on conflict (day, organisation_id) do update set requests = d.requests + excluded.requests,
      failed_requests = d.failed_requests + excluded.failed_requests, prompt_tokens = d.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = d.completion_tokens + excluded.completion_tokens, billed_pico_usd = d.billed_pico_usd + excluded.billed_pico_usd
  ), measured as materialized (
    select day, organisation_id, provider_id, model, hosting, first_bucket as bucket, requests as first_tokens, 0 as totals
    from counted where first_bucket is not null
    union all
    select day, organisation_id, provider_id, model, hosting, total_bucket, 0, requests from counted where total_bucket is not null
  ), in_provider_latency as (
    insert into installation_provider_latency as l
    select day, provider_id, model, hosting, bucket, sum(first_tokens)::int8, sum(totals)::int8
    from measured group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (day, provider_id, model, hosting, bucket) do update set
      first_tokens = l.first_tokens + excluded.first_tokens, totals = l.totals + excluded.totals
  )
  insert into installation_organisation_latency as l
  select day, organisation_id, bucket, sum(first_tokens)::int8, sum(totals)::int8
  from measured group by 1, 2, 3 order by 1, 2, 3
  on conflict (day, organisation_id, bucket) do update set
    first_tokens = l.first_tokens + excluded.first_tokens, totals = l.totals + excluded.totals;
end $$;

create function installation_count_taken() returns trigger language plpgsql as $$
begin
  perform installation_count(array(select unnest(request_ids) from taken), true);
  return null;
end $$;
create trigger usage_queue_installation after delete on usage_queue
  referencing old table as taken for each statement execute function installation_count_taken();

-- Adds up to `most` entries from before this migration. False: there are none left.
create function installation_count_old(most int4) returns boolean language plpgsql as $$
declare
  ids text[];
begin
  ids := array(select request_id from ledger_entries
    where request_id > (select after_request_id from installation_backfill) and not installation_queued order by request_id limit most);
  if cardinality(ids) = 0 then
    update installation_backfill set finished_at = clock_timestamp() where finished_at is null;
    return false;
  end if;
  perform installation_count(ids, false);
  update installation_backfill set after_request_id = ids[cardinality(ids)];
  return true;
end $$;
