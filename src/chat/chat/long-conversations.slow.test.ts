import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countTurns, workPerTurn } from '../../../test/harness/timing.ts'
import type { ChatRequest } from '../../contract/chat.ts'
import { maximumCharactersPerMessage, maximumMessages } from '../../contract/gateway.ts'
import { silentLog } from '../../platform/kernel/index.ts'
import { createTokenCounter, createTokenCounting, loadVocabulary } from '../../gateway/tokens/index.ts'
import { fenceTokens } from './context/prompt.ts'
import { prepareAnswer } from './prepare-answer.ts'
import type { AnswerCall, AnswerDependencies, AnswerModel } from './port.ts'
import { composeQuery } from './search-query.ts'
import { readAddresses } from './safety/addresses.ts'

/** Conversations of the largest size that a request may have: what is read of them, and that the event loop runs meanwhile. */

type Messages = ChatRequest['messages']

const { count } = createTokenCounter(loadVocabulary())
const tokens = createTokenCounting({ log: silentLog })
// Counts in the calling thread from here on where texts are short, as in a service that is in use.
beforeAll(() => tokens.count(['word '.repeat(5_000)], ''))
afterAll(() => tokens.close())

const settings = { requiredFilter: [], maximumOutputTokens: null, maximumPassageTokens: 500, wholeSpaceTokens: 0 }
const model: AnswerModel = { contextTokens: 16_000, maxOutputTokens: 2_000, followsInstructions: true, tools: true }

function prepare(messages: Messages, fields: Partial<AnswerModel> = {}) {
  // The parts of both that are read before the first search.
  const dependencies = {
    tokens,
    ledger: { hasCredit: () => true, noteRefused: () => {} },
    findModel: () => ({ ...model, ...fields }),
    now: () => 1,
  }
  const call = {
    messages,
    space: { settings, instructions: 'Answer in one sentence.', model: 'm' },
    organisation: { subscription: { status: 'active', startsAt: 0, endsAt: null } },
    filter: null,
    inlineSources: true,
    agentic: false,
    signal: new AbortController().signal,
  }
  return prepareAnswer(dependencies as unknown as AnswerDependencies, call as unknown as AnswerCall)
}

/** Questions and answers in turn, then the question. */
function conversation(contents: readonly string[], question = 'And the roses?'): Messages {
  const earlier = contents.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }) as const)
  return [...earlier, { role: 'user', content: question }]
}

/** What every conversation with an accepted question must become. */
function expectTrimmed(messages: Messages, prepared: Awaited<ReturnType<typeof prepare>>, contextTokens: number) {
  const { earlier, system } = prepared
  const before = messages.slice(0, -1)
  // The latest turns without a gap.
  expect(earlier).toEqual(before.slice(before.length - earlier.length))
  if (earlier.length < before.length && earlier.length > 0) expect(earlier[0]!.role).toBe('user')
  const answerTokens = prepared.window.outputCap() ?? 2_000
  const sent = [system, ...earlier.map(({ content }) => String(content)), messages.at(-1)!.content]
  const sum = sent.reduce((total, content) => total + count(content), 0)
  expect(sum + fenceTokens + answerTokens).toBeLessThanOrEqual(contextTokens)
  expect(prepared.window.passageRoom()).toBeGreaterThan(0)
}

const units = {
  words: 'garden ',
  'one word': 'a',
  digits: '7',
  Chinese: '漢字',
  Thai: 'ภาษาไทย',
  emoji: '😀',
  'combining marks': '\u0301',
  spaces: ' ',
  'opening brackets': '[',
  'citation markers': 'word [1] ',
  'addresses that are not valid': 'https://% ',
  addresses: 'https://a.example/b ',
}
const filled = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

/** The same texts, and the characters of them that were read so far. */
function countReads(texts: readonly string[]) {
  let characters = 0
  const read = (text: string) => {
    characters += text.length
    return text
  }
  return {
    texts: new Proxy(texts, {
      get(target, key, receiver) {
        const value: unknown = Reflect.get(target, key, receiver)
        return typeof value === 'string' ? read(value) : value
      },
    }),
    characters: () => characters,
  }
}

