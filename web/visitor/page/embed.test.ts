import { expect, test, vi } from 'vitest'
import { findEmbed } from './embed.ts'

const parent = { postMessage: vi.fn() } as unknown as Window
const ancestors = (...origins: string[]) => ({ ...origins, length: origins.length }) as unknown as DOMStringList

test('sends to the origin of the website only', () => {
  const embed = findEmbed(
    { hash: '#https://shop.example', ancestorOrigins: ancestors('https://shop.example') },
    '',
    parent,
  )
  embed!.send({ type: 'close' })
  expect(parent.postMessage).toHaveBeenCalledWith({ portico: 1, type: 'close' }, 'https://shop.example')
})

test('trusts no website that states another origin than its own, or none', () => {
  const place = { hash: '#https://shop.example', ancestorOrigins: ancestors('https://other.example') }
  expect(findEmbed(place, '', parent)).toBeUndefined()
  expect(findEmbed({ hash: '#javascript:alert(1)' }, '', parent)).toBeUndefined()
  expect(findEmbed({ hash: '' }, '', parent)).toBeUndefined()
  expect(findEmbed({ hash: '#https://shop.example' }, '', null)).toBeUndefined()
})

test('finds the website of a plain frame', () => {
  expect(findEmbed({ hash: '' }, 'https://shop.example/page', parent)?.origin).toBe('https://shop.example')
})

test('hears only the window and the origin of the website', () => {
  const listeners: ((event: Partial<MessageEvent>) => void)[] = []
  vi.stubGlobal('addEventListener', (_type: string, listener: (event: Partial<MessageEvent>) => void) =>
    listeners.push(listener),
  )
  const heard: unknown[] = []
  findEmbed({ hash: '#https://shop.example' }, '', parent)!.onMessage((message) => heard.push(message))
  vi.unstubAllGlobals()
  const open = { portico: 1, type: 'open' }
  listeners[0]!({ origin: 'https://other.example', source: parent, data: open })
  listeners[0]!({ origin: 'https://shop.example', source: {} as Window, data: open })
  listeners[0]!({ origin: 'https://shop.example', source: parent, data: { type: 'open' } })
  expect(heard).toEqual([])
  listeners[0]!({ origin: 'https://shop.example', source: parent, data: open })
  expect(heard).toEqual([open])
})
