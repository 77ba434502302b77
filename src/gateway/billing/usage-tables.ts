/** What the tables of migration 0090-usage have in common. */

/** The endings and reasons that count as failed: not those where the client left. */
export const failedEndings = ['provider_failed', 'budget_ended', 'shutdown', 'crashed'] as const
export const isFailed = `(ending in (${failedEndings.map((ending) => `'${ending}'`).join(', ')})
  or (ending = 'unanswered' and failure is distinct from 'client_closed'))`

/** The space_id of calls outside of Spaces. */
export const noSpace = '00000000-0000-0000-0000-000000000000'

/** The tag_id of values above the limit of different values per key and day. */
export const otherTags = 0n

/** Width of the quarter hours in usage_slots. */
export const slotMs = 15 * 60_000

/** Four buckets for each power of two milliseconds: the ends of a bucket are 19 % apart. */
export const bucketsPerDoubling = 4
export const bucketOf = (ms: string): string =>
  `floor(${bucketsPerDoubling} * ln(greatest(${ms}, 1)::float8) / ln(2::float8) + 1e-9)::int2`
