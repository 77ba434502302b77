import type { NewPrice } from '../../contract/models.ts'
import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import { AppError, createUuid } from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import { asRecord, record, type RecordDependencies } from './record-change.ts'

export interface PriceRow {
  id: string
  deployment_id: string
  valid_from: Date
  prices: unknown
  created_at: Date
}

/** Returns the price's id. Throws `conflict` if the deployment has a price with the same `validFromMs`. */
export async function writePrice(
  dependencies: RecordDependencies,
  transaction: Queryable,
  {
    deploymentId,
    price,
    validFromMs,
    actor,
  }: { deploymentId: string; price: Omit<NewPrice, 'validFrom'>; validFromMs: number; actor: Actor },
): Promise<string> {
  const { clock } = dependencies
  const id = createUuid(clock.now())
  const added = await transaction.execute(
    `INSERT INTO catalogue_prices (id, deployment_id, valid_from, prices, created_at)
     VALUES ($1, $2, $3, $4::jsonb, $5) ON CONFLICT (deployment_id, valid_from) DO NOTHING`,
    [id, deploymentId, new Date(validFromMs), JSON.stringify(price), new Date(clock.now())],
  )
  if (added === 0)
    throw new AppError(
      'conflict',
      'The deployment already has a price with this validFrom; choose another validFrom.',
      { param: 'validFrom' },
    )
  await record(dependencies, transaction, {
    actor,
    subjectType: 'price',
    subjectId: deploymentId,
    before: null,
    after: { id, validFrom: new Date(validFromMs).toISOString(), ...price },
  })
  return id
}

export function removePrice(
  dependencies: RecordDependencies & { database: OwnedDatabase },
  deploymentId: string,
  priceId: string,
  actor: Actor,
): Promise<boolean> {
  return dependencies.database.transaction(async (transaction) => {
    const [row] = await transaction.query<PriceRow>(
      `DELETE FROM catalogue_prices WHERE id = $1 AND deployment_id = $2 RETURNING *`,
      [priceId, deploymentId],
    )
    if (!row) return false
    await record(dependencies, transaction, {
      actor,
      subjectType: 'price',
      subjectId: deploymentId,
      before: { id: priceId, validFrom: row.valid_from.toISOString(), ...asRecord(row.prices) },
      after: null,
    })
    return true
  })
}
