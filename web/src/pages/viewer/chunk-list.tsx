import { Group, Skeleton, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import type { ChunkBody, ChunkPageBody } from '@contract/document-progress.ts'
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { getJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { usePlace } from './use-place.ts'
import styles from './viewer.module.css'

interface ChunkListProps {
  documentId: string
  version: string
  /** The page that came with the document. */
  first: ChunkPageBody
  selected: ChunkBody | undefined
  onSelect(chunk: ChunkBody): void
}

const rowHeight = 104

/** The chunks of a document, as search sees them. Pages of the list are loaded when they come into view. */
export function ChunkList({ documentId, version, first, selected, onSelect }: ChunkListProps) {
  const { t } = useTranslation('viewer')
  const id = useId()
  const scroller = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const virtualizer = useVirtualizer({
    count: first.total,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 4,
  })
  const items = virtualizer.getVirtualItems()
  const chunkAt = useChunkPages({ documentId, version, first }, items[0]?.index ?? 0, items.at(-1)?.index ?? 0)
  const move = (event: KeyboardEvent) => {
    const next = nextIndex(event.key, active, first.total)
    if (next !== undefined) {
      event.preventDefault()
      setActive(next)
      virtualizer.scrollToIndex(next)
    }
    const chosen = chunkAt(next ?? active)
    if (chosen && (next !== undefined || event.key === 'Enter' || event.key === ' ')) onSelect(chosen)
  }
  return (
    <div
      ref={scroller}
      className={styles['scroller']}
      role="listbox"
      tabIndex={0}
      aria-label={t('chunks.label')}
      aria-activedescendant={items.some(({ index }) => index === active) ? `${id}-${active}` : undefined}
      onKeyDown={move}
    >
      <div style={{ height: virtualizer.getTotalSize(), position: 'relative' }} role="presentation">
        {items.map(({ index, start }) => {
          const chunk = chunkAt(index)
          return (
            <div
              key={index}
              id={`${id}-${index}`}
              className={styles['option']}
              style={{ height: rowHeight, transform: `translateY(${start}px)` }}
              role="option"
              aria-selected={selected?.index === index}
              aria-setsize={first.total}
              aria-posinset={index + 1}
              onClick={() => {
                setActive(index)
                if (chunk) onSelect(chunk)
              }}
            >
              {chunk ? <ChunkRow chunk={chunk} /> : <Skeleton h={rowHeight - 24} />}
            </div>
          )
        })}
      </div>
    </div>
  )
}

function nextIndex(key: string, index: number, total: number): number | undefined {
  const steps: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: total - 1 }
  const next = steps[key]
  return next === undefined ? undefined : Math.min(Math.max(0, next), total - 1)
}

function ChunkRow({ chunk }: { chunk: ChunkBody }) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  const place = usePlace(chunk)
  return (
    <>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Text size="xs" fw={600} ff="monospace">
          {`#${chunk.index + 1}`}
        </Text>
        <Dimmed size="xs" truncate>
          {[place, t('chunks.tokens', { count: chunk.tokens, tokens: format.number(chunk.tokens) })]
            .filter((part) => part !== '')
            .join(' · ')}
        </Dimmed>
      </Group>
      {chunk.headingPath.length > 0 && (
        <Dimmed size="xs" truncate>
          {chunk.headingPath.join(' › ')}
        </Dimmed>
      )}
      <Text size="sm" lineClamp={chunk.headingPath.length > 0 ? 2 : 3}>
        {chunk.text}
      </Text>
    </>
  )
}

/** The chunk at an index; undefined until its page is loaded. */
function useChunkPages(
  { documentId, version, first }: Pick<ChunkListProps, 'documentId' | 'version' | 'first'>,
  from: number,
  to: number,
) {
  const size = first.limit
  const pages: number[] = []
  for (let page = Math.floor(from / size); page <= Math.floor(to / size); page++) pages.push(page)
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: ['document', documentId, 'chunks', version, page],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        getJson<ChunkPageBody>(
          `/api/documents/${encodeURIComponent(documentId)}/chunks?limit=${size}&offset=${page * size}`,
          { signal },
        ),
      staleTime: Number.POSITIVE_INFINITY,
      ...(page === 0 ? { initialData: first } : {}),
    })),
  })
  return (index: number): ChunkBody | undefined => {
    const page = Math.floor(index / size)
    return results[pages.indexOf(page)]?.data?.items[index - page * size]
  }
}
