import { Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import type { DocumentTextBody } from '@contract/document-viewer.ts'
import { type RefObject, useCallback, useEffect, useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { getJson } from '../../../api/client.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { Dimmed } from '../../../ui/dimmed.tsx'
import styles from '../viewer.module.css'
import type { CodePointRange } from './mark-range.ts'
import { MarkedText } from './marked-text.tsx'
import { TableRows } from './table-rows.tsx'
import { cutWindow, windowAt, windowCount, windowQuery } from './text-windows.ts'

export interface TextDocumentProps {
  documentId: string
  /** The hash of the file: windows of two files are never mixed. */
  version: string
  format: 'table' | 'text'
  /** The window that came with the page. */
  first: DocumentTextBody
  range: CodePointRange | undefined
}

/** About the height of a window of 10,000 characters; the true height is measured. */
const estimatedHeight = 3_200

/** The extracted text of a document. Only the windows near the visible part are loaded. */
export function TextDocument({ documentId, version, format, first, range }: TextDocumentProps) {
  const { t } = useTranslation('viewer')
  const numbers = useFormat()
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: windowCount(first.total),
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedHeight,
    overscan: 1,
  })
  useEffect(() => {
    if (range) virtualizer.scrollToOffset(virtualizer.getOffsetForIndex(windowAt(range.from), 'start')?.[0] ?? 0)
  }, [range, virtualizer])
  const { hold, handlers } = useHeldMark(scroller, range)
  return (
    <>
      <Group className={styles['toolbar']}>
        <Dimmed>{t('text.note', { characters: numbers.number(first.total) })}</Dimmed>
      </Group>
      <div
        ref={scroller}
        className={styles['scroller']}
        tabIndex={0}
        role="region"
        aria-label={t('text.label')}
        {...handlers}
      >
        <div style={{ height: virtualizer.getTotalSize(), position: 'relative', margin: '16px 0' }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => (
            <div
              key={index}
              ref={virtualizer.measureElement}
              data-index={index}
              className={styles['line']}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Window {...{ documentId, version, format, first, range, index }} onText={hold} />
            </div>
          ))}
        </div>
      </div>
    </>
  )
}

interface WindowProps extends TextDocumentProps {
  index: number
  /** Called when the window shows its text. */
  onText: () => void
}

function Window({ documentId, version, format, first, range, index, onText }: WindowProps) {
  const { t } = useTranslation('viewer')
  const query = windowQuery(index)
  const isFirst = first.from === Number(new URLSearchParams(query).get('from'))
  const { data, isError } = useQuery({
    queryKey: ['document', documentId, 'text', version, index],
    queryFn: ({ signal }) =>
      getJson<DocumentTextBody>(`/api/documents/${encodeURIComponent(documentId)}/text?${query}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    ...(isFirst ? { initialData: first } : {}),
  })
  const window = useMemo(() => data && cutWindow(data, index), [data, index])
  useEffect(() => {
    if (window) onText()
  }, [window, onText])
  if (isError) return <Text className={styles['text']}>{t('text.failed')}</Text>
  if (!window) return <Skeleton h={estimatedHeight} className={styles['text']} />
  return (
    <div className={format === 'table' ? undefined : styles['text']}>
      {format === 'table' ? (
        <TableRows window={window} range={range} isFirst={index === 0} />
      ) : (
        <MarkedText text={window.text} start={window.from} range={range} />
      )}
    </div>
  )
}

/**
 * Holds the marked range in the middle of the visible part while texts arrive and heights are measured, until the
 * reader scrolls. `hold` scrolls to it now; `handlers` belong to the scroller.
 */
function useHeldMark(scroller: RefObject<HTMLDivElement | null>, range: CodePointRange | undefined) {
  const isHeld = useRef(true)
  useEffect(() => {
    isHeld.current = true
  }, [range])
  const hold = useCallback(() => {
    if (isHeld.current) scroller.current?.querySelector('mark')?.scrollIntoView({ block: 'center' })
  }, [scroller])
  // Each measured height renders the list again and may move the mark.
  useEffect(hold)
  const release = () => {
    isHeld.current = false
  }
  return { hold, handlers: { onWheel: release, onTouchMove: release, onPointerDown: release, onKeyDown: release } }
}
