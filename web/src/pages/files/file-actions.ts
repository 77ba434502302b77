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

  const path = `/api/spaces/${spaceId}/documents`

  /** Starts work on many documents, and shows it at once: the lists that load afterwards know whether it has ended. */
  function startWith(request: () => Promise<DocumentOperationBody>, then?: (started: DocumentOperationBody) => void) {
    return run(async () => {
      const operation = await request()
      if (operation.finishedAt === null) {
        client.setQueriesData<DocumentProgressPageBody>({ queryKey }, (page) => page && withOperation(page, operation))
      }
      return operation
    }, then)
  }

  return {
    start: (kind: 'delete' | 'retry', selection: DocumentSelection, then?: (started: DocumentOperationBody) => void) =>
      startWith(() => postJson(`${path}/${kind}`, selection), then),
    /** `set` is JSON text of an object, `remove` are names of its top-level fields. */
    changeMetadata: (
      selection: DocumentSelection,
      { set, remove }: { set: string; remove: string[] },
      then: (started: DocumentOperationBody) => void,
    ) => {
      const body = `{"set":${set},${JSON.stringify({ ...selection, remove }).slice(1)}`
      return startWith(async () => (await sendText('POST', `${path}/metadata`, body)).json(), then)
    },
    stop: (operationId: string) => run(() => postJson<DocumentOperationBody>(`${path}/operations/${operationId}/stop`)),
    retry: (id: string) => run(() => postJson<DocumentDetailBody>(`/api/documents/${id}/retry`)),
    remove: (id: string, then: () => void) => run(() => deleteJson(`/api/documents/${id}`), then),
    rename: (id: string, name: string) => run(() => patchJson<DocumentDetailBody>(`/api/documents/${id}`, { name })),
    /** `metadata` is JSON text. */
    saveMetadata: (id: string, metadata: string) =>
      run(() => sendText('PATCH', `/api/documents/${id}`, `{"metadata":${metadata}}`)),
  }
}

export type FileActions = ReturnType<typeof useFileActions>

function withOperation(page: DocumentProgressPageBody, operation: DocumentOperationBody): DocumentProgressPageBody {
  const others = page.operations.filter(({ id }) => id !== operation.id)
  return { ...page, operations: [...others, operation] }
}

/** Sends JSON text: parsing it would lose digits of large numbers. */
async function sendText(method: string, path: string, body: string): Promise<Response> {
  const response = await fetch(path, { method, headers: { 'content-type': 'application/json' }, body })
  if (!response.ok) throw await readError(response)
  return response
}
