/** For a journal of an embedded database. */
const embeddedRemedy =
  'Restore the whole data folder from one copy. To accept the loss instead, move the folder of the journal away: Portico then starts ' +
  'a new journal, and what the old one had not written to the database yet stays unbilled (docs/understand/journal.md)'

/** The journal cannot be used as it is. The message is for the operator. */
export class JournalError extends Error {
  constructor(problem: string, { remedy = embeddedRemedy, ...options }: ErrorOptions & { remedy?: string } = {}) {
    super(
      `${problem}. Calls that were settled last may be missing in the control database, so Portico does not start. ${remedy}`,
      options,
    )
    this.name = 'JournalError'
  }
}
