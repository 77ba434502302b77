import { describe, expect, it } from 'vitest'
import { composeQuery } from './conversation-query.ts'

const signal = new AbortController().signal
const user = (content: string) => ({ role: 'user' as const, content })
const assistant = (content: string) => ({ role: 'assistant' as const, content })

describe('the query of a conversation', () => {
  it('is the question alone in the first turn, whatever its length and script', async () => {
    for (const content of ['Is it?', '税', 'x'.repeat(200_000)]) {
      expect(await composeQuery([user(content)], signal)).toEqual({ text: content, context: [] })
    }
  })

  it('has the questions before with halving weights, and the last answer without its markers', async () => {
    const turns = [1, 2, 3, 4, 5].flatMap((n) => [user(`Question ${n}?`), assistant(`Answer ${n} [1].`)])
    expect(await composeQuery([...turns, user('And then?')], signal)).toEqual({
      text: 'And then?',
      context: [
        { text: 'Question 5?', weight: 0.2 },
        { text: 'Question 4?', weight: 0.1 },
        { text: 'Question 3?', weight: 0.05 },
        { text: 'Question 2?', weight: 0.025 },
        { text: 'Answer 5.', weight: 0.2 },
      ],
    })
  })
})
