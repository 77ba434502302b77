import { type FromPage, isMessage, type ToPage } from './protocol.ts'
import { styles } from './styles.ts'
import { labelsFor } from './labels.ts'

/**
 * `<script src="https://…/widget.js" data-space="…" async></script>` adds a button to a website that opens the chat of a published
 * Space. Optional attributes: data-label, data-colour, data-scheme (light, dark, auto), data-position (left, right).
 *
 * It loads the page of the chat when a visitor opens it, and stores nothing.
 */

const tag = 'portico-chat'
/** Below this width or height of the window the panel fills it. */
const smallWindow = '(max-width: 520px), (max-height: 520px)'

class PorticoChat extends HTMLElement {
  #root = this.attachShadow({ mode: 'open' })
  #launcher = document.createElement('button')
  #badge = document.createElement('span')
  #panel = document.createElement('div')
  #frame: HTMLIFrameElement | undefined
  #isReady = false
  #small = matchMedia(smallWindow)
  #labels = labelsFor(document.documentElement.lang || navigator.language)

  connectedCallback(): void {
    if (this.#launcher.isConnected) return
    // A constructed style sheet needs no exception in the Content-Security-Policy of the website.
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(styles)
    this.#root.adoptedStyleSheets = [sheet]
    const others = [...document.querySelectorAll<HTMLElement>(tag)].filter(
      (other) => other.dataset['position'] === this.dataset['position'],
    )
    this.style.setProperty('--place', String(others.indexOf(this)))
    const { colour } = this.dataset
    if (colour !== undefined && /^#[\da-f]{6}$/i.test(colour)) this.#paint(colour, readableOn(colour))
    this.#launcher.type = 'button'
    this.#launcher.className = 'launcher'
    this.#launcher.append(createIcon(), this.#badge)
    this.#badge.className = 'badge'
    this.#badge.hidden = true
    this.#launcher.setAttribute('aria-expanded', 'false')
    this.#launcher.addEventListener('click', () => this.toggle())
    this.#panel.className = 'panel'
    this.#panel.hidden = true
    this.#panel.setAttribute('role', 'dialog')
    this.#label()
    this.#root.append(this.#panel, this.#launcher)
    this.#root.addEventListener('keydown', (event) => (event as KeyboardEvent).key === 'Escape' && this.close())
    addEventListener('message', this.#receive)
    this.#small.addEventListener('change', this.#resize)
  }

  disconnectedCallback(): void {
    removeEventListener('message', this.#receive)
    this.#small.removeEventListener('change', this.#resize)
  }

  get isOpen(): boolean {
    return !this.#panel.hidden
  }

  open(): void {
    if (this.isOpen) return
    if (!this.#frame) this.#load()
    this.#panel.hidden = false
    this.#launcher.setAttribute('aria-expanded', 'true')
    this.#showUnread(0)
    this.#label()
    this.#resize()
    this.#frame!.focus()
    this.#send({ type: 'open' })
  }

  close(): void {
    if (!this.isOpen) return
    this.#panel.hidden = true
    this.toggleAttribute('data-full', false)
    this.#launcher.setAttribute('aria-expanded', 'false')
    this.#label()
    this.#send({ type: 'closed' })
    this.#launcher.focus()
  }

  toggle(): void {
    if (this.isOpen) this.close()
    else this.open()
  }

  #load(): void {
    const frame = document.createElement('iframe')
    frame.src = `${server}/s/${encodeURIComponent(this.dataset['space']!)}?embed=1#${location.origin}`
    frame.title = this.#name
    frame.allow = 'clipboard-write'
    frame.referrerPolicy = 'strict-origin'
    this.#frame = frame
    this.#panel.append(frame)
  }

  #receive = (event: MessageEvent<unknown>): void => {
    if (event.origin !== server || event.source !== this.#frame?.contentWindow || !isMessage(event.data)) return
    const message = event.data as unknown as FromPage
    if (message.type === 'ready') {
      this.#isReady = true
      const { scheme } = this.dataset
      this.#send({ type: 'theme', scheme: scheme === 'light' || scheme === 'dark' ? scheme : 'auto' })
      this.#send({ type: this.isOpen ? 'open' : 'closed' })
    } else if (message.type === 'close') this.close()
    else if (message.type === 'unread') this.#showUnread(Number(message.count))
    else if (message.type === 'theme' && this.#frame) {
      this.#paint(String(message.fill), String(message.onFill))
      if (this.dataset['label'] === undefined) this.dataset['title'] = String(message.title)
      this.#frame.title = this.#name
      this.#label()
    }
  }

  #send(message: ToPage): void {
    if (this.#isReady) this.#frame!.contentWindow?.postMessage({ portico: 1, ...message }, server)
  }

  #resize = (): void => {
    this.toggleAttribute('data-full', this.isOpen && this.#small.matches)
  }

  get #name(): string {
    return this.dataset['label'] ?? this.dataset['title'] ?? 'Chat'
  }

  #label(): void {
    const { open, close, unread } = this.#labels
    const count = this.#badge.hidden ? '' : `, ${unread}: ${this.#badge.textContent}`
    this.#launcher.setAttribute('aria-label', `${this.isOpen ? close : open}: ${this.#name}${count}`)
    this.#panel.setAttribute('aria-label', this.#name)
  }

  #showUnread(count: number): void {
    this.#badge.hidden = !(count > 0)
    this.#badge.textContent = count > 9 ? '9+' : String(count)
    this.#label()
  }

  #paint(fill: string, onFill: string): void {
    this.style.setProperty('--portico-fill', fill)
    this.style.setProperty('--portico-on-fill', onFill)
  }
}

function createIcon(): SVGElement {
  const namespace = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(namespace, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  for (const [name, data] of [
    ['chat', 'M5 5h14a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-7l-4.5 3.5V17H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2z'],
    ['close', 'M6 9.5l6 6 6-6'],
  ] as const) {
    const path = document.createElementNS(namespace, 'path')
    path.setAttribute('d', data)
    path.setAttribute('class', name)
    svg.append(path)
  }
  return svg
}

/** Black or white, by the brightness that eyes see. */
function readableOn(colour: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => (Number.parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2)
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue! > 0.18 ? '#000000' : '#ffffff'
}

// Only while the script itself runs is it the current one; as a module it never is.
const script = (document.currentScript ??
  document.querySelector('script[data-space][src*="/widget.js"]')) as HTMLScriptElement | null
const server = script === null ? '' : new URL(script.src).origin

function start(): void {
  const space = script?.dataset['space']
  if (!script || space === undefined || space === '') return
  if (!customElements.get(tag)) customElements.define(tag, PorticoChat)
  // The same script twice adds one button.
  if ([...document.querySelectorAll<HTMLElement>(tag)].some((element) => element.dataset['space'] === space)) return
  const element = document.createElement(tag)
  Object.assign(element.dataset, script.dataset)
  document.body.append(element)
}

if (document.body) start()
else addEventListener('DOMContentLoaded', start)
