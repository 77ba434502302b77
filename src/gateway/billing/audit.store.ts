import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import { isFailed } from './usage-tables.ts'

export interface AuditReport {
  /** True when nothing was found. */
  ok: boolean
  rules: readonly string[]
  findings: AuditFinding[]
  totals: AuditTotals
}

/**
 * Checks on one snapshot of the database that entries, counters, leases and holds agree. Runs during normal traffic. `staleAfterMs`: an
 * instance that is silent for so long has no holds any more, unless recovery fails; null: that cannot be known.
 */
export function runAudit(database: OwnedDatabase, staleAfterMs: number | null): Promise<AuditReport> {
  return database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read')
    const findings = await loadFindings(transaction)
    if (staleAfterMs !== null) findings.push(...(await loadStaleHolds(transaction, staleAfterMs)))
    return { ok: findings.length === 0, rules: auditRules, findings, totals: await loadTotals(transaction) }
  })
}

/** A violation that the audit found. */
interface AuditFinding {
  /** Which rule is broken; see docs/understand/ledger.md. */
  rule: string
  /** The subject: a request, a lease, a period. */
  subject: string
  expected: string
  found: string
}

/** Most findings that are listed per rule. After a repair, run the audit again. */
const maximumFindingsPerRule = 100

const rules: readonly { rule: string; statement: string }[] = [
  {
    rule: 'entries add up to the counters',
    statement: `
      select e.organisation_id || ' ' || e.period as subject, e.billed::text as expected, coalesce(c.settled, 0)::text as found
      from (
        select organisation_id, period, sum(billed_pico_usd) as billed from (
          select organisation_id, period, billed_pico_usd from ledger_entries
          union all select organisation_id, period, billed_pico_usd from ledger_removed_sums) as all_entries
        group by 1, 2) e
      full join (
        select p.organisation_id, p.period, p.settled_pico_usd + coalesce(sum(l.settled_pico_usd), 0) as settled
        from ledger_periods p left join ledger_leases l using (organisation_id, period)
        group by p.organisation_id, p.period) c using (organisation_id, period)
      where coalesce(e.billed, 0) <> coalesce(c.settled, 0)`,
  },
  {
    rule: 'committed is what was settled plus what is leased',
    statement: `
      select p.organisation_id || ' ' || p.period as subject,
        (p.settled_pico_usd + coalesce(sum(l.granted_pico_usd), 0))::text as expected, p.committed_pico_usd::text as found
      from ledger_periods p left join ledger_leases l using (organisation_id, period)
      group by p.organisation_id, p.period
      having p.committed_pico_usd <> p.settled_pico_usd + coalesce(sum(l.granted_pico_usd), 0)`,
  },
  {
    rule: 'a period never commits more than its highest budget',
    statement: `
      select organisation_id || ' ' || period as subject, 'at most ' || ceiling_pico_usd as expected, committed_pico_usd::text as found
      from ledger_periods where committed_pico_usd > ceiling_pico_usd`,
  },
  {
    rule: 'open holds fit their lease',
    statement: `
      select h.organisation_id || ' ' || h.period || ' ' || h.instance_id as subject,
        'at most ' || coalesce(l.granted_pico_usd - l.settled_pico_usd, 0) as expected, h.held::text as found
      from (select organisation_id, period, instance_id, sum(amount_pico_usd) as held from ledger_holds group by 1, 2, 3) h
      left join ledger_leases l using (organisation_id, period, instance_id)
      where h.held > coalesce(l.granted_pico_usd - l.settled_pico_usd, 0)`,
  },
  {
    rule: 'every hold and every lease belongs to an instance',
    statement: `
      select 'hold ' || request_id as subject, 'an instance' as expected, instance_id || ' is gone' as found
      from ledger_holds h where not exists (select from ledger_instances i where i.instance_id = h.instance_id)
      union all
      select 'lease ' || organisation_id || ' ' || period, 'an instance', instance_id || ' is gone'
      from ledger_leases l where not exists (select from ledger_instances i where i.instance_id = l.instance_id)`,
  },
  {
    rule: 'a settled request has no hold any more',
    statement: `
      select h.request_id as subject, 'no hold' as expected, 'hold and entry' as found
      from ledger_holds h join ledger_entries e using (request_id)`,
  },
  {
    rule: 'every record of the journal is in the ledger',
    statement: `
      select request_id as subject, 'a hold or an entry' as expected, reason as found from ledger_journal_rejects`,
  },
  {
    rule: 'every entry costs its tokens at its prices, rounded once, up',
    statement: `
      select request_id as subject, cost::text as expected, (billed_pico_usd + written_off_pico_usd)::text as found
      from (
        select request_id, billed_pico_usd, written_off_pico_usd, ceil(
          coalesce(stated_atto_usd,
            (prompt_tokens - cached_tokens - cache_write_tokens)::numeric * input_atto_usd
            + cached_tokens::numeric * cache_read_atto_usd + cache_write_tokens::numeric * cache_write_atto_usd
            + (completion_tokens - reasoning_tokens)::numeric * output_atto_usd
            + reasoning_tokens::numeric * reasoning_atto_usd)
          * (10000 + markup_basis_points) / 10000000000) as cost
        from ledger_entries) e
      where cost <> billed_pico_usd + written_off_pico_usd`,
  },
  {
    rule: 'every request counts in the period in which it began',
    statement: `
      select e.request_id as subject, 'within ' || p.starts_at || ' and ' || p.ends_at as expected, e.started_at::text as found
      from ledger_entries e join ledger_periods p using (organisation_id, period)
      where e.started_at < p.starts_at or e.started_at >= p.ends_at
      union all
      select e.request_id, 'a period ' || e.period, 'none' from ledger_entries e
      where not exists (select from ledger_periods p where p.organisation_id = e.organisation_id and p.period = e.period)`,
  },
  {
    rule: 'the periods of an organisation do not overlap',
    statement: `
      select a.organisation_id || ' ' || a.period as subject, 'ends before ' || b.period as expected, a.ends_at::text as found
      from ledger_periods a join ledger_periods b
        on a.organisation_id = b.organisation_id and a.starts_at < b.starts_at and a.ends_at > b.starts_at`,
  },
  {
    rule: 'usage reports add up to the entries',
    statement: `
      with counted as (
        select organisation_id, model, surface, count(*) as requests, count(*) filter (where ${isFailed}) as failed,
          sum(prompt_tokens) as prompt, sum(completion_tokens) as completion, sum(billed_pico_usd) as billed,
          count(*) filter (where ending = 'completed') as timed
        from ledger_entries e
        where not exists (select from (select unnest(request_ids) as request_id from usage_queue) q where q.request_id = e.request_id)
          and (usage_queued or request_id <= (select after_request_id from usage_backfill))
        group by 1, 2, 3
      ), removed as (
        select organisation_id, model, surface, sum(requests) as requests, sum(failed_requests) as failed, sum(prompt_tokens) as prompt,
          sum(completion_tokens) as completion, sum(billed_pico_usd) as billed, sum(completed_requests) as timed
        from ledger_removed_sums group by 1, 2, 3
      ), entered as (
        select organisation_id, model, surface, sum(requests) as requests, sum(failed) as failed, sum(prompt) as prompt,
          sum(completion) as completion, sum(billed) as billed, sum(timed) as timed
        from (select * from counted union all select * from removed) as parts group by 1, 2, 3
      ), summed as (
        select organisation_id, model, surface, sum(requests) as requests, sum(failed_requests) as failed,
          sum(prompt_tokens) as prompt, sum(completion_tokens) as completion, sum(billed_pico_usd) as billed
        from usage_days group by 1, 2, 3
      ), timed as (
        select organisation_id, model, surface, sum(totals) as timed from usage_latency_days group by 1, 2, 3
      )
      select coalesce(c.organisation_id, s.organisation_id) || ' ' || coalesce(c.model, s.model) || ' ' || coalesce(c.surface, s.surface)
          as subject,
        concat_ws(' ', c.requests, c.failed, c.prompt, c.completion, c.billed, c.timed) as expected,
        concat_ws(' ', s.requests, s.failed, s.prompt, s.completion, s.billed, coalesce(t.timed, 0)) as found
      from entered c full join summed s using (organisation_id, model, surface)
      left join timed t on t.organisation_id = s.organisation_id and t.model = s.model and t.surface = s.surface
      where (c.requests, c.failed, c.prompt, c.completion, c.billed, c.timed)
        is distinct from (s.requests, s.failed, s.prompt, s.completion, s.billed, coalesce(t.timed, 0))`,
  },
  {
    rule: 'usage sums with and without Spaces agree',
    statement: `
      select coalesce(m.organisation_id, s.organisation_id) || ' ' || coalesce(m.day, s.day) || ' ' || coalesce(m.model, s.model)
          as subject, concat_ws(' ', s.requests, s.billed) as expected, concat_ws(' ', m.requests, m.billed_pico_usd) as found
      from usage_model_days m full join (
        select organisation_id, day, model, surface, sum(requests) as requests, sum(billed_pico_usd) as billed
        from usage_days group by 1, 2, 3, 4) s using (organisation_id, day, model, surface)
      where (m.requests, m.billed_pico_usd) is distinct from (s.requests, s.billed)`,
  },
  {
    rule: 'usage sums of spans add up to their days',
    statement: 'select subject, expected, found from usage_span_differences()',
  },
  {
    rule: 'usage reports of tags add up to the tagged entries',
    statement: `
      select t.organisation_id || ' ' || t.key || ' ' || t.tag_id as subject, concat_ws(' ', e.requests, e.billed) as expected,
        concat_ws(' ', d.requests, d.billed) as found
      from usage_tags t
      left join (select tag_id, sum(requests) as requests, sum(billed_pico_usd) as billed from usage_tag_days group by 1) d using (tag_id)
      left join (select tag_id, sum(requests) as requests, sum(billed_pico_usd) as billed from usage_tag_sums group by 1) s using (tag_id)
      left join (
        select tag_id, sum(requests) as requests, sum(billed) as billed from (
          select r.tag_id, 1 as requests, e.billed_pico_usd as billed from usage_request_tags r join ledger_entries e using (request_id)
          union all select tag_id, requests, billed_pico_usd from ledger_removed_tags) as tagged
        group by 1) e using (tag_id)
      where ((d.requests, d.billed) is distinct from (e.requests, e.billed) or (s.requests, s.billed) is distinct from (e.requests, e.billed))
        and not exists (select from organisations o where o.id = t.organisation_id and not o.usage_tags)`,
  },
]

