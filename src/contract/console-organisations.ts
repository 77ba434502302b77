import { z } from 'zod'
import { adminLogPageSchema } from './admin-log.ts'
import { organisationSchema } from './operator.ts'
import { pageOf, paging } from './query-integer.ts'
import { budgetSchema } from './usage.ts'

/** The operator's pages of organisations: one request per page. */

const sortFields = ['createdAt', 'name', 'plan', 'monthlyBudget', 'spentPercent', 'subscriptionEnd'] as const

/** Pages beyond are refused: a search or another order finds the row. */
const maximumOffset = 100_000

export const consoleOrganisationsQuerySchema = z.object({
  ...paging(50, { maximumOffset }),
  search: z.string().max(200).optional().describe('A part of the name, not case-sensitive, or an id.'),
  plan: z.enum(['free', 'team', 'enterprise']).optional(),
  gateway: z
    .enum(['open', 'closed'])
    .optional()
    .describe('Open: plan, enablement, opt-in and subscription allow calls of the gateway.'),
  sort: z.enum(sortFields).default('createdAt'),
  direction: z.enum(['asc', 'desc']).default('desc'),
})

const organisationRowSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  plan: z.enum(['free', 'team', 'enterprise']),
  subscription: organisationSchema.shape.subscription,
  gatewayEnabled: z.boolean(),
  gatewayOptIn: z.boolean(),
  gatewayOpen: z.boolean(),
  monthlyBudgetUsd: z.string(),
  spentUsd: z.string().describe('In the running period.'),
  spentPercent: z.number().nullable().describe('null without a budget.'),
  apiKey: organisationSchema.shape.apiKey,
  spaces: z.int(),
  members: z.int(),
  createdAt: z.iso.datetime(),
})

export const consoleOrganisationsSchema = pageOf(organisationRowSchema).meta({ id: 'ConsoleOrganisations' })

export const consoleOrganisationSchema = z
  .object({
    organisation: organisationSchema,
    gatewayOpen: z.boolean(),
    budget: budgetSchema,
    spaces: z.int(),
    publishedSpaces: z.int(),
    members: z.int(),
    openInvitations: z.int(),
    models: z.array(z.string()).describe('Canonical ids of all models, for `disabledModels`.'),
    changes: adminLogPageSchema.shape.items.describe('The last entries of the admin log.'),
  })
  .meta({ id: 'ConsoleOrganisation' })

export type ConsoleOrganisationsQuery = z.output<typeof consoleOrganisationsQuerySchema>
export type ConsoleOrganisationsBody = z.output<typeof consoleOrganisationsSchema>
export type ConsoleOrganisationBody = z.output<typeof consoleOrganisationSchema>
export type ConsoleOrganisationRow = z.output<typeof organisationRowSchema>
