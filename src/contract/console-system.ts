import { z } from 'zod'

/** `GET /api/console/system`: what an operator looks at first when something is wrong. */

const time = z.iso.datetime()
const organisation = { organisationId: z.string().nullable(), organisationName: z.string().nullable() }

const processSchema = z.object({
  version: z.string(),
  node: z.string(),
  engine: z.enum(['embedded', 'postgres']),
  databaseVersion: z.string(),
  startedAt: time,
  samples: z
    .array(
      z.object({
        at: time,
        residentBytes: z.number(),
        heapBytes: z.number(),
        cpuPercent: z.number().describe('Of one processor.'),
        delayP99Ms: z.number().describe('Delay of the event loop, 99th percentile.'),
        delayMaximumMs: z.number(),
      }),
    )
    .describe('Every 10 seconds of the last 10 minutes, oldest first.'),
  extractors: z
    .object({ processes: z.int(), busy: z.int(), waiting: z.int().describe('Documents that wait for a process.') })
    .nullable()
    .describe('Processes that read documents; null on an instance without workers.'),
})

const instanceSchema = z.object({
  id: z.uuid(),
  role: z.enum(['all', 'gateway', 'api', 'worker']).describe('What the process does.'),
  name: z.string().nullable().describe('Host and process; null for an instance of a version before.'),
  current: z.boolean().describe('The instance that answers.'),
  startedAt: time,
  heartbeatAt: time,
  alive: z.boolean().describe('Its heartbeat is recent.'),
  leases: z.int().describe('Budgets from which it may make holds.'),
})

const queueSchema = z.object({
  kinds: z.array(
    z.object({
      kind: z.string(),
      ready: z.int(),
      delayed: z.int().describe('Wait for a later time, usually after a failed attempt.'),
      running: z.int(),
      retrying: z.int().describe('Not running, and failed at least once.'),
      oldestWaitingAt: time.nullable(),
    }),
  ),
  organisations: z.array(z.object({ ...organisation, waiting: z.int() })).describe('Those with most waiting jobs.'),
  failing: z
    .array(
      z.object({
        ...organisation,
        kind: z.string(),
        attempt: z.int(),
        nextAttemptAt: time,
        reason: z.string().nullable(),
      }),
    )
    .describe('Jobs that will be tried again, those with most attempts first.'),
  givenUp: z
    .array(z.object({ ...organisation, kind: z.string(), attempts: z.int(), reason: z.string(), at: time }))
    .describe('Jobs that were not tried again, newest first.'),
})

const storageSchema = z.object({
  countedAt: time,
  databases: z.array(
    z.object({
      name: z.enum(['control', 'corpus']),
      bytes: z.number(),
      tables: z.array(z.object({ name: z.string(), bytes: z.number() })),
    }),
  ),
  blobs: z.object({ label: z.string(), files: z.int(), bytes: z.number() }),
  documents: z.object({ ready: z.int(), processing: z.int(), failed: z.int(), chunks: z.int() }),
  failures: z
    .array(z.object({ code: z.string(), documents: z.int() }))
    .describe('Failed documents by code, most first.'),
})

const searchSchema = z.object({
  engine: z.string(),
  embedder: z.string(),
  reranker: z
    .object({
      label: z.string(),
      state: z
        .enum(['unused', 'ready', 'failing'])
        .describe('Of this instance: `unused` since its start, `failing` if the last comparison gave no order.'),
      outcome: z.enum(['reranked', 'timeout', 'failed', 'resting', 'skipped']).nullable(),
      at: time.nullable().describe('Of the last comparison.'),
      latencyP50Ms: z.int().nullable().describe('Of the last 100 comparisons with an order.'),
      latencyP95Ms: z.int().nullable(),
    })
    .nullable()
    .describe('null: none is configured.'),
  embeddingVersions: z.array(
    z.object({ embedder: z.string(), dimensions: z.int(), state: z.string(), createdAt: time }),
  ),
})

const failedDocumentSchema = z.object({
  ...organisation,
  id: z.uuid(),
  spaceId: z.uuid(),
  name: z.string(),
  code: z.string(),
  message: z.string().nullable(),
  at: time,
})

const eventSchema = z.object({
  sequence: z.int(),
  at: time,
  level: z.enum(['warn', 'error']),
  message: z.string(),
  fields: z.record(z.string(), z.string()),
})

export const consoleSystemSchema = z
  .object({
    at: time,
    process: processSchema,
    instances: z.array(instanceSchema),
    queue: queueSchema,
    storage: storageSchema.nullable().describe('null: it could not be counted in time.'),
    failedDocuments: z.array(failedDocumentSchema).describe('Newest first.'),
    search: searchSchema,
    events: z.array(eventSchema).describe('Warnings and errors of this instance since its start, newest first.'),
  })
  .meta({ id: 'ConsoleSystem' })

export type ConsoleSystemBody = z.output<typeof consoleSystemSchema>
export type SystemEvent = z.output<typeof eventSchema>