const auditRules: readonly string[] = rules.map(({ rule }) => rule)

async function loadFindings(transaction: Queryable): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = []
  for (const { rule, statement } of rules) {
    const rows = await transaction.query<Omit<AuditFinding, 'rule'>>(
      `select * from (${statement}) as found order by subject limit ${maximumFindingsPerRule}`,
      [],
      { timeoutMs: auditTimeoutMs },
    )
    findings.push(...rows.map((row) => ({ rule, ...row })))
  }
  return findings
}

/** The longest query reads every entry once: about a second per million entries. */
const auditTimeoutMs = 10 * 60_000

/** Open holds of instances without a heartbeat for `expiryMs`; they wait for recovery. */
async function loadStaleHolds(transaction: Queryable, expiryMs: number): Promise<AuditFinding[]> {
  const rows = await transaction.query<Omit<AuditFinding, 'rule'>>(
    `select h.request_id as subject, 'settled by recovery' as expected, 'instance silent since ' || i.heartbeat_at as found
     from ledger_holds h join ledger_instances i using (instance_id)
     where i.heartbeat_at < clock_timestamp() - $1::int8 * interval '1 millisecond'
     order by 1 limit ${maximumFindingsPerRule}`,
    [expiryMs],
  )
  return rows.map((row) => ({ rule: 'no hold waits for ever', ...row }))
}

