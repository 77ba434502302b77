import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadConfig } from './config.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'portico-config-telemetry-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The configuration with these settings below `telemetry`. */
function load(telemetry: object, environment: Record<string, string> = {}) {
  writeFileSync(path.join(folder, 'portico.yaml'), JSON.stringify({ telemetry }))
  return loadConfig(environment, folder)
}

describe('the settings of telemetry', () => {
  it('are off without an endpoint', () => {
    expect(load({}).settings.telemetry).toEqual({
      disabled: false,
      serviceName: 'portico',
      otlp: { protocol: 'http/protobuf', timeoutMs: 10_000 },
      traces: { sampleRatio: 0.1, propagateToProviders: false },
      metrics: { intervalSeconds: 60 },
      resourceAttributes: {},
    })
  })

  it('accept the variables of OpenTelemetry', () => {
    const { settings, secrets } = load(
      {},
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
        OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-team = a=b',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_SERVICE_NAME: 'gateway',
        OTEL_SDK_DISABLED: 'true',
        PORTICO_TRACES_SAMPLE_RATIO: '0.25',
      },
    )
    expect(settings.telemetry).toMatchObject({
      disabled: true,
      serviceName: 'gateway',
      otlp: { endpoint: 'http://collector:4318', protocol: 'http/json' },
      traces: { sampleRatio: 0.25 },
    })
    expect(secrets.otlpHeaders).toEqual({ authorization: 'Bearer abc', 'x-team': 'a=b' })
  })

  it.each<[string, object, Record<string, string>?]>([
    ['telemetry.otlp.endpoint', { otlp: { endpoint: 'ftp://collector' } }],
    ['telemetry.otlp.endpoint', { otlp: { endpoint: 'no address' } }],
    ['telemetry.otlp.endpoint must have neither credentials', { otlp: { endpoint: 'http://a:b@collector' } }],
    ['telemetry.otlp.endpoint must have neither credentials', { otlp: { endpoint: 'http://collector/?key=1' } }],
    ['telemetry.otlp.endpoint names a link-local', { otlp: { endpoint: 'http://169.254.169.254/otlp' } }],
    ['telemetry.otlp.protocol', { otlp: { protocol: 'grpc' } }],
    ['telemetry.otlp.timeoutMs', { otlp: { timeoutMs: 99 } }],
    ['telemetry.traces.sampleRatio', { traces: { sampleRatio: 1.5 } }],
    ['PORTICO_TRACES_SAMPLE_RATIO', {}, { PORTICO_TRACES_SAMPLE_RATIO: 'all' }],
    ['telemetry.metrics.intervalSeconds', { metrics: { intervalSeconds: 0 } }],
    ['telemetry.resourceAttributes', { resourceAttributes: { 'Bad Name': 'x' } }],
    ['telemetry.resourceAttributes must have at most 32', { resourceAttributes: manyAttributes() }],
    ['OTEL_EXPORTER_OTLP_HEADERS must be a list', {}, { OTEL_EXPORTER_OTLP_HEADERS: 'secret-word' }],
    ['OTEL_EXPORTER_OTLP_HEADERS: a must have no line breaks', {}, { OTEL_EXPORTER_OTLP_HEADERS: 'a=secret-word%0a' }],
  ])('reject a wrong value: %s', (message, telemetry, environment) => {
    expect(() => load(telemetry, environment)).toThrow(message)
    expect(() => load(telemetry, environment)).not.toThrow('secret-word')
  })
})

function manyAttributes() {
  return Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`a${index}`, 'x']))
}
