import { z } from 'zod'
import { isoTime } from './operator.ts'

/** The ledger for operators: repair, and local journals in front of a server. */

export const ledgerRepairSchema = z
  .object({ closedHolds: z.int().describe('Holds of dead instances, or of none, that it has closed.') })
  .meta({ id: 'LedgerRepair' })

export const ledgerJournalSchema = z
  .object({
    journalId: z.uuid(),
    instanceId: z.uuid().describe('The process that writes to it.'),
    place: z.string().describe('Host and folder.'),
    startedAt: isoTime,
    heartbeatAt: isoTime,
    silent: z
      .boolean()
      .describe(
        'True without a heartbeat for 10 s. Nobody but the next start with the folder settles the holds of a silent process.',
      ),
    openHolds: z.int().describe('Of those that the database has.'),
    reservedUsd: z.string().describe('What its leases reserve and have not billed.'),
  })
  .meta({ id: 'LedgerJournal' })

export const ledgerJournalsSchema = z.object({ items: z.array(ledgerJournalSchema) }).meta({ id: 'LedgerJournals' })

export const ledgerJournalParamsSchema = z.object({ journalId: z.uuid() })

export type LedgerRepairBody = z.output<typeof ledgerRepairSchema>
export type LedgerJournalBody = z.output<typeof ledgerJournalSchema>
