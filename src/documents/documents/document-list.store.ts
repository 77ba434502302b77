import type { DocumentSort } from '../../contract/document-progress.ts'
import { countRows, type Database, type SqlValue, toJsonPath } from '../../platform/database/index.ts'
import type { DocumentListPage, DocumentListQuery, ListFilter, ListPosition, SpaceContents } from './document-list.ts'
import type { DocumentFailureCode, DocumentFormat, DocumentProgressRow, DocumentStatus } from './document.ts'
import { loadPlacesInQueue } from './queue-places.ts'
import { publicId } from './replacement.store.ts'

/**
 * SQL of lists. Each order has an index (migration 0050). Skipping reads the skipped index entries: at 100,000 documents about 50 ms
 * (bench/document-lists.ts), so any place of a list can be read directly.
 */

/** A replacement in progress counts as the processing of its document. */
export const selectProgress = `select ${publicId('d')} as id, d.organisation_id as "organisationId", d.space_id as "spaceId", d.name,
    case when n.id is null then d.status else 'processing' end as status,
    coalesce(n.stage, d.stage) as stage, case when n.id is null then d.parts_done else n.parts_done end as "partsDone",
    case when n.id is null then d.parts_total else n.parts_total end as "partsTotal",
    d.error_code as "errorCode", d.error_message as "errorMessage", d.warnings, d.size_bytes as "sizeBytes",
    split_part(d.mime_type, ';', 1) as "mimeType", d.format, d.chunk_count as "chunkCount", d.page_count as "pageCount", d.path,
    d.created_at as "createdAt", d.updated_at as "updatedAt", coalesce(n.id, d.id) as "rowId"
  from documents d left join documents n on ${publicId('n')} = ${publicId('d')} and not n.is_current
  where d.organisation_id = $1 and d.space_id = $2 and d.is_current`

/** The documents of a Space whose new content is being processed. */
const replacedIds = `select r.document_id from documents r
  where r.organisation_id = $1 and r.space_id = $2 and not r.is_current`

