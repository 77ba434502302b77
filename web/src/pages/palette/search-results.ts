import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ConsoleOrganisationsBody } from '@contract/console-organisations.ts'
import type { SpaceListView } from '@contract/console-spaces.ts'
import type { DocumentProgressPageBody } from '@contract/document-progress.ts'
import type { ReceiptBody } from '@contract/usage.ts'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { jsonQuery, withQuery } from '../../api/queries.ts'
import { useNavigationEntries } from '../../app/navigation-entries.ts'
import { useRights } from '../../app/session.ts'

export interface Result {
  label: string
  /** Path of the page. */
  to: string
}

export interface ResultGroup {
  title: string
  results: Result[]
}

const shownOfEach = 6
/** No id of a request is shorter. */
const shortestId = 8

/**
 * What a text finds, by group: pages that the person may open, Spaces of the organisation, documents of the Space on the page, and for operators organisations; a receipt by
 * the id of its request. Without a text, pages and Spaces.
 */
export function useSearchResults(wanted: string, organisationId: string | undefined): ResultGroup[] {
  const { t } = useTranslation('palette')
  const pages = useNavigationEntries(organisationId).flatMap(({ entries }) => entries)
  const words = wanted.toLowerCase().split(/\s+/)
  const found: ResultGroup[] = [
    {
      title: t('pages'),
      results: pages.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word))),
    },
    { title: t('spaces'), results: useSpaces(wanted, organisationId) },
    { title: t('documents'), results: useDocuments(wanted, organisationId) },
    { title: t('organisations'), results: useOrganisations(wanted, organisationId) },
    { title: t('receipts'), results: useReceipt(wanted, t) },
  ]
  return found.filter(({ results }) => results.length > 0)
}

/** The answer of a list for a text; that of the text before until it has arrived. */
function useList<Body>(path: string, wanted: string, isEnabled: boolean): Body | undefined {
  const query = jsonQuery<Body>(['palette', path, wanted], withQuery(path, { search: wanted, limit: shownOfEach }))
  const { data } = useQuery({ ...query, enabled: isEnabled, placeholderData: keepPreviousData })
  return isEnabled ? data : undefined
}

function useSpaces(wanted: string, organisationId: string | undefined): Result[] {
  const path = `/api/console/organisations/${organisationId}/spaces`
  const list = useList<SpaceListView>(path, wanted, organisationId !== undefined)
  return (list?.items ?? []).map(({ id, name }) => ({
    label: name,
    to: `/organisations/${organisationId}/spaces/${id}`,
  }))
}

function useDocuments(wanted: string, organisationId: string | undefined): Result[] {
  const { spaceId } = useParams({ strict: false }) as { spaceId?: string }
  const isEnabled = spaceId !== undefined && organisationId !== undefined && wanted !== ''
  const list = useList<DocumentProgressPageBody>(`/api/spaces/${spaceId}/documents`, wanted, isEnabled)
  return (list?.items ?? []).map(({ id, name }) => ({
    label: name,
    to: `/organisations/${organisationId}/spaces/${spaceId}/files/${encodeURIComponent(id)}`,
  }))
}

function useOrganisations(wanted: string, organisationId: string | undefined): Result[] {
  const { isOperator } = useRights(organisationId)
  const list = useList<ConsoleOrganisationsBody>('/api/console/organisations', wanted, isOperator && wanted !== '')
  return (list?.items ?? []).map(({ id, name }) => ({ label: name, to: `/organisations/${id}/spaces` }))
}

/** The receipt whose request has this id, if the person may read it. */
function useReceipt(wanted: string, t: TFunction<'palette'>): Result[] {
  const isEnabled = wanted.length >= shortestId && /^[\w-]+$/.test(wanted)
  const query = jsonQuery<ReceiptBody>(['palette', 'receipt', wanted], `/api/usage/${encodeURIComponent(wanted)}`)
  const { data } = useQuery({ ...query, enabled: isEnabled, retry: false })
  if (!isEnabled || !data) return []
  const to = `/organisations/${data.organisationId}/receipts/${encodeURIComponent(wanted)}`
  return [{ label: t('receipt', { id: wanted }), to }]
}
