import './page.css'
import { render } from 'preact'
import type { SiteConfigBody } from '@contract/site-visits.ts'
import { chooseTexts, isRightToLeft } from '../texts/choose-texts.ts'
import { App } from './app.tsx'
import { createChat, createId } from './chat.ts'
import { accentColours, defaultColour } from './colour.ts'
import { type Embed, findEmbed } from './embed.ts'
import { Gate } from './gate.tsx'
import { createHistory, type Problem } from './history.ts'
import { countUnread, joinWebsite, watchScheme } from './surroundings.ts'
import { createVisits, read, toProblem, write } from './visit.ts'

const storageOf = (name: 'localStorage' | 'sessionStorage') => {
  try {
    return globalThis[name]
  } catch {
    return undefined
  }
}

async function start(): Promise<void> {
  const root = document.getElementById('root')!
  const { language, locale, texts } = await chooseTexts(navigator.languages)
  document.documentElement.lang = language
  document.documentElement.dir = isRightToLeft(language) ? 'rtl' : 'ltr'
  const base = /^\/s\/[^/]+/.exec(location.pathname)![0]
  const isFramed = parent !== globalThis.window
  const embed = findEmbed(location, document.referrer, isFramed ? parent : null)
  const local = storageOf('localStorage')
  const visits = createVisits({
    base,
    embeddedBy: embed?.origin ?? null,
    tab: storageOf('sessionStorage'),
    visitorId: findVisitorId(local, base),
    fetch: (...args) => fetch(...args),
    now: Date.now,
  })
  joinWebsite(embed)
  let config: SiteConfigBody | undefined
  let hasTriedPassword = false

  const showGate = (problem: Problem | undefined, isSolving = false) =>
    render(
      <Gate
        {...{ texts, config, embed, problem, isSolving, hasTriedPassword }}
        onRetry={() => void enter()}
        onPassword={(password) => void enter(password)}
      />,
      root,
    )

  async function enter(password?: string): Promise<void> {
    if (config) showGate(password === undefined ? undefined : { kind: 'password' })
    try {
      if (isFramed && !embed) return showGate({ kind: 'closed' })
      const isFirst = config === undefined
      config = await visits.config()
      if (isFirst) dress(config, embed)
      if (config.state === 'paused') return showGate({ kind: 'paused' })
      const visit = await visits.open({
        ...(password === undefined ? {} : { password }),
        onWork: () => showGate(undefined, true),
      })
      const chat = createChat({ visits, history: createHistory(config.publicId, local), now: Date.now })
      countUnread(embed, chat)
      // Another tab has changed the list.
      addEventListener('storage', () => chat.reload())
      render(null, root)
      render(<App {...{ texts, locale, config, visit, visits, chat, embed }} />, root)
    } catch (error) {
      hasTriedPassword = password !== undefined
      const problem = toProblem(error, Date.now())
      // Nothing was asked yet.
      showGate(problem.kind === 'rate' ? { ...problem, kind: 'attempts' } : problem)
    }
  }

  await enter()
}

/** Title and colours, for the website around the page too. */
function dress({ title, colour }: SiteConfigBody, embed: Embed | undefined): void {
  document.title = title
  watchScheme(embed, (scheme) => applyColours(accentColours(colour ?? defaultColour, scheme)))
  const { fill, onFill } = accentColours(colour ?? defaultColour, 'light')
  embed?.send({ type: 'theme', fill, onFill, title })
}

/** Random, and of this Space only: it joins the questions of one visitor, and names nobody. */
function findVisitorId(storage: Storage | undefined, base: string): string {
  const key = `portico.visitor.${base}`
  const known = read(storage, key)
  if (known !== undefined && /^[\da-f]{8}-[\da-f-]{27}$/.test(known)) return known
  const id = createId()
  write(storage, key, id)
  return id
}

function applyColours({ fill, onFill, text }: { fill: string; onFill: string; text: string }): void {
  const { style } = document.documentElement
  style.setProperty('--fill', fill)
  style.setProperty('--on-fill', onFill)
  style.setProperty('--accent', text)
}

void start()
