import { UnstyledButton } from '@mantine/core'
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useCallback, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentProgressBody, DocumentSort } from '@contract/document-progress.ts'
import { notifyError } from '../../ui/notify.ts'
import { type ListSearch, windowQuery, windowSize } from './document-queries.ts'
import { FileRow, LoadingRow, type RowAction } from './file-row.tsx'
import styles from './files.module.css'
import { type FileSelection, maximumSelected } from './use-selection.ts'

export interface FileTableProps {
  spaceId: string
  /** The address of the list; documents are below it. */
  address: string
  search: ListSearch
  total: number
  selection: FileSelection
  onSort: (sort: DocumentSort) => void
  onAct: (action: RowAction, document: DocumentProgressBody) => void
  onTooMany: () => void
}

const headHeight = 40
/** While the scroll bar is dragged, windows that are only passed are not loaded. */
const pauseMs = 80

/** All documents of the list with a scroll bar for all of them; only the rows in view exist, and only their windows are loaded. */
export function FileTable(props: FileTableProps) {
  const { spaceId, address, search, total, selection, onSort, onAct } = props
  const { t } = useTranslation('files')
  const isNarrow = useMediaQuery('(max-width: 640px)', false, { getInitialValueInEffect: false })
  const rowHeight = isNarrow ? 64 : 48
  const frame = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: total,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 6,
  })
  const visible = rows.getVirtualItems()
  const windows = windowsOf(visible[0]?.index ?? 0, visible.at(-1)?.index ?? 0)
  const documentAt = useWindows(spaceId, search, windows)
  const select = useRangeSelection(props)
  const height = Math.min(total * rowHeight + headHeight + 2, 1200)
  return (
    <div
      ref={frame}
      role="table"
      aria-label={t('table.label')}
      aria-rowcount={total + 1}
      className={styles['table']}
      style={{ height: `min(${height}px, max(320px, calc(100dvh - 260px)))` }}
      // The keys of a scroll area: arrows, Page Up and Down, Home, End.
      tabIndex={0}
    >
      <TableHead search={search} selection={selection} onSort={onSort} />
      <div role="rowgroup" className={styles['body']} style={{ height: rows.getTotalSize() }}>
        {visible.map(({ index, start }) => {
          const document = documentAt(index)
          if (!document) return <LoadingRow key={`loading-${index}`} rowNumber={index + 2} top={start} />
          return (
            <FileRow
              key={document.id}
              document={document}
              rowNumber={index + 2}
              top={start}
              address={`${address}/${document.id}`}
              isNarrow={isNarrow}
              isSelected={selection.has(document.id)}
              onSelect={select}
              onAct={onAct}
            />
          )
        })}
      </div>
    </div>
  )
}