interface AuditTotals {
  /** Including those that were removed. */
  entries: number
  removedEntries: number
  openHolds: number
  leases: number
  periods: number
  billedPicoUsd: bigint
  writtenOffPicoUsd: bigint
  heldPicoUsd: bigint
  estimatedEntries: number
}

async function loadTotals(transaction: Queryable): Promise<AuditTotals> {
  const [row] = await transaction.query<Record<string, string>>(
    `select e.entries::text, e.removed::text, e.billed::text, e.written_off::text, e.estimated::text, h.open_holds::text, h.held::text,
       (select count(*) from ledger_leases)::text as leases, (select count(*) from ledger_periods)::text as periods
     from (select sum(entries) as entries, sum(removed) as removed, coalesce(sum(billed), 0) as billed,
         coalesce(sum(written_off), 0) as written_off, coalesce(sum(estimated), 0) as estimated
       from (
         select count(*) as entries, 0 as removed, sum(billed_pico_usd) as billed, sum(written_off_pico_usd) as written_off,
           count(*) filter (where estimated) as estimated
         from ledger_entries
         union all
         select coalesce(sum(requests), 0), coalesce(sum(requests), 0), sum(billed_pico_usd), sum(written_off_pico_usd),
           sum(estimated_requests)
         from ledger_removed_sums) as parts) e,
       (select count(*) as open_holds, coalesce(sum(amount_pico_usd), 0) as held from ledger_holds) h`,
    [],
    { timeoutMs: auditTimeoutMs },
  )
  return {
    entries: Number(row!['entries']),
    removedEntries: Number(row!['removed']),
    openHolds: Number(row!['open_holds']),
    leases: Number(row!['leases']),
    periods: Number(row!['periods']),
    billedPicoUsd: BigInt(row!['billed']!),
    writtenOffPicoUsd: BigInt(row!['written_off']!),
    heldPicoUsd: BigInt(row!['held']!),
    estimatedEntries: Number(row!['estimated']),
  }
}
