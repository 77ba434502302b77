import type { CallTags } from '../billing/index.ts'
import { usageTagLimits } from '../../contract/usage-reports.ts'
import type { CompletionCall } from './port.ts'

/** What the client states about the call, for usage reports; undefined if there is nothing or the organisation does not record it. */
export function tagsOf({
  organisation,
  request,
}: Pick<CompletionCall, 'organisation' | 'request'>): CallTags | undefined {
  const { user, metadata } = request
  if ((user === undefined && metadata === undefined) || !organisation.recordUsageTags) return undefined
  const tags: Record<string, string> = {}
  if (user !== undefined && user !== '') tags['user'] = shorten(user, usageTagLimits.valueCharacters)
  for (const [key, value] of Object.entries(metadata ?? {})) {
    if (value === '' || !isRecordable(key)) continue
    tags[`metadata.${key}`] = shorten(value, usageTagLimits.valueCharacters)
  }
  return Object.keys(tags).length > 0 ? tags : undefined
}

/** A key that is cut could equal another one. */
function isRecordable(key: string): boolean {
  return key !== '' && key.length <= usageTagLimits.keyCharacters && !key.includes('\0') && key.isWellFormed()
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair, which a cut can leave. */
function shorten(text: string, characters: number): string {
  return text.slice(0, characters).replaceAll('\0', '').toWellFormed()
}
