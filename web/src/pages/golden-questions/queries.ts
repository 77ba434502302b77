import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  GoldenCandidatePageBody,
  GoldenQuestionBody,
  goldenQuestionPageSchema,
} from '@contract/golden-questions.ts'
import type { GoldenSettingsBody } from '@contract/golden-settings.ts'
import { getJson } from '../../api/client.ts'

export const questionsPerPage = 20
export const candidatesPerPage = 20

export interface QuestionSearch {
  search?: string
  offset?: number
}

export type QuestionPage = z.output<typeof goldenQuestionPageSchema>

export const goldenPath = (spaceId: string) => `/api/spaces/${spaceId}/golden-questions`

/** What a change of questions makes stale. */
export const goldenKey = (spaceId: string) => ['golden-questions', spaceId] as const

/** Reads the search parameters of the list; wrong ones are left out. */
export function readQuestionSearch({ search, offset }: Record<string, unknown>): QuestionSearch {
  return {
    ...(typeof search === 'string' && search !== '' ? { search: search.slice(0, 200) } : {}),
    ...readOffset(offset),
  }
}

export const readOffset = (offset: unknown): { offset?: number } =>
  Number.isInteger(offset) && Number(offset) > 0 ? { offset: Number(offset) } : {}

export function questionsQuery(spaceId: string, { search, offset = 0 }: QuestionSearch) {
  const query = new URLSearchParams({ limit: String(questionsPerPage), offset: String(offset) })
  if (search !== undefined) query.set('search', search)
  return queryOptions({
    queryKey: [...goldenKey(spaceId), 'list', search, offset],
    queryFn: ({ signal }) => getJson<QuestionPage>(`${goldenPath(spaceId)}?${query}`, { signal }),
  })
}

export function candidatesQuery(spaceId: string, offset = 0) {
  const query = new URLSearchParams({ limit: String(candidatesPerPage), offset: String(offset) })
  return queryOptions({
    queryKey: [...goldenKey(spaceId), 'candidates', offset],
    queryFn: ({ signal }) => getJson<GoldenCandidatePageBody>(`${goldenPath(spaceId)}/candidates?${query}`, { signal }),
  })
}

export function goldenSettingsQuery(spaceId: string) {
  return queryOptions({
    queryKey: [...goldenKey(spaceId), 'settings'],
    queryFn: ({ signal }) => getJson<GoldenSettingsBody>(`${goldenPath(spaceId)}/settings`, { signal }),
  })
}

export const questionOf = ({ messages }: Pick<GoldenQuestionBody, 'messages'>) => messages.at(-1)?.content ?? ''
