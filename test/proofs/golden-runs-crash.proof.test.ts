import { expect, it } from 'vitest'
import { freshDatabasePlace } from '../harness/database.ts'
import { createApiClient, expectStatus, startSeparatePortico } from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream } from '../upstream/upstream.ts'

const questions = Array.from({ length: 8 }, (_, index) => `Is door ${index} open?`)

it(
  'a run that is killed twice asks every question, and no question again that has a result',
  { timeout: 180_000 },
  async () => {
    const asked: string[] = []
    let isHeld = false
    const released = Promise.withResolvers<void>()
    const upstream = await startUpstream(async ({ body }) => {
      const { messages } = JSON.parse(body) as { messages: { content: string }[] }
      asked.push(messages.at(-1)!.content.split('\n').at(-1)!)
      // The third of each process waits until it is killed.
      if (isHeld && asked.length > 2) await released.promise
      return scriptedTurn('Yes.')
    })
    const place = await freshDatabasePlace()
    const provider = { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us' }
    const settings = {
      ollama: { detect: false },
      providers: [{ ...provider, models: 'declared' }],
      models: [
        {
          id: 'large',
          maxOutputTokens: 100,
          contextTokens: 100_000,
          deployments: [{ provider: 'p', prices: { input: '1', output: '2' } }],
        },
      ],
    }
    const start = () => startSeparatePortico({ settings, place })
    let portico = await start()
    const operator = (method: string, path: string, body?: unknown) =>
      createApiClient(portico.url, portico.operatorToken)(method, path, body)
    const organisation = await portico.createOrganisation()
    const space = await portico.createSpace(organisation, { model: 'large' })
    const base = `/api/spaces/${space.id}`
    for (const content of questions) {
      const body = { messages: [{ role: 'user', content }] }
      expectStatus(await operator('POST', `${base}/golden-questions`, body), 201)
    }
    isHeld = true
    const { id } = expectStatus(await operator('POST', `${base}/golden-runs`), 202)
    const answered = async (): Promise<string[]> => {
      const { items } = expectStatus(await operator('GET', `${base}/golden-runs/${id}/results`), 200)
      return items.flatMap((item: { outcome: string; messages: { content: string }[] }) =>
        item.outcome === 'passed' ? [item.messages[0]!.content] : [],
      )
    }
    let done: string[] = []
    for (const expected of [2, 4]) {
      await expect.poll(answered, { timeout: 60_000 }).toHaveLength(expected)
      await expect.poll(() => asked.length, { timeout: 60_000 }).toBeGreaterThan(2)
      await portico.kill('SIGKILL')
      await portico.stop()
      expect(asked.filter((question) => done.includes(question))).toEqual([])
      done = questions.slice(0, expected)
      asked.length = 0
      portico = await start()
      expect(await answered()).toEqual(done)
    }
    isHeld = false
    released.resolve()
    const load = async () => expectStatus(await operator('GET', `${base}/golden-runs/${id}`), 200)
    await expect.poll(async () => (await load()).state, { timeout: 90_000 }).toBe('completed')
    expect(asked.filter((question) => done.includes(question))).toEqual([])
    expect(await load()).toMatchObject({
      questions: { total: 8, passed: 8, pending: 0, error: 0 },
      measures: { passedShare: 1 },
    })
    await portico.stop()
    await upstream.close()
    await place.remove()
  },
)
