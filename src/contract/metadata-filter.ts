import { z } from 'zod'
import { isObject } from './quick-reader.ts'

/** Which documents a search, an answer or a list may use, by fields at the top level of their metadata. */

export type FilterValue = string | number | boolean

export interface FilterRange {
  gt?: string | number
  gte?: string | number
  lt?: string | number
  lte?: string | number
}

export type FieldCondition = FilterValue | FilterValue[] | FilterRange

/** All members must hold. `and`, `or` and `not` combine filters; every other name is a field of the metadata. */
export interface MetadataFilter {
  and?: MetadataFilter[]
  or?: MetadataFilter[]
  not?: MetadataFilter
  [field: string]: FieldCondition | MetadataFilter | MetadataFilter[] | undefined
}

export const filterLimits = {
  /** UTF-16 units of the filter as JSON. */
  characters: 8_000,
  /** `and`, `or` and `not` within each other. */
  depth: 4,
  /** Fields with their conditions. */
  conditions: 50,
  /** Of one field, and filters of one `and` or `or`. */
  values: 100,
  nameCharacters: 200,
  valueCharacters: 500,
} as const

export const filterBounds = ['gt', 'gte', 'lt', 'lte'] as const

interface Problem {
  path: (string | number)[]
  message: string
}

interface Reading {
  conditions: number
}

const isBound = (name: string) => (filterBounds as readonly string[]).includes(name)
/** The first problem of a filter; null: it is valid. */
export function checkFilter(value: unknown): Problem | null {
  return checkNode(value, [], 0, { conditions: 0 })
}

function checkNode(value: unknown, path: Problem['path'], depth: number, reading: Reading): Problem | null {
  if (!isObject(value)) return { path, message: 'must be a JSON object such as {"customer": "acme"}' }
  if (depth > filterLimits.depth) {
    return { path, message: `must have at most ${filterLimits.depth} levels of \`and\`, \`or\` and \`not\`` }
  }
  const members = Object.entries(value)
  if (members.length === 0) return { path, message: 'must name at least one field' }
  for (const [name, member] of members) {
    const place = [...path, name]
    const problem =
      name === 'and' || name === 'or'
        ? checkList(member, place, depth, reading)
        : name === 'not'
          ? checkNode(member, place, depth + 1, reading)
          : checkField(name, member, place, reading)
    if (problem) return problem
  }
  return null
}

function checkList(value: unknown, path: Problem['path'], depth: number, reading: Reading): Problem | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > filterLimits.values) {
    return { path, message: `must be an array of 1 to ${filterLimits.values} filters` }
  }
  for (const [index, one] of value.entries()) {
    const problem = checkNode(one, [...path, index], depth + 1, reading)
    if (problem) return problem
  }
  return null
}

function checkField(name: string, condition: unknown, path: Problem['path'], reading: Reading): Problem | null {
  reading.conditions += 1
  if (reading.conditions > filterLimits.conditions) {
    return { path, message: `must not be there: a filter has at most ${filterLimits.conditions} conditions` }
  }
  if (name.startsWith('$')) return { path, message: 'is no field: operators are written without `$`' }
  if (!isText(name, filterLimits.nameCharacters) || name === '') {
    return { path, message: `must have a name of 1 to ${filterLimits.nameCharacters} characters without U+0000` }
  }
  if (Array.isArray(condition)) return checkValues(condition, path)
  return isObject(condition) ? checkRange(condition, path) : checkValue(condition, path)
}

function checkValues(values: readonly unknown[], path: Problem['path']): Problem | null {
  if (values.length === 0 || values.length > filterLimits.values) {
    return { path, message: `must have 1 to ${filterLimits.values} values` }
  }
  for (const [index, value] of values.entries()) {
    const problem = checkValue(value, [...path, index])
    if (problem) return problem
  }
  return null
}

function checkRange(range: Record<string, unknown>, path: Problem['path']): Problem | null {
  const bounds = Object.entries(range)
  const unknown = bounds.find(([name]) => !isBound(name))
  if (unknown || bounds.length === 0) {
    const given = unknown ? `, not \`${unknown[0].slice(0, 60)}\`` : ''
    return { path, message: `must have \`gt\`, \`gte\`, \`lt\` or \`lte\`${given}` }
  }
  for (const [name, value] of bounds) {
    if (typeof value === 'boolean') return { path: [...path, name], message: 'must be a string or a number' }
    const problem = checkValue(value, [...path, name])
    if (problem) return problem
  }
  return null
}

function checkValue(value: unknown, path: Problem['path']): Problem | null {
  if (typeof value === 'boolean') return null
  if (typeof value === 'number') {
    const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    return isExact ? null : { path, message: 'must be a number that is exact in JSON, at most 9007199254740991' }
  }
  if (typeof value !== 'string') return { path, message: 'must be a string, a number, true or false' }
  if (isText(value, filterLimits.valueCharacters)) return null
  return { path, message: `must have at most ${filterLimits.valueCharacters} characters, without U+0000` }
}

const isText = (text: string, maximum: number) =>
  text.length <= maximum && text.isWellFormed() && !text.includes('\u0000')

export const metadataFilterSchema = z
  .custom<MetadataFilter>()
  .superRefine((value, context) => {
    const problem = checkFilter(value)
    if (problem) context.addIssue({ code: 'custom', ...problem })
  })
  .meta({
    id: 'MetadataFilter',
    type: 'object',
    additionalProperties: true,
    description:
      'Fields at the top level of the metadata with a value (`{"customer": "acme"}`), a list of which one must be equal (`{"customer": ["acme", "corvo"]}`) or a range (`{"year": {"gte": 2024, "lte": 2025}}`); all must hold. `and` and `or` have an array of filters, `not` has one. A list in the metadata matches by any of its values.',
    examples: [{ customer: 'acme', year: { gte: 2024 }, not: { language: ['de', 'fr'] } }],
  })

/** Whether each document that the filter lets through has one of some given values in the field: in `or` each branch must restrict it. */
export function restrictsField(filter: MetadataFilter, field: string): boolean {
  return Object.entries(filter).some(([name, member]) => {
    if (name === 'not' || member === undefined) return false
    if (name === 'and') return (member as MetadataFilter[]).some((one) => restrictsField(one, field))
    if (name === 'or') return (member as MetadataFilter[]).every((one) => restrictsField(one, field))
    return name === field && (Array.isArray(member) || typeof member !== 'object')
  })
}

/** Reads a filter as JSON text, as in the header `service-document-filter`. */
export function readFilterText(text: string): { filter: MetadataFilter } | { problem: Problem } {
  if (text.length > filterLimits.characters) {
    return { problem: { path: [], message: `must have at most ${filterLimits.characters} characters` } }
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { problem: { path: [], message: 'must be JSON such as {"customer": "acme"}' } }
  }
  const problem = checkFilter(value)
  return problem ? { problem } : { filter: value as MetadataFilter }
}
