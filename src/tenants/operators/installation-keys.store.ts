import type { OwnedDatabase } from '../../platform/database/index.ts'
import { describeError, type Log, type SecretBox } from '../../platform/kernel/index.ts'
import type { SealedColumn } from './reencryption.store.ts'

export const installationKeysColumn: SealedColumn = {
  kind: 'installationKeys',
  table: 'installation_keys',
  id: 'name',
  column: 'sealed',
  contextOf: (name) => `installation-key:${name}`,
}

/**
 * A key that stays the same when the secret key is replaced, such as one that signs what must be verifiable for years. `make` makes it at the first call
 * of an installation, unless `beforeFirst` rejects; every later call of any instance returns that one. Encrypted with a lost secret key it cannot be read:
 * then `make` makes one for this process, and the log reports it.
 */
export async function openInstallationKey(
  { control, secretBox, log }: { control: OwnedDatabase; secretBox: SecretBox; log: Log },
  name: string,
  { make, beforeFirst }: { make: () => string; beforeFirst: () => Promise<void> },
): Promise<string> {
  const context = installationKeysColumn.contextOf(name)
  let sealed = await load(control, name)
  if (sealed === undefined) {
    await beforeFirst()
    await control.execute(`INSERT INTO installation_keys (name, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
      name,
      secretBox.seal(make(), context),
    ])
    // That of the first instance, if two start at the same time.
    sealed = await load(control, name)
  }
  try {
    return secretBox.open(sealed!, context)
  } catch (error) {
    log.error(
      { key: name, reason: describeError(error) },
      'a key of this installation is encrypted with another secret key; set PORTICO_SECRET_KEY or PORTICO_SECOND_SECRET_KEY to that one',
    )
    return make()
  }
}

async function load(control: OwnedDatabase, name: string): Promise<string | undefined> {
  const [row] = await control.query<{ sealed: string }>(`SELECT sealed FROM installation_keys WHERE name = $1`, [name])
  return row?.sealed
}
