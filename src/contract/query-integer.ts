import { z } from 'zod'

/** An integer of a query string. Query parameters are text: only digits are accepted; `1e2`, `0x10` and empty text are rejected. */
export const queryInteger = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be an integer')
    .transform(Number)
    .pipe(z.int().min(minimum, `must be at least ${minimum}`).max(maximum, `must be at most ${maximum}`))

/** The fields of a page by offset. */
export const paging = (
  defaultLimit: number,
  {
    maximumLimit = 100,
    maximumOffset = Number.MAX_SAFE_INTEGER,
  }: { maximumLimit?: number; maximumOffset?: number } = {},
) => ({
  offset: queryInteger(0, maximumOffset).default(0),
  limit: queryInteger(1, maximumLimit).default(defaultLimit),
})
