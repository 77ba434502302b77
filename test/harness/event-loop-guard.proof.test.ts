import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectResponsive, type GuardedService } from './event-loop-guard.ts'

describe('the event-loop-delay guard', () => {
  let child: ChildProcess
  let service: GuardedService

  beforeAll(async () => {
    child = fork(path.join(import.meta.dirname, 'blocking-server-process.ts'), { execArgv: [] })
    const [port] = (await once(child, 'message')) as [number]
    service = { url: `http://127.0.0.1:${port}`, pid: child.pid! }
  })
  afterAll(() => void child?.kill('SIGKILL'))

  const get = async (target: string) => (await fetch(service.url + target)).text()

  // 30 times the bound: the bound grows on a slow processor, and the poller of a busy machine may start late.
  it.each(['/spin?ms=3000', '/sleep?ms=3000'])('fails when %s blocks the event loop once', async (target) => {
    await expect(expectResponsive(service, () => get(target))).rejects.toThrow(/took too long in 2 of 3 runs/)
  })

  it('passes work that is cut into slices, and returns the result', async () => {
    const act = async () => {
      for (let slice = 0; slice < 10; slice++) await get('/spin?ms=20')
      return 'done'
    }
    expect(await expectResponsive(service, act)).toBe('done')
  })
})