/** `text`: the compared value in a form that keeps all of it. */
const orders = {
  time: {
    key: 'd.created_at',
    type: 'timestamptz',
    text: `to_char(key at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
  },
  name: { key: 'd.name_key', type: 'text', text: 'key' },
  size: { key: 'd.size_bytes', type: 'bigint', text: 'key::text' },
}

const sorts: Record<DocumentSort, { order: keyof typeof orders; direction: 'asc' | 'desc' }> = {
  newest: { order: 'time', direction: 'desc' },
  oldest: { order: 'time', direction: 'asc' },
  name: { order: 'name', direction: 'asc' },
  nameDescending: { order: 'name', direction: 'desc' },
  largest: { order: 'size', direction: 'desc' },
  smallest: { order: 'size', direction: 'asc' },
}

/** Adds a parameter and returns its placeholder. */
export function parameterList(...first: SqlValue[]) {
  const values = [...first]
  return { values, add: (value: SqlValue) => `$${values.push(value)}` }
}

type Parameters = ReturnType<typeof parameterList>

/** Conditions on the current rows `d` of the Space $2 of the organisation $1. */
export function filterConditions(filter: ListFilter, { values, add }: Parameters): string {
  const { search, namePrefix, status, failure, format, createdFrom, createdBefore, metadata } = filter
  const conditions = ['d.organisation_id = $1 and d.space_id = $2 and d.is_current']
  // strpos: the text is no pattern.
  if (search) conditions.push(`strpos(d.name_key, lower(normalize(${add(search)}::text, NFD)) collate "C") > 0`)
  if (namePrefix) {
    conditions.push(`starts_with(d.name_key, lower(normalize(${add(namePrefix)}::text, NFD)) collate "C")`)
  }
  if (createdFrom) conditions.push(`d.created_at >= ${add(createdFrom)}::timestamptz`)
  if (createdBefore) conditions.push(`d.created_at < ${add(createdBefore)}::timestamptz`)
  // The Space of the list.
  if (metadata) conditions.push(`d.filter_fields @@ ${add(toJsonPath(String(values[1]), metadata))}::text::jsonpath`)
  if (failure) conditions.push(`d.status = 'failed' and d.error_code = ${add(failure)}`)
  if (format) conditions.push(`d.format = ${add(format)}`)
  if (status === 'failed') conditions.push(`d.status = 'failed'`)
  if (status === 'ready') conditions.push(`d.status = 'ready' and d.document_id not in (${replacedIds})`)
  if (status === 'processing') {
    conditions.push(`(d.status = 'processing' or d.document_id in (${replacedIds}))`)
  }
  return conditions.join(' and ')
}

export function createListStore(database: Database) {
  function loadProgressOf(organisationId: string, spaceId: string, ids: readonly string[]) {
    return database
      .for(organisationId)
      .query<DocumentProgressRow>(`${selectProgress} and ${publicId('d')} = any($3::uuid[])`, [
        organisationId,
        spaceId,
        [...ids],
      ])
  }

  return {
    loadProgressOf,

    /** The places of a page, and how many documents match. */
    async loadPlaces(organisationId: string, spaceId: string, query: DocumentListQuery) {
      if (needsAllRows(query.filter)) return searchIds(database, organisationId, spaceId, query)
      const contents = await loadContents(database, organisationId, spaceId)
      return { total: contents.countOf(query.filter), places: await loadIds(database, organisationId, spaceId, query) }
    },

    async loadList(organisationId: string, spaceId: string, query: DocumentListQuery): Promise<DocumentListPage> {
      const contents = await loadContents(database, organisationId, spaceId)
      const found = needsAllRows(query.filter)
        ? await searchIds(database, organisationId, spaceId, query)
        : { total: contents.countOf(query.filter), places: await loadIds(database, organisationId, spaceId, query) }
      const ids = found.places.map(({ id }) => id)
      const rows = ids.length > 0 ? await loadProgressOf(organisationId, spaceId, ids) : []
      const places = await loadPlacesInQueue(database, organisationId, rows)
      const byId = new Map<string, DocumentProgressRow>(
        rows.map((row) => [row.id, { ...row, queue: places.get(row.id) }]),
      )
      return {
        total: found.total,
        contents,
        items: ids.flatMap((id) => byId.get(id) ?? []),
        last: found.places.at(-1),
      }
    },

    loadContents: (organisationId: string, spaceId: string) => loadContents(database, organisationId, spaceId),

    countMatches(organisationId: string, spaceId: string, filter: ListFilter): Promise<number> {
      const parameters = parameterList(organisationId, spaceId)
      const matching = `documents d where ${filterConditions(filter, parameters)}`
      return countRows(database.for(organisationId), matching, parameters.values)
    },
  }
}

/** The groups of `SpaceContents` do not distinguish these documents. */
const needsAllRows = ({ search, namePrefix, createdFrom, createdBefore, metadata }: ListFilter) =>
  Boolean(search ?? namePrefix ?? createdFrom ?? createdBefore ?? metadata)

/** The index of the order finds the page. */
async function loadIds(database: Database, organisationId: string, spaceId: string, query: DocumentListQuery) {
  const parameters = parameterList(organisationId, spaceId)
  const { order, direction } = sorts[query.sort]
  const { key } = orders[order]
  const conditions = filterConditions(query.filter, parameters)
  const rest = pageClause(query, parameters, { key, id: 'd.document_id' })
  return database.for(organisationId).query<ListPosition>(
    `select id, ${orders[order].text} as value from (
       select d.document_id as id, ${key} as key from documents d where ${conditions} ${rest}) as page
     order by page.key ${direction}, id ${direction}`,
    parameters.values,
  )
}

/** A search reads all names of the Space once, for the total and the page. */
async function searchIds(database: Database, organisationId: string, spaceId: string, query: DocumentListQuery) {
  const parameters = parameterList(organisationId, spaceId)
  const { order, direction } = sorts[query.sort]
  const conditions = filterConditions(query.filter, parameters)
  const rest = pageClause(query, parameters, { key: 'key', id: 'id' })
  const rows = await database.for(organisationId).query<{ total: number; id: string | null; value: string }>(
    `with found as materialized (
       select d.document_id as id, ${orders[order].key} as key from documents d where ${conditions})
     select total, id, ${orders[order].text} as value
     from (select count(*)::int as total from found) as counted
       left join (select id, key from found where true ${rest}) as page on true
     order by page.key ${direction}, id ${direction}`,
    parameters.values,
  )
  const places = rows.flatMap(({ id, value }) => (id === null ? [] : [{ id, value }]))
  return { total: rows[0]?.total ?? 0, places }
}

/** The rest of a `where` clause, then order, limit and offset. */
function pageClause(
  { sort, after, limit, offset }: DocumentListQuery,
  { add }: Parameters,
  { key, id }: { key: string; id: string },
): string {
  const { order, direction } = sorts[sort]
  const beyond = direction === 'asc' ? '>' : '<'
  const start = after
    ? `and (${key}, ${id}) ${beyond} (${add(after.value)}::${orders[order].type}, ${add(after.id)}::uuid)`
    : ''
  return `${start} order by ${key} ${direction}, ${id} ${direction} limit ${add(limit)} offset ${add(offset)}`
}

/** The groups of documents that filters distinguish, except by name. */
interface Group {
  status: DocumentStatus
  failure: DocumentFailureCode | null
  format: DocumentFormat
  documents: number
}

async function loadContents(database: Database, organisationId: string, spaceId: string): Promise<SpaceContents> {
  const groups = await database.for(organisationId).query<Group>(
    `select d.status, d.error_code as failure, d.format, count(*)::int as documents from documents d
     where d.organisation_id = $1 and d.space_id = $2 and d.is_current group by d.status, d.error_code, d.format
     union all
     select moved.status, null, d.format, moved.sign * count(*)::int from documents d,
       (values ('ready', -1), ('processing', 1)) as moved (status, sign)
     where d.organisation_id = $1 and d.space_id = $2 and d.is_current and d.document_id in (${replacedIds})
     group by moved.status, moved.sign, d.format`,
    [organisationId, spaceId],
  )
  const contents = { counts: { processing: 0, ready: 0, failed: 0 }, failures: {}, formats: {} }
  const add = (counts: Record<string, number>, name: string, documents: number) => {
    counts[name] = (counts[name] ?? 0) + documents
  }
  for (const { status, failure, format, documents } of groups) {
    add(contents.counts, status, documents)
    add(contents.formats, format, documents)
    if (failure !== null) add(contents.failures, failure, documents)
  }
  return {
    ...contents,
    countOf({ status, failure, format }) {
      const matches = (group: Group) =>
        (status === undefined || group.status === status) &&
        (failure === undefined || group.failure === failure) &&
        (format === undefined || group.format === format)
      return groups.reduce((total, group) => total + (matches(group) ? group.documents : 0), 0)
    },
  }
}
