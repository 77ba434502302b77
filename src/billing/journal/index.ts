export type { JournalFiles } from './journal-files.ts'
export type { JournalCopy } from './journal-log.ts'
export { JournalWriter } from './journal-writer.ts'
export { openJournal, removeJournal } from './open-journal.ts'
