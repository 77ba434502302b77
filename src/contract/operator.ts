import { z } from 'zod'
import { pageOf, paging } from './query-integer.ts'
import { settingsVersionSchema } from './settings-version.ts'

/** The operator API of organisations, keys and Spaces. Unknown fields are rejected, so that a typo is an error. */

/** An id that is not a UUID is a resource that does not exist. */
export const idParamsSchema = z.object({ id: z.string() })
/** The body of a 204. */
export const emptySchema = z.null().describe('Empty.')

const plan = z.enum(['free', 'team', 'enterprise'])
/** A time that a client sends. */
export const isoTime = z.iso.datetime({ offset: true, error: 'must be an ISO 8601 time such as 2026-12-31T23:00:00Z' })
const decimal = z.union([z.string().max(40), z.number()])
const subscription = z
  .strictObject({
    status: z.enum(['active', 'cancelled']).optional(),
    startsAt: isoTime.optional(),
    endsAt: isoTime.nullable().optional(),
  })
  .describe('A cancelled subscription ends at `endsAt`, or now without it. null: no end.')

const limits = {
  concurrentCalls: z.int().describe('Concurrent completions and chats. Default 256.'),
  requestsPerMinute: z.int().nullable().describe('Completions and chats per minute. Default null: no limit.'),
  tokensPerMinute: z
    .int()
    .nullable()
    .describe('Tokens of the prompts and answers of completions and chats per minute. Default null: no limit.'),
  concurrentUploads: z.int().describe('Concurrent uploads. Default 16.'),
}

/** Canonical ids or aliases. */
export const modelIdsSchema = z.array(z.string().min(1).max(300)).max(1000)

const organisationFields = {
  plan: plan.optional().describe('Only `enterprise` may use the gateway.'),
  subscription: subscription.optional(),
  gatewayEnabled: z.boolean().optional().describe("The operator's enablement."),
  monthlyBudgetUsd: decimal
    .optional()
    .describe('US dollars per period, exact: `"50.00"`. At most 12 decimals, at most 4000000.'),
  markupPercent: decimal.optional().describe('Added to the base cost: `"12.5"`. At most 2 decimals, at most 1000.'),
  timeZone: z.string().max(100).optional().describe('IANA zone of the budget’s period, for instance `Europe/Berlin`.'),
  periodAnchorDay: z.int().optional().describe('Day of the month, 1 to 28, on which the budget renews.'),
  disabledModels: modelIdsSchema
    .optional()
    .describe('Models that this organisation may not use; aliases become canonical ids.'),
  limits: z
    .strictObject(limits)
    .partial()
    .optional()
    .describe('Limits of the organisation on each instance. A call above a limit is a 429.'),
  recordUsageTags: z
    .boolean()
    .optional()
    .describe(
      'Whether usage reports record `user` and `metadata` of completions, which can be personal data. Default true. false also deletes what was recorded.',
    ),
}

export const createOrganisationSchema = z
  .strictObject({ name: z.string(), ...organisationFields })
  .describe('Defaults: plan `free`, not enabled, budget 0, subscription active from now on.')
  .meta({ id: 'CreateOrganisation' })

export const updateOrganisationSchema = z
  .strictObject({ name: z.string().optional(), ...organisationFields })
  .refine((body) => Object.values(body).some((value) => value !== undefined), { error: 'must have at least one field' })
  .meta({ id: 'UpdateOrganisation' })

export const listOrganisationsQuerySchema = z.object({
  ...paging(20),
  search: z.string().max(200).optional().describe('A part of the name, not case-sensitive.'),
})

export const keyDisplaySchema = z.object({
  prefix: z.string(),
  lastFour: z.string(),
  createdAt: z.iso.datetime(),
  createdBy: z
    .string()
    .nullable()
    .describe(
      'The email of a person, `operator` for the operator token, or `service`; null for keys of older versions.',
    ),
  lastUsedAt: z.iso.datetime().nullable().describe('In whole minutes, some seconds after the use; null: not used yet.'),
})

