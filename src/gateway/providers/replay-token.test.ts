import { describe, expect, test } from 'vitest'
import { unwrapReplay, wrapReplay } from './index.ts'

describe('reasoning as one text', () => {
  const replay = { format: 'anthropic' as const, blocks: [{ type: 'thinking', thinking: 'Hm – ja', signature: 's' }] }

  test('comes back unchanged', () => expect(unwrapReplay(wrapReplay(replay)!)).toEqual(replay))

  test.each([
    'EqoBCkgIARABGAIiQL',
    'portico.',
    'portico.not base64url',
    `portico.${Buffer.from('{"format":"morse","blocks":[{}]}').toString('base64url')}`,
    `portico.${Buffer.from('{"format":"openai","blocks":[]}').toString('base64url')}`,
    `portico.${Buffer.from('{"format":"openai","blocks":"x"}').toString('base64url')}`,
  ])('is not found in %s', (token) => expect(unwrapReplay(token)).toBeNull())

  test('is not made of more than the client can send back', () => {
    expect(wrapReplay({ format: 'openai', blocks: [{ content: 'x'.repeat(4_000_000) }] })).toBeNull()
  })
})
