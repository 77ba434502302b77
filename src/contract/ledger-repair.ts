import { z } from 'zod'

export const ledgerRepairSchema = z
  .object({ closedHolds: z.int().describe('Holds of dead instances, or of none, that it has closed.') })
  .meta({ id: 'LedgerRepair' })

export type LedgerRepairBody = z.output<typeof ledgerRepairSchema>
