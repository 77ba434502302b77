import { useLayoutEffect, useRef } from 'preact/hooks'
import type { VisitReference } from '@contract/site-visits.ts'
import type { CitedMarker, PassageReference } from '@contract/chat.ts'
import { fill } from '../texts/choose-texts.ts'
import { Icon } from './icons.tsx'
import { usePage } from './page-context.ts'

export interface Citation {
  reference: VisitReference
  occurrence: number | undefined
}

/** A passage with the quote that supports the cited sentence. */
export type CitedPassage = PassageReference & Pick<CitedMarker, 'start' | 'end'>

export const popoverId = 'citation'
const shownPassages = 3

/** A marker in the text; the popover of the page shows the quote behind it. */
export function CitationChip({ citation, number }: { citation: Citation | undefined; number: number }) {
  const { texts, showCitation } = usePage()
  if (!citation) return <span class="chip">{number}</span>
  const label = fill(texts.source, { number, title: citation.reference.title })
  return (
    <button
      type="button"
      class="chip"
      aria-label={label}
      aria-haspopup="dialog"
      {...{ popovertarget: popoverId }}
      onClick={({ currentTarget }) => showCitation(citation, currentTarget)}
    >
      {number}
    </button>
  )
}

/** The one popover of the page. The browser closes it by Escape or a click elsewhere, and gives the focus back. */
export function CitationPopover({ citation, anchor }: { citation: Citation | undefined; anchor: Element | undefined }) {
  const { texts } = usePage()
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const popover = element.current
    if (!popover || !anchor) return
    const place = () => placeBelow(popover, anchor)
    place()
    // In a frame of another site the attribute autofocus has no effect.
    const open = () => {
      place()
      if (popover.matches(':popover-open')) popover.focus()
    }
    popover.addEventListener('toggle', open)
    addEventListener('resize', place)
    return () => {
      popover.removeEventListener('toggle', open)
      removeEventListener('resize', place)
    }
  }, [citation, anchor])
  const reference = citation?.reference
  return (
    <div
      ref={element}
      id={popoverId}
      class="popover"
      popover="auto"
      role="dialog"
      tabIndex={-1}
      aria-label={reference && fill(texts.source, { number: reference.id, title: reference.title })}
    >
      {citation && <Passages citation={citation} />}
    </div>
  )
}

function Passages({ citation }: { citation: Citation }) {
  const { reference } = citation
  return (
    <>
      <h2 class="popover-title" dir="auto">
        {reference.title}
      </h2>
      {citedPassages(citation)
        .slice(0, shownPassages)
        .map((passage, index) => (
          <Passage key={index} reference={reference} passage={passage} />
        ))}
      <SourceLink reference={reference} />
    </>
  )
}

/** The passages of one marker with its quotes; all of the document where the answer does not state them. */
export function citedPassages({ reference, occurrence }: Citation): CitedPassage[] {
  const passages = reference.passages ?? []
  const cited = passages.flatMap(({ markers = [], ...passage }) =>
    markers
      .filter((marker) => marker.occurrence === occurrence)
      .map((marker): CitedPassage => ({ ...passage, ...marker })),
  )
  return cited.length === 0 ? passages : cited
}

function Passage({ reference, passage }: { reference: VisitReference; passage: CitedPassage }) {
  const { texts, showDocument } = usePage()
  const place = placeOf(passage, texts)
  return (
    <div class="passage">
      {passage.quote !== '' && <blockquote dir="auto">{passage.quote}</blockquote>}
      <div class="place">
        <span dir="auto">{place}</span>
        {reference.ticket !== undefined && reference.documentId !== undefined && (
          <button type="button" class="link" onClick={() => showDocument(reference, passage)}>
            {texts.open} <Icon name="open" />
          </button>
        )}
      </div>
    </div>
  )
}

/** The address that the organisation has given the document, for instance its page on the website. */
function SourceLink({ reference: { url } }: { reference: VisitReference }) {
  if (url === undefined || !/^https?:\/\//i.test(url)) return null
  return (
    <a class="place" href={url} target="_blank" rel="noopener noreferrer">
      {url.split('/')[2]} <Icon name="open" />
    </a>
  )
}

export function placeOf({ page, rows, heading }: PassageReference, texts: { page: string; rows: string }): string {
  return [
    page === undefined ? '' : fill(texts.page, { page }),
    rows === undefined ? '' : fill(texts.rows, { from: rows.from, to: rows.to }),
    heading ?? '',
  ]
    .filter((part) => part !== '')
    .join(' · ')
}

/** Below the marker, above it where there is no room, and inside of the window. */
function placeBelow(popover: HTMLElement, anchor: Element): void {
  const { left, bottom, top } = anchor.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = popover
  const margin = 12
  const x = Math.max(margin, Math.min(left - 16, innerWidth - width - margin))
  const fitsBelow = bottom + 8 + height + margin <= innerHeight
  const y = fitsBelow ? bottom + 8 : Math.max(margin, top - 8 - height)
  popover.style.setProperty('left', `${x}px`)
  popover.style.setProperty('top', `${y}px`)
}
