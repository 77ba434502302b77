import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectResponsive } from '../harness/event-loop-guard.ts'
import { expectStatus, type SeparatePortico, startSeparatePortico, type TestOrganisation } from '../harness/portico.ts'

/** Nothing that a client sends may keep others waiting: `/livez` answers within 100 ms while it is handled. */

let portico: SeparatePortico
let organisation: TestOrganisation

beforeAll(async () => {
  portico = await startSeparatePortico()
  organisation = await portico.createOrganisation()
})
afterAll(() => portico?.stop())

describe('the event loop stays free', () => {
  it('while a conversation of 1,024 messages is completed', async () => {
    const messages = Array.from({ length: 1024 }, (_, index) => ({
      role: index === 1023 || index % 2 === 0 ? 'user' : 'assistant',
      content: `Message ${index} of a long conversation about the roses in the garden.`,
    }))
    const answer = await expectResponsive(portico, () =>
      organisation.client('POST', '/v1/gateway/chat/completions', {
        model: 'portico/offline',
        messages,
        max_tokens: 5,
      }),
    )
    expect(expectStatus(answer, 200).choices).toHaveLength(1)
  })
})
