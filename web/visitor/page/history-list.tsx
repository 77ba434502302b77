import { useEffect, useRef, useState } from 'preact/hooks'
import { fill } from '../texts/choose-texts.ts'
import { IconButton } from './icons.tsx'
import { usePage } from './page-context.ts'

/** The conversations in this browser: open one, delete one or all. */
export function HistoryList({ onSelect }: { onSelect?: () => void }) {
  const { texts, chat, locale } = usePage()
  const conversations = chat.conversations()
  const currentId = chat.current()?.id
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  return (
    <>
      {conversations.length === 0 ? (
        <p class="note">{texts.noHistory}</p>
      ) : (
        <ul class="history">
          {conversations.map(({ id, title, at }) => (
            <li key={id}>
              <button
                type="button"
                class="conversation"
                aria-current={id === currentId ? 'true' : undefined}
                onClick={() => {
                  chat.select(id)
                  onSelect?.()
                }}
              >
                <span class="title" dir="auto">
                  {title}
                </span>
                <time dateTime={new Date(at).toISOString()}>{dates.format(at)}</time>
              </button>
              <IconButton icon="trash" label={fill(texts.deleteOne, { title })} onClick={() => chat.remove(id)} />
            </li>
          ))}
        </ul>
      )}
      {conversations.length > 0 && <DeleteAll />}
      <p class="note">{texts.historyNote}</p>
    </>
  )
}

function DeleteAll() {
  const { texts, chat } = usePage()
  const [isAsking, setAsking] = useState(false)
  if (!isAsking)
    return (
      <button type="button" class="link" onClick={() => setAsking(true)}>
        {texts.deleteAll}
      </button>
    )
  return (
    <div class="ask" role="group" aria-label={texts.deleteAllAsk}>
      <p>{texts.deleteAllAsk}</p>
      <button type="button" class="button danger" onClick={() => chat.removeAll()}>
        {texts.delete}
      </button>
      <button type="button" class="button" ref={(button) => button?.focus()} onClick={() => setAsking(false)}>
        {texts.cancel}
      </button>
    </div>
  )
}

/** The list on small screens and in the frame. */
export function HistoryDialog({ onClose }: { onClose: () => void }) {
  const { texts } = usePage()
  return (
    <Dialog label={texts.history} onClose={onClose} className="drawer">
      <HistoryList onSelect={onClose} />
    </Dialog>
  )
}

/** A modal dialog: the browser keeps the focus inside, closes it by Escape and gives the focus back. */
export function Dialog(props: {
  label: string
  className: string
  onClose: () => void
  children: preact.ComponentChildren
}) {
  const { label, className, onClose, children } = props
  const { texts } = usePage()
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => element.current?.showModal(), [])
  return (
    <dialog
      ref={element}
      class={className}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === element.current && element.current?.close()}
    >
      <div class="dialog-body">
        <header>
          <h2 dir="auto">{label}</h2>
          <IconButton icon="close" label={texts.close} onClick={() => element.current?.close()} />
        </header>
        {children}
      </div>
    </dialog>
  )
}
