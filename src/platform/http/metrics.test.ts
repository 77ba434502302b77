import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createRequestMetrics } from './metrics.ts'

it('counts each answered request by route, method and status at every reading', async () => {
  const registry = new Registry()
  const metrics = createRequestMetrics(registry)
  const answer = () => metrics.answered('GET', '/a', 200, 3)
  metrics.started()
  metrics.started()
  metrics.ended()
  for (let count = 0; count < 2_500; count++) answer()
  metrics.answered('POST', '/a', 404, 700)
  const first = await registry.metrics()
  expect(first).toContain('portico_http_requests_total{method="GET",route="/a",status="200"} 2500')
  expect(first).toContain('portico_http_requests_total{method="POST",route="/a",status="404"} 1')
  expect(first).toContain('portico_http_request_seconds_bucket{le="0.005",route="/a"} 2500')
  expect(first).toContain('portico_http_request_seconds_count{route="/a"} 2501')
  expect(first).toContain('portico_http_requests_in_flight 1')
  answer()
  const second = await registry.metrics()
  expect(second).toContain('portico_http_requests_total{method="GET",route="/a",status="200"} 2501')
  expect(second).toContain('portico_http_request_seconds_count{route="/a"} 2502')
})
