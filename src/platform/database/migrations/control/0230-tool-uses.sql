-- Uses of tools that the provider ran in a call: `[kind, uses, attoUsd of one]` for each kind, null without any. Their cost is part of
-- stated_atto_usd.
alter table ledger_entries add column tool_uses jsonb;

-- As in 0212, with the new column; an instance of the former version writes without it.
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
      raw_usage jsonb, first_token_ms int4, failure text, schema_mismatch text, tool_uses jsonb, tags jsonb)
  ), released as (
    delete from ledger_holds h
    where h.request_id = any(array(select request_id from settling)) and h.instance_id = $1
    returning h.request_id
  ), entered as (
    insert into ledger_entries (request_id, organisation_id, period, surface, space_id, model, deployment_id, provider_id, hosting,
      started_at, settled_at, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
      input_atto_usd, output_atto_usd, cache_read_atto_usd, cache_write_atto_usd, reasoning_atto_usd, price_source,
      stated_atto_usd, markup_basis_points, billed_pico_usd, written_off_pico_usd, estimated, ending, finish_reason,
      cost_basis, raw_usage, first_token_ms, failure, schema_mismatch, tool_uses)
    select s.request_id, s.organisation_id, s.period, s.surface, s.space_id, s.model, s.deployment_id, s.provider_id, s.hosting,
      s.started_at, s.settled_at, s.prompt_tokens, s.completion_tokens, s.cached_tokens, s.cache_write_tokens, s.reasoning_tokens,
      s.input_atto_usd, s.output_atto_usd, s.cache_read_atto_usd, s.cache_write_atto_usd, s.reasoning_atto_usd, s.price_source,
      s.stated_atto_usd, s.markup_basis_points, s.billed_pico_usd, s.written_off_pico_usd, s.estimated, s.ending, s.finish_reason,
      coalesce(s.cost_basis, 'tokens'), s.raw_usage, s.first_token_ms, s.failure, s.schema_mismatch, s.tool_uses
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
