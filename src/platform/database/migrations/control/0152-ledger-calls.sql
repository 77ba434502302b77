-- Whole calls of the journal: hold and settlement in one batch, so that the hold was never a row. Most records are of such calls, and most of
-- their fields are the same in many of them. As JSON an entry has 0.9 KB, which was parsed three times.

-- As ledger_apply_journal (0151) for `opens`, `changes` and `settlements`, and in the same transaction for the calls: `kinds` has what many
-- of them have in common, numbered from 0; the arrays have one element for each call. Times are milliseconds since 1970.
create function ledger_apply_calls(journal uuid, holder uuid, growths int8, first int8, last int8, instance uuid,
  opens json, changes jsonb, settlements json, kinds json, request_ids text[], numbers int4[], started int8[], settled int8[],
  prompt_tokens int8[], completion_tokens int8[], cached_tokens int8[], cache_write_tokens int8[], reasoning_tokens int8[],
  billed_pico_usd int8[], written_off_pico_usd int8[])
returns table (applied boolean, at_sequence int8, rejected int4)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
-- Calls and their kinds are joined by a hash, however many there are.
set enable_nestloop = off
as $function$
#variable_conflict use_column
declare
  is_applied boolean;
  is_alive boolean;
  reached int8;
  refused int4;
  written text[];
  kept int4 := 0;
begin
  -- It moves the sequence and locks the journal.
  select a.applied, a.at_sequence, a.rejected into is_applied, reached, refused
  from ledger_apply_journal($1, $2, $3, $4, $5, $6, $7, $8, $9) a;
  if not is_applied or cardinality($11) = 0 then
    return query select is_applied, reached, refused;
    return;
  end if;
  with me as materialized (
    select instance_id from ledger_instances where instance_id = $6 for share
  ), kind as materialized (
    select * from json_to_recordset($10) as k (number int4, organisation_id uuid, period text, surface text, space_id uuid, model text,
      deployment_id text, provider_id text, hosting text, input_atto_usd int8, output_atto_usd int8, cache_read_atto_usd int8,
      cache_write_atto_usd int8, reasoning_atto_usd int8, price_source text, markup_basis_points int4, estimated boolean, ending text,
      finish_reason text, cost_basis text)
  ), entered as (
    insert into ledger_entries (request_id, organisation_id, period, surface, space_id, model, deployment_id, provider_id, hosting,
      started_at, settled_at, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
      input_atto_usd, output_atto_usd, cache_read_atto_usd, cache_write_atto_usd, reasoning_atto_usd, price_source,
      markup_basis_points, billed_pico_usd, written_off_pico_usd, estimated, ending, finish_reason, cost_basis)
    select c.request_id, k.organisation_id, k.period, k.surface, k.space_id, k.model, k.deployment_id, k.provider_id, k.hosting,
      timestamptz 'epoch' + c.started * interval '1 millisecond', timestamptz 'epoch' + c.settled * interval '1 millisecond',
      c.prompt, c.completion, c.cached, c.cache_write, c.reasoning,
      k.input_atto_usd, k.output_atto_usd, k.cache_read_atto_usd, k.cache_write_atto_usd, k.reasoning_atto_usd, k.price_source,
      k.markup_basis_points, c.billed, c.written_off, k.estimated, k.ending, k.finish_reason, k.cost_basis
    from unnest($11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) as c (request_id, number, started, settled, prompt,
      completion, cached, cache_write, reasoning, billed, written_off)
    join kind k using (number)
    where exists (select from me)
    on conflict (request_id) do nothing
    returning request_id, organisation_id, period, billed_pico_usd
  ), due as materialized (
    select organisation_id, period, sum(billed_pico_usd)::int8 as billed from entered group by 1, 2
  ), moved as (
    update ledger_leases l set settled_pico_usd = l.settled_pico_usd + due.billed
    from due
    where l.organisation_id = any(array(select organisation_id from due)) and l.instance_id = $6
      and l.organisation_id = due.organisation_id and l.period = due.period and due.billed > 0
    returning 1
  )
  select exists (select from me), (select coalesce(array_agg(request_id), '{}') from entered) into is_alive, written;
  if cardinality(written) < cardinality($11) then
    with rejected_calls as (
      insert into ledger_journal_rejects (journal_id, sequence, request_id, reason, record)
      select $1, $5, c.request_id,
        case when not is_alive then 'the instance ' || $6 || ' is not registered' else 'the request id was used before' end,
        (to_jsonb(c) || ($10 -> c.number)::jsonb)::text
      from unnest($11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) as c (request_id, number, started, settled, prompt_tokens,
        completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, billed_pico_usd, written_off_pico_usd)
      where c.request_id <> all (written)
      returning 1
    )
    select count(*)::int4 into kept from rejected_calls;
  end if;
  return query select true, reached, refused + kept;
end $function$;
