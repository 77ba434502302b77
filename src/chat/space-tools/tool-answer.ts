import type { ToolCredential } from '../../contract/space-tools.ts'
import { cleanText, cutText } from './bounded-body.ts'
import { withoutSecret } from './credential.ts'
import type { ToolAnswer } from './tool-server.ts'

export const answerLimits = {
  /** Bytes of a response that are received. */
  bytes: 256 * 1024,
  /** UTF-16 units of a result that the model receives. */
  characters: 8_000,
  /** Of the report of a server about a failed call. */
  problem: 500,
} as const

export function toAnswer(text: string, isCut: boolean, credential: ToolCredential | null): ToolAnswer {
  const cut = cutText(clean(text, credential), answerLimits.characters)
  return { text: cut.text, isCut: isCut || cut.isCut }
}

export function toProblem(problem: string, text: string, credential: ToolCredential | null): ToolAnswer {
  const quoted = cutText(clean(text, credential), answerLimits.problem).text
  return quoted === '' ? { problem } : { problem, quoted }
}

const clean = (text: string, credential: ToolCredential | null) => withoutSecret(cleanText(text), credential).trim()
