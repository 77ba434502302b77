import { z } from 'zod'
import type { Routes } from './route.ts'

const config = { auth: 'none' } as const
const stateSchema = z.object({ status: z.string() })
const readySchema = stateSchema.extend({
  problems: z.array(z.string()).optional().describe('What does not work although requests are served.'),
})
const tags = ['Operations']

/** Probes for orchestrators, without a key, and the OpenAPI document. */
export function operationsRoutes({
  checkReadiness,
}: {
  /** `problems`: what does not work although requests can be handled. Must not reject. */
  checkReadiness: () => Promise<{ isReady: boolean; problems: string[] }>
}): Routes {
  return (app) => {
    app.get(
      '/livez',
      {
        config,
        schema: { tags, summary: 'Is the process alive?', operationId: 'getLiveness', response: { 200: stateSchema } },
      },
      () => ({ status: 'ok' }),
    )
    app.get(
      '/readyz',
      {
        config,
        schema: {
          tags,
          summary: 'Can it handle requests?',
          operationId: 'getReadiness',
          response: { 200: readySchema, 503: stateSchema },
        },
      },
      async (_request, reply) => {
        const { isReady, problems } = await checkReadiness()
        if (isReady) return { status: 'ok', ...(problems.length > 0 && { problems }) }
        return reply.code(503).header('retry-after', '1').send({ status: 'unavailable' })
      },
    )
    app.get('/openapi.json', { config, schema: { hide: true } as object }, () => app.swagger())
  }
}
