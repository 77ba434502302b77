import { useTranslation } from 'react-i18next'
import type { GoldenMessages, GoldenQuestionBody } from '@contract/golden-questions.ts'
import { deleteJson, patchJson, postJson } from '../../api/client.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useChange } from '../../ui/use-change.ts'
import { goldenKey, goldenPath } from './queries.ts'

/** The fields of a golden question as the form and a file of questions send them. */
export interface GivenQuestion {
  messages: GoldenMessages
  expectedDocuments: { id?: string; name?: string }[]
  expectedFacts: string[]
  mustAbstain: boolean
}

interface SavedQuestion {
  base: Pick<GoldenQuestionBody, 'id' | 'version'> | undefined
  question: GivenQuestion
}

/** Adds a question, or changes `base`. The form shows the errors. */
export function useSaveQuestion(spaceId: string) {
  const save = ({ base, question }: SavedQuestion) =>
    base
      ? patchJson(`${goldenPath(spaceId)}/${base.id}`, question, ifMatch(base))
      : postJson(goldenPath(spaceId), question)
  return useChange(save, { stale: goldenKey(spaceId), hasErrorPlace: true })
}

export function useRemoveQuestion(spaceId: string) {
  const { t } = useTranslation('golden-questions')
  return useChange((id: string) => deleteJson(`${goldenPath(spaceId)}/${id}`), {
    stale: goldenKey(spaceId),
    done: () => t('delete.done'),
  })
}
