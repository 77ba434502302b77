import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<string>()

/** Runs work of one organisation, or of one person where it concerns several. Its slices of the event loop are shared fairly by this. */
export function runForOrganisation<T>(organisationId: string, work: () => T): T {
  return current.run(organisationId, work)
}

/** Empty outside of `runForOrganisation`: what is for all takes its turns like the work of one organisation. */
export function currentOrganisation(): string {
  return current.getStore() ?? ''
}
