import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { MemoryReport } from './measured-portico-process.ts'
import {
  createApiClient,
  expectStatus,
  organisationMakers,
  type TestOrganisation,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from './portico.ts'
import { leaveAfterFirstBytes, stallingModel, startStallingUpstream } from './stalling-upstream.ts'

/**
 * Requests of every kind to the service in a separate process, to measure the memory that they leave behind. The mix has what was
 * expensive or leaked before: lists of 100 documents with large metadata, streams that the client leaves, searches, errors, and if it
 * `uploads`, files that are processed and deleted.
 */
export interface MixedLoad {
  /** Of the measured process. */
  pid: number
  /** Sends this many requests, some at once. Throws on an unexpected response. */
  run(requests: number): Promise<void>
  /** Memory after forced garbage collections, with no request in flight. */
  measure(): Promise<MemoryReport>
  stop(): Promise<void>
}

const program = path.join(import.meta.dirname, 'measured-portico-process.ts')
/** Its threads have other arguments than the process, and the same NODE_OPTIONS. */
const collectInThreads = pathToFileURL(path.join(import.meta.dirname, 'collect-in-threads.ts')).href
/** Close to the limit of 16 KiB. */
const metadataBytes = 15_000
const listedDocuments = 100

export async function startMixedLoad({
  clients = 8,
  uploads = false,
  documents = listedDocuments,
}: { clients?: number; uploads?: boolean; documents?: number } = {}): Promise<MixedLoad> {
  const upstream = await startStallingUpstream()
  // With the memory settings of an installation.
  const child = fork(program, [JSON.stringify(upstream.settings)], {
    execPath: path.join(import.meta.dirname, '../../bin/run'),
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_OPTIONS: `--import=${collectInThreads}` },
  })
  const exited = once(child, 'exit')
  const message = async () => {
    const [value] = await Promise.race([
      once(child, 'message'),
      exited.then(() => Promise.reject(new Error('the measured service ended; see its output'))),
    ])
    return value as unknown
  }
  const { url, operatorToken } = (await message()) as { url: string; operatorToken: string }
  const makers = organisationMakers(url, createApiClient(url, operatorToken))
  const organisation = await makers.createOrganisation({ monthlyBudgetUsd: '1000000' })
  const space = await makers.createSpace(organisation)
  const documentIds = await fillSpace(organisation, space, documents)
  const steps = stepsOf({ url, organisation, space, documentIds })
  if (uploads) steps.push(() => uploadAndDelete(organisation, space))
  let next = 0

  return {
    pid: child.pid!,
    async run(requests) {
      const end = next + requests
      const client = async () => {
        while (next < end) await steps[next++ % steps.length]!()
      }
      await Promise.all(Array.from({ length: clients }, client))
    },
    async measure() {
      const answer = message()
      child.send('measure')
      return (await answer) as MemoryReport
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
      upstream.close()
    },
  }
}

async function fillSpace({ client }: TestOrganisation, space: TestSpace, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const metadata = JSON.stringify({ notes: `${index} `.repeat(metadataBytes).slice(0, metadataBytes) })
    const form = uploadForm(`The garden number ${index} has roses.`, `garden-${index}.txt`, {
      metadata,
    })
    ids.push(expectStatus(await client('POST', `/v1/documents?spaceId=${space.id}`, form), 201).id as string)
  }
  for (const id of ids) await waitForDocument(client, id)
  return ids
}

async function uploadAndDelete({ client }: TestOrganisation, space: TestSpace): Promise<void> {
  const form = uploadForm('A visitor leaves after an hour. '.repeat(200), `visit-${randomUUID()}.txt`)
  const { id } = expectStatus(await client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
  await waitForDocument(client, id)
  expectStatus(await client('DELETE', `/v1/documents/${id}`), 204)
}

interface Target {
  url: string
  organisation: TestOrganisation
  space: TestSpace
  documentIds: string[]
}

/** One round of requests; the loop repeats it. */
function stepsOf({ url, organisation, space, documentIds }: Target): (() => Promise<unknown>)[] {
  const { client } = organisation
  const completions = '/v1/gateway/chat/completions'
  const chat = `/v1/endpoints/${space.endpointId}/chat`
  const messages = [{ role: 'user', content: 'Which garden has roses?' }]
  let turn = 0
  const someId = () => documentIds[turn++ % documentIds.length]!
  const expecting = (status: number, ...call: Parameters<typeof client>) =>
    client(...call).then((answer) => expectStatus(answer, status))

  const complete = () => expecting(200, 'POST', completions, { model: 'portico/offline', messages })
  const stream = () => expecting(200, 'POST', completions, { model: 'portico/offline', messages, stream: true })
  const ask = () => expecting(200, 'POST', chat, { messages })
  const askStreaming = () =>
    expecting(200, 'POST', chat, { messages, streaming: true }, { 'service-enable-inline-sources': 'true' })
  const list = () => expecting(200, 'GET', `/v1/documents?spaceId=${space.id}&limit=${listedDocuments}`)
  const read = () => expecting(200, 'GET', `/v1/documents/${someId()}`)
  const rename = () => expecting(200, 'PATCH', `/v1/documents/${someId()}`, { name: `garden-${turn}.txt` })
  const refused = () => expecting(404, 'POST', completions, { model: 'no-such-model', messages })
  const notFound = () =>
    expecting(404, 'GET', `/v1/documents/00000000-0000-4000-8000-${String(turn++).padStart(12, '0')}`)

  const leaveStream = () =>
    leaveAfterFirstBytes(url + completions, organisation, { model: stallingModel, messages, stream: true })
  const leaveChat = () => leaveAfterFirstBytes(url + chat, organisation, { messages, streaming: true })

  const expensive = [list, ask, leaveChat, askStreaming, ask]
  const cheap = [read, rename, refused, notFound, read]
  const calls = [complete, stream, leaveStream, complete, stream, leaveStream, complete, stream, leaveStream, complete]
  // Alternate, so that different kinds run at the same time.
  return calls.flatMap((call, index) => [call, (index % 2 === 0 ? expensive : cheap)[Math.floor(index / 2)]!])
}
