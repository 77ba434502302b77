import type { AdminLogEntryBody } from '../../contract/admin-log.ts'
import { csvCell } from '../../platform/kernel/index.ts'
import type { AdminLogEntry } from './admin-log.ts'

export const renderEntry = (entry: AdminLogEntry): AdminLogEntryBody => ({ ...entry, at: entry.at.toISOString() })

const csvColumns = [
  'id',
  'at',
  'actor',
  'personId',
  'sessionId',
  'requestId',
  'action',
  'subjectType',
  'subjectId',
  'subjectName',
  'organisationId',
  'organisationName',
  'before',
  'after',
] as const satisfies readonly (keyof AdminLogEntryBody)[]

export type AdminLogFormat = 'jsonl' | 'csv'

/** One line for each entry. CSV has a header, and no text that a spreadsheet would run as a formula; `before` and `after` are JSON in it. */
export async function* renderAdminLog(pages: AsyncIterable<readonly AdminLogEntry[]>, format: AdminLogFormat) {
  if (format === 'csv') yield `${csvColumns.join(',')}\r\n`
  const toLine = format === 'csv' ? toCsvLine : toJsonLine
  for await (const entries of pages) yield entries.map((entry) => toLine(renderEntry(entry))).join('')
}

const toJsonLine = (entry: AdminLogEntryBody) => `${JSON.stringify(entry)}\n`

function toCsvLine(entry: AdminLogEntryBody): string {
  const cells = csvColumns.map((name) => {
    const value = entry[name]
    return csvCell(typeof value === 'object' && value !== null ? JSON.stringify(value) : value)
  })
  return `${cells.join(',')}\r\n`
}
