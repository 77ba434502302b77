import { describe, expect, test } from 'vitest'
import { silentLog, type Role } from '../../platform/kernel/index.ts'
import { loadConfig } from '../config/index.ts'
import { checkConnections } from './connections.ts'

/** With the default of 10 connections, a process opens 13 for each logical database. */
async function warningsOf(
  accepted: number,
  others: readonly Role[] = [],
  { role = 'all', environment = {} }: { role?: Role; environment?: Record<string, string> } = {},
): Promise<unknown[]> {
  const warnings: unknown[] = []
  const database = {
    engine: 'postgres' as const,
    features: { bm25: true, serverVersion: '18.0', acceptedConnections: accepted },
  }
  const live = ['self', ...others].map((name, index) => ({
    id: `${index}`,
    role: index === 0 ? role : (name as Role),
    name: null,
    fileStore: null,
  }))
  await checkConnections({
    config: loadConfig({ DATABASE_URL: 'postgres://somewhere/one', PORTICO_ROLE: role, ...environment }),
    control: database,
    corpus: role === 'gateway' ? null : database,
    ledger: { instanceId: () => '0' as never, loadLiveInstances: async () => live },
    log: { ...silentLog, warn: (fields) => void warnings.push(fields) },
  })
  return warnings
}

describe('connections to the database server', () => {
  test('a process that may open more than the server accepts does not start', async () => {
    await expect(warningsOf(25)).rejects.toThrow(
      'this process may open 26 connections to the server of the control database, which accepts 25',
    )
    expect(await warningsOf(26)).toEqual([])
  })

  test('all processes together that may open more than the server accepts cause a warning', async () => {
    const seven = Array.from({ length: 7 }, (): Role => 'all')
    expect(await warningsOf(208, seven)).toEqual([])
    expect(await warningsOf(207, seven)).toMatchObject([{ processes: 8, connections: 208, accepted: 207 }])
  })

  test('a process of the role gateway opens half as many', async () => {
    expect(await warningsOf(52, ['gateway'], { role: 'all' })).toEqual([])
    expect(await warningsOf(13, [], { role: 'gateway' })).toEqual([])
    expect(await warningsOf(38, ['all'], { role: 'gateway' })).toMatchObject([{ connections: 39 }])
  })

  test('each server counts alone, and a pooler has the connections for statements', async () => {
    const separate = { PORTICO_CORPUS_DATABASE_URL: 'postgres://elsewhere/two' }
    expect(await warningsOf(13, [], { environment: separate })).toEqual([])
    const pooled = { DATABASE_DIRECT_URL: 'postgres://somewhere/one' }
    expect(await warningsOf(6, [], { environment: pooled })).toEqual([])
  })
})
