import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../../test/harness/database.ts'
import { createChangeFeed, recordChange } from '../../../platform/database/index.ts'
import { silentLog, systemClock } from '../../../platform/kernel/index.ts'
import { createRunningAnswers } from './running-answers.ts'

/** Answers of people that continue without their client, on several instances. */

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())

async function startInstance() {
  const database = databases.control
  const changeFeed = createChangeFeed({ database, clock: systemClock, log: silentLog })
  const running = createRunningAnswers({ database, recordChange, changeFeed })
  await changeFeed.start()
  onTestFinished(async () => {
    await running.close()
    await changeFeed.close()
  })
  return { running, changeFeed }
}

const place = (more: { personId?: string; chatId?: string } = {}) => ({
  personId: 'person',
  spaceId: 'space',
  chatId: crypto.randomUUID(),
  ...more,
})

/** An answer whose client can leave. It ends with its signal. */
function begin({ running }: Awaited<ReturnType<typeof startInstance>>, at = place()) {
  const client = new AbortController()
  const answer = running.begin(at, client.signal)
  answer.signal.addEventListener('abort', () => answer.end())
  return { ...answer, leave: () => client.abort() }
}

describe('an answer', () => {
  it('ends on whichever instance it runs, and others continue', async () => {
    const [one, other] = [await startInstance(), await startInstance()]
    const at = place()
    const [stopped, another] = [begin(other, at), begin(other)]
    await one.running.stop(at)
    await other.changeFeed.caughtUp()
    expect([stopped.signal.aborted, stopped.isDiscarded()]).toEqual([true, false])
    expect(another.signal.aborted).toBe(false)
  })

  it('is not stored where all conversations of its person are deleted, and those of others are', async () => {
    const [one, other] = [await startInstance(), await startInstance()]
    const [discarded, colleague] = [begin(other), begin(other, place({ personId: 'colleague' }))]
    await one.running.discard({ ...place(), chatId: null })
    await other.changeFeed.caughtUp()
    expect([discarded.signal.aborted, discarded.isDiscarded()]).toEqual([true, true])
    expect([colleague.signal.aborted, colleague.isDiscarded()]).toEqual([false, false])
  })

  it('continues when its client leaves, at most three of one person', async () => {
    const instance = await startInstance()
    const answers = Array.from({ length: 4 }, () => begin(instance))
    for (const { leave } of answers) leave()
    expect(answers.map(({ signal }) => signal.aborted)).toEqual([false, false, false, true])
    const colleague = begin(instance, place({ personId: 'colleague' }))
    colleague.leave()
    expect(colleague.signal.aborted).toBe(false)
    answers[0]!.end()
    const next = begin(instance)
    next.leave()
    expect(next.signal.aborted).toBe(false)
  })

  it('without a client ends with the service, and one with a client when that leaves', async () => {
    const instance = await startInstance()
    const [unread, read] = [begin(instance), begin(instance)]
    unread.leave()
    await instance.running.close()
    expect([unread.signal.aborted, read.signal.aborted]).toEqual([true, false])
    read.leave()
    expect(read.signal.aborted).toBe(true)
  })
})
