import type { DocumentWarning } from '../../../contract/documents.ts'
import { countRows, type Database, type Queryable } from '../../../platform/database/index.ts'
import type { JobQueue } from '../../../platform/jobs/index.ts'
import { type OrganisationId, sharedOwner, type SpaceId } from '../../../platform/kernel/index.ts'
import type { ChangeAuthor } from '../change-author.ts'
import { enqueueEntry } from '../change-log.store.ts'
import { type Failure, readingKey, readWebSourceJob, type WebSource, type WebSourceState } from './web-source.ts'

/** Columns of a source `s`. */
const columns = `s.id, s.organisation_id as "organisationId", s.space_id as "spaceId", s.kind, s.url, s.sitemap_id as "sitemapId",
  s.page_limit as "pageLimit", s.name, s.metadata::text as "metadataJson", s.refresh, s.state, s.error_code as "errorCode", s.error_message as "errorMessage", s.etag,
  s.last_modified as "lastModified", encode(s.content_sha256, 'hex') as "contentSha256", s.failures, s.read_at as "readAt",
  s.next_read_at as "nextReadAt", s.created_at as "createdAt", d.id is not null as "hasDocument"`
const joined = `web_sources s left join documents d on coalesce(d.public_id, d.id) = s.id and d.is_current`
/** A page whose document was deleted is no longer listed. */
const isListed = `s.state <> 'removed' and (s.kind = 'sitemap' or s.read_at is null or d.id is not null)`

export type NewWebSource = Pick<
  WebSource,
  'id' | 'organisationId' | 'spaceId' | 'kind' | 'url' | 'sitemapId' | 'pageLimit' | 'name' | 'metadataJson' | 'refresh'
>

export interface ReadingEnd {
  state: WebSourceState
  error: Pick<Failure, 'code' | 'message'> | null
  failures: number
  nextReadAt: Date | null
  /** What a successful reading has found; undefined keeps what is stored. */
  found?: { readAt: Date; etag: string | null; lastModified: string | null; contentSha256: Uint8Array | null }
}

/** A reading whose job is lost begins again after this time. */
const lostAfterMs = 15 * 60_000
/** Readings of one host begin at least this long after each other, for each organisation. */
export const hostPauseMs = 1_000
/** Readings of an organisation that begin in one pause. */
const startsPerOrganisation = 5
const startsPerPoll = 100

interface WebSourceStoreDependencies {
  database: Database
  jobs: JobQueue
}

export type WebSourceStore = ReturnType<typeof createWebSourceStore>

/** SQL of web sources. */
export function createWebSourceStore({ database, jobs }: WebSourceStoreDependencies) {
  return {
    ...createReads(database),
    ...createReadings({ database, jobs }),

    /** Adds sources, or has known ones of the same address read again. Returns those of the first ones that are stored, in no order. */
    add(owner: OrganisationId, sources: readonly NewWebSource[], now: Date, author?: ChangeAuthor): Promise<string[]> {
      return database.for(owner).transaction(async (transaction) => {
        const ids = []
        for (const source of sources) {
          const id = await addSource(transaction, source, now)
          const after = { url: source.url, spaceId: source.spaceId }
          const entry = { action: 'document.created', ...subjectOf(id, owner), before: null, after } as const
          await enqueueEntry(jobs, transaction, author, entry)
          ids.push(id)
        }
        return ids
      })
    },

    /** False: there is no such source. */
    readNow(owner: OrganisationId, id: string, now: Date, author?: ChangeAuthor): Promise<boolean> {
      return database.for(owner).transaction(async (transaction) => {
        const [row] = await transaction.query<{ url: string }>(
          `update web_sources set next_read_at = $3, failures = 0
           where id = $1 and organisation_id = $2 and state <> 'removed' returning url`,
          [id, owner, now],
        )
        if (!row) return false
        const entry = { action: 'document.retried', ...subjectOf(id, owner), before: null, after: row } as const
        await enqueueEntry(jobs, transaction, author, entry)
        return true
      })
    },

    /** The document stays. A page of a sitemap is kept as removed, so that the sitemap does not add it again. */
    remove(owner: OrganisationId, id: string, author?: ChangeAuthor): Promise<boolean> {
      return database.for(owner).transaction(async (transaction) => {
        const kept = await transaction.query<{ url: string }>(
          `update web_sources set state = 'removed', next_read_at = null
           where id = $1 and organisation_id = $2 and sitemap_id is not null and state <> 'removed' returning url`,
          [id, owner],
        )
        const deleted = await transaction.query<{ url: string }>(
          `delete from web_sources where id = $1 and organisation_id = $2 and sitemap_id is null returning url`,
          [id, owner],
        )
        const row = kept[0] ?? deleted[0]
        if (!row) return false
        const entry = { action: 'document.removed', ...subjectOf(id, owner), before: row, after: null } as const
        await enqueueEntry(jobs, transaction, author, entry)
        return true
      })
    },

    async removeOfSpace(owner: OrganisationId, spaceId: SpaceId): Promise<void> {
      await database
        .for(owner)
        .execute(`delete from web_sources where organisation_id = $1 and space_id = $2`, [owner, spaceId])
    },
  }
}

