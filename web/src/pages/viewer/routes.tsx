import { createRoute } from '@tanstack/react-router'
import type { DocumentViewBody } from '@contract/document-viewer.ts'
import { jsonQuery } from '../../api/queries.ts'
import { lazyPage } from '../../app/lazy-page.ts'
import { readAnswerPlace } from '../spaces/chat/answer-place.ts'
import { spaceRoute } from '../spaces/space-route.tsx'
import { windowAt, windowQuery } from './text/text-windows.ts'

/** A place in a document, in the address: a citation or a result of the retrieval tester leads to it. */
export interface PassageAddress {
  /** From 1. */
  page?: number
  /** Range in the extracted text, in Unicode code points. */
  from?: number
  to?: number
  /** Text to highlight in a pdf. */
  quote?: string
  /** The answer that cites it, for the way back. */
  answer?: string
}

const maximumQuote = 1_000

/** Facts, the window of the text around `from`, and the first chunks, in one request. */
export function documentViewQuery(documentId: string, from = 0) {
  const window = windowAt(from)
  return jsonQuery<DocumentViewBody>(
    ['document', documentId, 'view', window],
    `/api/documents/${encodeURIComponent(documentId)}/view?${windowQuery(window)}`,
    // While it is processed, the page follows it.
    { refetchInterval: ({ state }) => (state.data?.document.status === 'processing' ? 2_000 : false) },
  )
}

export const documentRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'files/$documentId',
  validateSearch: readAddress,
  loaderDeps: ({ search }) => ({ from: search.from }),
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureQueryData(documentViewQuery(params.documentId, deps.from)),
  component: lazyPage(['viewer', 'failures'], () => import('./document-page.tsx'), 'DocumentPage'),
})

export const searchRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'search',
  validateSearch: ({ question }: Record<string, unknown>): { question?: string } =>
    typeof question === 'string' && question !== '' ? { question: question.slice(0, 10_000) } : {},
  component: lazyPage('viewer', () => import('./search-page.tsx'), 'SearchPage'),
})

export const viewerRoutes = [documentRoute, searchRoute] as const

function readAddress(search: Record<string, unknown>): PassageAddress {
  const page = readNumber(search['page'], 1)
  const from = readNumber(search['from'], 0)
  const to = readNumber(search['to'], 1)
  const { quote, answer } = search
  return {
    ...(page === undefined ? {} : { page }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined || from === undefined || to <= from ? {} : { to }),
    // A quote of digits only is read as a number.
    ...(quote === undefined || quote === '' ? {} : { quote: String(quote).slice(0, maximumQuote) }),
    ...(readAnswerPlace(answer) ? { answer: String(answer) } : {}),
  }
}

function readNumber(value: unknown, minimum: number): number | undefined {
  const number = Number(value)
  return value !== undefined && value !== '' && Number.isInteger(number) && number >= minimum && number < 2 ** 31
    ? number
    : undefined
}
