import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createChangeFeed, recordChange } from '../../platform/database/index.ts'
import { silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createOperatorTokenStore } from './operator-tokens.store.ts'
import { createOperatorTokens } from './operator-tokens.ts'

const actor = { name: 'operator', requestId: 'req_test' }

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())

async function startInstance(configuredToken?: string) {
  const database = databases.control
  const changeFeed = createChangeFeed({ database, clock: systemClock, log: silentLog })
  await changeFeed.start()
  const operatorTokens = await createOperatorTokens({
    store: createOperatorTokenStore(database, recordChange),
    changeFeed,
    clock: systemClock,
    configuredToken,
  })
  return {
    operatorTokens,
    changeFeed,
    async [Symbol.asyncDispose]() {
      operatorTokens.close()
      await changeFeed.close()
    },
  }
}

describe('the operator token', () => {
  test('is created once by one of several instances that start at the same time', async () => {
    await databases.control.execute(`DELETE FROM operator_token`)
    await using here = await startInstance()
    await using there = await startInstance()
    const tokens: string[] = []
    const show = async (token: string) => void tokens.push(token)
    const made = await Promise.all([here.operatorTokens.ensureFirst(show), there.operatorTokens.ensureFirst(show)])
    expect(made.toSorted()).toEqual([false, true])
    expect(tokens).toHaveLength(1)
    await Promise.all([here.changeFeed.caughtUp(), there.changeFeed.caughtUp()])
    for (const { operatorTokens } of [here, there]) {
      expect(operatorTokens.authenticate(tokens[0]!)).toBe(true)
      expect(operatorTokens.authenticate('pto_')).toBe(false)
      expect(await operatorTokens.ensureFirst(show)).toBe(false)
    }
  })

  test('is not valid before it is shown, and is not stored if showing it fails', async () => {
    await databases.control.execute(`DELETE FROM operator_token`)
    await using instance = await startInstance()
    const { operatorTokens } = instance
    const unseen: string[] = []
    const fail = async (token: string) => {
      unseen.push(token)
      throw new Error('standard output is closed')
    }
    await expect(operatorTokens.ensureFirst(fail)).rejects.toThrow('standard output is closed')
    await instance.changeFeed.caughtUp()
    expect(operatorTokens.authenticate(unseen[0]!)).toBe(false)

    let seen = ''
    const validWhenShown: boolean[] = []
    const show = async (token: string) => {
      seen = token
      validWhenShown.push(operatorTokens.authenticate(token))
    }
    expect(await operatorTokens.ensureFirst(show)).toBe(true)
    expect(validWhenShown).toEqual([false])
    expect(operatorTokens.authenticate(seen)).toBe(true)
  })

  test('is invalid at once after a rotation, and on another instance after it has caught up', async () => {
    await using here = await startInstance()
    await using there = await startInstance()
    const first = await here.operatorTokens.rotate(actor)
    const second = await here.operatorTokens.rotate(actor)
    await there.changeFeed.caughtUp()
    for (const { operatorTokens } of [here, there]) {
      expect(operatorTokens.authenticate(first)).toBe(false)
      expect(operatorTokens.authenticate(second)).toBe(true)
    }
  })

  test('is not created if one is configured, and both the configured and the stored one are valid', async () => {
    await databases.control.execute(`DELETE FROM operator_token`)
    await using instance = await startInstance('token of the configuration')
    const show = () => Promise.reject(new Error('no token may be shown'))
    expect(await instance.operatorTokens.ensureFirst(show)).toBe(false)
    expect(instance.operatorTokens.authenticate('token of the configuration')).toBe(true)
    expect(instance.operatorTokens.authenticate('token of the configuratioN')).toBe(false)
    const stored = await instance.operatorTokens.rotate(actor)
    expect(instance.operatorTokens.authenticate(stored)).toBe(true)
    expect(instance.operatorTokens.authenticate('token of the configuration')).toBe(true)
  })
})
