import { Skeleton } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentWarning } from '@contract/documents.ts'
import type { PassageTarget } from '../passage-target.ts'
import { PdfPage, type PdfPageProps } from './pdf-page.tsx'
import { PdfToolbar } from './pdf-toolbar.tsx'
import styles from './pdf.module.css'
import type { Highlight } from './use-highlight.ts'
import { type PageSize, sizeOf } from './use-page.ts'
import { nextZoom } from './zoom.ts'

const gap = 16
/** CSS pixels: a page with an absurd format is shown smaller. */
const maximumPageSide = 20_000
/** A small page is not blown up to the width of the window. */
const maximumFitScale = 2

export interface ShownPages {
  pdf: PDFDocumentProxy
  target: PassageTarget | undefined
  warnings: readonly DocumentWarning[]
  /** Reports the page in view. */
  onPage(page: number): void
}

/** All pages below one another; only those near the window exist. */
export function PdfPages(props: ShownPages) {
  const first = useFirstSize(props.pdf)
  return first ? <LoadedPages {...props} first={first} /> : <Skeleton flex={1} />
}

function useFirstSize(pdf: PDFDocumentProxy): PageSize | undefined {
  const [size, setSize] = useState<PageSize>()
  useEffect(() => {
    let isCurrent = true
    const a4 = { width: 595, height: 842 }
    pdf.getPage(1).then(
      (page) => isCurrent && setSize(sizeOf(page)),
      () => isCurrent && setSize(a4),
    )
    return () => void (isCurrent = false)
  }, [pdf])
  return size
}

function LoadedPages({ pdf, target, warnings, onPage, first }: ShownPages & { first: PageSize }) {
  const { t } = useTranslation('viewer')
  const scroller = useRef<HTMLDivElement>(null)
  const { ref: measured, width } = useElementSize()
  const [zoom, setZoom] = useState(1)
  const { sizes, addSize } = usePageSizes()
  const sizeAt = (index: number) => sizes.get(index + 1) ?? first
  const scaleAt = (index: number) => scaleOf(sizeAt(index), width, zoom)
  const virtualizer = useVirtualizer({
    count: pdf.numPages,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => sizeAt(index).height * scaleAt(index) + gap,
    overscan: 1,
    enabled: width > 0,
  })
  const current = (virtualizer.getVirtualItemForOffset((virtualizer.scrollOffset ?? 0) + 120)?.index ?? 0) + 1
  const shown = useRef(1)
  const goTo = useCallback(
    (page: number) => {
      // Not scrollToIndex: it corrects the place for some frames, against the scroll to the passage.
      const index = Math.min(Math.max(1, page), pdf.numPages) - 1
      shown.current = index + 1
      virtualizer.scrollToOffset(virtualizer.getOffsetForIndex(index, 'start')?.[0] ?? 0)
    },
    [virtualizer, pdf],
  )
  const { found, onSearched } = useTargetPage({ target, isReady: width > 0, goTo, scrollToBox })
  useKeepPage({ virtualizer, shown, current, zoom, width, goTo, onPage })

  function scrollToBox(page: number, { boxes }: Highlight) {
    const [offset] = virtualizer.getOffsetForIndex(page - 1, 'start') ?? [0]
    const height = sizeAt(page - 1).height * scaleAt(page - 1)
    const space = (scroller.current?.clientHeight ?? 0) / 3
    virtualizer.scrollToOffset(Math.max(0, offset + ((boxes[0]?.top ?? 0) / 100) * height - space))
  }

  return (
    <>
      <PdfToolbar
        page={current}
        pages={pdf.numPages}
        zoom={zoom}
        onPage={goTo}
        onZoom={setZoom}
        passage={target?.quote === undefined ? undefined : found}
      />
      <div
        ref={scroller}
        className={styles['scroller']}
        tabIndex={0}
        role="region"
        aria-label={t('pdf.pages')}
        onKeyDown={(event) => onKey(event, { current, pages: pdf.numPages, zoom, goTo, setZoom })}
      >
        <div ref={measured} style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => (
            <div
              key={index}
              ref={virtualizer.measureElement}
              data-index={index}
              className={styles['slot']}
              style={{ transform: `translateY(${start}px)` }}
            >
              <PdfPage
                pdf={pdf}
                number={index + 1}
                scale={scaleAt(index)}
                size={sizeAt(index)}
                {...quoteOn(target, index + 1)}
                warnings={warnings.filter(({ pages }) => pages?.includes(index + 1)).map(({ code }) => code)}
                onSize={addSize}
                onSearched={onSearched}
              />
            </div>
          ))}
        </div>
      </div>
    </>
  )
}

