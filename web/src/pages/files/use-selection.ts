import { useState } from 'react'
import type { DocumentSelection } from '@contract/document-progress.ts'
import type { ListSearch } from './document-queries.ts'

/** As many as the server accepts (maximumSelectedDocuments of src/contract/document-progress.ts). */
export const maximumSelected = 1000

/** Single documents, or all of the list but some. */
interface Selected {
  all: boolean
  /** The selected ones; with `all` those that are left out. */
  ids: ReadonlySet<string>
}

const nothing: Selected = { all: false, ids: new Set() }

export type FileSelection = ReturnType<typeof useSelection>

/** The selected rows of one list. Another search or filter starts with none. */
export function useSelection(search: ListSearch, total: number) {
  const { sort: _order, ...filter } = search
  const list = JSON.stringify(filter)
  const [state, setState] = useState({ list, selected: nothing })
  const selected = state.list === list ? state.selected : nothing
  const set = (next: Selected) => setState({ list, selected: next })
  const { all, ids } = selected
  const count = all ? Math.max(0, total - ids.size) : ids.size
  return {
    all,
    count,
    has: (id: string) => ids.has(id) !== all,
    clear: () => set(nothing),
    selectAll: () => set({ all: true, ids: new Set() }),
    /** False if too many single documents would be selected. */
    change(changed: readonly string[], isSelected: boolean): boolean {
      const next = new Set(ids)
      for (const id of changed) {
        if (isSelected === all) next.delete(id)
        else next.add(id)
      }
      if (next.size > maximumSelected) return false
      set({ all, ids: next })
      return true
    },
    toRequest: (): DocumentSelection => (all ? { filter, except: [...ids] } : { ids: [...ids] }),
  }
}
