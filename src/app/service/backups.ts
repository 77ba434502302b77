import { type BackupRoutesDependencies, createBackupRecord, createLiveBackup } from '../backup/index.ts'
import type { LedgerService } from '../../gateway/billing/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { HoldableBlobStore } from '../../documents/documents/index.ts'
import type { PartContext } from './foundation.ts'

interface BackupsDependencies extends PartContext {
  control: Database
  corpus: Database
  ledger: Pick<LedgerService, 'openJournalCopies'>
  blobs: HoldableBlobStore
  keyCheck: string
}

/** Backups of the running service. */
export function openBackups(dependencies: BackupsDependencies): { backups: BackupRoutesDependencies } {
  const { config, control, corpus, ledger, blobs, keyCheck, clock, log } = dependencies
  const isFolder = config.settings.documents.blobs.kind === 'folder'
  const backup = createLiveBackup({
    control,
    corpus,
    openJournalCopies: () => ledger.openJournalCopies(),
    blobs: { ...blobs, external: isFolder ? null : blobs.label },
    secretKeyCheck: keyCheck,
    log,
  })
  return { backups: { backup, record: createBackupRecord(control, () => clock.now()) } }
}
