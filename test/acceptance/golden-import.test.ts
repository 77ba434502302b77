import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { goldenLimits } from '../../src/contract/golden-questions.ts'
import {
  type ApiAnswer,
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
} from '../harness/portico.ts'

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
})
afterAll(() => portico?.stop())
beforeEach(async () => {
  space = await portico.createSpace(organisation)
})

const pathOf = ({ id }: TestSpace) => `/api/spaces/${id}/golden-questions`

async function send(path: string, type: string, body: string | Buffer): Promise<ApiAnswer> {
  const response = await fetch(portico.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${portico.operatorToken}`, 'content-type': type },
    body: body as string,
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const importCsv = (body: string | Buffer, query = '') =>
  send(`${pathOf(space)}/import${query}`, 'text/csv; charset=utf-8', body)
const importJson = (questions: unknown, query = '') =>
  send(`${pathOf(space)}/import${query}`, 'application/json', JSON.stringify({ questions }))

async function stored() {
  const { questions } = expectStatus(await portico.operator('GET', `${pathOf(space)}/export`), 200)
  return questions.map(({ messages, expectedDocuments, expectedFacts, mustAbstain }: StoredQuestion) => ({
    question: messages.map(({ content }) => content).join('|'),
    documents: expectedDocuments.map(({ name }) => name),
    facts: expectedFacts,
    mustAbstain,
  }))
}

interface StoredQuestion {
  messages: { content: string }[]
  expectedDocuments: { name: string }[]
  expectedFacts: string[]
  mustAbstain: boolean
}

async function upload(name: string): Promise<void> {
  const form = uploadForm(`The text of ${name}.`, name)
  expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
}

describe('a CSV file', () => {
  it('adds questions with their documents and facts, one per line of a cell', async () => {
    await upload('a, b.txt')
    await upload('c.txt')
    const csv = [
      '\ufeffQuestion,Expected documents,expected_facts,Must abstain',
      '"What, exactly, is ""a""?","a, b.txt\nc.txt","12 euros\r\n\r\n per adult ",',
      ',,,',
      'Is there a pool?,,,yes',
      '',
    ].join('\r\n')
    expect((await importCsv(csv)).body).toEqual({ added: 2, existing: 0, refused: [] })
    expect(await stored()).toEqual([
      {
        question: 'What, exactly, is "a"?',
        documents: ['a, b.txt', 'c.txt'],
        facts: ['12 euros', 'per adult'],
        mustAbstain: false,
      },
      { question: 'Is there a pool?', documents: [], facts: [], mustAbstain: true },
    ])
    expect((await importCsv(csv)).body).toEqual({ added: 0, existing: 2, refused: [] })
  })

  it.each([
    ['semicolons', 'question;facts;facts\nWhat?;a, b;c'],
    ['tabs', 'question\tfact\tfact\nWhat?\ta, b\tc'],
  ])('may be divided by %s and repeat a column', async (_, csv) => {
    expectStatus(await importCsv(csv), 200)
    expect(await stored()).toMatchObject([{ question: 'What?', facts: ['a, b', 'c'] }])
  })

  const long = 'x'.repeat(goldenLimits.messageCharacters + 1)
  it.each([
    [
      `question\nOne?\n${long}`,
      'questions.1.messages.0.content',
      'Line 3: `question` must have at most 8000 characters.',
    ],
    [
      'question,facts\nOne?,\n , a',
      'questions.1.messages',
      'Line 3: `question` must end with a question that is not blank.',
    ],
    [
      `question,facts\n"One\n?",\nTwo?,"a\n${'b'.repeat(501)}"`,
      'questions.1.expectedFacts.1',
      'Line 4: entry 2 of `expected facts` must have at most 500 characters.',
    ],
    [
      `question,facts\nOne?,"${'a\n'.repeat(21)}"`,
      'questions.0.expectedFacts',
      'Line 2: `expected facts` must have at most 20 entries.',
    ],
    [
      'question,documents\nOne?,missing.txt',
      'questions.0.expectedDocuments.0.name',
      'Line 2: entry 1 of `expected documents`: the Space has no such document.',
    ],
    [
      'question,must abstain\nOne?,maybe',
      'questions.0.mustAbstain',
      'Line 2: `must abstain` must be true, false, yes or no.',
    ],
    [
      'question,facts\nOne?,a,b',
      'questions.0',
      'Line 2 has a text outside the 2 named columns. Put a text that contains the separator into quotes.',
    ],
    [
      'question\n"a\0b"',
      'questions.0.messages.0.content',
      'Line 2: `question` must be Unicode text without the character U+0000.',
    ],
    ['', null, 'The file is empty. Its first line must name the columns.'],
    ['facts\na', null, 'Line 1: the header must have the column `question`.'],
    ['question,Question\na,b', null, 'Line 1: the column `question` is there twice.'],
    [
      '\nquestion,answer\na,b',
      null,
      'Line 2: the column “answer” is unknown. Known: question, expected documents, expected facts, must abstain.',
    ],
    ['question\n"a', null, 'After line 1: the quote of a cell is not closed.'],
    [`question\n${'a?\n'.repeat(501)}`, 'questions', 'Line 502: the file must have at most 500 questions.'],
    [Buffer.from([0x71, 0xe9]), null, 'The text is not UTF-8. Save the file with this encoding.'],
  ])('that is wrong adds none, and the error names line, field and limit: %#', async (csv, param, message) => {
    const { status, body } = await importCsv(csv)
    expect([status, body.error]).toMatchObject([400, { param, message }])
    expect(await stored()).toEqual([])
  })

  it('is refused by routes that take JSON only', async () => {
    const { status, body } = await send(pathOf(space), 'text/csv', 'question\nWhat?')
    expect([status, body.error.code]).toEqual([415, 'unsupported_media_type'])
  })

  it('is part of the API description next to JSON', async () => {
    const { paths } = (await portico.operator('GET', '/openapi.json')).body
    const { content } = paths['/api/spaces/{id}/golden-questions/import'].post.requestBody
    expect(content).toMatchObject({
      'application/json': { schema: { $ref: '#/components/schemas/ImportGoldenQuestions' } },
      'text/csv': { schema: { type: 'string' } },
    })
  })
})

describe('an import of questions of which some break a rule', () => {
  const csv = 'question,documents\nOne?,\nTwo?,missing.txt\n\n"",\nOne?,\nThree?,\n'
  const refused = [
    {
      number: 2,
      line: 3,
      question: 'Two?',
      field: 'expectedDocuments.0.name',
      message: 'Entry 1 of `expected documents`: the Space has no such document.',
    },
  ]

  it('reports every one in a dry run, which adds nothing', async () => {
    expect((await importCsv(csv, '?dryRun=true')).body).toEqual({ added: 2, existing: 1, refused })
    expect(await stored()).toEqual([])
    const facts = Array(50_000).fill('')
    const given = [null, { messages: [] }, { messages: [{ role: 'user', content: 'A?' }], expectedFacts: facts }]
    expect((await importJson(given, '?dryRun=true')).body).toMatchObject({
      added: 0,
      existing: 0,
      refused: [
        { number: 1, line: null, question: null, field: '', message: 'The question must be a JSON object, not null.' },
        { number: 2, field: 'messages', message: '`messages` must not be empty.' },
        { number: 3, question: 'A?', field: expect.stringMatching(/^expectedFacts/) },
      ],
    })
  })

  it('adds the others with `onInvalid=skip`', async () => {
    expect((await importCsv(csv, '?onInvalid=skip')).body).toEqual({ added: 2, existing: 1, refused })
    expect(await stored()).toMatchObject([{ question: 'One?' }, { question: 'Three?' }])
  })

  it('does not count a repeated question as existing when its first one was refused', async () => {
    const repeated = 'question,documents\nOne?,missing.txt\nOne?,\n'
    expect((await importCsv(repeated, '?onInvalid=skip')).body).toMatchObject({ added: 1, existing: 0 })
  })

  it('reports in a dry run that the Space has no room', async () => {
    const all = Array.from({ length: goldenLimits.questionsPerSpace }, (_, index) => `Question ${index}?`)
    expectStatus(await importCsv(['question', ...all].join('\n')), 200)
    const { status, body } = await importCsv('question\nOne more?\nQuestion 1?', '?dryRun=true')
    expect([status, body.error.param]).toEqual([409, 'questions'])
  })

  it.each(['?dryRun=1', '?onInvalid=ignore'])('does not accept the query %s', async (query) => {
    expect((await importCsv(csv, query)).body.error.param).toMatch(/^(dryRun|onInvalid)$/)
  })
})
