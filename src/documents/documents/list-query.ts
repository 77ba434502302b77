import type { FilteredListQuery } from '../../contract/document-list-query.ts'
import {
  checkFilter,
  type FieldCondition,
  filterBounds,
  type FilterRange,
  type MetadataFilter,
} from '../../contract/metadata-filter.ts'
import { sentence } from '../../contract/validation.ts'
import { type AppError, invalidField } from '../../platform/kernel/index.ts'
import { decodePosition, type DocumentListQuery } from './document-list.ts'

const prefix = 'metadata.'
const known = new Set([
  'spaceId',
  'offset',
  'limit',
  'status',
  'type',
  'name',
  'namePrefix',
  'createdFrom',
  'createdBefore',
  'sort',
  'after',
])

/** The list that the parameters ask for, and the names of those that mean nothing. Throws `invalid_request`. */
export function readListQuery(query: FilteredListQuery): { list: DocumentListQuery; ignored: string[] } {
  const { status, type, name, namePrefix, createdFrom, createdBefore, sort, after, limit, offset } = query
  const others = Object.keys(query).filter((parameter) => !known.has(parameter))
  const metadata = readMetadataParameters(
    query,
    others.filter((parameter) => parameter.startsWith(prefix)),
  )
  const filter = {
    ...(status && { status }),
    ...(type && { format: type }),
    ...(name && { search: name }),
    ...(namePrefix && { namePrefix }),
    ...(createdFrom && { createdFrom: new Date(createdFrom) }),
    ...(createdBefore && { createdBefore: new Date(createdBefore) }),
    ...(metadata && { metadata }),
  }
  return {
    list: { filter, sort, after: after === undefined ? undefined : decodePosition(sort, after), limit, offset },
    ignored: others.filter((parameter) => !parameter.startsWith(prefix)),
  }
}

/**
 * `metadata.FIELD=VALUE`, repeated for one of several values, and `metadata.FIELD.gte=VALUE`. Parameters are text: 2024 means the number and the
 * string, true the boolean and the string.
 */
function readMetadataParameters(query: FilteredListQuery, parameters: readonly string[]): MetadataFilter | undefined {
  if (parameters.length === 0) return undefined
  const ranges = new Map<string, [keyof FilterRange, string][]>()
  const conditions: MetadataFilter[] = []
  for (const parameter of parameters) {
    const values = [query[parameter] as string | string[]].flat()
    const bound = filterBounds.find((one) => parameter.endsWith(`.${one}`))
    const field = parameter.slice(prefix.length, bound ? -bound.length - 1 : undefined)
    if (bound) {
      if (values.length !== 1) throw invalid(parameter, 'must be there once')
      ranges.set(field, [...(ranges.get(field) ?? []), [bound, values[0]!]])
    } else conditions.push(condition(parameter, field, values.flatMap(meanings)))
  }
  for (const [field, bounds] of ranges) {
    const parameter = `${prefix}${field}`
    const asTexts = condition(parameter, field, Object.fromEntries(bounds))
    const numbers = bounds.map(([bound, value]) => [bound, numberOf(value)] as const)
    const areNumbers = numbers.every(([, value]) => value !== undefined)
    const asNumbers = areNumbers && condition(parameter, field, Object.fromEntries(numbers) as FilterRange)
    conditions.push(asNumbers ? { or: [asTexts, asNumbers] } : asTexts)
  }
  const filter: MetadataFilter = { and: conditions }
  const problem = checkFilter(filter)
  if (problem) throw invalid('metadata', problem.message)
  return filter
}

function condition(parameter: string, field: string, member: FieldCondition): MetadataFilter {
  const filter = { [field]: member }
  const problem = checkFilter(filter)
  if (problem) throw invalid(parameter, problem.message)
  return filter
}

function meanings(value: string): (string | number | boolean)[] {
  const number = numberOf(value)
  const isBoolean = value === 'true' || value === 'false'
  return [value, ...(number === undefined ? [] : [number]), ...(isBoolean ? [value === 'true'] : [])]
}

/** As JSON writes numbers; undefined for other texts. */
function numberOf(value: string): number | undefined {
  if (!/^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/.test(value)) return undefined
  const number = Number(value)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
}

/** A parameter name can be as long as the client likes. */
const maximumParam = 300

function invalid(parameter: string, words: string): AppError {
  const param = parameter.slice(0, maximumParam).toWellFormed()
  return invalidField(param, sentence(`\`${param}\``, words))
}
