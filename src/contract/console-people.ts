import { z } from 'zod'
import { invitationPageSchema, memberPageSchema, personPageSchema } from './people.ts'

/** The data of the console's pages Members and People, one answer per page. */

/** Newest open invitations that a page shows; `total` counts all. */
export const maximumViewInvitations = 100

export const membersViewSchema = z
  .object({
    organisation: z.object({ id: z.uuid(), name: z.string() }),
    members: memberPageSchema,
    invitations: invitationPageSchema,
  })
  .meta({ id: 'MembersView' })

export const peopleViewSchema = z
  .object({
    people: personPageSchema,
    invitations: invitationPageSchema.describe('Invitations to become an operator.'),
    passwordSignIn: z.boolean(),
    singleSignOn: z
      .object({
        name: z.string(),
        issuer: z.string(),
        clientId: z.string(),
        groupsClaim: z.string(),
        mappedGroups: z.int(),
        createAccounts: z.boolean(),
        allowedEmailDomains: z.array(z.string()),
        sessionHours: z.int(),
      })
      .nullable()
      .describe('null: not configured. Without the client secret.'),
  })
  .meta({ id: 'PeopleView' })

export type MembersView = z.output<typeof membersViewSchema>
export type PeopleView = z.output<typeof peopleViewSchema>
