import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type {
  DocumentOperationBody,
  DocumentProgressBody,
  DocumentProgressPageBody,
} from '@contract/document-progress.ts'
import { spaceListsKey } from '../spaces/queries.ts'
import { documentsKey } from './document-queries.ts'

/** Lists that may have changed are loaded again at most this often, the first time soon: new files show their stages. */
const reloadEveryMs = 1_500
const firstReloadMs = 150
/** After a refused connection. */
const reconnectMs = 10_000

/**
 * Keeps the loaded rows of a Space current. A hidden page has no stream: browsers allow only six connections to a server without
 * HTTP/2, for all pages together.
 */
export function useDocumentEvents(spaceId: string): void {
  const client = useQueryClient()
  useEffect(() => {
    const lists = createLists(client, spaceId)
    let source: EventSource | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let isFirst = true

    function open() {
      clearTimeout(timer)
      source?.close()
      source = undefined
      if (document.hidden) return
      source = new EventSource(`/api/spaces/${spaceId}/documents/events`)
      const on = <Data>(type: string, handle: (data: Data) => void) =>
        source?.addEventListener(type, (event) => handle(JSON.parse((event as MessageEvent<string>).data) as Data))
      on('snapshot', () => {
        // The list has just been loaded when the page opens.
        if (!isFirst) lists.reload()
        isFirst = false
      })
      on<DocumentProgressBody>('document', lists.change)
      on('removed', lists.reload)
      on<DocumentProgressPageBody['counts']>('counts', (counts) => {
        lists.patch((page) => ({ ...page, counts }))
        // The list of Spaces has the same numbers.
        void client.invalidateQueries({ queryKey: spaceListsKey })
      })
      on<{ items: DocumentOperationBody[] }>('operations', ({ items }) =>
        lists.patch((page) => ({ ...page, operations: items })),
      )
      source.addEventListener('error', () => {
        if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, reconnectMs)
      })
    }

    open()
    document.addEventListener('visibilitychange', open)
    return () => {
      document.removeEventListener('visibilitychange', open)
      clearTimeout(timer)
      source?.close()
      lists.close()
    }
  }, [client, spaceId])
}

type Client = ReturnType<typeof useQueryClient>
type Page = DocumentProgressPageBody

function createLists(client: Client, spaceId: string) {
  const queryKey = documentsKey(spaceId)
  let timer: ReturnType<typeof setTimeout> | undefined
  const patch = (change: (page: Page) => Page) =>
    client.setQueriesData<Page>({ queryKey }, (page) => page && change(page))
  let reloadedMs = -Infinity
  const reload = () => {
    const delayMs = Math.max(firstReloadMs, reloadedMs + reloadEveryMs - performance.now())
    timer ??= setTimeout(() => {
      timer = undefined
      reloadedMs = performance.now()
      void client.invalidateQueries({ queryKey })
    }, delayMs)
  }
  return {
    patch,
    reload,
    /** A row that is loaded changes in place. A new one, and one whose state changed, may belong elsewhere. */
    change(document: DocumentProgressBody) {
      let isKnown = false
      patch((page) => {
        const index = page.items.findIndex(({ id }) => id === document.id)
        if (index < 0) return page
        isKnown = page.items[index]!.status === document.status
        return { ...page, items: page.items.with(index, document) }
      })
      if (!isKnown) reload()
    },
    close: () => clearTimeout(timer),
  }
}
