import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App, Routes } from '../platform/http/index.ts'

/** Stands for the nonce in the built pages; web/vite.config.ts states it. */
const noncePlaceholder = '__CSP_NONCE__'
/** HEAD has the answer of GET without its body: proxies and monitors use it. */
export const pageOptions = {
  config: { auth: 'none' },
  schema: { hide: true } as object,
  exposeHeadRoute: true,
} as const

/** Pages for people without a session: sign-in, set-up, and the links of invitations and new passwords. */
const publicPages = /^(?:sign-in|setup|invitations\/.+|password-resets\/.+)$/

/** Of the frame of pages for signed-in people, before their code is loaded. */
const outline = /<aside id="outline".*?<\/aside>/s

/**
 * The built console at /console. Its scripts, styles and images have names with a hash of their content, so browsers keep them for
 * a year. `/console/sign-in` is a separate document. Every other address below /console is one document, in which the console's router
 * shows the view; without a session it leads to the sign-in page and back.
 *
 * @param folder where `npm run build:console` has put the console. Without it the page states the command.
 */
export function staticRoutes({ folder }: { folder: string }): Routes {
  return (app) => {
    const [console, signIn] = [readPage(folder, 'index.html'), readPage(folder, 'sign-in.html')]
    const withoutFrame = console?.replace(outline, '')
    void app.register(async (scope) => {
      await scope.register(fastifyStatic, { root: folder, serve: false, preCompressed: true })
      scope.get('/console/assets/*', pageOptions, (request, reply) => {
        const { '*': name } = request.params as { '*': string }
        return sendFile(reply, path.join('assets', name), 31_536_000)
      })
      // Their names have no hash.
      for (const name of ['color-scheme.js', 'icon.svg'])
        scope.get(`/console/${name}`, pageOptions, (_request, reply) => sendFile(reply, name, 3_600))
      for (const url of ['/console', '/console/*'])
        (scope as unknown as App).get(url, pageOptions, (request, reply) => {
          const { '*': place = '' } = request.params as { '*'?: string }
          // No page has such an address; some proxies and browsers read the character as a slash.
          if (place.includes('\\')) return reply.callNotFound()
          if (console === undefined || withoutFrame === undefined || signIn === undefined) return sendMissingPage(reply)
          if (place === 'sign-in') return sendPage(reply, signIn)
          if (publicPages.test(place)) return sendPage(reply, withoutFrame)
          return hasSession(request) ? sendPage(reply, console) : reply.redirect(signInAddress(request.url))
        })
    })
  }
}

/** A worker has the policy of the file that it was loaded from. That of the pdf viewer compiles image decoders, and loads nothing. */
const workerPolicy = "default-src 'none'; script-src 'wasm-unsafe-eval'"

function sendFile(reply: FastifyReply, name: string, maximumAgeSeconds: number) {
  reply.removeHeader('cache-control')
  if (name.endsWith('.mjs')) reply.header('content-security-policy', workerPolicy)
  return reply.sendFile(name, { maxAge: maximumAgeSeconds * 1000, immutable: maximumAgeSeconds > 3_600 })
}

/** Whether the browser sends the cookie of a session, valid or not: the console finds out, and asks for another sign-in. */
const hasSession = ({ headers }: FastifyRequest) => /\bportico\.session_token=/.test(headers.cookie ?? '')

function signInAddress(url: string): string {
  const returnTo = url.slice('/console'.length)
  return `/console/sign-in${/^\/?$/.test(returnTo) ? '' : `?${new URLSearchParams({ returnTo })}`}`
}

/** undefined: it has not been built. */
export function readPage(folder: string, name: string): string | undefined {
  try {
    return readFileSync(path.join(folder, name), 'utf8')
  } catch {
    return undefined
  }
}

function sendPage(reply: FastifyReply, page: string) {
  const nonce = randomBytes(16).toString('base64url')
  return reply
    .header('content-security-policy', createPolicy(nonce))
    .type('text/html; charset=utf-8')
    .send(page.replaceAll(noncePlaceholder, nonce))
}

/**
 * Scripts come from this server only. Mantine and the charts create style elements, which carry the nonce. The pdf viewer draws
 * images from memory (blob:) and runs in a worker of this server; `wasm-unsafe-eval` lets it compile its image decoders, and
 * allows no JavaScript from strings.
 */
function createPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const missingPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Portico</title>
<h1>The console has not been built</h1>
<p>Run <code>npm run build:console</code> in the folder of Portico, with the development packages installed, and start Portico again.</p>
</html>
`

function sendMissingPage(reply: FastifyReply) {
  return reply.code(503).type('text/html; charset=utf-8').send(missingPage)
}
