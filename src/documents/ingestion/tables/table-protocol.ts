import type { Reading } from '../../documents/index.ts'
import type { DocumentFormat } from '../extraction.ts'
import type { SqlColumn, SqlValue } from './columns.ts'

export interface TableDocument extends Reading {
  /** Of its content: a new version of the document has another one. */
  key: string
  name: string
  format: DocumentFormat
  sizeBytes: number
}

/** A table as a model sees it. */
export interface TableDescription {
  /** `t1`, `t2`, … in the order of the documents. */
  name: string
  documentKey: string
  title: string | null
  rowCount: number
  columns: Pick<SqlColumn, 'name' | 'type' | 'kind' | 'note' | 'header'>[]
  /** The first rows, or those with most words of the question; in the order of the file. */
  rows: SqlValue[][]
}

export interface QueryResult {
  columns: string[]
  rows: SqlValue[][]
  /** More rows exist than the result holds. */
  isCut: boolean
}

export type TableWork = { kind: 'describe'; words: string[]; maximumRowBytes: number } | { kind: 'query'; sql: string }

export type TableAnswer = { kind: 'described'; tables: TableDescription[] } | { kind: 'result'; result: QueryResult }

/** Messages to the process. `filePaths` are absent in the first request for documents, which may be loaded already. */
export interface ToTableProcess {
  type: 'work'
  documents: TableDocument[]
  filePaths?: string[]
  work: TableWork
  memoryLimitBytes: number
}

/** Messages from the process. */
export type FromTableProcess =
  | { type: 'ready' }
  /** The documents are not loaded: the request must be repeated with paths. */
  | { type: 'missing' }
  /** The tables are loaded; the statement runs now. */
  | { type: 'loaded' }
  | { type: 'done'; answer: TableAnswer }
  /** The fault of the statement or of the file; for the model. */
  | { type: 'refused'; message: string }
