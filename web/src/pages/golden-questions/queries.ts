import type { z } from 'zod'
import type {
  GoldenCandidatePageBody,
  GoldenQuestionBody,
  goldenQuestionPageSchema,
} from '@contract/golden-questions.ts'
import type { GoldenSettingsBody } from '@contract/golden-settings.ts'
import { jsonQuery, withQuery } from '../../api/queries.ts'

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
  const path = withQuery(goldenPath(spaceId), { limit: questionsPerPage, offset, search })
  return jsonQuery<QuestionPage>([...goldenKey(spaceId), 'list', search, offset], path)
}

export function candidatesQuery(spaceId: string, offset = 0) {
  const path = withQuery(`${goldenPath(spaceId)}/candidates`, { limit: candidatesPerPage, offset })
  return jsonQuery<GoldenCandidatePageBody>([...goldenKey(spaceId), 'candidates', offset], path)
}

export function goldenSettingsQuery(spaceId: string) {
  return jsonQuery<GoldenSettingsBody>([...goldenKey(spaceId), 'settings'], `${goldenPath(spaceId)}/settings`)
}

export const questionOf = ({ messages }: Pick<GoldenQuestionBody, 'messages'>) => messages.at(-1)?.content ?? ''
