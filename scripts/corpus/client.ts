import { setTimeout as wait } from 'node:timers/promises'
import type { ChunkBody, ChunkPageBody } from '../../src/contract/document-progress.ts'
import type { DocumentBody } from '../../src/contract/documents.ts'

/** What became of an uploaded file. */
export type Processed =
  | { status: 'ready'; id: string; isRecognised: boolean }
  | { status: 'failed' | 'refused'; id: string | null; code: string; message: string }
  | { status: 'stuck'; id: string }

export interface CorpusClient {
  /** Uploads the file and waits until it is ready, failed, or refused at once. */
  process(name: string, content: Uint8Array): Promise<Processed>
  /** The extracted text of a ready document, put together from its chunks. */
  loadText(id: string): Promise<string>
  remove(id: string): Promise<void>
}

/** Longest wait for one file while others are processed at the same time. */
const deadlineMs = 5 * 60_000
const pollMs = 100
const chunksPerPage = 500

/** A client of a running Portico, with a separate organisation. */
export async function createCorpusClient({ url, operatorToken }: { url: string; operatorToken: string }) {
  const call = async <Body>(key: string, method: string, target: string, body?: unknown): Promise<Body> => {
    const response = await fetch(url + target, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }
  const organisation = await call<{ id: string }>(operatorToken, 'POST', '/api/organisations', {
    name: 'Corpus',
    plan: 'enterprise',
    gatewayEnabled: true,
    monthlyBudgetUsd: '1000',
  })
  const { key } = await call<{ key: string }>(operatorToken, 'POST', `/api/organisations/${organisation.id}/api-key`)
  const space = await call<{ id: string }>(operatorToken, 'POST', '/api/spaces', {
    organisationId: organisation.id,
    name: 'Corpus',
  })

  const client: CorpusClient = {
    async process(name, content) {
      const form = new FormData()
      form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name)
      const response = await fetch(`${url}/v1/documents?spaceId=${space.id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: form,
      })
      const body = (await response.json()) as { id: string; error?: { code: string; message: string } }
      if (body.error) return { status: 'refused', id: null, ...body.error }
      return waitFor(body.id)
    },
    async loadText(id) {
      const chunks: ChunkBody[] = []
      for (;;) {
        const query = `limit=${chunksPerPage}&offset=${chunks.length}`
        const page = await call<ChunkPageBody>(operatorToken, 'GET', `/api/documents/${id}/chunks?${query}`)
        chunks.push(...page.items)
        if (page.items.length === 0 || chunks.length >= page.total) return joinChunks(chunks)
      }
    },
    remove: (id) => call(key, 'DELETE', `/v1/documents/${id}`),
  }
  return client

  async function waitFor(id: string): Promise<Processed> {
    const endMs = Date.now() + deadlineMs
    while (Date.now() < endMs) {
      const document = await call<DocumentBody>(key, 'GET', `/v1/documents/${id}`)
      if (document.status === 'ready') {
        const codes = (document.warnings ?? []).map(({ code }) => code)
        const isRecognised = codes.includes('recognised_text') || codes.includes('uncertain_recognition')
        return { status: 'ready', id, isRecognised }
      }
      if (document.status === 'failed') return { status: 'failed', id, ...document.error! }
      await wait(pollMs)
    }
    return { status: 'stuck', id }
  }
}

/** Neighbours may overlap: each adds the text after the end of the chunks before it, so that no word counts twice. */
export function joinChunks(chunks: readonly Pick<ChunkBody, 'text' | 'characterFrom' | 'characterTo'>[]): string {
  const parts: string[] = []
  let end = 0
  for (const { text, characterFrom, characterTo } of chunks) {
    if (characterTo <= end) continue
    const repeated = Math.max(0, end - characterFrom)
    parts.push(repeated === 0 ? text : Array.from(text).slice(repeated).join(''), characterFrom > end ? '\n' : '')
    end = characterTo
  }
  return parts.join('\n')
}
