import { useCallback, useState } from 'preact/hooks'
import { fill } from '../texts/choose-texts.ts'
import { CitationChip } from './citation.tsx'
import type { Turn } from './history.ts'
import { IconButton } from './icons.tsx'
import { Markdown, type RenderMarker } from './markdown.tsx'
import { usePage } from './page-context.ts'
import { ProblemView } from './problem-view.tsx'

const isRunning = ({ status }: Turn) => status === 'waiting' || status === 'writing'

/** A question and its answer. */
export function TurnView({ turn, isLast }: { turn: Turn; isLast: boolean }) {
  const { texts, chat } = usePage()
  const { question, status, text, cutOff, problem } = turn
  const running = isRunning(turn)
  const retry = isLast && !running ? () => void chat.retry() : undefined
  return (
    <article class="turn" aria-busy={running}>
      <h2 class="question">
        <span class="hidden">{texts.you}: </span>
        <span dir="auto">{question}</span>
      </h2>
      <div class="answer">
        <h3 class="hidden">{texts.answer}</h3>
        {status === 'waiting' && <Waiting text={texts.waiting} />}
        {text !== '' && <AnswerText turn={turn} />}
        {cutOff && <p class="note">{cutOff === 'length' ? texts.cutOff : texts.filtered}</p>}
        {status === 'stopped' && (
          <p class="note">
            {texts.stopped}{' '}
            {retry && (
              <button type="button" class="link" onClick={retry}>
                {texts.retry}
              </button>
            )}
          </p>
        )}
        {problem && <ProblemView problem={problem} texts={texts} onRetry={retry} />}
        {status === 'done' && <Sources turn={turn} />}
        {!running && text !== '' && <Actions turn={turn} />}
      </div>
    </article>
  )
}

function Waiting({ text }: { text: string }) {
  return (
    <p class="waiting">
      <span class="dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {text}
    </p>
  )
}

function AnswerText({ turn }: { turn: Turn }) {
  const { text, references } = turn
  const isComplete = !isRunning(turn)
  // Before the references arrive every bracketed number is shown as a marker; afterwards only those that have a reference.
  const renderMarker = useCallback<RenderMarker>(
    (number, occurrence) => {
      const reference = references?.find(({ id }) => id === number)
      if (isComplete && !reference) return `[${number}]`
      return <CitationChip number={number} citation={reference && { reference, occurrence }} />
    },
    [references, isComplete],
  )
  return <Markdown text={text} isComplete={isComplete} renderMarker={renderMarker} />
}

/** The cited documents. */
function Sources({ turn: { references = [] } }: { turn: Turn }) {
  const { texts } = usePage()
  if (references.length === 0) return null
  return (
    <div class="sources">
      <h3>{texts.sources}</h3>
      <ol>
        {references.map((reference) => (
          <li key={reference.id}>
            <CitationChip number={reference.id} citation={{ reference, occurrence: undefined }} />
            <span dir="auto">{reference.title}</span>
          </li>
        ))}
      </ol>
    </div>
  )
}

function Actions({ turn }: { turn: Turn }) {
  const { texts, chat, visit } = usePage()
  const [isCopied, setCopied] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const copy = () =>
    void navigator.clipboard?.writeText(turn.text).then(() => {
      setCopied(true)
      setTimeout(() => setCopied(false), 2_000)
    })
  // A refused rating is no reason to interrupt the visitor.
  const rate = (rating: 'up' | 'down', reason: string | null) => void chat.rate(turn.id, rating, reason).catch(() => {})
  const canRate = visit.keepsConversations && turn.status === 'done' && turn.requestId !== ''
  return (
    <div class="actions">
      <div class="buttons">
        <IconButton icon={isCopied ? 'check' : 'copy'} label={isCopied ? texts.copied : texts.copy} onClick={copy} />
        {canRate && (
          <>
            <IconButton
              icon="up"
              label={texts.helpful}
              pressed={turn.rating === 'up'}
              onClick={() => {
                setAsking(false)
                rate('up', null)
              }}
            />
            <IconButton
              icon="down"
              label={texts.notHelpful}
              pressed={turn.rating === 'down'}
              onClick={() => {
                setAsking(true)
                rate('down', null)
              }}
            />
          </>
        )}
        <span class="note" role="status">
          {isCopied ? texts.copied : turn.rating !== undefined && !isAsking ? texts.thanks : ''}
        </span>
      </div>
      {isAsking && (
        <ReasonForm
          onSend={(reason) => {
            rate('down', reason)
            setAsking(false)
          }}
        />
      )}
    </div>
  )
}

function ReasonForm({ onSend }: { onSend: (reason: string | null) => void }) {
  const { texts } = usePage()
  const [reason, setReason] = useState('')
  return (
    <form
      class="reason"
      onSubmit={(event) => {
        event.preventDefault()
        onSend(reason.trim() === '' ? null : reason.trim())
      }}
    >
      <label>
        {texts.reason}
        <textarea
          dir="auto"
          rows={2}
          maxLength={1_000}
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        {texts.sendReason}
      </button>
    </form>
  )
}

/** What a screen reader reads when an answer is complete. */
export function completionText(turn: Turn, texts: { complete: string; sources: string }): string {
  const count = turn.references?.length ?? 0
  return count === 0
    ? texts.complete
    : `${texts.complete} ${fill('{sources}: {count}', { sources: texts.sources, count })}`
}
