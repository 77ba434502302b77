import { afterAll, describe, expect, test } from 'vitest'
import { providerCall } from '../../../../test/harness/provider-call.ts'
import { silentLog } from '../../../platform/kernel/index.ts'
import { createTokenCounting } from '../../tokens/index.ts'
import type { ProviderMessage } from '../port.ts'
import { createOfflineProvider } from './offline-provider.ts'

const tokens = createTokenCounting({ log: silentLog })
afterAll(() => tokens.close())
const provider = createOfflineProvider({ id: 'portico', tokens })

const sources = `Answer from the passages below, taken from the uploaded files.

<source id="1" title="Handbook.pdf" place="page 3">
Employees have 28 days of holiday a year. The canteen opens at noon.
</source>
<source id="2" title="Rules.md">
Remote work is allowed on three days of the week. Laptops are insured by the company.
</source>`

function ask(question: string, system?: string): ProviderMessage[] {
  return [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    { role: 'user', content: question },
  ]
}

async function answerTo(messages: ProviderMessage[]): Promise<string> {
  return (await provider.complete(providerCall({ messages }))).text
}

describe('the offline model', () => {
  test.each([
    ['How many holidays does an employee have?', 'Employees have 28 days of holiday a year.', '[1]'],
    ['On how many days can I work remotely?', 'Remote work is allowed on three days of the week.', '[2]'],
    ['Who insures the laptop?', 'Laptops are insured by the company.', '[2]'],
  ])('answers %s with the matching sentence and its source', async (question, sentence, source) => {
    const [first] = (await answerTo(ask(question, sources))).split('\n\n')
    expect(first!.startsWith(sentence)).toBe(true)
    expect(first!.endsWith(source)).toBe(true)
  })

  test('quotes passages of a tool result', async () => {
    const messages: ProviderMessage[] = [
      ...ask('Who insures the laptop?'),
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'search', argumentsJson: '{}' }] },
      { role: 'tool', toolCallId: 'c', content: sources },
    ]
    expect(await answerTo(messages)).toContain('[2]')
  })

  test('quotes no line that only has attributes of a tag', async () => {
    const files = sources.replace(
      'Laptops are',
      '\nheadline="Nobody insures the laptop of an employee, and the laptop of a guest is insured by nobody else at all" link="https://a.example"\nLaptops are',
    )
    expect(await answerTo(ask('Who insures the laptop?', files))).not.toContain('headline')
  })

  test('reads the headings of a passage, and rows of a table with the names of their cells', async () => {
    const files = `<source id="1" title="a.md" place="Garden > Opening hours; page 2">
From nine to five.
</source>
<source id="2" title="birds.csv">
species | island
Adelie | Torgersen
Gentoo | Biscoe
Adelie | Dream
</source>`
    expect(await answerTo(ask('What are the opening hours of the garden?', files))).toContain('From nine to five. [1]')
    const islands = await answerTo(ask('On which islands do Adelie penguins live?', files))
    expect(islands).toContain('species: Adelie; island: Torgersen, Dream [2]')
    expect(islands).not.toContain('|')
  })

  test('joins lines that an editor has broken', async () => {
    const files = sources.replace(
      'Laptops are insured by the company.',
      '\n\nThe laptops of all people who work in the offices of the north are\ninsured by the company until they leave.',
    )
    expect(await answerTo(ask('Who insures the laptops?', files))).toContain('north are insured by the company')
  })

  test('marks each quoted sentence, so that each marker opens its own quote', async () => {
    const files = `<source id="1" title="a.md">
The bicycle is rented in the cellar. It must be back by nine. Rain is no excuse.
</source>`
    expect(await answerTo(ask('Where is the bicycle rented until late?', files))).toBe(
      'The bicycle is rented in the cellar. [1] It must be back by nine. [1] Rain is no excuse. [1]',
    )
  })

  test('quotes nothing if no word is shared', async () => {
    expect(await answerTo(ask('Zebra xylophone?', sources))).not.toMatch(/\[\d\]/)
  })

  test('states in the language of the question that the passages do not hold the answer', async () => {
    expect(await answerTo(ask('Wie hoch ist der Turm von Pisa?', sources))).toBe(
      'Die Dateien enthalten keine Antwort auf diese Frage.',
    )
  })

  test('answers a follow-up question with the subject of the question before it', async () => {
    const messages: ProviderMessage[] = [
      { role: 'user', content: 'Who insures the laptop?' },
      { role: 'assistant', content: 'The company.' },
      ...ask('Really?', sources),
    ]
    expect(await answerTo(messages)).toContain('[2]')
  })

  test('uses no source from a user’s text', async () => {
    expect(await answerTo(ask(`${sources} Who insures the laptop?`))).not.toMatch(/\[\d\]/)
  })

  test('describes itself if there is nothing to quote, with the same text every time', async () => {
    const first = await answerTo(ask('Say hello.'))
    expect(first).toContain('offline model')
    expect(first).toContain('“Say hello.”')
    expect(await answerTo(ask('Say hello.'))).toBe(first)
  })

  test('streams the same text in words, with counted usage at the end', async () => {
    const call = providerCall({ messages: ask('Say hello.') })
    const whole = await provider.complete(call)
    const events = (await Array.fromAsync((await provider.stream(call)).events)).flat()
    const words = events.filter((event) => event.type === 'text').map((event) => event.text)
    expect(words.length).toBeGreaterThan(10)
    expect(words.join('')).toBe(whole.text)
    expect(events.at(-1)).toEqual({ type: 'usage', usage: whole.usage })
    expect(whole.usage).toMatchObject({ promptTokens: 9, cachedTokens: 0 })
    expect(whole.usage!.completionTokens).toBeGreaterThan(40)
  })

  test('applies the output cap and stop sequences', async () => {
    const capped = await provider.complete(providerCall({ messages: ask('Hello'), maxOutputTokens: 8 }))
    expect(capped.finishReason).toBe('length')
    expect(capped.usage!.completionTokens).toBeLessThanOrEqual(8)
    expect(capped.text).not.toBe('')
    const stopped = await provider.complete(providerCall({ messages: ask('Hello'), stop: ['offline'] }))
    expect(stopped).toMatchObject({ finishReason: 'stop', text: 'This is the built-in ' })
  })

  test('stops when it is cancelled', async () => {
    const client = new AbortController()
    const { events } = await createOfflineProvider({ id: 'slow', tokens, delayMs: 60_000 }).stream({
      ...providerCall(),
      signal: client.signal,
    })
    const reading = Array.fromAsync(events)
    client.abort()
    await expect(reading).rejects.toMatchObject({ errorClass: 'cancelled' })
  })
})
