import type { AuditBody } from '../../src/contract/audit.ts'
import type { LedgerRepairBody } from '../../src/contract/ledger-repair.ts'
import type { AdminLogEntryBody } from '../../src/contract/admin-log.ts'
import type { ReencryptionBody } from '../../src/contract/operator.ts'
import { type CliCommand, assertConfirmed, parseWhole } from '../define.ts'
import { FailedError } from '../errors.ts'
import { findOrganisationId } from '../find-organisation.ts'
import { loadNewest } from '../paging.ts'

/** `portico audit`, `portico log`, `portico ledger`, `portico secrets` and `portico token` */
export function addServiceCommands(program: CliCommand): void {
  program
    .command('audit')
    .description('Check that ledger, documents and index are consistent. Exit code 1 if there are findings.')
    .option('--repair', 'first settle holds of dead instances, and holds that belong to no instance')
    .examples('portico audit', 'portico audit --json', 'portico audit --repair')
    .run(async ({ output, operator }, options: { repair?: boolean }) => {
      const client = operator()
      const repair = options.repair ? await client.send<LedgerRepairBody>('POST', '/api/ledger/repair') : undefined
      const audit = await client.get<AuditBody>('/api/audit')
      output.result({ ...audit, ...repair }, () => {
        if (repair) output.line(`Closed holds: ${repair.closedHolds}.`)
        if (audit.ok) return output.line(`No findings: ${audit.areas.join(', ')}.`)
        output.table(
          ['AREA', 'RULE', 'SUBJECT', 'EXPECTED', 'FOUND'],
          audit.findings.map(({ area, rule, subject, expected, found }) => [area, rule, subject, expected, found]),
          '',
        )
      })
      if (!audit.ok) throw new FailedError(`${audit.findings.length} findings.`)
    })
  program
    .command('log')
    .description('Administrative changes, newest first: who changed what and when.')
    .option('--org <organisation>', 'only changes of this organisation, by id or exact name')
    .option('--limit <count>', 'maximum number of items', parseWhole, 20)
    .examples('portico log', 'portico log --org Acme --limit 100 --json')
    .run(async ({ output, operator }, options: { org?: string; limit: number }) => {
      const client = operator()
      const query = options.org === undefined ? '' : `?organisationId=${await findOrganisationId(client, options.org)}`
      const page = await loadNewest<AdminLogEntryBody>(client, `/api/admin-log${query}`, options.limit)
      output.result(page, () =>
        output.table(
          ['AT', 'ACTOR', 'ACTION', 'SUBJECT', 'CHANGE'],
          page.items.map((entry) => [
            entry.at,
            entry.actor,
            entry.action,
            entry.subjectName ?? entry.subjectId,
            describeChange(entry),
          ]),
          'Nothing has been changed yet.',
        ),
      )
    })
  addSecretsCommands(program)
  program
    .command('token')
    .description('The operator token.')
    .command('rotate')
    .description('Replace the operator token, which is shown only once. The former one stops working at once.')
    .option('--yes', 'confirm (required)')
    .examples('portico token rotate --yes')
    .run(async ({ output, operator }, options: { yes?: boolean }) => {
      assertConfirmed(options.yes, 'The operator token that the service created stops working at once.')
      const made = await operator().send<{ token: string }>('POST', '/api/operator-token/rotate')
      output.result(made, () => {
        output.line('The operator token, shown only once:')
        output.line(`export PORTICO_OPERATOR_TOKEN=${made.token}`)
      })
    })
}

/** `portico secrets` */
function addSecretsCommands(program: CliCommand): void {
  program
    .command('secrets')
    .description('The secrets that the service stores encrypted.')
    .command('reencrypt')
    .description(
      'Encrypt what is stored under PORTICO_SECOND_SECRET_KEY with PORTICO_SECRET_KEY. Exit code 1 if a value is under neither.',
    )
    .examples('portico secrets reencrypt')
    .run(async ({ output, operator }) => {
      const done = await operator().send<ReencryptionBody>('POST', '/api/secret-key/reencrypt')
      output.result(done, () =>
        output.table(
          ['SECRETS', 'REENCRYPTED', 'UNCHANGED', 'UNREADABLE'],
          Object.entries(done.kinds).map(([kind, counts]) => [
            kind,
            String(counts.reencrypted),
            String(counts.unchanged),
            String(counts.unreadable),
          ]),
          '',
        ),
      )
      if (done.unreadable > 0) throw new FailedError(`${done.unreadable} values are under neither key.`)
    })
}

/** `plan: "team" → "enterprise"` for changes; empty for creations and removals. */
function describeChange({ before, after }: AdminLogEntryBody): string {
  if (!before || !after) return ''
  return Object.keys(after)
    .map((name) => `${name}: ${JSON.stringify(before[name])} → ${JSON.stringify(after[name])}`)
    .join(', ')
}
