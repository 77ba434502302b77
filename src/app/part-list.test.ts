import { expect, test } from 'vitest'
import { listParts } from './part-list.ts'

test('makes parts in the order of the list, and closes those with `close` in reverse order', async () => {
  const events: string[] = []
  const part = (name: string) => ({ close: () => void events.push(`close ${name}`) })
  const onStop: (() => unknown)[] = []
  const list = listParts<{ first: string; onStop: (close: () => unknown) => void }>()
    .add('one', ({ first }) => part(first))
    .add('two', async ({ one }) => (one ? 'two' : ''))
    .add('three', ({ two }) => part(`three after ${two}`))
  const parts = await list.make({ first: 'one', onStop: (close) => void onStop.unshift(close) })
  expect(parts.two).toBe('two')
  for (const close of onStop) close()
  expect(events).toEqual(['close three after two', 'close one'])
})

test('a list continues another one without changing it', async () => {
  const given = { onStop: () => {} }
  const short = listParts<typeof given>().add('one', () => 1)
  const long = short.add('two', ({ one }) => one + 1)
  expect(Object.keys(await short.make(given))).toEqual(['onStop', 'one'])
  expect(await long.make(given)).toMatchObject({ one: 1, two: 2 })
})

test('what was made before a part that fails is closed', async () => {
  const closed: string[] = []
  const onStop: (() => unknown)[] = []
  const list = listParts<{ onStop: (close: () => unknown) => void }>()
    .add('one', () => ({ close: () => void closed.push('one') }))
    .add('two', () => Promise.reject(new Error('no disk')))
  await expect(list.make({ onStop: (close) => void onStop.push(close) })).rejects.toThrow('no disk')
  for (const close of onStop) close()
  expect(closed).toEqual(['one'])
})
