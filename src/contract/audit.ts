import { z } from 'zod'

/** `GET /api/audit`: the proof that what is stored adds up. */

const auditFindingSchema = z.object({
  area: z.string().describe('What was checked: `ledger`, `index` …'),
  rule: z.string().describe('The rule that is broken.'),
  subject: z.string().describe('What breaks it: a request, a period, a document …'),
  expected: z.string(),
  found: z.string(),
})

export const auditSchema = z
  .object({
    ok: z.boolean().describe('True when nothing was found.'),
    checkedAt: z.iso.datetime(),
    areas: z.array(z.string()).describe('What was checked.'),
    findings: z.array(auditFindingSchema),
  })
  .meta({ id: 'Audit' })

export type AuditFindingBody = z.output<typeof auditFindingSchema>
export type AuditBody = z.output<typeof auditSchema>
