-- Usage reports read rows that are summed up in advance (src/billing/usage-counting.store.ts).
--
-- Every statement that inserts ledger entries puts their ids into usage_queue, in the same transaction. A job takes ids from the queue
-- and adds their entries to the tables below in one transaction, so that each entry counts exactly once. The hot path never waits for a
-- row that two instances write. The audit compares the tables with the ledger.

alter table ledger_entries
  -- from the start of the call to the first text of a stream
  add column first_token_ms int4,
  -- error code of a call without an answer
  add column failure text,
  -- false: the entry is older than this migration, and the backfill counts it
  add column usage_queued boolean not null default false;
alter table ledger_entries alter column usage_queued set default true;

-- false: `user` and `metadata` of calls are not recorded.
alter table organisations add column usage_tags boolean not null default true;

create table usage_queue (
  batch_id int8 generated always as identity primary key,
  request_ids text[] not null
);

create function usage_enqueue() returns trigger language plpgsql as $$
begin
  insert into usage_queue (request_ids) select array_agg(request_id) from entered having count(*) > 0;
  return null;
end $$;
create trigger ledger_entries_usage_queue after insert on ledger_entries
  referencing new table as entered for each statement execute function usage_enqueue();

-- `user` and `metadata` of queued entries: personal data, so never part of the append-only ledger.
create table usage_queued_tags (
  request_id text primary key,
  tags jsonb not null
);

-- Entries from before this migration are counted in the order of their ids.
create table usage_backfill (
  only_row boolean primary key default true check (only_row),
  after_request_id text not null default '',
  finished_at timestamptz
);
insert into usage_backfill (finished_at)
  select case when not exists (select from ledger_entries) then clock_timestamp() end;

-- Days are those of the organisation's time zone when an entry is counted. space_id: all zeros outside of Spaces.
create table usage_days (
  organisation_id uuid not null,
  day date not null,
  model text not null,
  surface text not null,
  space_id uuid not null,
  requests int8 not null,
  estimated_requests int8 not null,
  failed_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cached_tokens int8 not null,
  cache_write_tokens int8 not null,
  reasoning_tokens int8 not null,
  billed_pico_usd int8 not null,
  written_off_pico_usd int8 not null,
  primary key (organisation_id, day, model, surface, space_id)
) with (fillfactor = 70);

-- Histograms of durations. Bucket b holds 2^(b/4) to 2^((b+1)/4) milliseconds.
create table usage_latency_days (
  organisation_id uuid not null,
  day date not null,
  model text not null,
  surface text not null,
  bucket int2 not null,
  first_tokens int8 not null,
  totals int8 not null,
  primary key (organisation_id, day, model, surface, bucket)
) with (fillfactor = 70);

-- Quarter hours of the last weeks, for the pace of spending.
create table usage_slots (
  organisation_id uuid not null,
  starts_at timestamptz not null,
  requests int8 not null,
  billed_pico_usd int8 not null,
  primary key (organisation_id, starts_at)
) with (fillfactor = 70);
create index usage_slots_by_time on usage_slots (starts_at);

-- Failed entries by their reason, and (refused) calls that were rejected before they had an entry.
create table usage_failures (
  organisation_id uuid not null,
  day date not null,
  model text not null,
  surface text not null,
  refused boolean not null,
  code text not null,
  requests int8 not null,
  primary key (organisation_id, day, model, surface, refused, code)
) with (fillfactor = 70);

-- Entries that did not end as `completed`, to find them among many others.
create table usage_endings (
  organisation_id uuid not null,
  ending text not null,
  started_at timestamptz not null,
  request_id text not null,
  primary key (organisation_id, ending, started_at, request_id)
);

-- Keys and values of tags. Nothing else has their text.
create table usage_tags (
  tag_id int8 generated always as identity primary key,
  organisation_id uuid not null,
  key text not null,
  value text not null,
  unique (organisation_id, key, value)
);

-- Keys that an organisation has used, and the number of different values of a key on a day: both are limited.
create table usage_tag_keys (
  organisation_id uuid not null,
  key text not null,
  primary key (organisation_id, key)
);
create table usage_tag_day_values (
  organisation_id uuid not null,
  key text not null,
  day date not null,
  different_values int4 not null,
  primary key (organisation_id, key, day)
);

-- tag_id 0: values above the limit of different values per key and day.
create table usage_tag_days (
  organisation_id uuid not null,
  key text not null,
  day date not null,
  tag_id int8 not null,
  model text not null,
  requests int8 not null,
  failed_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cached_tokens int8 not null,
  reasoning_tokens int8 not null,
  billed_pico_usd int8 not null,
  primary key (organisation_id, key, day, tag_id, model)
) with (fillfactor = 70);
create index usage_tag_days_by_tag on usage_tag_days (organisation_id, tag_id, day);

create table usage_request_tags (
  organisation_id uuid not null,
  tag_id int8 not null,
  started_at timestamptz not null,
  request_id text not null,
  primary key (organisation_id, tag_id, started_at, request_id)
);
create index usage_request_tags_by_request on usage_request_tags (request_id);

-- A zone that this server knows: the lists of Node and PostgreSQL can differ by the newest names.
create function usage_zone(zone text) returns text language plpgsql stable as $$
begin
  perform now() at time zone zone;
  return zone;
exception when others then
  return 'UTC';
end $$;

