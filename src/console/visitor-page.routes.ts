import path from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyReply } from 'fastify'
import type { App, Routes } from '../platform/http/index.ts'
import { pageOptions, readPage } from './static.routes.ts'

/**
 * The page of a hosted chat at /s/NAME, its files, and the script that websites include. The page is the same for every Space; what
 * differs is who may put it into a frame.
 *
 * @param folder where `npm run build:console` has put them.
 * @param pagePolicyOf the websites that may show the chat of this name in a frame, as sources of `frame-ancestors`; undefined if there is no
 *   such chat.
 */
export function visitorPageRoutes({
  folder,
  pagePolicyOf,
}: {
  folder: string
  pagePolicyOf: (name: string) => { frameAncestors: readonly string[] } | undefined
}): Routes {
  return (app) => {
    const page = readPage(folder, 'index.html')
    void app.register(async (scope) => {
      await scope.register(fastifyStatic, { root: folder, serve: false, preCompressed: true })
      scope.get('/widget/assets/*', pageOptions, (request, reply) => {
        const { '*': name } = request.params as { '*': string }
        return sendFile(reply, path.join('assets', name), 31_536_000)
      })
      // Its address never changes, so websites get a new version within ten minutes.
      scope.get('/widget.js', pageOptions, (_request, reply) => sendFile(reply, 'widget.js', 600))
      ;(scope as unknown as App).get('/s/:name', pageOptions, (request, reply) => {
        const { name } = request.params as { name: string }
        return sendPage(reply, page, pagePolicyOf(name))
      })
    })
  }
}

function sendFile(reply: FastifyReply, name: string, maximumAgeSeconds: number) {
  reply.removeHeader('cache-control')
  // Websites of other origins include the script, also those that isolate themselves.
  reply.header('cross-origin-resource-policy', 'cross-origin')
  return reply.sendFile(name, { maxAge: maximumAgeSeconds * 1000, immutable: maximumAgeSeconds > 3_600 })
}

function sendPage(
  reply: FastifyReply,
  page: string | undefined,
  policy: { frameAncestors: readonly string[] } | undefined,
) {
  if (page === undefined) return reply.code(503).type('text/plain; charset=utf-8').send('The chat has not been built.')
  // It would forbid the frames that the policy below allows.
  reply.removeHeader('x-frame-options')
  return (
    reply
      .code(policy ? 200 : 404)
      // `no-referrer` hides from linked sites which chat a visitor uses; the house sets it.
      // Where there is no chat the page only states it, in the frame of any website as well.
      .header('content-security-policy', createPolicy(policy?.frameAncestors ?? ['*']))
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=()')
      .type('text/html; charset=utf-8')
      .send(page)
  )
}

/** Everything comes from this server. Logos are data URLs; `blob:` shows a cited file that the page has loaded with its session. */
function createPolicy(frameAncestors: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors.join(' ')}`,
  ].join('; ')
}
