import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<string | undefined>()

/** Runs work of one organisation, or of one person where it concerns several. What is shared by all code, such as the connections to a database, is shared fairly by this. */
export function runForOrganisation<T>(organisationId: string, work: () => T): T {
  return current.run(organisationId, work)
}

/** Runs work for all organisations that a call of one of them happens to start. */
export function runForAll<T>(work: () => T): T {
  return current.run(undefined, work)
}

/** Empty outside of `runForOrganisation`: what is for all takes its share and its turns like the work of one organisation. */
export function currentOrganisation(): string {
  return current.getStore() ?? ''
}
