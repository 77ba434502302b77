import { describe, expect, it } from 'vitest'
import { composeQuery, withSynonyms } from './search-query.ts'

const signal = new AbortController().signal
const user = (content: string) => ({ role: 'user' as const, content })
const assistant = (content: string) => ({ role: 'assistant' as const, content })

describe('the query of a conversation', () => {
  it('is the question alone in the first turn, whatever its length and script', async () => {
    for (const content of ['Is it?', '税', 'x'.repeat(200_000)]) {
      expect(await composeQuery([user(content)], signal)).toEqual({ text: content, context: [], standalone: content })
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
      standalone: 'Question 5?\nAnd then?',
    })
  })

  it('has a question for the reranker with the one before it, unless it is self-contained', async () => {
    const before = [user('How heavy is the red boat?'), assistant('Two tonnes.')]
    const standalone = async (content: string) => (await composeQuery([...before, user(content)], signal)).standalone
    expect(await standalone('Is it heavier?')).toBe('How heavy is the red boat?\nIs it heavier?')
    const complete = 'Which harbour rules apply to large sailing boats?'
    expect(await standalone(complete)).toBe(complete)
    const long = await composeQuery([user('x'.repeat(100_000)), user('And now?')], signal)
    expect(long.standalone!.length).toBeLessThan(10_000)
  })

  it('has synonyms for a model that cannot word it differently, with less weight', async () => {
    const withOnes = async (content: string) => withSynonyms(await composeQuery([user(content)], signal))
    const { text, context } = await withOnes('How do I erase my picture?')
    expect(text).toBe('How do I erase my picture?')
    expect(context).toEqual([{ text: expect.stringMatching(/\bdelete\b.*\bphoto\b/), weight: 0.8 }])
    expect(await withOnes('Xylophone?')).toMatchObject({ context: [] })
    expect((await withOnes('erase '.repeat(50_000))).context[0]!.text.length).toBeLessThan(200)
  })
})
