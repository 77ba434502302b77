import { createErasureKeys, deriveErasureKeys, type ErasureKeys, hasErasures } from '../../chat/erasures/index.ts'
import { type Database, DatabaseStartError } from '../../platform/database/index.ts'
import type { Log, SecretBox } from '../../platform/kernel/index.ts'
import { openInstallationKey } from '../../tenants/operators/index.ts'
import { sharedOwner } from '../../platform/kernel/index.ts'

interface ErasureKeysDependencies {
  control: Database
  secretKey: string
  secondSecretKey: string | undefined
  secretBox: SecretBox
  log: Log
}

/** The keys that sign certificates of erasure. The first start derives them from the secret key and stores them. */
export async function openErasureKeys({
  control,
  secretKey,
  secondSecretKey,
  secretBox,
  log,
}: ErasureKeysDependencies): Promise<ErasureKeys> {
  const keys = await openInstallationKey({ control: control.for(sharedOwner), secretBox, log }, 'erasures', {
    make: () => deriveErasureKeys(secretKey),
    async beforeFirst() {
      if (secondSecretKey !== undefined && (await hasErasures(control))) throw unstoredKeys()
    },
  })
  return createErasureKeys(keys)
}

/** They are derived from the secret key of the time of the erasures, which must not be the second one already. */
function unstoredKeys(): DatabaseStartError {
  return new DatabaseStartError(
    'start this version once without PORTICO_SECOND_SECRET_KEY, and with the secret key that you have: it stores the keys that sign certificates of erasure',
  )
}
