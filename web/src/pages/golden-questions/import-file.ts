import type { z } from 'zod'
import type { goldenImportSchema } from '@contract/golden-questions.ts'
import { postJson } from '../../api/client.ts'
import { goldenPath } from './queries.ts'

export type ImportReport = z.output<typeof goldenImportSchema>

/** A chosen file as the API takes it. */
export type ImportBody = Blob | { questions: unknown[] }

/**
 * Reads a file of questions: CSV, what an export has, or a JSON list of such questions; in JSON, `question` may stand for one message.
 * Undefined where the JSON is something else. The server checks each question.
 */
export async function readFile(file: File): Promise<ImportBody | undefined> {
  const text = await file.text()
  // By content: browsers name CSV in several ways.
  const isJson = /\.json$/i.test(file.name) || /^[\s\uFEFF]*[[{]/.test(text)
  if (isJson) return readQuestions(text)
  // The bytes, so that the server detects a wrong encoding. A copy, because the file may change before it is sent again.
  return new Blob([await file.arrayBuffer()], { type: 'text/csv' })
}

function readQuestions(text: string): { questions: unknown[] } | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const list = isRecord(value) ? value['questions'] : value
  if (!Array.isArray(list) || list.length === 0) return undefined
  return { questions: list.map(withMessages) }
}

function withMessages(given: unknown): unknown {
  if (!isRecord(given) || typeof given['question'] !== 'string') return given
  const { question, ...fields } = given
  return { messages: [{ role: 'user', content: question }], ...fields }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What an import would add and refuse. Throws ApiError where the file as a whole is wrong. */
export const checkFile = (spaceId: string, body: ImportBody) =>
  postJson<ImportReport>(`${goldenPath(spaceId)}/import?dryRun=true`, body)

/** Adds the questions that break no rule. */
export const importFile = (spaceId: string, body: ImportBody) =>
  postJson<ImportReport>(`${goldenPath(spaceId)}/import?onInvalid=skip`, body)
