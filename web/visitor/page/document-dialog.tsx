import { useEffect, useState } from 'preact/hooks'
import type { VisitReference } from '@contract/site-visits.ts'
import { type CitedPassage, placeOf } from './citation.tsx'
import type { Problem } from './history.ts'
import { Dialog } from './history-list.tsx'
import { Icon } from './icons.tsx'
import { usePage } from './page-context.ts'
import { ProblemView } from './problem-view.tsx'
import { toProblem } from './visit.ts'

/** Code points of the document before and after the cited passage. */
const around = 1_500

interface DocumentText {
  /** Code points of the whole document. */
  total: number
  from: number
  text: string
}

interface Part {
  before: string
  cited: string
  after: string
}

/** The cited passage in its document, with the quote marked. */
export function DocumentDialog(props: { reference: VisitReference; passage: CitedPassage; onClose: () => void }) {
  const { reference, passage, onClose } = props
  const { texts, visits } = usePage()
  const [part, setPart] = useState<Part>()
  const [problem, setProblem] = useState<Problem>()
  const path = `/documents/${reference.documentId}`
  const query = `ticket=${encodeURIComponent(reference.ticket ?? '')}`
  useEffect(() => {
    const from = Math.max(0, passage.start! - around)
    visits
      .send('GET', `${path}/text?${query}&from=${from}&to=${passage.end! + around}`)
      .then((response) => response.json())
      .then((body: DocumentText) => setPart(cut(body, passage)))
      .catch((error: unknown) => setProblem(toProblem(error, Date.now())))
  }, [reference, passage])
  const openFile = () => {
    // Browsers allow a window only while they handle the click.
    const opened = open('about:blank', '_blank')
    visits
      .send('GET', `${path}/content?${query}`)
      .then((response) => response.blob())
      .then((file) => {
        const url = URL.createObjectURL(file)
        if (opened) opened.location.href = passage.page === undefined ? url : `${url}#page=${passage.page}`
      })
      .catch((error: unknown) => {
        opened?.close()
        setProblem(toProblem(error, Date.now()))
      })
  }
  return (
    <Dialog label={reference.title} className="document" onClose={onClose}>
      <p class="place">
        <span dir="auto">{placeOf(passage, texts)}</span>
        <button type="button" class="link" onClick={openFile}>
          {texts.open} <Icon name="open" />
        </button>
      </p>
      {problem && <ProblemView problem={problem} texts={texts} onRetry={undefined} />}
      {part && (
        <div class="document-text" dir="auto" tabIndex={0}>
          {part.before}
          <mark ref={(mark) => mark?.scrollIntoView({ block: 'center' })}>{part.cited}</mark>
          {part.after}
        </div>
      )}
      {!part && !problem && <p class="note">{texts.loading}</p>}
    </Dialog>
  )
}

/** `start` and `end` count code points. */
function cut({ total, from, text }: DocumentText, { start = from, end = from }: CitedPassage): Part {
  const points = [...text]
  const piece = (begin: number, finish?: number) => points.slice(begin, finish).join('')
  return {
    before: (from > 0 ? '… ' : '') + piece(0, start - from),
    cited: piece(start - from, end - from),
    after: piece(end - from) + (from + points.length < total ? ' …' : ''),
  }
}