/** Fails unless the event loop gets a turn before each message that is kept is counted, and before its markers are removed. */
async function expectTurns(messages: Messages, fields: Partial<AnswerModel> = {}, turnsPerMessage = 2) {
  let kept = 0
  const turns = await countTurns(async () => {
    kept = (await prepare(messages, fields)).earlier.length
  })
  expect(turns).toBeGreaterThanOrEqual(turnsPerMessage * kept)
  return kept
}

describe(`the event loop runs while ${maximumMessages} messages are nothing but`, () => {
  test.each(Object.entries(units))('%s', { timeout: 120_000 }, async (_name, unit) => {
    // The last is just below a size from which one text is read in parts.
    for (const length of [maximumCharactersPerMessage, 30, 19_999]) {
      const messages = conversation(Array.from({ length: maximumMessages - 1 }, () => filled(unit, length)))
      expect(await expectTurns(messages)).toBeLessThan(maximumMessages - 1)
      const { text, context } = await composeQuery(messages, new AbortController().signal)
      expect(text).toBe('And the roses?')
      // At most four questions and an answer: without turns.
      expect(context.length).toBeLessThanOrEqual(5)
      expect(context.every((part) => part.text.length <= 8_000)).toBe(true)
      const { texts, characters } = countReads(messages.map(({ content }) => content))
      expect(await workPerTurn(() => readAddresses(texts), characters)).toBeLessThanOrEqual(length)
    }
  })

  test('words, and the model has room for all of them', { timeout: 120_000 }, async () => {
    // The largest body has 33 million characters.
    const contents = Array.from({ length: 165 }, () => filled(units.words, maximumCharactersPerMessage))
    // Also while it is found that all of them fit.
    expect(await expectTurns(conversation(contents), { contextTokens: 100_000_000 }, 3)).toBe(contents.length)
  })

  test('answers with markers, and the model has room for them', { timeout: 120_000 }, async () => {
    const contents = Array.from({ length: 60 }, () => filled(units['citation markers'], 19_999))
    expect(await expectTurns(conversation(contents), { contextTokens: 10_000_000 }, 3)).toBe(contents.length)
  })
})

describe('a conversation is trimmed', () => {
  const turn = fc
    .record({
      unit: fc.constantFrom(
        'garden ',
        'a',
        '7',
        '漢字',
        'ภาษาไทย',
        '😀',
        'e\u0301',
        'x9Qz#',
        '1 ',
        '\n',
        'Überprüfung ',
      ),
      length: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 30_000 })),
    })
    .map(({ unit, length }) => unit.repeat(Math.ceil(length / unit.length)))

  test(
    'to its latest turns, which fit into the context with the whole question and an answer',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(turn, { maxLength: 40 }),
          fc.constantFrom(6_000, 16_000, 128_000),
          async (contents, contextTokens) => {
            const messages = conversation(contents)
            expectTrimmed(messages, await prepare(messages, { contextTokens }), contextTokens)
          },
        ),
        { numRuns: 60 },
      )
    },
  )

  test.each(Object.entries(units).slice(0, 7))('although its latest turns are nothing but %s', async (_name, unit) => {
    for (const length of [10, 300, maximumCharactersPerMessage]) {
      const messages = conversation(Array.from({ length: maximumMessages - 1 }, () => filled(unit, length)))
      expectTrimmed(messages, await prepare(messages), model.contextTokens)
    }
  })

  test('never in its question: one that does not fit is refused with the limit', async () => {
    for (const unit of Object.values(units).slice(0, 7)) {
      const question = filled(unit, maximumCharactersPerMessage)
      const prepared = prepare(conversation(['Hello', 'Hi'], question), { contextTokens: 8_000 })
      await expect(prepared, unit).rejects.toMatchObject({
        code: 'context_length_exceeded',
        message: expect.stringMatching(/accepts at most \d+/),
      })
    }
  })
})

test('of the visitor’s addresses at most 1,000 are read, and none of more than 4,000 characters', async () => {
  const many = Array.from({ length: 3_000 }, (_, index) => `https://a.example/${index}`).join(' ')
  expect(await readAddresses(['see https://first.example/.', many])).toHaveProperty('size', 1_000)
  const long = `https://a.example/${'b'.repeat(5_000)}`
  expect([...(await readAddresses([`${long} www.b.example`]))]).toEqual(['https://www.b.example/'])
})
