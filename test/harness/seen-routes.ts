import { appendFileSync } from 'node:fs'

/** Routes of the API that a service has answered with success, as `METHOD /route/:id`; `file` is the test of the console that called them. */
export interface SeenRoutes {
  file: string | null
  routes: string[]
}

/**
 * Appends the routes that a service has answered to the file that PORTICO_TEST_ROUTES names, if it names one. Call it before the service
 * stops. CI compares the legs: `scripts/list-console-tests.ts`.
 */
export async function noteRoutes(metricsUrl: string | undefined, file: string | null): Promise<void> {
  const notes = process.env['PORTICO_TEST_ROUTES']
  if (notes === undefined || metricsUrl === undefined) return
  const metrics = await (await fetch(metricsUrl)).text()
  const lines = metrics.matchAll(/^portico_http_requests_total\{method="(\w+)",route="([^"]*)",status="[23]\d\d"/gm)
  const api = Array.from(lines).filter(([, , route]) => /^\/(?:api|v1)\//.test(route!))
  const routes = [...new Set(api.map(([, method, route]) => `${method} ${route}`))]
  appendFileSync(notes, `${JSON.stringify({ file, routes } satisfies SeenRoutes)}\n`)
}
