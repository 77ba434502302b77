import type { DocumentFilter, DocumentSort } from '../../contract/document-progress.ts'
import { type AppError, isUuid, invalidField } from '../../platform/kernel/index.ts'
import type { DocumentCounts, DocumentProgressRow } from './document.ts'

/** Which documents of a Space a list has. */
export interface ListFilter extends DocumentFilter {
  namePrefix?: string
  createdFrom?: Date
  createdBefore?: Date
}

export interface DocumentListQuery {
  filter: ListFilter
  sort: DocumentSort
  /** Continues after this document. */
  after: ListPosition | undefined
  /** Documents to skip, from the start or `after`. */
  offset: number
  limit: number
}

/** A place in a list: what the order compares of a document, as text, and its id. */
export interface ListPosition {
  value: string
  id: string
}

export interface DocumentListPage {
  /** Documents that match the filter. */
  total: number
  contents: SpaceContents
  items: DocumentProgressRow[]
  /** Position of the last item. */
  last: ListPosition | undefined
}

export interface DocumentLists {
  loadList(organisationId: string, spaceId: string, query: DocumentListQuery): Promise<DocumentListPage>
  /** The documents that still exist in the Space, in no order. */
  loadProgressOf(organisationId: string, spaceId: string, ids: readonly string[]): Promise<DocumentProgressRow[]>
}

/** What a Space contains. */
export interface SpaceContents {
  counts: DocumentCounts
  /** Failed documents by code. */
  failures: Record<string, number>
  formats: Record<string, number>
  /** Documents that match a filter by status, failure and format only. */
  countOf(filter: DocumentFilter): number
}

export function encodePosition(sort: DocumentSort, { value, id }: ListPosition): string {
  return Buffer.from(JSON.stringify([sort, value, id])).toString('base64url')
}

/** The form of the compared value, by sort. A value that PostgreSQL cannot cast would be an internal error. */
const time = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const size = /^\d{1,18}$/
const text = /^.{1,2000}$/su
const valueForms: Record<DocumentSort, RegExp> = {
  newest: time,
  oldest: time,
  name: text,
  nameDescending: text,
  largest: size,
  smallest: size,
}

/** Reads `after`, which clients may change. Throws AppError. */
export function decodePosition(sort: DocumentSort, after: string): ListPosition {
  let read: unknown
  try {
    read = JSON.parse(Buffer.from(after, 'base64url').toString('utf8'))
  } catch {
    throw invalidPosition()
  }
  const [ofSort, value, id] = Array.isArray(read) ? (read as unknown[]) : []
  const isValid = ofSort === sort && typeof value === 'string' && typeof id === 'string' && isUuid(id)
  if (!isValid || !valueForms[sort].test(value) || !isStorable(value)) throw invalidPosition()
  if (valueForms[sort] === time && !isDate(value)) throw invalidPosition()
  return { value, id }
}

const isStorable = (value: string) => value.isWellFormed() && !value.includes('\u0000')

/** False for a day such as February 30. */
function isDate(value: string): boolean {
  const date = new Date(value)
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === value.slice(0, 19)
}

function invalidPosition(): AppError {
  return invalidField('after', 'after: must be `next` of a page with the same `sort`.')
}
