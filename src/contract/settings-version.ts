import { z } from 'zod'

/** Of settings that several people change at the same time. */
export const settingsVersionSchema = z
  .string()
  .describe(
    'Changes with the settings. In quotes for `if-match`: settings that were changed since are not overwritten.',
  )

/** Of settings that are not stored yet: a change with it creates them, and is a 409 where someone else has. */
export const absentVersion = 'RBNvo1WzZ4oRRq0W9-hknp'

/** For settings with a number that each change raises. `stale` describes what is a 409. */
export const generationHeaders = (stale: string) =>
  z.looseObject({
    'if-match': z
      .string()
      .regex(/^"\d{1,9}"$/, 'must be the generation in quotes, such as "7"')
      .optional()
      .describe(`The \`generation\` that was read, in quotes: ${stale}`),
  })

/** The generation in such a header. */
export function generationOf(headers: Record<string, unknown>): number | undefined {
  const match = headers['if-match']
  return typeof match === 'string' ? Number(match.slice(1, -1)) : undefined
}

export const ifMatchHeadersSchema = z.looseObject({
  'if-match': z
    .string()
    .regex(/^"[\w-]{1,64}"$/, 'must be the version in quotes, such as "dGhlIHNldHRpbmdz"')
    .optional()
    .describe('The `version` that was read, in quotes: settings that were changed since are a 409.'),
})
