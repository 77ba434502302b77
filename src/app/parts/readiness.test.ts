import { describe, expect, test } from 'vitest'
import type { RefusalReason } from '../../gateway/billing/index.ts'
import { type Log, silentLog } from '../../platform/kernel/index.ts'
import { createReadiness } from './readiness.ts'

type Behaviour = 'answers' | 'slow' | 'fails'

function arrange(engine: 'embedded' | 'postgres', behaviour: Behaviour = 'answers', refusal?: RefusalReason) {
  const state = { behaviour, refusal, statements: 0, nowMs: 0, answer: () => {} }
  const logged: string[] = []
  const note: Log['warn'] = (fields, message) => void logged.push(`${message} ${JSON.stringify(fields)}`)
  const database = {
    name: 'control' as const,
    engine,
    query(
      _statement: string,
      _parameters: unknown,
      { signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number } = {},
    ) {
      // A deadline of the statement would end the thread of an embedded database.
      if (timeoutMs !== undefined) throw new Error('the statement has a deadline')
      state.statements += 1
      if (state.behaviour === 'answers') return Promise.resolve([])
      if (state.behaviour === 'fails') return Promise.reject(new Error('ENOSPC'))
      return new Promise<never[]>((resolve, reject) => {
        state.answer = () => resolve([])
        signal?.addEventListener('abort', () => reject(signal.reason as Error))
      })
    },
  }
  const check = createReadiness({
    databases: [database],
    ledger: { reasonToRefuse: () => state.refusal, loadLiveInstances: () => Promise.resolve([]) },
    role: 'all',
    stop: { isStopping: false },
    clock: { monotonicMs: () => state.nowMs },
    log: { ...silentLog, warn: note, info: note },
    waitMs: { embedded: 1, postgres: 1 },
  })
  return { check, state, logged }
}

describe('/readyz', () => {
  test('is ready while databases answer and the ledger accepts calls', async () => {
    const { check, logged } = arrange('embedded')
    expect(await check()).toEqual({ isReady: true, problems: [] })
    expect(logged).toEqual([])
  })

  test('is ready while an embedded database is slow, and names it', async () => {
    const { check } = arrange('embedded', 'slow')
    expect(await check()).toEqual({
      isReady: true,
      problems: ['The control database has not answered in time: requests that need it wait.'],
    })
  })

  test('is not ready once an embedded database has not answered for 20 s, until it does', async () => {
    const { check, state } = arrange('embedded', 'slow')
    const checkAfter = async (ms: number) => {
      state.nowMs += ms
      return (await check()).isReady
    }
    // The process was stopped before the second check.
    expect([await checkAfter(0), await checkAfter(60_000), await checkAfter(5_000)]).toEqual([true, true, true])
    expect([await checkAfter(5_000), await checkAfter(4_999), await checkAfter(1)]).toEqual([true, true, false])
    expect(state.statements).toBe(1)
    state.answer()
    expect(await checkAfter(1_000)).toBe(true)
    state.behaviour = 'answers'
    expect(await check()).toEqual({ isReady: true, problems: [] })
  })

  test('is not ready while a server is slow, because another instance may reach it', async () => {
    expect(await arrange('postgres', 'slow').check()).toMatchObject({ isReady: false })
  })

  test.each(['embedded', 'postgres'] as const)('is not ready while a database fails (%s)', async (engine) => {
    expect(await arrange(engine, 'fails').check()).toMatchObject({ isReady: false })
  })

  test('is not ready while the ledger refuses calls; the log has the cause once, and the end', async () => {
    const { check, state, logged } = arrange('embedded', 'answers', 'behind')
    expect([await check(), await check()]).toMatchObject([{ isReady: false }, { isReady: false }])
    state.refusal = undefined
    expect(await check()).toMatchObject({ isReady: true })
    expect(logged).toEqual([
      '/readyz is 503 {"reasons":"the ledger refuses calls (behind)"}',
      '/readyz is 200 again {}',
    ])
  })
})
