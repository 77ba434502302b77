import { expect, it } from 'vitest'
import { expectStatus } from '../harness/portico.ts'
import { question, startScriptedStage } from '../harness/scripted-space.ts'

it('a last message of white space is a 400 that names it, and neither calls a model nor costs anything', async () => {
  const stage = await startScriptedStage({ settings: { embeddings: { kind: 'hashing' } } })
  try {
    const organisation = await stage.portico.createOrganisation()
    const space = await stage.portico.createSpace(organisation, { model: 'm' })
    for (const streaming of [false, true]) {
      for (const content of ['', ' \n\t', '\u00a0\u2003'.repeat(2_000)]) {
        const messages = [...question, { role: 'assistant', content: '' }, { role: 'user', content }]
        const body = { messages, streaming }
        expect(await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, body)).toMatchObject({
          status: 400,
          body: {
            error: {
              type: 'invalid_request_error',
              param: 'messages.2.content',
              message: '`messages.2.content` must not be blank: the last message asks the question.',
            },
          },
        })
      }
    }
    expect(stage.calls()).toEqual([])
    const path = `/api/organisations/${organisation.id}/budget`
    expect(expectStatus(await stage.portico.operator('GET', path), 200)).toMatchObject({ spentUsd: '0', heldUsd: '0' })
  } finally {
    await stage.stop()
  }
})
