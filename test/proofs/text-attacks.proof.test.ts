import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTokenCounter, loadVocabulary } from '../../src/gateway/tokens/index.ts'
import { expectResponsive } from '../harness/event-loop-guard.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  expectStatus,
  type SeparatePortico,
  startSeparatePortico,
  type TestOrganisation,
  type TestSpace,
} from '../harness/portico.ts'
import { leaveAfterFirstBytes, stallingModel, startStallingUpstream } from '../harness/stalling-upstream.ts'

/** Texts of the largest legal size that are the worst case for tokenizers, regular expressions and segmentation. */

const messageUnits = 200_000
const units = {
  emoji: '😀',
  Thai: 'ภาษาไทย',
  'one Thai letter': 'ก',
  Chinese: '漢字',
  'source tags': '<source ',
  'open tags and quotes': '<source id="1" title="',
  spaces: ' ',
  'line ends': '\n',
  'letters a': 'a',
  'capital letters': 'A',
  'combining marks': '\u0301',
  'full stops': '.',
  'mixed signs': '!?"#%&([{<',
  digits: '7',
  sentences: 'a. ',
  'citation markers': '[1]【',
  backticks: '`',
  words: 'garden ',
}

const upstream = await startStallingUpstream()
let portico: SeparatePortico
let organisation: TestOrganisation
let space: TestSpace
const completions = '/v1/gateway/chat/completions'

beforeAll(async () => {
  portico = await startSeparatePortico({ settings: upstream.settings })
  organisation = await portico.createOrganisation({ monthlyBudgetUsd: '1000000' })
  space = await portico.createSpace(organisation)
  await uploadReady(organisation, space.id, 'The garden has roses. Roses are red.', 'garden.txt')
})
afterAll(async () => {
  await portico?.stop()
  upstream.close()
})

describe('the event loop stays free while a message is nothing but', () => {
  test.each(Object.entries(units))('%s', { timeout: 120_000 }, async (_name, unit) => {
    // A blank last message is refused: one character makes it a question.
    const sign = unit.trim() === '' ? '?' : ''
    const text = unit.repeat(Math.floor((messageUnits - sign.length) / unit.length)) + sign
    const user = [{ role: 'user', content: text }]
    const asSystem = [{ role: 'system', content: text }, ...user]
    const completed = { model: 'portico/offline', messages: asSystem }
    const { client } = organisation
    await expectResponsive(portico, async () => {
      expectStatus(await client('POST', completions, completed), 200)
      await leaveAfterFirstBytes(portico.url + completions, organisation, {
        model: stallingModel,
        messages: user,
        stream: true,
      })
      const chat = await client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages: user })
      expectStatus(chat, 200)
    })
  })
})

test.each(Object.entries(units))(
  'the event loop stays free while the earlier turns are nothing but %s',
  { timeout: 120_000 },
  async (_name, unit) => {
    const content = unit.repeat(Math.floor(messageUnits / unit.length))
    const earlier = Array.from({ length: 10 }, () => [
      { role: 'user', content },
      { role: 'assistant', content },
    ]).flat()
    const messages = [...earlier, { role: 'user', content: 'And the roses?' }]
    await expectResponsive(portico, async () => {
      const chat = await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages })
      expectStatus(chat, 200)
    })
  },
)

const largestBody = 33 * 1024 * 1024

test.each(['addresses that are not valid', 'words', 'Chinese', 'citation markers'] as const)(
  'the event loop stays free while the largest body has earlier turns that are nothing but %s',
  { timeout: 120_000 },
  async (name) => {
    const unit = name === 'addresses that are not valid' ? 'https://% ' : units[name]
    const content = unit.repeat(Math.floor(messageUnits / unit.length))
    const bytes = Buffer.byteLength(JSON.stringify(content)) + 100
    const earlier = Array.from({ length: Math.floor(largestBody / bytes) }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content,
    }))
    const messages = [...earlier, { role: 'user', content: 'And the roses?' }]
    await expectResponsive(portico, async () => {
      const chat = await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages })
      expectStatus(chat, 200)
    })
  },
)

test('bills the exact prompt of a stream that the client leaves', async () => {
  const content = units.emoji.repeat(50_000)
  const headers = await leaveAfterFirstBytes(portico.url + completions, organisation, {
    model: stallingModel,
    messages: [{ role: 'user', content }],
    stream: true,
  })
  const receipt = await waitForReceipt(headers.get('x-request-id')!)
  expect(receipt).toMatchObject({ estimated: true, ending: 'client_closed' })
  expect(receipt.usage.promptTokens).toBe(createTokenCounter(loadVocabulary()).count(content))
})

/** The receipt is written after the connection has closed. */
async function waitForReceipt(requestId: string) {
  for (;;) {
    const { status, body } = await portico.operator('GET', `/api/usage/${requestId}`)
    if (status === 200) return body
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
