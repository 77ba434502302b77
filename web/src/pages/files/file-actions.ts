import { useQueryClient } from '@tanstack/react-query'
import type {
  DocumentDetailBody,
  DocumentOperationBody,
  DocumentProgressPageBody,
  DocumentSelection,
} from '@contract/document-progress.ts'
import { deleteJson, patchJson, postJson, readError } from '../../api/client.ts'
import { notifyError } from '../../ui/notify.ts'
import { documentsKey } from './document-queries.ts'

/** The changes of a Space's documents. Each shows its error, and loads the lists again. */
export function useFileActions(spaceId: string) {
  const client = useQueryClient()
  const queryKey = documentsKey(spaceId)
  const reload = () => client.invalidateQueries({ queryKey })

  /** False if it failed. */
  async function run<Result>(act: () => Promise<Result>, then?: (result: Result) => void): Promise<boolean> {
    try {
      const result = await act()
      await reload()
      then?.(result)
      return true
    } catch (error) {
      notifyError(error)
      return false
    }
  }

  function start(
    kind: 'delete' | 'retry',
    selection: DocumentSelection,
    then?: (started: DocumentOperationBody) => void,
  ) {
    return run(
      () => postJson<DocumentOperationBody>(`/api/spaces/${spaceId}/documents/${kind}`, selection),
      (operation) => {
        if (operation.finishedAt === null) {
          client.setQueriesData<DocumentProgressPageBody>(
            { queryKey },
            (page) => page && withOperation(page, operation),
          )
        }
        then?.(operation)
      },
    )
  }

  return {
    start,
    retry: (id: string) => run(() => postJson<DocumentDetailBody>(`/api/documents/${id}/retry`)),
    remove: (id: string, then: () => void) => run(() => deleteJson(`/api/documents/${id}`), then),
    rename: (id: string, name: string) => run(() => patchJson<DocumentDetailBody>(`/api/documents/${id}`, { name })),
    /** `metadata` is JSON text: parsing it would lose digits of large numbers. */
    saveMetadata: (id: string, metadata: string) =>
      run(() => patchText(`/api/documents/${id}`, `{"metadata":${metadata}}`)),
  }
}

export type FileActions = ReturnType<typeof useFileActions>

function withOperation(page: DocumentProgressPageBody, operation: DocumentOperationBody): DocumentProgressPageBody {
  const others = page.operations.filter(({ id }) => id !== operation.id)
  return { ...page, operations: [...others, operation] }
}

async function patchText(path: string, body: string): Promise<void> {
  const response = await fetch(path, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body })
  if (!response.ok) throw await readError(response)
}
