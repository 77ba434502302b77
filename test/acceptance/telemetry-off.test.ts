import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshDatabasePlace, serviceVariables } from '../harness/database.ts'
import { spawnPortico } from '../harness/portico.ts'

/** What a process loads of OpenTelemetry, by the hooks of Node.js for modules. */

describe('a process of Portico', () => {
  it.each<{ given: string; environment: Record<string, string>; loads: boolean }>([
    { given: 'without an endpoint', environment: {}, loads: false },
    {
      given: 'with OTEL_SDK_DISABLED',
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' },
      loads: false,
    },
    { given: 'with an endpoint', environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, loads: true },
  ])('$given: loads the packages of OpenTelemetry: $loads', async ({ environment, loads }) => {
    const loaded = await modulesOfStart(environment)
    expect(loaded.some((url) => url.includes('/prom-client/') || url.includes('/dist/service/'))).toBe(true)
    expect(loaded.some(isTelemetry)).toBe(loads)
  })
})

/** prom-client loads `@opentelemetry/api` itself. */
const isTelemetry = (url: string) =>
  /\/src\/platform\/telemetry\//.test(url) ||
  (url.includes('/@opentelemetry/') && !url.includes('/@opentelemetry/api/'))

/** URLs of all modules that a process loads until it has stopped. */
async function modulesOfStart(environment: Record<string, string>): Promise<string[]> {
  const place = await freshDatabasePlace()
  const file = path.join(tmpdir(), `${path.basename(place.dataFolder)}-modules`)
  onTestFinished(async () => {
    rmSync(file, { force: true })
    await place.remove()
  })
  const hook = `import { registerHooks } from 'node:module'
    import { appendFileSync } from 'node:fs'
    registerHooks({
      load(url, context, next) {
        appendFileSync(${JSON.stringify(file)}, url + '\\n')
        return next(url, context)
      },
    })`
  const portico = await spawnPortico({
    ...serviceVariables(place, 'operator-token-of-this-test'),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
    ...environment,
  })
  expect(await portico.kill('SIGTERM')).toBe(0)
  return readFileSync(file, 'utf8').trim().split('\n')
}
