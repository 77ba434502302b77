import { useMutation } from '@tanstack/react-query'
import { getJson } from '../../api/client.ts'
import { notifyError } from '../../ui/notify.ts'
import { goldenPath, type QuestionPage } from './queries.ts'
import type { GivenQuestion } from './use-questions.ts'

/** The largest page that the API gives. */
const pageSize = 100

/** Saves every golden question of the Space as a file that can be imported again, also into another Space. */
export function useExport(spaceId: string) {
  return useMutation({
    mutationFn: async () => {
      const questions: GivenQuestion[] = []
      let total = 1
      for (let offset = 0; offset < total; offset += pageSize) {
        const page = await getJson<QuestionPage>(`${goldenPath(spaceId)}?limit=${pageSize}&offset=${offset}`)
        total = page.total
        questions.push(...page.items.map(toFile))
      }
      download('golden-questions.json', JSON.stringify({ questions }, null, 2))
    },
    onError: notifyError,
  })
}

/** Documents are named, because ids belong to one Space. */
function toFile({ messages, expectedDocuments, expectedFacts, mustAbstain }: QuestionPage['items'][number]) {
  return { messages, expectedDocuments: expectedDocuments.map(({ name }) => ({ name })), expectedFacts, mustAbstain }
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