interface KeptPage {
  virtualizer: Virtualizer<HTMLDivElement, Element>
  /** The page that was last shown or asked for. */
  shown: RefObject<number>
  current: number
  zoom: number
  width: number
  goTo(page: number): void
  onPage(page: number): void
}

/** After a change of the zoom or of the width, the same page is shown. */
function useKeepPage({ virtualizer, shown, current, zoom, width, goTo, onPage }: KeptPage) {
  const [changes, setChanges] = useState(0)
  useLayoutEffect(() => {
    virtualizer.measure()
    // In the next render, when the pages have their new heights.
    setChanges((before) => before + 1)
  }, [virtualizer, zoom, width])
  useLayoutEffect(() => {
    if (changes > 0) goTo(shown.current)
  }, [changes, shown, goTo])
  useEffect(() => {
    shown.current = current
    onPage(current)
  }, [current, shown, onPage])
}

function usePageSizes() {
  const [sizes, setSizes] = useState<ReadonlyMap<number, PageSize>>(new Map())
  const addSize = useCallback((number: number, size: PageSize) => {
    setSizes((before) => {
      const known = before.get(number)
      if (known?.width === size.width && known.height === size.height) return before
      return new Map(before).set(number, size)
    })
  }, [])
  return { sizes, addSize }
}

function scaleOf({ width, height }: PageSize, room: number, zoom: number): number {
  const fit = Math.min(Math.max(1, room) / width, maximumFitScale)
  return Math.min(fit * zoom, maximumPageSide / width, maximumPageSide / height)
}

/** What to look for on a page. */
function quoteOn(target: PassageTarget | undefined, page: number): Pick<PdfPageProps, 'quote' | 'part'> {
  const { page: from = 1, pageTo = from } = target ?? {}
  const isInTarget = page >= from && page <= pageTo
  const part = from === pageTo ? undefined : page === from ? 'begins' : page === pageTo ? 'ends' : undefined
  return { quote: isInTarget ? target?.quote : undefined, part }
}

interface TargetPage {
  target: PassageTarget | undefined
  isReady: boolean
  goTo(page: number): void
  scrollToBox(page: number, highlight: Highlight): void
}

/** Scrolls to the page of the target, then to the passage on it, once. `found`: undefined while it is searched. */
function useTargetPage({ target, isReady, goTo, scrollToBox }: TargetPage) {
  const [found, setFound] = useState<boolean>()
  const reached = useRef<PassageTarget>(undefined)
  const scroll = useRef(scrollToBox)
  scroll.current = scrollToBox
  useEffect(() => {
    if (!isReady || !target) return
    setFound(undefined)
    reached.current = undefined
    goTo(target.page ?? 1)
  }, [target, isReady, goTo])
  const onSearched = useCallback(
    (page: number, highlight: Highlight | null) => {
      if (!highlight) return setFound((before) => before ?? (page === (target?.page ?? 1) ? false : undefined))
      setFound(true)
      if (reached.current === target) return
      reached.current = target
      scroll.current(page, highlight)
    },
    [target],
  )
  return { found, onSearched }
}

interface KeyActions {
  current: number
  pages: number
  zoom: number
  goTo(page: number): void
  setZoom(zoom: number): void
}

function onKey(event: KeyboardEvent, { current, pages, zoom, goTo, setZoom }: KeyActions) {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const actions: Record<string, () => void> = {
    ArrowLeft: () => goTo(current - 1),
    ArrowRight: () => goTo(current + 1),
    Home: () => goTo(1),
    End: () => goTo(pages),
    '+': () => setZoom(nextZoom(zoom, 1)),
    '-': () => setZoom(nextZoom(zoom, -1)),
    '0': () => setZoom(1),
  }
  const action = actions[event.key]
  if (!action) return
  event.preventDefault()
  action()
}
