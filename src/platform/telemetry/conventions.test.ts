import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as stable from '@opentelemetry/semantic-conventions'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { describe, expect, it } from 'vitest'
import { attribute, conventionsVersion, histograms, operationNames, schemaUrl } from './conventions.ts'

/** Against the package that OpenTelemetry generates from the same version of its conventions. */

const valuesOf = (module: object): unknown[] => Object.values(module)
const published = new Set([...valuesOf(stable), ...valuesOf(conventions)])
const packageFile = path.join(
  import.meta.dirname,
  '../../../node_modules/@opentelemetry/semantic-conventions/package.json',
)
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }

/** Bounds as the page on GenAI metrics of open-telemetry/semantic-conventions v1.41.1 states them. */
const statedBounds: Record<string, string> = {
  'gen_ai.client.operation.duration':
    '[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]',
  'gen_ai.client.token.usage':
    '[1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]',
  'gen_ai.server.request.duration':
    '[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]',
  'gen_ai.server.time_to_first_token':
    '[0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0]',
}

describe('the semantic conventions', () => {
  it('are those of the installed package', () => {
    expect(version).toBe(conventionsVersion)
    expect(schemaUrl).toBe(`https://opentelemetry.io/schemas/${version}`)
  })

  it.each(Object.values(attribute))('have the attribute %s', (name) => {
    expect(published.has(name)).toBe(true)
  })

  it.each(Object.values(histograms))('have the metric $name with these bounds', ({ name, bounds }) => {
    expect(published.has(name)).toBe(true)
    expect(bounds).toEqual(JSON.parse(statedBounds[name]!))
  })

  it('have the names of the operations, except reranking', () => {
    expect(published.has(operationNames.chat)).toBe(true)
    expect(published.has(operationNames.embedding)).toBe(true)
    for (const name of ['invoke_agent', 'execute_tool', 'retrieval']) expect(published.has(name)).toBe(true)
  })
})
