import { shopFile } from '../../harness/tool-services.ts'
import { expect } from 'vitest'
import { buildTextPdf } from '../../../src/documents/ingestion/testing/build-documents.ts'
import { type TestOrganisation, type TestPortico, type TestSpace, waitForDocument } from '../../harness/portico.ts'

export interface Seed {
  organisation: TestOrganisation
  space: TestSpace
  /** Ids by file name. */
  documents: Record<string, string>
  /** The request ids of the completions and the answers. */
  requestIds: string[]
}

const pages = [
  [
    'Employee handbook of Acme Research',
    'This handbook describes how we work. It applies to all employees from the first day.',
  ],
  ['Holidays', 'Every employee has 30 days of paid leave per year. Unused days expire on 31 March of the next year.'],
  ['Travel', 'Trips below four hours are made by train. A hotel night costs at most 140 euros including breakfast.'],
]

const files: Record<string, string | Buffer> = {
  'handbook.pdf': buildTextPdf(
    pages.map(([title, text]) => ({
      texts: [
        { text: title!, x: 72, y: 740, size: 20 },
        { text: text!, x: 72, y: 700, size: 11 },
      ],
    })),
  ),
  'prices.csv': 'article,price in euros,stock\nDesk lamp,49.90,120\nOffice chair,229.00,14\nStanding desk,699.00,3\n',
  'security.md':
    '# Security\n\n## Passwords\n\nPasswords have at least 14 characters. A password manager is provided.\n\n## Incidents\n\nReport incidents within one hour to security@example.org.\n',
  'notes.txt': 'The canteen is open from 11:30 to 14:00. On Fridays there is fish.\n',
  'broken.pdf': '%PDF-1.7\nthis is not a pdf',
}

/** Files of every kind in a published Space, one of them broken; completions of several users and answers with citations. */
export async function seed(portico: TestPortico, name = 'Acme Research'): Promise<Seed> {
  // The offline model is free; a price gives costs to show.
  await portico.operator('POST', `/api/deployments/${encodeURIComponent('portico/offline')}/prices`, {
    input: '30',
    output: '150',
  })
  const organisation = await portico.createOrganisation({ name })
  const space = await portico.createSpace(organisation, {
    name: 'Handbook',
    instructions: 'Answer questions of employees, briefly.',
  })
  const documents: Record<string, string> = {}
  for (const [file, content] of Object.entries(files)) {
    const form = new FormData()
    form.append('file', new Blob([content as BlobPart]), file)
    const { status, body } = await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form)
    expect(status).toBe(201)
    documents[file] = body.id
  }
  for (const id of Object.values(documents)) await waitForDocument(organisation.client, id)
  await addGoldenQuestions(portico, space)
  const shop = { kind: 'openapi', name: 'shop', url: 'https://shop.example/v1', document: shopFile }
  const { status } = await portico.operator('POST', `/api/spaces/${space.id}/tools`, { ...shop, allowed: ['getOrder'] })
  expect(status).toBe(201)
  return { organisation, space, documents, requestIds: await makeCalls(organisation, space) }
}

async function addGoldenQuestions(portico: TestPortico, { id }: TestSpace): Promise<void> {
  const questions: [question: string, document: string, fact: string][] = [
    ['How many days of paid leave are there?', 'handbook.pdf', '30 days'],
    ['When is the canteen open?', 'notes.txt', '11:30 to 14:00'],
    ['What does an office chair cost?', 'prices.csv', '229'],
    ['How long does a password have to be?', 'security.md', 'at least 14 characters'],
    ['How much is a hotel night in Oslo?', 'handbook.pdf', '250 euros'],
  ]
  for (const [content, name, fact] of questions) {
    const question = { messages: [{ role: 'user', content }], expectedDocuments: [{ name }], expectedFacts: [fact] }
    const { status } = await portico.operator('POST', `/api/spaces/${id}/golden-questions`, question)
    expect(status).toBe(201)
  }
}

async function makeCalls(organisation: TestOrganisation, space: TestSpace): Promise<string[]> {
  const ids: string[] = []
  for (const user of ['alice', 'alice', 'bob', 'carol']) {
    const { status, headers } = await organisation.client('POST', '/v1/gateway/chat/completions', {
      model: 'portico/offline',
      user,
      metadata: { project: user === 'bob' ? 'website' : 'research' },
      messages: [{ role: 'user', content: `A question of ${user}: what is a ledger?` }],
    })
    expect(status).toBe(200)
    ids.push(headers.get('x-request-id')!)
  }
  for (const content of [
    'How many days of paid leave are there?',
    'When is the canteen open?',
    'What does an office chair cost?',
  ]) {
    const { status, headers } = await organisation.client(
      'POST',
      `/v1/endpoints/${space.endpointId}/chat`,
      { messages: [{ role: 'user', content }] },
      { 'service-enable-inline-sources': 'true' },
    )
    expect(status).toBe(200)
    ids.push(headers.get('x-request-id')!)
  }
  return ids
}
