import type { ConsoleOrganisationsQuery } from '../contract/console-organisations.ts'
import { countRows, type OwnedDatabase } from '../platform/database/index.ts'
import { isUuid } from '../platform/kernel/index.ts'
import type { OrganisationCounts, OrganisationLists, OrganisationRow } from './organisation-lists.ts'

/** `isSubscriptionActive` of organisations/gate.ts in SQL; $1 is the time. */
const subscriptionActive = `(o.subscription_starts_at <= $1
  AND CASE WHEN o.subscription_ends_at IS NULL THEN o.subscription_status = 'active' ELSE o.subscription_ends_at > $1 END)`
const gatewayOpen = `(o.plan = 'enterprise' AND o.gateway_enabled AND o.gateway_opt_in AND ${subscriptionActive})`

/** Bills of the running period: those of the period, and those that instances have not moved to it yet. */
const billed = `coalesce(p.settled_pico_usd + (SELECT coalesce(sum(l.settled_pico_usd), 0) FROM ledger_leases l
  WHERE l.organisation_id = p.organisation_id AND l.period = p.period), 0)::int8`

/** The same for many organisations: one scan instead of a lookup for each. */
const allLeases = `LEFT JOIN (SELECT organisation_id, period, sum(settled_pico_usd) AS billed FROM ledger_leases
  WHERE settled_pico_usd > 0 GROUP BY organisation_id, period) l ON l.organisation_id = p.organisation_id AND l.period = p.period`

const orders: Record<ConsoleOrganisationsQuery['sort'], string> = {
  createdAt: 'o.created_at',
  name: 'lower(o.name)',
  plan: `array_position(ARRAY['free', 'team', 'enterprise'], o.plan)`,
  monthlyBudget: 'o.monthly_budget_pico_usd',
  spentPercent: `(coalesce(p.settled_pico_usd, 0) + coalesce(l.billed, 0))::float8 / nullif(o.monthly_budget_pico_usd, 0)`,
  subscriptionEnd: 'o.subscription_ends_at',
}

const pageTimeoutMs = 10_000

export function createOrganisationsStore(database: OwnedDatabase): OrganisationLists {
  return {
    async loadPage({ search, plan, gateway, sort, direction, limit, offset, nowMs }) {
      const matches = `($2::text IS NULL OR position(lower($2::text) IN lower(o.name)) > 0 OR o.id = $3::uuid)
        AND ($4::text IS NULL OR o.plan = $4::text) AND ($5::bool IS NULL OR ${gatewayOpen} = $5::bool)`
      const id = search !== undefined && isUuid(search) ? search : null
      const isOpen = gateway === undefined ? null : gateway === 'open'
      const filter = [new Date(nowMs), search ?? null, id, plan ?? null, isOpen]
      const order = `${orders[sort]} ${direction === 'asc' ? 'ASC' : 'DESC'} NULLS LAST`
      // Only the order by spending needs the periods of all organisations; else those of the page are read.
      const periods = `LEFT JOIN ledger_periods p ON p.organisation_id = o.id AND p.starts_at <= $1 AND p.ends_at > $1`
      const ranked = `SELECT o.id, row_number() OVER (ORDER BY ${order}, o.id) AS place FROM organisations o
        ${sort === 'spentPercent' ? `${periods} ${allLeases}` : ''} WHERE ${matches} ORDER BY place LIMIT $6 OFFSET $7`
      const options = { timeoutMs: pageTimeoutMs }
      const matching = `organisations o WHERE ${matches} AND $1::timestamptz IS NOT NULL`
      const total = await countRows(database, matching, filter, options)
      const rows = await database.query<OrganisationRow>(
        `WITH page AS MATERIALIZED (${ranked})
         SELECT o.id, ${billed} AS "billedPicoUsd", ${gatewayOpen} AS "gatewayOpen",
           (SELECT count(*) FROM spaces s WHERE s.organisation_id = o.id)::int4 AS spaces,
           (SELECT count(*) FROM people_memberships m WHERE m.organisation_id = o.id)::int4 AS members
         FROM page JOIN organisations o USING (id) ${periods} ORDER BY page.place`,
        [...filter, limit, offset],
        options,
      )
      return { total, rows }
    },

    async loadCounts(id, nowMs) {
      const [counts] = await database.query<OrganisationCounts>(
        `SELECT ${gatewayOpen} AS "gatewayOpen",
           (SELECT count(*) FROM spaces s WHERE s.organisation_id = o.id)::int4 AS spaces,
           (SELECT count(*) FROM spaces s WHERE s.organisation_id = o.id AND s.published)::int4 AS "publishedSpaces",
           (SELECT count(*) FROM people_memberships m WHERE m.organisation_id = o.id)::int4 AS members,
           (SELECT count(*) FROM people_invitations i
             WHERE i.organisation_id = o.id AND i.accepted_at IS NULL AND i.expires_at > $1)::int4 AS "openInvitations"
         FROM organisations o WHERE o.id = $2::uuid`,
        [new Date(nowMs), id],
      )
      return counts
    },
  }
}
