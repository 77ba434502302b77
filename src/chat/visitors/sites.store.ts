import type { AdminAction } from '../../contract/admin-log.ts'
import type { Database, Queryable, RecordChange, Stored } from '../../platform/database/index.ts'
import { AppError, type OrganisationId, sharedOwner, type SpaceId } from '../../platform/kernel/index.ts'
import { type Actor, changedFields, recordAdminChange } from '../../tenants/operators/index.ts'
import { lockSpace } from '../spaces/index.ts'
import { describeSiteForLog, type Site } from './site.ts'

/** The topic of sites in the change feed; its ids are those of Spaces. */
export const sitesTopic = 'sites'

export type SiteStore = ReturnType<typeof createSiteStore>

interface SiteChange {
  spaceId: SpaceId
  organisationId: OrganisationId
  action: AdminAction
  actor: Actor
  /** Undefined: there is none yet. Throws to refuse. */
  change: (current: Site | undefined) => Site
}

export function createSiteStore(database: Database, recordChange: RecordChange) {
  return {
    async loadAll(): Promise<Site[]> {
      return (await database.for(sharedOwner).query<SiteRow>(selectSites)).map(toSite)
    },
    async loadMany(spaceIds: readonly string[]): Promise<Site[]> {
      const rows = await database
        .for(sharedOwner)
        .query<SiteRow>(`${selectSites} WHERE space_id = ANY($1::uuid[])`, [spaceIds])
      return rows.map(toSite)
    },
    /** Applies `change` to the current row, which stays locked until the commit. Throws `space_not_found`, and `conflict` for a name that is taken. */
    update: ({ spaceId, organisationId, action, actor, change }: SiteChange): Promise<Site> =>
      database.for(organisationId).transaction(async (transaction) => {
        // Two changes of one site wait for each other, also the first two.
        await lockSpace(transaction, spaceId)
        const [row] = await transaction.query<SiteRow>(`${selectSites} WHERE space_id = $1`, [spaceId])
        const current = row && toSite(row)
        const next = change(current)
        if (next === current) return current
        await write(transaction, next)
        const changed = changedFields(current ? describeSiteForLog(current) : {}, describeSiteForLog(next))
        const isNewPassword = current !== undefined && current.passwordHash !== next.passwordHash
        await recordAdminChange(transaction, {
          actor,
          atMs: next.updatedAt,
          action,
          subjectType: 'space',
          subjectId: spaceId,
          organisationId,
          before: current ? (changed?.before ?? {}) : null,
          after: { ...changed?.after, ...(isNewPassword && { passwordChanged: true }) },
        })
        await recordChange(transaction, sitesTopic, spaceId)
        return next
      }),
  }
}

async function write(transaction: Queryable, site: Site): Promise<void> {
  const [written] = await transaction
    .query(
      `INSERT INTO sites (space_id, organisation_id, name, public_id, enabled, paused, settings, password_hash, daily_cap_pico_usd,
       generation, updated_at)
     SELECT $1::uuid, $2::uuid, $3::text, $4::uuid, $5::boolean, $6::boolean, $7::jsonb, $8::text, $9::int8, $10::int4, $11::timestamptz
      WHERE NOT EXISTS (SELECT 1 FROM sites WHERE name = $3 AND space_id <> $1)
     ON CONFLICT (space_id) DO UPDATE SET name = excluded.name, enabled = excluded.enabled, paused = excluded.paused,
       settings = excluded.settings, password_hash = excluded.password_hash, daily_cap_pico_usd = excluded.daily_cap_pico_usd,
       generation = excluded.generation, updated_at = excluded.updated_at
     RETURNING 1`,
      [
        site.spaceId,
        site.organisationId,
        site.name,
        site.publicId,
        site.enabled,
        site.paused,
        JSON.stringify(site.settings),
        site.passwordHash,
        site.dailyCapPicoUsd,
        site.generation,
        new Date(site.updatedAt),
      ],
    )
    .catch((error: unknown) => {
      // Another Space took the name in the same moment.
      if ((error as { code?: unknown }).code === '23505') throw nameTaken(site.name)
      throw error
    })
  if (!written) throw nameTaken(site.name)
}

const nameTaken = (name: string) =>
  new AppError('conflict', `The name ${name} is taken by another chat of this installation.`, { param: 'name' })

const selectSites = `SELECT space_id AS "spaceId", organisation_id AS "organisationId", name, public_id AS "publicId", enabled, paused,
    settings, password_hash AS "passwordHash", daily_cap_pico_usd AS "dailyCapPicoUsd", generation, updated_at AS "updatedAt"
  FROM sites`

type SiteRow = Stored<Site, 'updatedAt'>

function toSite({ settings, updatedAt, ...site }: SiteRow): Site {
  return Object.freeze({
    ...site,
    // A row that is older than the filter has none.
    settings: Object.freeze({ ...settings, filter: settings.filter ?? null }),
    updatedAt: updatedAt.getTime(),
  })
}