export const organisationSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    plan,
    subscription: z.object({
      status: z.enum(['active', 'cancelled']),
      startsAt: z.iso.datetime(),
      endsAt: z.iso.datetime().nullable(),
      active: z.boolean().describe('Whether it is in effect now.'),
    }),
    gatewayEnabled: z.boolean(),
    gatewayOptIn: z.boolean().describe('Set by a team administrator.'),
    monthlyBudgetUsd: z.string(),
    markupPercent: z.string(),
    timeZone: z.string(),
    periodAnchorDay: z.int(),
    disabledModels: z.array(z.string()),
    limits: z.object(limits),
    recordUsageTags: z.boolean(),
    webhookUrl: z.string().nullable(),
    apiKey: keyDisplaySchema.nullable().describe('The current key, without its secret part.'),
    version: settingsVersionSchema,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Organisation' })

export const organisationPageSchema = pageOf(organisationSchema).meta({ id: 'OrganisationPage' })

export const optInSchema = z.strictObject({ optIn: z.boolean() }).meta({ id: 'OptIn' })

export const newApiKeySchema = keyDisplaySchema
  .extend({ key: z.string().describe('Shown only now.') })
  .meta({ id: 'NewApiKey' })

export const putWebhookSchema = z
  .strictObject({
    url: z.string().max(2000).describe('Where budget thresholds are sent.'),
    secret: z.string().min(16).max(200).optional().describe('Signs the calls. Generated if absent.'),
  })
  .meta({ id: 'PutWebhook' })

export const webhookSchema = z
  .object({ url: z.string(), secret: z.string().describe('Shown only now.') })
  .meta({ id: 'Webhook' })

export const operatorTokenSchema = z
  .object({ token: z.string().describe('Shown only now; the former token is no longer valid.') })
  .meta({ id: 'OperatorToken' })

const reencrypted = {
  reencrypted: z.int().describe('Values that were under the second key.'),
  unchanged: z.int().describe('Values that were under the secret key already.'),
  unreadable: z.int().describe('Values under neither key.'),
}

export const reencryptionSchema = z
  .object({
    ...reencrypted,
    kinds: z.object({
      providers: z.object(reencrypted).describe('Keys, headers and credentials of providers.'),
      webhooks: z.object(reencrypted).describe('Secrets of webhooks.'),
      erasures: z.object(reencrypted).describe('Subjects of erasures that are not complete.'),
      spaceTools: z.object(reencrypted).describe('Credentials of tool servers of Spaces.'),
      secondFactors: z.object(reencrypted).describe('Secrets and backup codes of second factors.'),
      singleSignOn: z.object(reencrypted).describe('Client secrets of single sign-on.'),
      installationKeys: z.object(reencrypted).describe('Keys that outlive the secret key.'),
    }),
  })
  .meta({ id: 'Reencryption' })

