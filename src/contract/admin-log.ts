import { z } from 'zod'
import { isoTime } from './operator.ts'
import { cursorPaging } from './query-integer.ts'

/** The admin log: who changed what and when. */

/** Every action that the log can have. The console has a name for each, in every language. */
export const adminActions = [
  'admin_log.exported',
  'alert_settings.updated',
  'api_key.created',
  'api_key.rotated',
  'backup.created',
  'conversations.exported',
  'conversations.removed',
  'deployment.created',
  'deployment.removed',
  'deployment.updated',
  'document.created',
  'document.removed',
  'document.retried',
  'document.updated',
  'documents.removed',
  'documents.retried',
  'documents.stopped',
  'documents.updated',
  'erasure.completed',
  'erasure.requested',
  'golden_question.created',
  'golden_question.removed',
  'golden_question.updated',
  'golden_questions.imported',
  'golden_run.cancelled',
  'golden_run.started',
  'golden_settings.updated',
  'invitation.created',
  'invitation.removed',
  'ledger.repaired',
  'ledger_journal.released',
  'member.added',
  'member.removed',
  'member.updated',
  'model.created',
  'model.removed',
  'model.updated',
  'operator_token.created',
  'operator_token.rotated',
  'organisation.created',
  'organisation.removed',
  'organisation.updated',
  'person.backup_codes_replaced',
  'person.created',
  'person.password_changed',
  'person.password_reset',
  'person.password_reset_created',
  'person.removed',
  'person.session_ended',
  'person.single_sign_on_connected',
  'person.two_factor_disabled',
  'person.two_factor_enabled',
  'person.two_factor_prepared',
  'person.updated',
  'price.created',
  'price.removed',
  'price.updated',
  'provider.created',
  'provider.removed',
  'provider.updated',
  'secret_key.reencrypted',
  'semantic_search.disabled',
  'semantic_search.enabled',
  'single_sign_on.disabled',
  'single_sign_on.enabled',
  'single_sign_on.tested',
  'single_sign_on.updated',
  'site.paused',
  'site.resumed',
  'site.updated',
  'space.created',
  'space.exported',
  'space.imported',
  'space.published',
  'space.removed',
  'space.unpublished',
  'space.updated',
  'tool_server.created',
  'tool_server.removed',
  'tool_server.updated',
  'webhook.removed',
  'webhook.set',
] as const

export type AdminAction = (typeof adminActions)[number]

const text = (maximum: number) => z.string().min(1).max(maximum)

const filterFields = {
  actor: text(320).optional().describe('The email of a person, `operator` or `service`.'),
  action: z.enum(adminActions).optional(),
  subjectType: text(50).optional().describe('For instance `organisation`, `space` or `provider`.'),
  subjectId: text(300).optional().describe('What was changed.'),
  from: isoTime.optional().describe('Changes at this time or later.'),
  to: isoTime.optional().describe('Changes before this time.'),
}

const pageFields = { ...filterFields, ...cursorPaging(20) }
const exportFields = { ...filterFields, format: z.enum(['jsonl', 'csv']).default('jsonl') }
const ofOrganisation = { organisationId: z.uuid().optional() }

export const organisationAdminLogQuerySchema = z.object(pageFields)
export const adminLogQuerySchema = z.object({ ...pageFields, ...ofOrganisation })
export const organisationAdminLogExportQuerySchema = z.object(exportFields)
export const adminLogExportQuerySchema = z.object({ ...exportFields, ...ofOrganisation })

const adminLogEntrySchema = z
  .object({
    id: z.uuid(),
    at: z.iso.datetime(),
    actor: z.string().describe('The email of a person, `operator` for the operator token, or `service`.'),
    personId: z.uuid().nullable(),
    sessionId: z.uuid().nullable(),
    requestId: z.string().nullable(),
    action: z.string().describe('For instance `organisation.updated` or `api_key.rotated`.'),
    subjectType: z.string(),
    subjectId: z.string(),
    subjectName: z
      .string()
      .nullable()
      .describe('The current name of what was changed, else its name in this entry, else the name of its Space.'),
    organisationId: z.uuid().nullable(),
    organisationName: z.string().nullable().describe('The current name; null after the organisation was removed.'),
    before: z.record(z.string(), z.unknown()).nullable().describe('The changed fields before. Without secrets.'),
    after: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'AdminLogEntry' })

export const adminLogPageSchema = z
  .object({
    items: z.array(adminLogEntrySchema).describe('Newest first.'),
    nextCursor: z.string().nullable().describe('The `cursor` of the next page; null at the end.'),
  })
  .meta({ id: 'AdminLogPage' })

export type AdminLogExportQuery = z.output<typeof adminLogExportQuerySchema>
export type AdminLogQuery = z.output<typeof adminLogQuerySchema>
export type AdminLogEntryBody = z.output<typeof adminLogEntrySchema>
export type AdminLogPageBody = z.output<typeof adminLogPageSchema>
