import { z } from 'zod'

/** An integer of a query string. Query parameters are text: only digits are accepted; `1e2`, `0x10` and empty text are rejected. */
export const queryInteger = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be an integer')
    .transform(Number)
    .pipe(z.int().min(minimum, `must be at least ${minimum}`).max(maximum, `must be at most ${maximum}`))

/** A page by offset. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ total: z.int(), limit: z.int(), offset: z.int(), items: z.array(item) })

/** The query of a page that continues after the last entry of the page before, newest first. */
export const cursorPaging = (defaultLimit: number) => ({
  limit: queryInteger(1, 100).default(defaultLimit),
  cursor: z
    .string()
    .regex(/^\d{1,15}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be the nextCursor of an earlier page')
    .optional()
    .describe('`nextCursor` of the page before.'),
})

/** The query of a page by offset. */
export const paging = (
  defaultLimit: number,
  {
    maximumLimit = 100,
    maximumOffset = Number.MAX_SAFE_INTEGER,
  }: { maximumLimit?: number; maximumOffset?: number } = {},
) => ({ offset: queryInteger(0, maximumOffset).default(0), limit: queryInteger(1, maximumLimit).default(defaultLimit) })
