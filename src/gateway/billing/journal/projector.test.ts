import { expect, test } from 'vitest'
import { createFakeClock } from '../../../../test/harness/fake-clock.ts'
import type { OrganisationId } from '../../../platform/kernel/index.ts'
import { Backlog } from './projector.ts'

const [flood, small, third] = ['flood', 'small', 'third'] as OrganisationId[] as [
  OrganisationId,
  OrganisationId,
  OrganisationId,
]

function arrange(maximum: number) {
  const clock = createFakeClock()
  const backlog = new Backlog({ clock, maximum, maximumWaitMs: 5_000 })
  const events: string[] = []
  /** Begins a call, whose hold is durable as soon as it is admitted. */
  const begin = (owner: OrganisationId) => {
    const admission = backlog.admission(owner)
    if (!admission) return backlog.add(owner, 'open')
    void admission.then(
      () => {
        events.push(`${owner} admitted`)
        backlog.add(owner, 'open')
      },
      (error: Error) => events.push(`${owner} ${/requests at the moment: (.*?)\./.exec(error.message)?.[1]}`),
    )
  }
  const waits = (owner: OrganisationId) => {
    const admission = backlog.admission(owner)
    admission?.catch(() => {})
    return admission !== undefined
  }
  return { clock, backlog, events, begin, waits }
}

test('an organisation with as many records as there is room for waits, others do not', async () => {
  const { clock, backlog, events, begin, waits } = arrange(8)
  begin(flood)
  begin(flood)
  expect(waits(flood)).toBe(true)
  begin(flood)
  expect(waits(small)).toBe(false)
  begin(small)
  expect(waits(third)).toBe(false)
  await clock.advance(4_999)
  expect(events).toEqual([])
  await clock.advance(1)
  expect(events).toEqual(['flood too many bills wait for its database'])
  // Its calls are in the database.
  for (let call = 0; call < 2; call += 1) backlog.add(flood, 'settle')
  backlog.noteApplied(5)
  expect(waits(flood)).toBe(false)
})

test('waiting calls are admitted in turns of organisations, and no more than there is room for', async () => {
  const { clock, backlog, events, begin } = arrange(12)
  for (let call = 0; call < 3; call += 1) begin(flood)
  for (let call = 0; call < 2; call += 1) begin(small)
  for (let call = 0; call < 5; call += 1) begin(flood)
  begin(small)
  // One record of a hold is in the database, so there is room for the next calls of neither.
  backlog.noteApplied(1)
  await clock.advance(0)
  expect(events).toEqual([])
  for (let call = 0; call < 3; call += 1) backlog.add(flood, 'settle')
  for (let call = 0; call < 2; call += 1) backlog.add(small, 'settle')
  backlog.noteApplied(9)
  await clock.advance(0)
  expect(events).toEqual(['flood admitted', 'small admitted', 'flood admitted', 'flood admitted'])
})

test('refuses those that wait when it is closed, and counts what will never be settled no longer', async () => {
  const { clock, backlog, events, begin, waits } = arrange(4)
  begin(flood)
  begin(flood)
  backlog.close()
  await clock.advance(0)
  expect(events).toEqual(['flood too many bills wait for its database'])
  expect(clock.sleeping()).toBe(0)
  backlog.noteApplied(1)
  backlog.noteLost(flood)
  expect(waits(flood)).toBe(false)
  begin(flood)
  expect(waits(flood)).toBe(true)
})