function windowsOf(first: number, last: number): number[] {
  const [from, to] = [Math.floor(first / windowSize), Math.floor(last / windowSize)]
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Loads the windows in view, and returns the document of a row. */
function useWindows(spaceId: string, search: ListSearch, windows: number[]) {
  const [paused] = useDebouncedValue(windows.join(), pauseMs)
  const wanted = paused.split(',').map(Number)
  const client = useQueryClient()
  const loaded = useQueries({ queries: wanted.map((index) => windowQuery(spaceId, search, index)) })
  return (row: number): DocumentProgressBody | undefined => {
    const index = Math.floor(row / windowSize)
    // A window that was loaded before is shown at once.
    const page =
      loaded[wanted.indexOf(index)]?.data ?? client.getQueryData(windowQuery(spaceId, search, index).queryKey)
    return page?.items[row % windowSize]
  }
}

/** Selects a row; with Shift all rows since the last one, loading those that are not in memory. */
function useRangeSelection({ spaceId, search, selection, onTooMany }: FileTableProps) {
  const client = useQueryClient()
  const last = useRef(0)
  // Rows are memoised, so the function must stay the same while its values change.
  const latest = useRef({ selection, search, onTooMany })
  latest.current = { selection, search, onTooMany }
  return useCallback(
    (index: number, isSelected: boolean, isRange: boolean) => {
      const [from, to] = isRange ? [Math.min(last.current, index), Math.max(last.current, index)] : [index, index]
      last.current = index
      const { search: list, onTooMany: refuse } = latest.current
      if (to - from >= maximumSelected) return refuse()
      const pages = windowsOf(from, to).map(async (window) => ({
        window,
        page: await client.ensureQueryData(windowQuery(spaceId, list, window)),
      }))
      void Promise.all(pages).then((loaded) => {
        const ids = loaded.flatMap(({ window, page }) =>
          page.items.filter((_, place) => isBetween(window * windowSize + place, from, to)).map(({ id }) => id),
        )
        if (!latest.current.selection.change(ids, isSelected)) refuse()
      }, notifyError)
    },
    [client, spaceId],
  )
}

const isBetween = (value: number, from: number, to: number) => value >= from && value <= to

/** The sorts of a column: first and second click. */
const columnSorts: Record<'name' | 'size' | 'added', [DocumentSort, DocumentSort]> = {
  name: ['name', 'nameDescending'],
  size: ['largest', 'smallest'],
  added: ['newest', 'oldest'],
}
const ascending: DocumentSort[] = ['name', 'smallest', 'oldest']

function TableHead({ search, selection, onSort }: Pick<FileTableProps, 'search' | 'selection' | 'onSort'>) {
  const { t } = useTranslation('files')
  const sort = search.sort ?? 'newest'
  const isPartial = selection.count > 0 && !(selection.all && selection.count > 0)
  const sorted = (column: keyof typeof columnSorts, className?: string) => (
    <SortHead sorts={columnSorts[column]} sort={sort} onSort={onSort} className={className}>
      {t(`column.${column}`)}
    </SortHead>
  )
  return (
    <div role="rowgroup" className={styles['head']}>
      <div role="row" aria-rowindex={1} className={`${styles['row']} ${styles['head']}`}>
        <div role="columnheader">
          <input
            type="checkbox"
            className={styles['checkbox']}
            checked={selection.all && selection.count > 0}
            ref={(box) => {
              if (box) box.indeterminate = isPartial
            }}
            aria-label={t('table.selectAll')}
            onChange={(event) => (event.currentTarget.checked ? selection.selectAll() : selection.clear())}
          />
        </div>
        {sorted('name')}
        <div role="columnheader" className={styles['status']}>
          {t('column.status')}
        </div>
        {sorted('size', `${styles['number']} ${styles['medium']}`)}
        <div role="columnheader" className={`${styles['number']} ${styles['wide']}`}>
          {t('column.pages')}
        </div>
        <div role="columnheader" className={`${styles['number']} ${styles['wide']}`}>
          {t('column.passages')}
        </div>
        {sorted('added', `${styles['wide']} ${styles['added']}`)}
        <div role="columnheader" aria-label={t('column.actions')} />
      </div>
    </div>
  )
}

function SortHead(props: {
  sorts: [DocumentSort, DocumentSort]
  sort: DocumentSort
  onSort: (sort: DocumentSort) => void
  className?: string | undefined
  children: ReactNode
}) {
  const { sorts, sort, onSort, className, children } = props
  const isSorted = sorts.includes(sort)
  const isAscending = ascending.includes(sort)
  const Icon = isAscending ? IconArrowUp : IconArrowDown
  return (
    <div
      role="columnheader"
      className={className}
      aria-sort={isSorted ? (isAscending ? 'ascending' : 'descending') : 'none'}
    >
      <UnstyledButton fw={600} fz="sm" onClick={() => onSort(sort === sorts[0] ? sorts[1] : sorts[0])}>
        {children}
        {isSorted && <Icon size={14} aria-hidden style={{ verticalAlign: -2, marginInlineStart: 4 }} />}
      </UnstyledButton>
    </div>
  )
}
