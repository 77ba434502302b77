import { useTranslation } from 'react-i18next'
import type { OverviewSearch } from './overview-query.ts'
import { overviewRoute } from './routes.tsx'

/** The address of the overview, and a change of it. */
export function useOverview() {
  const search = overviewRoute.useSearch()
  const navigate = overviewRoute.useNavigate()
  /** Changes members of the address; undefined removes one. */
  const change = (next: { [Name in keyof OverviewSearch]?: OverviewSearch[Name] | undefined }) => {
    const entries = Object.entries({ ...search, ...next }).filter(([, value]) => value !== undefined)
    void navigate({ search: Object.fromEntries(entries) as OverviewSearch, resetScroll: false })
  }
  const clear = () => void navigate({ search: {}, resetScroll: false })
  return { search, change, clear }
}

/** The name of a value of the split: of an organisation, or the value itself. */
export function useValueName(split: string) {
  const { t } = useTranslation('overview')
  return ({ id, label }: { id: string | null; label: string | null }) => {
    if (id === null) return t('noProvider')
    return split === 'organisation' ? (label ?? t('removed', { id: id.slice(0, 8) })) : id
  }
}