-- The zone of an organisation, also of a removed one.
create function usage_zone_of(organisation uuid) returns text language sql stable as $$
  select usage_zone(coalesce(
    (select time_zone from organisations where id = organisation),
    (select before ->> 'timeZone' from admin_log
      where organisation_id = organisation and action = 'organisation.removed' order by at desc limit 1),
    'UTC'))
$$;

-- As in 0052, with the new columns and the tags; an instance of the former version writes without them.
create or replace function ledger_write_batch(instance uuid, opens json, changes jsonb, settlements json)
returns table (alive boolean, opened_ids text[], entered_ids text[])
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $function$
#variable_conflict use_column
begin
  return query
  with me as materialized (
    select instance_id from ledger_instances where instance_id = $1 for share
  ), opened as (
    insert into ledger_holds (request_id, organisation_id, period, instance_id, amount_pico_usd, surface, space_id, model,
      started_at, prompt_tokens, output_tokens, input_atto_usd, output_atto_usd, price_source, markup_basis_points)
    select o.request_id, o.organisation_id, o.period, me.instance_id, o.amount_pico_usd, o.surface, o.space_id, o.model,
      o.started_at, o.prompt_tokens, o.output_tokens, o.input_atto_usd, o.output_atto_usd, o.price_source, o.markup_basis_points
    from me cross join json_to_recordset($2::json) as o (request_id text, organisation_id uuid, period text, amount_pico_usd int8,
      surface text, space_id uuid, model text, started_at timestamptz, prompt_tokens int8, output_tokens int8,
      input_atto_usd int8, output_atto_usd int8, price_source text, markup_basis_points int4)
    where (select e.request_id from ledger_entries e where e.request_id = o.request_id) is null
    on conflict (request_id) do nothing
    returning request_id
  ), changed as (
    update ledger_holds h
    set amount_pico_usd = coalesce(($3 -> h.request_id ->> 0)::int8, h.amount_pico_usd),
      output_tokens = greatest(h.output_tokens, ($3 -> h.request_id ->> 1)::int8)
    where h.request_id = any(array(select key from jsonb_object_keys($3) as key))
      and h.instance_id = (select instance_id from me)
    returning h.request_id
  ), settling as materialized (
    select s.* from me cross join json_to_recordset($4::json) as s (unopened boolean, request_id text, organisation_id uuid, period text,
      surface text, space_id uuid, model text, deployment_id text, provider_id text, hosting text, started_at timestamptz,
      settled_at timestamptz, prompt_tokens int8, completion_tokens int8, cached_tokens int8, cache_write_tokens int8,
      reasoning_tokens int8, input_atto_usd int8, output_atto_usd int8, cache_read_atto_usd int8, cache_write_atto_usd int8,
      reasoning_atto_usd int8, price_source text, stated_atto_usd numeric, markup_basis_points int4, billed_pico_usd int8,
      written_off_pico_usd int8, estimated boolean, ending text, finish_reason text, cost_basis text,
      raw_usage jsonb, first_token_ms int4, failure text, tags jsonb)
  ), released as (
    delete from ledger_holds h
    where h.request_id = any(array(select request_id from settling)) and h.instance_id = $1
    returning h.request_id
  ), entered as (
    insert into ledger_entries (request_id, organisation_id, period, surface, space_id, model, deployment_id, provider_id, hosting,
      started_at, settled_at, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
      input_atto_usd, output_atto_usd, cache_read_atto_usd, cache_write_atto_usd, reasoning_atto_usd, price_source,
      stated_atto_usd, markup_basis_points, billed_pico_usd, written_off_pico_usd, estimated, ending, finish_reason,
      cost_basis, raw_usage, first_token_ms, failure)
    select s.request_id, s.organisation_id, s.period, s.surface, s.space_id, s.model, s.deployment_id, s.provider_id, s.hosting,
      s.started_at, s.settled_at, s.prompt_tokens, s.completion_tokens, s.cached_tokens, s.cache_write_tokens, s.reasoning_tokens,
      s.input_atto_usd, s.output_atto_usd, s.cache_read_atto_usd, s.cache_write_atto_usd, s.reasoning_atto_usd, s.price_source,
      s.stated_atto_usd, s.markup_basis_points, s.billed_pico_usd, s.written_off_pico_usd, s.estimated, s.ending, s.finish_reason,
      coalesce(s.cost_basis, 'tokens'), s.raw_usage, s.first_token_ms, s.failure
    from settling s
    where s.unopened or s.request_id in (select request_id from released)
    on conflict (request_id) do nothing
    returning request_id, organisation_id, period, billed_pico_usd
  ), tagged as (
    insert into usage_queued_tags (request_id, tags)
    select s.request_id, s.tags from settling s
    where s.tags is not null and s.request_id in (select request_id from entered)
    on conflict (request_id) do nothing
  ), due as materialized (
    select organisation_id, period, sum(billed_pico_usd)::int8 as billed from entered group by 1, 2
  ), moved as (
    update ledger_leases l set settled_pico_usd = l.settled_pico_usd + due.billed
    from due
    where l.organisation_id = any(array(select organisation_id from due)) and l.instance_id = $1
      and l.organisation_id = due.organisation_id and l.period = due.period and due.billed > 0
    returning 1
  )
  select exists (select from me),
    (select coalesce(array_agg(request_id), '{}') from opened),
    (select coalesce(array_agg(request_id), '{}') from entered);
end $function$;
