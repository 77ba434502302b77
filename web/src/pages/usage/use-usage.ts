import { usageRoute } from './routes.tsx'
import type { UsageSearch } from './usage-query.ts'

/** The address of the usage page, and a change of it. */
export function useUsage() {
  const { organisationId } = usageRoute.useParams()
  const search = usageRoute.useSearch()
  const navigate = usageRoute.useNavigate()
  /** Changes members of the address; undefined removes one. */
  const change = (next: { [Name in keyof UsageSearch]?: UsageSearch[Name] | undefined }) => {
    const entries = Object.entries({ ...search, ...next }).filter(([, value]) => value !== undefined)
    void navigate({ search: Object.fromEntries(entries) as UsageSearch, resetScroll: false })
  }
  return { organisationId, search, change }
}
