export type { JournalFiles } from './journal-files.ts'
export { JournalWriter } from './journal-writer.ts'
export { openJournal, removeJournal } from './open-journal.ts'
