export { JournalError } from './journal-error.ts'
export type { JournalFiles } from './journal-files.ts'
export type { JournalCopy } from './journal-log.ts'
export { loadOpenJournals, type OpenJournal, releaseJournal } from './server-journal.store.ts'
export { JournalWriter } from './journal-writer.ts'
export { openJournal, type OpenedJournal, removeJournal } from './open-journal.ts'
export {
  openServerJournal,
  removeServerJournal,
  replayServerJournal,
  type ServerJournalPlace,
} from './server-journal.ts'
