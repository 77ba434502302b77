import { z } from 'zod'

/** Of settings that several people change at the same time. */
export const settingsVersionSchema = z
  .string()
  .describe(
    'Changes with the settings. In quotes for `if-match`: settings that were changed since are not overwritten.',
  )

export const ifMatchHeadersSchema = z.looseObject({
  'if-match': z
    .string()
    .regex(/^"[\w-]{1,64}"$/, 'must be the version in quotes, such as "dGhlIHNldHRpbmdz"')
    .optional()
    .describe('The `version` that was read, in quotes: settings that were changed since are a 409.'),
})
