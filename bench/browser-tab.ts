import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { makeTemporaryFolder } from '../test/harness/temporary-folder.ts'
import { chromiumOptions } from '../test/harness/chromium.ts'

/**
 * A tab of a new Chromium with an empty profile, driven by the DevTools protocol alone. Playwright follows every request and script of a page, which
 * takes a third more of the page's main thread than a person's visit.
 */
export interface BrowserTab extends AsyncDisposable {
  /** Sends a command, such as `Page.navigate`. Rejects with the message of the protocol. */
  send(method: string, parameters?: object): Promise<Record<string, unknown>>
  /** The value of an expression in the page, as JSON has it. */
  evaluate(expression: string): Promise<unknown>
}

export async function openTab({ width, height, language }: { width: number; height: number; language: string }) {
  const chromium = spawn(
    chromiumOptions.executablePath,
    [
      ...chromiumOptions.args,
      `--accept-lang=${language}`,
      `--lang=${language}`,
      `--user-data-dir=${makeTemporaryFolder('browser-tab')}`,
      '--remote-debugging-port=0',
      `--window-size=${width},${height}`,
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const socket = new WebSocket(await findTab(chromium.stderr))
  // Its messages must not fill the pipe.
  chromium.stderr.resume()
  await once(socket, 'open')
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(String(data)) as Answer
    const own = id === undefined ? undefined : waiting.get(id)
    if (error) own?.reject(new Error(error.message))
    else own?.resolve(result ?? {})
  })
  const send = (method: string, params: object = {}) => {
    const own = Promise.withResolvers<Record<string, unknown>>()
    const id = waiting.size + 1
    waiting.set(id, own)
    socket.send(JSON.stringify({ id, method, params }))
    return own.promise
  }
  const tab: BrowserTab = {
    send,
    async evaluate(expression) {
      const { result } = await send('Runtime.evaluate', { expression, returnByValue: true })
      return (result as { value: unknown }).value
    },
    async [Symbol.asyncDispose]() {
      const ended = once(chromium, 'exit')
      socket.close()
      chromium.kill()
      await ended
    },
  }
  return tab
}

interface Answer {
  id?: number
  result?: Record<string, unknown>
  error?: { message: string }
}

/** The address of the first tab's protocol, from the line in which Chromium names its port. */
async function findTab(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const port = /^DevTools listening on ws:\/\/[^/]*:(\d+)\//.exec(line)?.[1]
    if (port === undefined) continue
    for (;;) {
      const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
        type: string
        webSocketDebuggerUrl: string
      }[]
      const page = targets.find(({ type }) => type === 'page')
      if (page) return page.webSocketDebuggerUrl
    }
  }
  throw new Error('Chromium has not named the port of its protocol.')
}