/** What the worker does with sources. */
function createReadings({ database, jobs }: WebSourceStoreDependencies) {
  return {
    /** Enqueues the readings that are due; resolves to their number. On a server each one is taken by one instance. */
    startDue(now: Date): Promise<number> {
      return database.for(sharedOwner).transaction(async (transaction) => {
        const due = await transaction.query<Pick<WebSource, 'id' | 'organisationId' | 'spaceId'>>(selectDue, [
          now,
          new Date(now.getTime() - hostPauseMs),
        ])
        if (due.length === 0) return 0
        await transaction.execute(
          `update web_sources set started_at = $2, next_read_at = $3 where id = any($1::uuid[])`,
          [due.map(({ id }) => id), now, new Date(now.getTime() + lostAfterMs)],
        )
        for (const { id, organisationId, spaceId } of due) {
          await jobs.enqueue(transaction, {
            kind: readWebSourceJob,
            key: readingKey(id),
            payload: { sourceId: id },
            fairnessKeys: { organisationId, spaceId },
          })
        }
        return due.length
      })
    },

    /** Writes the end of a reading, and the warning of a document whose page is gone. */
    end(source: Pick<WebSource, 'id' | 'organisationId' | 'kind'>, end: ReadingEnd): Promise<void> {
      return database.for(source.organisationId).transaction(async (transaction) => {
        const { state, error, failures, found } = end
        await transaction.execute(
          `update web_sources set state = $2, error_code = $3, error_message = $4, failures = $5, next_read_at = $6 where id = $1`,
          [source.id, state, error?.code ?? null, error?.message ?? null, failures, end.nextReadAt],
        )
        if (found) {
          await transaction.execute(
            `update web_sources set read_at = $2, etag = $3, last_modified = $4, content_sha256 = coalesce($5, content_sha256)
             where id = $1`,
            [source.id, found.readAt, found.etag, found.lastModified, found.contentSha256],
          )
        }
        if (source.kind === 'page' && (state === 'gone' || state === 'read')) {
          await markGone(transaction, source.id, state === 'gone')
        }
      })
    },
  }
}

/** Due sources: of each organisation some, of each of its hosts one whose pause is over. */
const selectDue = `select s.id, s.organisation_id as "organisationId", s.space_id as "spaceId" from web_sources s
  where s.id in (
    select id from (
      select id, row_number() over (partition by organisation_id order by next_read_at, id) as place from (
        select distinct on (organisation_id, host) id, organisation_id, host, next_read_at from web_sources
        where next_read_at <= $1 order by organisation_id, host, next_read_at, id) as first_of_host
      where not exists (
        select from web_sources o where o.organisation_id = first_of_host.organisation_id and o.host = first_of_host.host
          and o.started_at > $2 and o.started_at <= $1)) as ranked
    where place <= ${startsPerOrganisation} limit ${startsPerPoll})
    and s.next_read_at <= $1
  for update skip locked`

function createReads(database: Database) {
  return {
    async load(owner: string, id: string): Promise<WebSource | undefined> {
      const [row] = await database
        .for(owner)
        .query<WebSource>(`select ${columns} from ${joined} where s.id = $1 and s.organisation_id = $2`, [id, owner])
      return row
    },

    /** Newest first. */
    async list(owner: string, spaceId: string, { limit, offset }: { limit: number; offset: number }) {
      const listed = `${joined} where s.organisation_id = $1 and s.space_id = $2 and ${isListed}`
      const own = database.for(owner)
      const total = await countRows(own, listed, [owner, spaceId])
      const items = await own.query<WebSource>(
        `select ${columns} from ${listed} order by s.created_at desc, s.id desc limit $3 offset $4`,
        [owner, spaceId, limit, offset],
      )
      return { total, items }
    },

    count: (owner: string): Promise<number> =>
      countRows(database.for(owner), 'web_sources where organisation_id = $1', [owner]),

    /** The pages that a sitemap has named. */
    countPages: (owner: string, sitemapId: string): Promise<number> =>
      countRows(database.for(owner), 'web_sources where organisation_id = $1 and sitemap_id = $2', [owner, sitemapId]),
  }
}

function subjectOf(id: string, organisationId: OrganisationId) {
  return { subjectType: 'document', subjectId: id, organisationId } as const
}

/** A page that a sitemap names again stays as it is. */
async function addSource(transaction: Queryable, source: NewWebSource, now: Date): Promise<string> {
  const { sitemapId } = source
  const [row] = await transaction.query<{ id: string }>(
    `insert into web_sources (id, organisation_id, space_id, kind, url, host, sitemap_id, page_limit, name, metadata, refresh, next_read_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::json, $11, $12, $12)
     on conflict (space_id, kind, url) do update set refresh = excluded.refresh, name = excluded.name,
       metadata = excluded.metadata, page_limit = excluded.page_limit, next_read_at = excluded.next_read_at, failures = 0,
       state = case when web_sources.state = 'removed' then 'waiting' else web_sources.state end
       where excluded.sitemap_id is null
     returning id`,
    [
      source.id,
      source.organisationId,
      source.spaceId,
      source.kind,
      source.url,
      new URL(source.url).host,
      sitemapId,
      source.pageLimit,
      source.name,
      source.metadataJson,
      source.refresh,
      now,
    ],
  )
  return row?.id ?? source.id
}

const goneWarning: DocumentWarning = {
  code: 'source_gone',
  message:
    'The web page of this document no longer exists (404 or 410). Its last content is still used. Delete the document if it is out of date.',
}

async function markGone(transaction: Queryable, documentId: string, isGone: boolean): Promise<void> {
  const [row] = await transaction.query<{ id: string; warnings: DocumentWarning[] | null }>(
    `select id, warnings from documents d where coalesce(d.public_id, d.id) = $1 and d.is_current and status = 'ready' for no key update`,
    [documentId],
  )
  const present = row?.warnings ?? []
  const others = present.filter(({ code }) => code !== goneWarning.code)
  if (!row || (isGone ? others.length < present.length : others.length === present.length)) return
  const warnings = isGone ? [...others, goneWarning] : others
  await transaction.execute('update documents set warnings = $2::json, updated_at = now() where id = $1', [
    row.id,
    warnings.length === 0 ? null : JSON.stringify(warnings),
  ])
}