const spaceSettings = {
  maximumPassages: z
    .int()
    .optional()
    .describe(
      "Passages that an answer is given at most, 1 to 50, as far as they fit into the model's context. Default 30.",
    ),
  maximumPassageTokens: z
    .int()
    .optional()
    .describe('Tokens of the passages of one search at most, 500 to 50000; each answer pays for them. Default 8000.'),
  wholeSpaceTokens: z
    .int()
    .optional()
    .describe(
      "Answers are given all files whole, without a search, where these have at most this many tokens, 0 to 50000, and fit into the model's context. 0: never. Default 6000.",
    ),
  baseTierFallback: z
    .boolean()
    .optional()
    .describe('Use a base-tier model when the budget is used up, if the service allows it.'),
  temperature: z.number().nullable().optional().describe('0 to 2; null for the provider’s default.'),
  maximumOutputTokens: z.int().nullable().optional().describe('Limit of one answer; null for the limit of the model.'),
  maximumToolCostUsd: z
    .number()
    .nullable()
    .optional()
    .describe(
      'US dollars, 0 to 1000: an answer with the agentic workflow calls no more tools once its calls of the model have cost this much. null (default): no limit.',
    ),
  keepUnansweredQuestions: z
    .boolean()
    .optional()
    .describe(
      'Keep the text of questions that the published chat could not answer, for 90 days. Default false; only administrators may set it.',
    ),
  keepConversations: z
    .boolean()
    .optional()
    .describe(
      'Store the answers of the published chat with their questions. Default false; only administrators may set it. Turning it off erases what is stored.',
    ),
  conversationDays: z
    .int()
    .optional()
    .describe('Days after which a stored answer is deleted, 1 to 400. Default 30; only administrators may set it.'),
  queryRewriting: z
    .enum(['auto', 'off'])
    .optional()
    .describe(
      '`auto` (default): the model rewrites a follow-up question for the search, in a separate call that is billed. `off`: only the words of the conversation are searched.',
    ),
  attribution: z
    .enum(['auto', 'off'])
    .optional()
    .describe(
      '`auto` (default of a new Space): with inline sources, sentences without a marker get one where a passage supports them. `off`: only markers of the model.',
    ),
  ocr: z
    .enum(['auto', 'off'])
    .optional()
    .describe(
      '`auto` (default): pages of pdfs without usable text are read from their pictures (OCR), where the service has it. `off`: they are a warning. Applies to later uploads.',
    ),
  ocrLanguages: z
    .array(z.string())
    .optional()
    .describe(
      'Languages of these pages, at most 3 codes such as `deu`, `eng` or `jpn`. Default none: the language of each file is found among those that are installed.',
    ),
  requiredFilter: z
    .array(z.string())
    .optional()
    .describe(
      'Fields of the metadata, at most 5, such as `customer`: each chat and each search must restrict them to values by its filter, otherwise it is a 400. Default none; only administrators may set it.',
    ),
}
export const spaceSettingsSchema = z.strictObject(spaceSettings)

const spaceFields = {
  instructions: z.string().optional().describe('Precede the prompt of every answer; at most 50000 characters.'),
  model: z.string().optional().describe('Id or alias, with or without `eu/`. Default: the service’s default model.'),
  settings: spaceSettingsSchema.optional(),
}

export const createSpaceSchema = z
  .strictObject({ organisationId: z.uuid(), name: z.string(), ...spaceFields })
  .meta({ id: 'CreateSpace' })

export const updateSpaceSchema = z
  .strictObject({ name: z.string().optional(), ...spaceFields })
  .refine((body) => Object.values(body).some((value) => value !== undefined), { error: 'must have at least one field' })
  .meta({ id: 'UpdateSpace' })

export const listSpacesQuerySchema = z.object({
  ...paging(20),
  organisationId: z.uuid().optional(),
  search: z.string().max(200).optional().describe('A part of the name, not case-sensitive.'),
})

export const publishSpaceQuerySchema = z.object({
  overrideReason: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe('Publishes although the golden questions do not pass. The admin log gets the reason.'),
})

export const spaceSchema = z
  .object({
    id: z.uuid(),
    organisationId: z.uuid(),
    name: z.string(),
    instructions: z.string(),
    model: z.string(),
    settings: z.object({
      maximumPassages: z.int(),
      maximumPassageTokens: z.int(),
      wholeSpaceTokens: z.int(),
      baseTierFallback: z.boolean(),
      temperature: z.number().nullable(),
      maximumOutputTokens: z.int().nullable(),
      maximumToolCostUsd: z.number().nullable(),
      keepUnansweredQuestions: z.boolean(),
      keepConversations: z.boolean(),
      conversationDays: z.int(),
      queryRewriting: z.enum(['auto', 'off']),
      attribution: z.enum(['auto', 'off']),
      ocr: z.enum(['auto', 'off']),
      ocrLanguages: z.array(z.string()),
      requiredFilter: z.array(z.string()),
    }),
    published: z.boolean(),
    endpointId: z.uuid().nullable().describe('Created when the Space is first published, and kept.'),
    version: settingsVersionSchema,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Space' })

export const spacePageSchema = pageOf(spaceSchema).meta({ id: 'SpacePage' })

export type UpdateOrganisationBody = z.output<typeof updateOrganisationSchema>
export type OrganisationBody = z.output<typeof organisationSchema>
export type ReencryptionBody = z.output<typeof reencryptionSchema>
export type NewApiKeyBody = z.output<typeof newApiKeySchema>
export type SpaceBody = z.output<typeof spaceSchema>
