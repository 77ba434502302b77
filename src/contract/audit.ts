import { z } from 'zod'

/** `GET /api/audit`: consistency checks of the stored data. */

const auditFindingSchema = z.object({
  area: z.string().describe('The checked area: `ledger`, `index` …'),
  rule: z.string().describe('The violated rule.'),
  subject: z.string().describe('What violates it: a request, a period, a document …'),
  expected: z.string(),
  found: z.string(),
})

export const auditSchema = z
  .object({
    ok: z.boolean().describe('True if there are no findings.'),
    checkedAt: z.iso.datetime(),
    areas: z.array(z.string()).describe('The checked areas.'),
    findings: z.array(auditFindingSchema),
  })
  .meta({ id: 'Audit' })

export type AuditFindingBody = z.output<typeof auditFindingSchema>
export type AuditBody = z.output<typeof auditSchema>
