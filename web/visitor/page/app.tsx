import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { SiteConfigBody, VisitBody, VisitReference } from '@contract/site-visits.ts'
import { fill } from '../texts/choose-texts.ts'
import type { Texts } from '../texts/en.ts'
import { createSentenceReader } from './announce.ts'
import type { Chat } from './chat.ts'
import { type Citation, CitationPopover, type CitedPassage } from './citation.tsx'
import { Composer } from './composer.tsx'
import { DocumentDialog } from './document-dialog.tsx'
import type { Embed } from './embed.ts'
import type { Turn } from './history.ts'
import { HistoryDialog, HistoryList } from './history-list.tsx'
import { IconButton } from './icons.tsx'
import { Context, type PageContext, usePage } from './page-context.ts'
import { completionText, TurnView } from './turn-view.tsx'
import type { Visits } from './visit.ts'

export interface AppProps {
  texts: Texts
  /** For dates. */
  locale: string
  config: SiteConfigBody
  visit: VisitBody
  visits: Visits
  chat: Chat
  embed: Embed | undefined
}

/** The chat, once a visit is open. */
export function App(props: AppProps) {
  const { chat, embed, texts } = props
  useChanges(chat)
  const [shown, setShown] = useState<{ citation: Citation; anchor: Element }>()
  const [document, setDocument] = useState<{ reference: VisitReference; passage: CitedPassage }>()
  const [isHistoryOpen, setHistoryOpen] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const showCitation = useCallback((citation: Citation, anchor: Element) => setShown({ citation, anchor }), [])
  const context = useMemo<PageContext>(
    () => ({ ...props, showCitation, showDocument: (reference, passage) => setDocument({ reference, passage }) }),
    [props, showCitation],
  )
  useEffect(() => {
    // In a frame the focus comes with the visitor, who may have closed the panel meanwhile.
    if (!embed || window.document.hasFocus()) field.current?.focus()
    embed?.onMessage(({ type }) => type === 'open' && field.current?.focus())
  }, [embed])
  const startNew = () => {
    chat.stop()
    chat.select(undefined)
    field.current?.focus()
  }
  return (
    <Context.Provider value={context}>
      <div class={embed ? 'layout embedded' : 'layout'}>
        <Header onNew={startNew} isHistoryOpen={isHistoryOpen} onHistory={() => setHistoryOpen(true)} />
        {!embed && (
          <aside class="sidebar" aria-label={texts.history}>
            <h2>{texts.history}</h2>
            <HistoryList />
          </aside>
        )}
        <Log />
        <footer class="footer">
          <Composer field={field} isRunning={chat.isRunning()} />
          <Notes />
        </footer>
      </div>
      <CitationPopover citation={shown?.citation} anchor={shown?.anchor} />
      {isHistoryOpen && <HistoryDialog onClose={() => setHistoryOpen(false)} />}
      {document && (
        <DocumentDialog
          {...document}
          onClose={() => {
            setDocument(undefined)
            if (shown?.anchor instanceof HTMLElement) shown.anchor.focus()
          }}
        />
      )}
    </Context.Provider>
  )
}

function useChanges(chat: Chat): void {
  const [, setCount] = useState(0)
  useEffect(() => chat.onChange(() => setCount((count) => count + 1)), [chat])
}

function Header(props: { onNew: () => void; onHistory: () => void; isHistoryOpen: boolean }) {
  const { texts, config, embed } = usePage()
  return (
    <header class="header">
      <Brand config={config} />
      <div class="buttons">
        <span class="history-button">
          <IconButton icon="list" label={texts.history} expanded={props.isHistoryOpen} onClick={props.onHistory} />
        </span>
        <IconButton icon="plus" label={texts.newChat} onClick={props.onNew} />
        {embed && <IconButton icon="close" label={texts.close} onClick={() => embed.send({ type: 'close' })} />}
      </div>
    </header>
  )
}

export function Brand({ config: { logo, title } }: { config: SiteConfigBody }) {
  return (
    <div class="brand">
      {logo !== null && <img src={logo} alt="" height={32} />}
      <h1 dir="auto">{title}</h1>
    </div>
  )
}

/** The turns of the conversation. It stays at its end while an answer grows, unless the visitor has scrolled up. */
function Log() {
  const { texts, chat } = usePage()
  const element = useRef<HTMLElement>(null)
  const isAtEnd = useRef(true)
  const lastTop = useRef(0)
  const conversation = chat.current()
  const turns = conversation?.turns ?? []
  useLayoutEffect(() => {
    isAtEnd.current = true
  }, [conversation?.id, turns.length])
  useLayoutEffect(() => {
    const log = element.current
    if (log && isAtEnd.current) log.scrollTop = log.scrollHeight
  })
  return (
    <main
      ref={element}
      class="log"
      tabIndex={0}
      aria-label={texts.conversation}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        if (scrollHeight - scrollTop - clientHeight < 60) isAtEnd.current = true
        else if (scrollTop < lastTop.current) isAtEnd.current = false
        lastTop.current = scrollTop
      }}
    >
      <div class="column">
        <Welcome isEmpty={turns.length === 0} />
        {turns.map((turn, index) => (
          <TurnView key={turn.id} turn={turn} isLast={index === turns.length - 1} />
        ))}
        <Announcer turn={turns.at(-1)} />
      </div>
    </main>
  )
}

function Welcome({ isEmpty }: { isEmpty: boolean }) {
  const { texts, visit, config, chat } = usePage()
  const { greeting, suggestions } = visit
  return (
    <>
      {greeting === '' ? (
        isEmpty && (
          <p class="greeting title" dir="auto">
            {config.title}
          </p>
        )
      ) : (
        <p class="greeting" dir="auto">
          {greeting}
        </p>
      )}
      {isEmpty && suggestions.length > 0 && (
        <ul class="suggestions" aria-label={texts.suggestions}>
          {suggestions.map((question) => (
            <li key={question}>
              <button type="button" class="button" dir="auto" onClick={() => void chat.ask(question)}>
                {question}
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Gives whole sentences of the running answer to screen readers. */
function Announcer({ turn }: { turn: Turn | undefined }) {
  const { texts } = usePage()
  const reader = useRef<{ turnId: string; read: ReturnType<typeof createSentenceReader>; isComplete: boolean } | null>(
    null,
  )
  const [said, setSaid] = useState<string[]>([])
  useEffect(() => {
    if (!turn) return
    const isRunning = turn.status === 'waiting' || turn.status === 'writing'
    if (reader.current?.turnId !== turn.id) {
      // Answers of before are not read again when a conversation is opened.
      reader.current = { turnId: turn.id, read: createSentenceReader(), isComplete: !isRunning }
      setSaid(isRunning ? [texts.waiting] : [])
      return
    }
    if (reader.current.isComplete) return
    reader.current.isComplete = !isRunning
    const sentences = reader.current.read(turn.text, !isRunning)
    const end = turn.status === 'done' ? completionText(turn, texts) : ''
    const next = [sentences, end].filter((text) => text !== '')
    if (next.length > 0) setSaid((before) => [...before, ...next])
  }, [turn])
  return (
    <div class="hidden" aria-live="polite">
      {said.map((text, index) => (
        <p key={index}>{text}</p>
      ))}
    </div>
  )
}

function Notes() {
  const { texts, visit } = usePage()
  return (
    <p class="notes">
      {texts.disclaimer} {visit.keepsConversations && fill(texts.stored, { days: visit.conversationDays })}{' '}
      <span class="powered">{fill(texts.poweredBy, { name: 'Portico' })}</span>
    </p>
  )
}
