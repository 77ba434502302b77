import { type Accounts, singleSignOnSecretsColumn } from '../../tenants/accounts/index.ts'
import { alertSecretsColumn } from '../../tenants/alerts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { erasuresColumn } from '../../chat/erasures/index.ts'
import { type Clock, type SecretBox, sharedOwner } from '../../platform/kernel/index.ts'
import { providerSecretsColumn } from '../../gateway/models/index.ts'
import {
  createReencryption,
  installationKeysColumn,
  recordReencryption,
  reencryptColumn,
  type SealedColumn,
} from '../../tenants/operators/index.ts'
import { toolCredentialsColumn } from '../../chat/space-tools/index.ts'
import { webhookSecretsColumn } from '../../tenants/organisations/index.ts'

interface ReencryptionDependencies {
  control: Database
  secretBox: SecretBox
  accounts: Pick<Accounts, 'reencrypt'>
  clock: Clock
}

/** Everything that is stored encrypted with the secret key. */
export function openReencryption({ control, secretBox, accounts, clock }: ReencryptionDependencies) {
  const inColumn = (column: SealedColumn) => () => reencryptColumn(control.for(sharedOwner), secretBox, column)
  return createReencryption({
    kinds: {
      providers: inColumn(providerSecretsColumn),
      webhooks: async () => {
        const [one, other] = [await inColumn(webhookSecretsColumn)(), await inColumn(alertSecretsColumn)()]
        return {
          reencrypted: one.reencrypted + other.reencrypted,
          unchanged: one.unchanged + other.unchanged,
          unreadable: one.unreadable + other.unreadable,
        }
      },
      erasures: inColumn(erasuresColumn),
      spaceTools: inColumn(toolCredentialsColumn),
      secondFactors: () => accounts.reencrypt(),
      singleSignOn: inColumn(singleSignOnSecretsColumn),
      installationKeys: inColumn(installationKeysColumn),
    },
    record: (actor, nowMs, counts) => recordReencryption(control.for(sharedOwner), actor, nowMs, counts),
    clock,
  })
}
