import { ApiError, postJson } from '../../api/client.ts'
import { goldenPath } from './queries.ts'
import type { GivenQuestion } from './use-questions.ts'

/** As the server limits a Space. */
export const maximumImported = 500

export interface ImportReport {
  added: number
  /** Questions that the Space has already. */
  existing: number
  /** The number of the question in the file, from 1, and why it was refused. */
  refused: { number: number; reason: string }[]
}

/**
 * Reads a file of questions: what an export has, or a list of such questions; `question` may stand for one message. Undefined where
 * the text is something else. The server checks each question.
 */
export function readQuestions(text: string): Partial<GivenQuestion>[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const list = isRecord(value) ? value['questions'] : value
  if (!Array.isArray(list) || list.length === 0 || !list.every(isRecord)) return undefined
  return list.map(({ question, ...fields }) =>
    typeof question === 'string' ? { messages: [{ role: 'user', content: question }], ...fields } : fields,
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Adds the questions one after another. Throws ApiError where no further question can be added. */
export async function importQuestions(
  spaceId: string,
  questions: readonly Partial<GivenQuestion>[],
  { signal, onProgress }: { signal: AbortSignal; onProgress: (done: number) => void },
): Promise<ImportReport> {
  const report: ImportReport = { added: 0, existing: 0, refused: [] }
  for (const [index, question] of questions.entries()) {
    if (signal.aborted) break
    try {
      await postJson(goldenPath(spaceId), question)
      report.added += 1
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 404, 409].includes(error.status)) throw error
      // Each conversation once; the limit of the Space has no field.
      if (error.status === 409 && error.param !== undefined) report.existing += 1
      else report.refused.push({ number: index + 1, reason: error.message })
    }
    onProgress(index + 1)
  }
  return report
}
