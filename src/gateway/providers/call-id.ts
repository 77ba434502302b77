import { createHash } from 'node:crypto'

/**
 * An id for a call of a host that gives none: the same for the same answer, however it is read, and different for answers with different
 * ids or times.
 */
export function callIdOf(answerId: string, index: number): string {
  return `call_${createHash('sha256').update(`${answerId}\n${index}`).digest('hex').slice(0, 24)}`
}
