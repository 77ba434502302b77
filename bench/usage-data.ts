import { closableBefore, closeSpan, findSpanTable } from '../src/gateway/billing/usage-spans.store.ts'
import { bucketOf, isFailed, noSpace } from '../src/gateway/billing/usage-tables.ts'
import { type OrganisationId, systemClock } from '../src/platform/kernel/index.ts'
import { type TestDatabase } from '../test/harness/statements.ts'

/**
 * Ledger entries of 400 days, for the benches of reports and of growth. Organisation 0 has half of them, the others share the rest. The
 * database makes them, their tags and their sums.
 */

export const usageDays = 400
const spaces = 100
const users = 3_000
/** Entries that one statement makes. */
const chunk = 100_000
/** Above all entries of a month together. */
const budgetPicoUsd = 100_000_000_000_000_000n
const timeoutMs = 60 * 60_000

export interface UsageAmount {
  entries: number
  organisations: number
}

/** Organisation 0 is the big one. */
export function usageOrganisation(number: number): OrganisationId {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}` as OrganisationId
}

/** The one user of whom a page of reports is measured. */
export const sampleUser = 'user-2900'

/** Fills a database without organisations, and closes the spans of the sums. Prints how long each part takes. */
export async function fillUsage(database: TestDatabase, amount: UsageAmount): Promise<void> {
  if (await fillEntries(database, amount)) {
    await timed('sums', () => sumUp(database))
    await timed('tags', () => insertTags(database))
    await timed('spans', () => closeSpans(database))
    await timed('vacuum and analyze', () => vacuum(database))
  }
}

/** Only the organisations and their entries. Returns false where organisations were there before. */
export async function fillEntries(database: TestDatabase, amount: UsageAmount): Promise<boolean> {
  const [row] = await database.query<{ empty: boolean }>('select not exists (select from organisations) as empty')
  if (!row!.empty) return false
  await timed('organisations', () => insertOrganisations(database, amount))
  await timed('entries', () => insertEntries(database, amount))
  return true
}

async function insertOrganisations(database: TestDatabase, { organisations }: UsageAmount): Promise<void> {
  await database.execute(
    `insert into organisations (id, name, plan, subscription_status, subscription_starts_at, gateway_enabled, gateway_opt_in,
       monthly_budget_pico_usd, markup_basis_points, time_zone, period_anchor_day, disabled_models, created_at, updated_at)
     select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Bench ' || n, 'enterprise', 'active', now(), true, true,
       $2, 0, case when n % 2 = 0 then 'Europe/Berlin' else 'Asia/Kathmandu' end, 1, '{}', now(), now()
     from generate_series(0, $1::int8 - 1) n`,
    [BigInt(organisations), budgetPicoUsd],
  )
  await database.execute(
    `insert into ledger_periods (organisation_id, period, starts_at, ends_at, budget_pico_usd, ceiling_pico_usd)
     select id, to_char(month, 'YYYY-MM-DD'), month, month + interval '1 month', $2, $2
     from organisations, generate_series(date_trunc('month', now() - $1::int8 * interval '1 day'), now(), '1 month') as month`,
    [BigInt(usageDays), budgetPicoUsd],
    { timeoutMs },
  )
}

/** As the version before the sums has written them, in the order of time. */
async function insertEntries(database: TestDatabase, { entries, organisations }: UsageAmount): Promise<void> {
  await database.execute('alter table ledger_entries disable trigger ledger_entries_usage_queue')
  await database.execute("update usage_backfill set finished_at = null, after_request_id = ''")
  for (let first = 0; first < entries; first += chunk) {
    await database.execute(
      `insert into ledger_entries (request_id, organisation_id, period, surface, space_id, model, deployment_id, provider_id, hosting,
         started_at, settled_at, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, input_atto_usd,
         output_atto_usd, cache_read_atto_usd, cache_write_atto_usd, reasoning_atto_usd, price_source, markup_basis_points,
         billed_pico_usd, written_off_pico_usd, estimated, ending, finish_reason, first_token_ms, usage_queued)
       select 'req_' || lpad(to_hex(n), 32, '0'),
         ('00000000-0000-7000-8000-' || lpad(to_hex(case when a < 0.5 then 0 else 1 + floor(b * ($6 - 1))::int8 end), 12, '0'))::uuid,
         to_char(at, 'YYYY-MM-01'), case when c < 0.6 then 'gateway' when c < 0.9 then 'space_chat' else 'embeddings' end,
         case when c >= 0.6 then ('00000000-0000-7000-9000-' || lpad(to_hex(floor(d * d * $4)::int8), 12, '0'))::uuid end,
         -- a Space has one model
         case when c < 0.6 then 'model-' || floor(e * e * 12)::int8 when c < 0.9 then 'model-' || floor(d * d * $4)::int8 % 12
           else 'embedding-model' end, 'deployment', 'provider', 'eu', at,
         at + (200 + 20000 * b * b) * interval '1 millisecond', 500 + floor(e * 4000)::int8, case when c < 0.9 then floor(d * 900)::int8 else 0 end,
         0, 0, 0, 1000000, 4000000, 1000000, 1000000, 4000000, 'bench', 0, 1000000000 + floor(e * 5000000000)::int8, 0, false,
         case when b < 0.97 then 'completed' when b < 0.98 then 'client_closed' else 'provider_failed' end, 'stop',
         case when c < 0.9 then 80 + floor(2000 * d * d)::int4 end, false
       from (select n, now() - $3::int8 * interval '1 day' * (1 - n::float8 / $2) as at, random() as a, random() as b, random() as c,
           random() as d, random() as e
         from generate_series($1::int8, least($1::int8 + $5, $2) - 1) n) drawn`,
      [BigInt(first), BigInt(entries), BigInt(usageDays), spaces, BigInt(chunk), BigInt(organisations)],
      { timeoutMs },
    )
  }
  await database.execute('alter table ledger_entries enable trigger ledger_entries_usage_queue')
  await database.execute(
    `update ledger_periods p set settled_pico_usd = e.billed, committed_pico_usd = e.billed
     from (select organisation_id, period, sum(billed_pico_usd)::int8 as billed from ledger_entries group by 1, 2) e
     where p.organisation_id = e.organisation_id and p.period = e.period`,
    [],
    { timeoutMs },
  )
}

const figures = `count(*), count(*) filter (where estimated), count(*) filter (where failed), sum(prompt_tokens)::int8,
  sum(completion_tokens)::int8, sum(cached_tokens)::int8, sum(cache_write_tokens)::int8, sum(reasoning_tokens)::int8,
  sum(billed_pico_usd)::int8, sum(written_off_pico_usd)::int8`
const entered = `(
  select e.*, (e.started_at at time zone o.time_zone)::date as day, coalesce(e.space_id, '${noSpace}') as space, ${isFailed} as failed
  from ledger_entries e join organisations o on o.id = e.organisation_id) e`

/** What the job of the service counts, in one statement for each table; the triggers add the spans. The audit finds differences. */
async function sumUp(database: TestDatabase): Promise<void> {
  const statements = [
    `insert into usage_days select organisation_id, day, model, surface, space, ${figures} from ${entered} group by 1, 2, 3, 4, 5`,
    `insert into usage_model_days select organisation_id, day, model, surface, ${figures} from ${entered} group by 1, 2, 3, 4`,
    `insert into usage_spaces select distinct organisation_id, space_id from usage_days where space_id <> '${noSpace}'`,
    `insert into usage_latency_days
     select organisation_id, day, model, surface, bucket, count(*) filter (where is_first), count(*) filter (where not is_first) from (
       select organisation_id, day, model, surface, ${bucketOf('first_token_ms')} as bucket, true as is_first from ${entered}
       where first_token_ms is not null
       union all
       select organisation_id, day, model, surface, ${bucketOf('extract(epoch from settled_at - started_at) * 1000')}, false from ${entered}
       where ending = 'completed') as measured
     group by 1, 2, 3, 4, 5`,
    `insert into usage_slots
     select organisation_id, date_bin('15 minutes', started_at, 'epoch'), count(*), sum(billed_pico_usd)::int8 from ledger_entries
     where started_at > now() - interval '40 days' group by 1, 2`,
    `insert into usage_failures
     select organisation_id, day, model, surface, false, ending, count(*) from ${entered} where failed group by 1, 2, 3, 4, 6`,
    `insert into usage_endings select organisation_id, ending, started_at, request_id from ledger_entries where ending <> 'completed'`,
    'update usage_backfill set finished_at = now(), after_request_id = (select max(request_id) from ledger_entries)',
  ]
  for (const statement of statements) await database.execute(statement, [], { timeoutMs })
}

/** The big organisation's gateway calls carry a user: a thousand of them on each day. */
async function insertTags(database: TestDatabase): Promise<void> {
  const big = usageOrganisation(0)
  const run = (statement: string, parameters: (string | bigint)[]) =>
    database.execute(statement, parameters, { timeoutMs })
  await run("insert into usage_tag_keys (organisation_id, key) values ($1, 'user')", [big])
  await run(
    `insert into usage_tags (organisation_id, key, value) select $1, 'user', 'user-' || n from generate_series(1, $2::int8) n`,
    [big, BigInt(users)],
  )
  const [first] = await database.query<{ id: bigint }>('select min(tag_id) as id from usage_tags')
  for (let day = 0; day < usageDays; day += 20) {
    await run(
      `insert into usage_request_tags (organisation_id, tag_id, started_at, request_id)
       select organisation_id, $2::int8 + (extract(doy from started_at)::int8 * 7
           + floor(1000 * (('x' || right(md5(request_id), 6))::bit(24)::int8 / 16777216.0) ^ 2)::int8) % $3::int8, started_at, request_id
       from ledger_entries where organisation_id = $1 and surface = 'gateway' and started_at >= now() - $4::int8 * interval '1 day'
         and started_at < now() - ($4::int8 - 20) * interval '1 day'`,
      [big, first!.id, BigInt(users), BigInt(usageDays - day)],
    )
  }
  await run(
    `insert into usage_tag_days (organisation_id, key, day, tag_id, model, requests, failed_requests, prompt_tokens, completion_tokens,
       cached_tokens, reasoning_tokens, billed_pico_usd)
     select $1, 'user', (r.started_at at time zone 'Europe/Berlin')::date, r.tag_id, e.model, count(*), 0, sum(e.prompt_tokens)::int8,
       sum(e.completion_tokens)::int8, 0, 0, sum(e.billed_pico_usd)::int8
     from usage_request_tags r join ledger_entries e using (request_id) group by 3, 4, 5 order by 3, 4, 5`,
    [big],
  )
  await run(
    `insert into usage_tag_sums
     select organisation_id, key, day, tag_id, sum(requests), sum(failed_requests), sum(prompt_tokens), sum(completion_tokens),
       sum(cached_tokens), sum(reasoning_tokens), sum(billed_pico_usd)
     from usage_tag_days group by 1, 2, 3, 4`,
    [],
  )
}

/** As the job does that keeps them. */
async function closeSpans(database: TestDatabase): Promise<void> {
  let done = false
  while (!done) {
    ;({ done } = await closeSpan(database, await findSpanTable(database), closableBefore(systemClock.now())))
  }
}

async function vacuum(database: TestDatabase): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relname ~ '^(usage|ledger)'
       and relnamespace = (select relnamespace from pg_class where oid = 'usage_days'::regclass)`,
  )
  for (const { name } of tables) await database.execute(`vacuum analyze ${name}`, [], { timeoutMs })
}

async function timed(name: string, work: () => Promise<void>): Promise<void> {
  const startMs = performance.now()
  await work()
  console.log(`${name}: ${((performance.now() - startMs) / 1000).toFixed(0)} s`)
}
