import { describe, expect, it } from 'vitest'
import { roleServing } from './role-guard.ts'

describe('the role that serves a path', () => {
  it.each([
    ['/v1/gateway', 'gateway'],
    ['/v1/gateway/chat/completions', 'gateway'],
    ['/v2/gateway/anthropic/v1/messages', 'gateway'],
    ['/v1/gatewayed', 'api'],
    ['/v1/endpoints/:endpointId/chat', 'api'],
    ['/api/organisations/:id/chat/completions', 'api'],
    ['/', 'api'],
    ['/docs/static/index.html', 'api'],
    ['/livez', null],
    ['/readyz', null],
    ['/openapi.json', null],
  ])('%s: %s', (path, role) => {
    expect(roleServing(path)).toBe(role)
  })
})
