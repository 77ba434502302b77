import type { PromptBody } from '../../../contract/gateway-v2-messages.ts'
import type { CacheMark } from '../../providers/index.ts'

interface Marked {
  cache_control?: { ttl?: '5m' | '1h' | undefined } | undefined
}

/** `cache_control` of a block or a tool. */
export function toCacheMark(control: Marked['cache_control']): CacheMark | undefined {
  if (!control) return undefined
  return control.ttl === undefined ? {} : { ttl: control.ttl }
}

/** Whether a mark keeps the prompt for an hour. */
export function marksHour(body: PromptBody): boolean {
  const { system, tools = [], messages } = body
  if (isHour(body) || tools.some(isHour) || (Array.isArray(system) && system.some(isHour))) return true
  return messages.some(({ content }) => typeof content !== 'string' && content.some(hasHour))
}

const isHour = (marked: object) => (marked as Marked).cache_control?.ttl === '1h'

/** Also of the blocks in a result, and of those in a document. */
function hasHour(block: object): boolean {
  const { content, source } = block as { content?: unknown; source?: { content?: unknown } }
  const inner = [content, source?.content].filter((value) => Array.isArray(value)).flat() as object[]
  return isHour(block) || inner.some((entry) => typeof entry === 'object' && entry !== null && hasHour(entry))
}
