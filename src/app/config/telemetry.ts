import { z } from 'zod'
import { flag, integer, ratio } from './fields.ts'

const maximumResourceAttributes = 32

const attributeName = z
  .string()
  .max(128)
  .regex(/^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*$/, 'must be a name such as deployment.environment.name')

/** Traces and metrics for an OpenTelemetry collector. */
export const telemetry = z.strictObject({
  disabled: flag.default(false).describe('true: nothing is exported, also with an endpoint.'),
  serviceName: z.string().trim().min(1).max(255).default('portico').describe('`service.name` of all telemetry.'),
  otlp: z
    .strictObject({
      endpoint: z
        .url({ protocol: /^https?$/ })
        .refine(isPlainAddress, { error: 'must have neither credentials nor a query; headers are a secret' })
        .optional()
        .describe(
          'Base address of an OpenTelemetry collector, such as http://127.0.0.1:4318: `/v1/traces` and `/v1/metrics` are appended. Without it nothing is traced.',
        ),
      protocol: z
        .enum(['http/protobuf', 'http/json'])
        .default('http/protobuf')
        .describe('Form of the requests. gRPC (port 4317 of most collectors) is not supported.'),
      timeoutMs: integer(100, 60_000)
        .default(10_000)
        .describe('Longest time for one export, with its repetitions; what was not taken by then is dropped.'),
    })
    .prefault({}),
  traces: z
    .strictObject({
      sampleRatio: ratio
        .default(0.1)
        .describe('Share of the requests and jobs that are traced, 0 to 1. The flag of a client is not followed.'),
      propagateToProviders: flag
        .default(false)
        .describe('Send `traceparent` to AI providers, which could then relate calls with each other.'),
    })
    .prefault({}),
  metrics: z
    .strictObject({
      intervalSeconds: integer(1, 3_600).default(60).describe('Time between two exports of the metrics.'),
    })
    .prefault({}),
  resourceAttributes: z
    .record(attributeName, z.string().min(1).max(255))
    .refine((attributes) => Object.keys(attributes).length <= maximumResourceAttributes, {
      error: `must have at most ${maximumResourceAttributes} attributes`,
    })
    .default({})
    .describe('Further attributes of all telemetry, such as `deployment.environment.name`.'),
})

/** Credentials belong into a header, and the path of each signal is appended. */
function isPlainAddress(address: string): boolean {
  // Anything else is reported as no address.
  if (!URL.canParse(address)) return true
  const { username, password, search, hash } = new URL(address)
  return username === '' && password === '' && search === '' && hash === ''
}
