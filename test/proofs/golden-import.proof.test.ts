import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { goldenLimits } from '../../src/contract/golden-questions.ts'
import { expectResponsive } from '../harness/event-loop-guard.ts'
import {
  type ApiAnswer,
  expectStatus,
  type SeparatePortico,
  startSeparatePortico,
  type TestOrganisation,
  type TestSpace,
} from '../harness/portico.ts'

interface StoredQuestion {
  messages: { content: string }[]
  expectedFacts: string[]
}

const pathOf = ({ id }: TestSpace) => `/api/spaces/${id}/golden-questions`

async function send(service: SeparatePortico, path: string, type: string, body: string | Buffer): Promise<ApiAnswer> {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.operatorToken}`, 'content-type': type },
    body: body as string,
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

describe('the largest golden questions', () => {
  let service: SeparatePortico
  let owner: TestOrganisation

  beforeAll(async () => {
    service = await startSeparatePortico()
    owner = await service.createOrganisation()
  })
  afterAll(() => service?.stop())

  const questions = Array.from({ length: goldenLimits.questionsPerSpace }, (_, index) => ({
    content: String(index).padEnd(goldenLimits.messageCharacters, ' é"'),
    facts: Array.from({ length: goldenLimits.expectedFacts }, (_, fact) =>
      `${index} ${fact}`.padEnd(goldenLimits.factCharacters, 'ü,'),
    ),
  }))
  const json = JSON.stringify({
    questions: questions.map(({ content, facts }) => ({
      messages: [{ role: 'user', content }],
      expectedFacts: facts,
    })),
  })
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  const csv = `question,facts\n${questions.map(({ content, facts }) => `${quoted(content)},${quoted(facts.join('\n'))}`).join('\n')}`

  it.each([
    ['application/json', json],
    ['text/csv', csv],
  ])(
    'are imported as %s, listed, exported, asked and deleted without blocking other requests',
    async (type, body) => {
      const bytes = Buffer.from(body)
      await expectResponsive(service, async () => {
        const full = await service.createSpace(owner)
        const answer = await send(service, `${pathOf(full)}/import`, type, bytes)
        expect(expectStatus(answer, 200)).toEqual({ added: goldenLimits.questionsPerSpace, existing: 0, refused: [] })
        expectStatus(await service.operator('GET', `${pathOf(full)}?limit=100`), 200)
        const exported = expectStatus(await service.operator('GET', `${pathOf(full)}/export`), 200)
        const isEqual = questions.every(({ content, facts }, index) => {
          const { messages, expectedFacts } = exported.questions[index] as StoredQuestion
          return messages[0]!.content === content && expectedFacts.join('\n') === facts.join('\n')
        })
        // Not the texts, whose differences would fill the report.
        expect([exported.questions.length, isEqual]).toEqual([questions.length, true])
        const runs = `/api/spaces/${full.id}/golden-runs`
        const run = expectStatus(await service.operator('POST', runs), 202)
        await expect
          .poll(async () => (await service.operator('GET', `${runs}/${run.id}`)).body.questions.pending)
          .toBeLessThan(questions.length)
        expectStatus(await service.operator('POST', `${runs}/${run.id}/cancel`), 200)
        expectStatus(await service.operator('GET', `${runs}/${run.id}/results?limit=100`), 200)
        expectStatus(await service.operator('DELETE', `/api/spaces/${full.id}`), 204)
      })
    },
    300_000,
  )

  it('that all break every rule are refused without blocking other requests', async () => {
    const wrong = JSON.stringify({
      questions: Array.from({ length: 500 }, () => ({ expectedFacts: Array(390).fill('.') })),
    })
    const empty = await service.createSpace(owner)
    await expectResponsive(service, async () => {
      const answer = await send(service, `${pathOf(empty)}/import?dryRun=true`, 'application/json', wrong)
      expect(expectStatus(answer, 200).refused).toHaveLength(goldenLimits.questionsPerSpace)
    })
  })
})
