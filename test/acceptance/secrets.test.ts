import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { Log, LogFields } from '../../src/platform/kernel/telemetry.ts'
import { addModel } from '../harness/added-model.ts'
import { freshDatabasePlace } from '../harness/database.ts'
import { expectStatus, startPortico, uploadForm, waitForDocument } from '../harness/portico.ts'
import { chatAnswer } from '../upstream/replies.ts'
import { startUpstream } from '../upstream/upstream.ts'

const prompt = 'PROMPT-nobody-may-log-or-store-this'
const documentText = 'DOCUMENT-text-belongs-to-no-log'
const answerText = 'ANSWER-nobody-may-log-or-store-this'
const providerKey = 'sk-provider-key-0123456789abcdefghij'

/** A log that keeps every line as JSON. */
function createRecorder() {
  const lines: string[] = []
  const write = (fields: LogFields, message: string) =>
    void lines.push(
      JSON.stringify({ ...fields, message }, (_key, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    )
  const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log }
  return { log, lines }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
}

it('no log line contains a prompt, answer, document text or secret, and the database contains no prompt, answer or secret in clear', async () => {
  const upstream = await startUpstream(({ index }) =>
    index % 2 === 0
      ? chatAnswer(answerText)
      : {
          status: 400,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            error: { message: `Incorrect request with key ${providerKey}: ${prompt}`, type: 'invalid_request_error' },
          }),
        },
  )
  const place = await freshDatabasePlace()
  const { log, lines } = createRecorder()
  const portico = await startPortico({ place, log })
  const { operator } = portico
  await addModel(operator, { model: 'm', provider: 'secretive', baseUrl: `${upstream.url}/v1`, apiKey: providerKey })

  const organisation = await portico.createOrganisation()
  const space = await portico.createSpace(organisation)
  const messages = [{ role: 'user', content: prompt }]
  const complete = () => organisation.client('POST', '/v1/gateway/chat/completions', { model: 'm', messages })
  expect(expectStatus(await complete(), 200).choices[0].message.content).toBe(answerText)
  // An error that names a key is the operator's.
  const refused = expectStatus(await complete(), 502)
  expect(JSON.stringify(refused)).not.toContain(providerKey)
  const uploaded = expectStatus(
    await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, uploadForm(documentText, 'a.txt')),
    201,
  )
  await waitForDocument(organisation.client, uploaded.id)
  expectStatus(await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages }), 200)
  await portico.stop()

  const secrets = [organisation.apiKey, portico.operatorToken, providerKey]
  expect(lines.length).toBeGreaterThan(5)
  for (const line of lines) {
    for (const word of [prompt, answerText, documentText, ...secrets]) expect(line).not.toContain(word)
  }
  if (place.databaseUrl === undefined) {
    const files = filesBelow(path.join(place.dataFolder, 'database'))
    expect(files.length).toBeGreaterThan(100)
    for (const file of files) {
      const bytes = readFileSync(file)
      for (const word of [prompt, answerText, ...secrets])
        expect(bytes.includes(word), `${word} in ${file}`).toBe(false)
    }
  }
  await upstream.close()
  await place.remove()
})
