import { type MetadataFilter, readFilterText, restrictsField } from '../../contract/metadata-filter.ts'
import { sentence } from '../../contract/validation.ts'
import type { ReadScope } from '../../documents/retrieval/index.ts'
import { AppError } from '../../platform/kernel/index.ts'
import type { Space } from '../spaces/index.ts'
import type { AnswerCall } from './port.ts'

export const filterHeader = 'service-document-filter'

/**
 * The documents that an answer may use. Everything that reads documents for it takes this scope. Throws `invalid_request` where the Space
 * requires a filter that the call does not have.
 */
export function scopeOf({
  organisation,
  space,
  filter,
}: Pick<AnswerCall, 'organisation' | 'space' | 'filter'>): ReadScope {
  assertRequiredFilter(space, filter)
  return { organisationId: organisation.id, spaceId: space.id, filter }
}

/** Throws `invalid_request` with the first field of the Space's setting that the filter does not restrict to values. */
export function assertRequiredFilter({ settings }: Pick<Space, 'settings'>, filter: MetadataFilter | null): void {
  const missing = settings.requiredFilter.find((field) => filter === null || !restrictsField(filter, field))
  if (missing === undefined) return
  throw new AppError(
    'invalid_request',
    `This Space answers only with a filter that restricts \`${missing}\` to values: send the header service-document-filter.`,
    { param: filterHeader },
  )
}

/** The filter in a request's header; null without one. Throws `invalid_request`. */
export function readFilterHeader(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): MetadataFilter | null {
  const given = headers[filterHeader]
  if (given === undefined) return null
  const text = typeof given === 'string' ? decodeHeader(given) : null
  if (text === null) throw invalid([], 'must be sent once')
  const read = readFilterText(text)
  if ('problem' in read) throw invalid(read.problem.path, read.problem.message)
  return read.filter
}

/** What all of the filters let through. */
export function allFilters(...filters: (MetadataFilter | null)[]): MetadataFilter | null {
  const given = filters.filter((filter) => filter !== null)
  return given.length > 1 ? { and: given } : (given[0] ?? null)
}

/** Clients send UTF-8, which Node.js reads as Latin-1; browsers send Latin-1. */
function decodeHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  const text = bytes.toString('utf8')
  return text.includes('\uFFFD') ? value : text
}

/** A field name can be as long as the client likes. */
const maximumParam = 300

function invalid(path: readonly (string | number)[], words: string): AppError {
  const param = [filterHeader, ...path].join('.').slice(0, maximumParam).toWellFormed()
  return new AppError('invalid_request', sentence(`\`${param}\``, words), { param })
}
