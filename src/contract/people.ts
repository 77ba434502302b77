import { z } from 'zod'
import { pageOf, paging } from './query-integer.ts'
import { settingsVersionSchema } from './settings-version.ts'

/** The API of people: set-up, the signed-in person, members and invitations. Unknown fields are rejected. */

export const passwordLength = { minimum: 12, maximum: 200 } as const

/** ASCII only: lower case turns some other letters into ASCII (U+212A into k), so two people would get one address. */
export const emailSchema = z
  .email()
  .max(254)
  .transform((text) => text.toLowerCase())
const name = z.string().trim().min(1).max(200)
const password = z.string().min(passwordLength.minimum).max(passwordLength.maximum)
const membershipRole = z.enum(['administrator', 'member'])
const page = paging(50, { maximumOffset: 1_000_000 })

export const pageQuerySchema = z.object(page)

const signInMethods = {
  passwordSignIn: z.boolean(),
  singleSignOn: z
    .object({ name: z.string().describe('Label of the button.') })
    .nullable()
    .describe('null: not configured.'),
}

export const setupStateSchema = z
  .object({
    required: z.boolean().describe('True until the first account exists. False if people cannot have passwords.'),
    ...signInMethods,
  })
  .meta({ id: 'SetupState' })

export const setupSchema = z.strictObject({ email: emailSchema, name, password }).meta({ id: 'Setup' })

const emailVerified = z
  .boolean()
  .describe('True only after single sign-on: Portico sends no e-mail, so a link does not prove who owns the address.')

export const personSchema = z
  .object({
    id: z.uuid(),
    email: z.string(),
    emailVerified,
    name: z.string(),
    isOperator: z.boolean(),
    twoFactorEnabled: z.boolean(),
    hasPassword: z.boolean(),
    usesSingleSignOn: z.boolean(),
    version: settingsVersionSchema,
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Person' })

export const meSchema = z
  .object({
    person: personSchema.nullable().describe('null for the operator token.'),
    isOperator: z.boolean(),
    sessionId: z.uuid().nullable(),
    organisations: z
      .array(z.object({ id: z.uuid(), name: z.string(), role: membershipRole }))
      .describe('Memberships of the person. Operators can reach every organisation, whatever is listed here.'),
  })
  .meta({ id: 'Me' })

export const sessionsSchema = z
  .object({
    items: z.array(
      z.object({
        id: z.uuid(),
        current: z.boolean().describe('The session of this request.'),
        ipAddress: z.string().nullable(),
        userAgent: z.string().nullable(),
        createdAt: z.iso.datetime(),
        expiresAt: z.iso.datetime(),
      }),
    ),
  })
  .meta({ id: 'Sessions' })

export const personPageSchema = pageOf(personSchema).meta({ id: 'PersonPage' })

export const peopleQuerySchema = z.object({
  ...page,
  search: z.string().trim().max(200).optional().describe('Part of the email or the name.'),
})

export const updateMeSchema = z.strictObject({ name }).meta({ id: 'UpdateMe' })

export const updatePersonSchema = z
  .strictObject({
    isOperator: z.boolean(),
    acceptUnverifiedEmail: z
      .boolean()
      .default(false)
      .describe('Required to make a person an operator whose e-mail is not verified.'),
  })
  .meta({ id: 'UpdatePerson' })

export const memberParamsSchema = z.object({ id: z.string(), personId: z.string() })

export const memberSchema = z
  .object({
    personId: z.uuid(),
    email: z.string(),
    emailVerified,
    name: z.string(),
    role: membershipRole,
    version: settingsVersionSchema,
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Member' })

export const memberPageSchema = pageOf(memberSchema).meta({ id: 'MemberPage' })

export const updateMemberSchema = z.strictObject({ role: membershipRole }).meta({ id: 'UpdateMember' })

const invitationFields = {
  id: z.uuid(),
  email: z.string(),
  role: z.enum(['operator', 'administrator', 'member']),
  invitedBy: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
}

export const createInvitationSchema = z
  .strictObject({ email: emailSchema, role: membershipRole })
  .meta({ id: 'CreateInvitation' })

export const createOperatorInvitationSchema = z
  .strictObject({ email: emailSchema })
  .meta({ id: 'CreateOperatorInvitation' })

export const invitationSchema = z.object(invitationFields).meta({ id: 'Invitation' })

export const invitationPageSchema = pageOf(invitationSchema).meta({ id: 'InvitationPage' })

export const newInvitationSchema = z
  .object({
    ...invitationFields,
    token: z.string().describe('Shown only now.'),
    url: z.string().describe('The link for the invited person; a path if the server has no `server.publicUrl`.'),
  })
  .meta({ id: 'NewInvitation' })

export const invitationParamsSchema = z.object({ id: z.string(), invitationId: z.string() })
export const invitationTokenParamsSchema = z.object({ token: z.string() })

export const openInvitationSchema = z
  .object({
    email: z.string(),
    role: invitationFields.role,
    organisationName: z.string().nullable().describe('null for an invitation to become an operator.'),
    expiresAt: z.iso.datetime(),
    ...signInMethods,
  })
  .meta({ id: 'OpenInvitation' })

export const acceptInvitationSchema = z
  .strictObject({ name: name.optional(), password: password.optional() })
  .describe('Both are required to create an account. A signed-in person sends neither.')
  .meta({ id: 'AcceptInvitation' })

export const createPasswordResetSchema = z
  .strictObject({ removeSecondFactor: z.boolean().default(false).describe('The link also removes the second factor.') })
  .meta({ id: 'CreatePasswordReset' })

const passwordResetFields = {
  email: z.string(),
  name: z.string(),
  removesSecondFactor: z.boolean(),
  expiresAt: z.iso.datetime(),
}

export const newPasswordResetSchema = z
  .object({
    ...passwordResetFields,
    token: z.string().describe('Shown only now.'),
    url: z.string().describe('The link for the person; a path if the server has no `server.publicUrl`.'),
  })
  .meta({ id: 'NewPasswordReset' })

export const passwordResetSchema = z.object(passwordResetFields).meta({ id: 'PasswordReset' })

export const usePasswordResetSchema = z.strictObject({ password }).meta({ id: 'UsePasswordReset' })

/** A role in one organisation. An administrator has every right of a member. */
export type MembershipRole = z.output<typeof membershipRole>
export type PersonBody = z.output<typeof personSchema>
export type MemberBody = z.output<typeof memberSchema>
export type InvitationBody = z.output<typeof invitationSchema>

export type MeBody = z.output<typeof meSchema>
export type SetupState = z.output<typeof setupStateSchema>
export type SessionsBody = z.output<typeof sessionsSchema>
export type NewInvitationBody = z.output<typeof newInvitationSchema>
export type OpenInvitationBody = z.output<typeof openInvitationSchema>
export type NewPasswordResetBody = z.output<typeof newPasswordResetSchema>
export type PasswordResetBody = z.output<typeof passwordResetSchema>
