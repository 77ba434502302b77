import type { OrganisationBody } from '../src/contract/operator.ts'
import type { ApiClient } from './api-client.ts'
import { FailedError, UsageError } from './errors.ts'
import { loadItems } from './paging.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Limit of the organisations whose name contains the given one. */
const maximumCandidates = 1000

/** The id of an organisation, from its id or its exact name. */
export async function findOrganisationId(client: ApiClient, reference: string): Promise<string> {
  if (uuid.test(reference)) return reference
  const path = `/api/organisations?search=${encodeURIComponent(reference)}`
  const { items } = await loadItems<OrganisationBody>(client, path, maximumCandidates)
  const [found, second] = items.filter(({ name }) => name === reference)
  if (!found) throw new FailedError(`There is no organisation named ${reference}. List them with: portico org list`)
  if (second)
    throw new UsageError(`Several organisations are named ${reference}. Give the id; portico org list shows it.`)
  return found.id
}
