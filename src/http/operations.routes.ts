import { z } from 'zod'
import type { Routes } from './route.ts'

const config = { auth: 'none' } as const
const stateSchema = z.object({ status: z.string() })
const tags = ['Operations']

/** Probes for orchestrators, without a key, and the OpenAPI document. */
export function operationsRoutes({
  isReady,
}: {
  /** True while both databases answer and the service is not stopping. */
  isReady: () => Promise<boolean>
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
          response: { 200: stateSchema, 503: stateSchema },
        },
      },
      async (_request, reply) => {
        if (await isReady()) return { status: 'ok' }
        return reply.code(503).header('retry-after', '1').send({ status: 'unavailable' })
      },
    )
    app.get('/openapi.json', { config, schema: { hide: true } as object }, () => app.swagger())
  }
}
