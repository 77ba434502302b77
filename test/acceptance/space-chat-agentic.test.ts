import { expect, it } from 'vitest'
import { expectStatus, startPortico, uploadForm, waitForDocument } from '../harness/portico.ts'
import { startUpstream } from '../upstream/upstream.ts'

const chunk = (delta: object, finishReason: string | null = null) =>
  `data: ${JSON.stringify({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  })}\n\n`
const end = `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } })}\n\ndata: [DONE]\n\n`
const call = (args: string) => ({
  tool_calls: [
    { index: 0, id: 'call_1', type: 'function', function: { name: 'search_uploaded_files', arguments: args } },
  ],
})

it('the agentic workflow lets the model search again and cite the results, and bills each call', async () => {
  const requests: { messages: { role: string; content: string; reasoning_content?: string }[]; tools?: unknown[] }[] =
    []
  const upstream = await startUpstream(({ body }) => {
    const request = JSON.parse(body) as (typeof requests)[number]
    requests.push(request)
    // All files of the small Space are in the prompt, so the search returns the number of the passage.
    const found = /already given to you: (\d+)/.exec(request.messages.at(-1)!.content)?.[1]
    const text =
      request.messages.at(-1)!.role === 'tool'
        ? chunk({ role: 'assistant', content: `Forty herons [${found}].` }) + chunk({}, 'stop')
        : chunk({ role: 'assistant', content: null }) +
          chunk({ reasoning_content: 'Prices are not asked for ' }) +
          chunk({ reasoning_content: 'here.' }) +
          chunk(call('{"query": "herons')) +
          chunk({ tool_calls: [{ index: 0, function: { arguments: ' in the pond"}' } }] }) +
          chunk({}, 'tool_calls')
    return { headers: { 'content-type': 'text/event-stream' }, body: text + end }
  })
  await using portico = await startPortico({
    settings: {
      providers: [
        {
          id: 'p',
          flavour: 'generic',
          baseUrl: `${upstream.url}/v1`,
          apiKey: 'sk-test',
          hosting: 'us',
          models: 'declared',
        },
      ],
      models: [
        {
          id: 'm',
          maxOutputTokens: 100,
          contextTokens: 10_000,
          reasoning: true,
          deployments: [{ provider: 'p', wireId: 'deepseek-v4-pro', prices: { input: '1', output: '2' } }],
        },
      ],
    },
  })
  const organisation = await portico.createOrganisation()
  const space = await portico.createSpace(organisation, { model: 'm', settings: { maximumPassages: 1 } })
  for (const [text, name] of [
    ['The pond of the garden holds forty herons.', 'herons.txt'],
    ['Tickets for adults cost twelve euros at the museum.', 'tickets.txt'],
  ] as const) {
    const { id } = expectStatus(
      await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, uploadForm(text, name)),
      201,
    )
    await waitForDocument(organisation.client, id)
  }
  const ask = (headers: Record<string, string>) =>
    organisation.client(
      'POST',
      `/v1/endpoints/${space.endpointId}/chat`,
      { messages: [{ role: 'user', content: 'What do tickets cost at the museum?' }] },
      { 'service-enable-inline-sources': 'true', ...headers },
    )
  const answer = expectStatus(await ask({ 'service-enable-agentic-workflow': 'true' }), 200)
  expect(answer).toMatchObject({ content: 'Forty herons [1].', references: [{ id: 1, title: 'herons.txt' }] })
  expect(requests).toHaveLength(2)
  expect(requests[0]!.tools).toHaveLength(8)
  // The provider refuses the model's tool call without its reasoning; visitors never receive it.
  expect(requests[1]!.messages.find(({ role }) => role === 'assistant')).toMatchObject({
    reasoning_content: 'Prices are not asked for here.',
  })
  expect(JSON.stringify(answer)).not.toContain('not asked for')
  const today = new Date().toISOString().slice(0, 10)
  const usage = expectStatus(
    await portico.operator('GET', `/api/organisations/${organisation.id}/usage?from=${today}&to=${today}&by=surface`),
    200,
  )
  expect(usage.rows.find((row: { surface: string }) => row.surface === 'space_chat')).toMatchObject({ requests: 2 })

  // This model calls tools even when none is offered, and writes nothing: that is an error, not an empty answer.
  expect(await ask({})).toMatchObject({ status: 502, body: { error: { code: 'upstream_error' } } })
  expect(requests).toHaveLength(3)
  expect(requests.at(-1)!.tools).toBeUndefined()
  await upstream.close()
})
