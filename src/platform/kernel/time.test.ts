import { expect, test } from 'vitest'
import { anySignal, CallEnd } from './time.ts'

test('the end of a call is reported once, in order, to those who still listen', () => {
  const end = new CallEnd()
  const heard: string[] = []
  const third = () => void heard.push('third')
  end.addEventListener('abort', () => {
    heard.push('first')
    end.removeEventListener('abort', third)
  })
  end.addEventListener('abort', () => void heard.push('second'))
  end.addEventListener('abort', third)
  end.throwIfAborted()
  end.abort('left')
  end.abort('again')
  expect(heard).toEqual(['first', 'second'])
  expect(end).toMatchObject({ aborted: true, reason: 'left' })
  expect(() => end.throwIfAborted()).toThrow('left')
})

test.each([false, true])('a signal of the platform follows the end of a call; over before: %s', (isOver) => {
  const end = new CallEnd()
  if (isOver) end.abort('left')
  const alone = anySignal(end)
  const joined = anySignal(new AbortController().signal, end)
  end.abort('left')
  expect(alone).toBeInstanceOf(AbortSignal)
  for (const signal of [alone, joined]) expect(signal).toMatchObject({ aborted: true, reason: 'left' })
})
