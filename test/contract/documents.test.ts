import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createApiClient,
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
} from '../harness/portico.ts'

/** The document API. No worker runs here, so documents stay in `processing`. */

let portico: TestPortico
let organisation: TestOrganisation
let other: TestOrganisation
let space: TestSpace
let otherSpace: TestSpace
const unknownId = '01930000-0000-7000-8000-000000000000'

beforeAll(async () => {
  portico = await startPortico({ settings: { ingestion: { workers: 0 } } })
  organisation = await portico.createOrganisation()
  other = await portico.createOrganisation({ name: 'Another organisation' })
  space = await portico.createSpace(organisation)
  otherSpace = await portico.createSpace(other)
})
afterAll(() => portico?.stop())

function upload(form: FormData, headers: Record<string, string> = {}, to = space, from = organisation) {
  return from.client('POST', `/v1/documents?spaceId=${to.id}`, form, headers)
}
async function uploaded(content = 'some text', fileName = 'notes.txt', fields: Record<string, string> = {}) {
  return expectStatus(await upload(uploadForm(content, fileName, fields)), 201)
}
const get = (id: string, from = organisation) => from.client('GET', `/v1/documents/${id}`)
const patch = (id: string, body: unknown, from = organisation) => from.client('PATCH', `/v1/documents/${id}`, body)
const list = (query: string, from = organisation) => from.client('GET', `/v1/documents?${query}`)
const errorOf = (answer: { body: { error: Record<string, unknown> } }) => answer.body.error

describe('the health check and the supported types', () => {
  it('match the contract and need the key', async () => {
    const health = expectStatus(await organisation.client('GET', '/'), 200)
    expect(health).toEqual({
      status: 'ok',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    expect(expectStatus(await organisation.client('GET', '/v1/documents/supported-file-types'), 200)).toEqual({
      supportedMimeTypes: [
        'application/pdf',
        'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
        'text/plain',
        'text/csv',
        'text/markdown',
      ],
      supportedExtensions: ['.pdf', '.docx', '.txt', '.csv', '.md'],
    })
    const nobody = createApiClient(portico.url, 'ptc_wrong')
    for (const path of ['/', '/v1/documents/supported-file-types', `/v1/documents?spaceId=${space.id}`]) {
      expect(errorOf(await nobody('GET', path)), path).toMatchObject({ code: 'invalid_api_key' })
      expect((await nobody('GET', path)).status).toBe(401)
    }
  })

  it('lead a browser from the address of the service to the console', async () => {
    const answerTo = (accept: string) => fetch(portico.url, { headers: { accept }, redirect: 'manual' })
    const page = await answerTo('text/html,application/xhtml+xml,*/*;q=0.8')
    expect([page.status, page.headers.get('location')]).toEqual([302, '/console'])
    for (const accept of ['*/*', 'application/json']) expect((await answerTo(accept)).status).toBe(401)
  })
})

describe('an upload', () => {
  it('answers 201 with exactly id, spaceId, name and status', async () => {
    const body = await uploaded('hello', 'hello.txt')
    expect(body).toEqual({ id: expect.any(String), spaceId: space.id, name: 'hello.txt', status: 'processing' })
  })

  it('takes its fields in any order, and `name` instead of the file name', async () => {
    const form = uploadForm('text', 'original.md')
    form.append('name', 'A better name')
    form.append('metadata', '{"after":"the file"}')
    const body = expectStatus(await upload(form), 201)
    expect(body.name).toBe('A better name')
    expect((await get(body.id)).body).toMatchObject({ name: 'A better name', metadata: { after: 'the file' } })
  })

  it('takes metadata as an application/json part too', async () => {
    const form = new FormData()
    form.append('metadata', new Blob(['{"part":"json"}'], { type: 'application/json' }))
    form.append('file', new Blob(['text']), 'a.txt')
    const { id } = expectStatus(await upload(form), 201)
    expect((await get(id)).body.metadata).toEqual({ part: 'json' })
  })

  it('is refused with a 400 that names the wrong field', async () => {
    const nothing = new FormData()
    nothing.append('name', 'x')
    const twice = uploadForm('a', 'a.txt')
    twice.append('file', new Blob(['b']), 'b.txt')
    const elsewhere = new FormData()
    elsewhere.append('document', new Blob(['b']), 'b.txt')
    const asText = new FormData()
    asText.append('file', 'just text')
    const cases: [string, FormData, string][] = [
      ['no file', nothing, 'file'],
      ['two files', twice, 'file'],
      ['a file in another field', elsewhere, 'document'],
      ['a file as text', asText, 'file'],
      ['metadata that is no JSON', uploadForm('a', 'a.txt', { metadata: '{' }), 'metadata'],
      ['metadata that is a list', uploadForm('a', 'a.txt', { metadata: '[]' }), 'metadata'],
      ['metadata that is null', uploadForm('a', 'a.txt', { metadata: 'null' }), 'metadata'],
      ['a name of nothing but control characters', uploadForm('a', 'a.txt', { name: '\u0001\u0002' }), 'name'],
      ['a name that is too long', uploadForm('a', 'a.txt', { name: 'n'.repeat(256) }), 'name'],
    ]
    for (const [what, form, param] of cases) {
      const answer = await upload(form)
      expect([what, answer.status, answer.body.error?.param]).toEqual([what, 400, param])
    }
  })

  it('is refused with 415 when name or content has another type, or the body is not a form', async () => {
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])
    for (const form of [
      uploadForm('x', 'program.exe'),
      uploadForm('x', 'no-extension'),
      uploadForm(png, 'picture.pdf'),
      uploadForm('plain text', 'sheet.xlsx'),
    ]) {
      const answer = await upload(form)
      expect(answer.status).toBe(415)
      expect(errorOf(answer)).toMatchObject({ code: 'unsupported_file_type', param: 'file' })
    }
    const json = await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, { file: 'x' })
    expect(json.status).toBe(415)
  })

  it('is typed by name and content, not by the declared content type', async () => {
    const form = new FormData()
    form.append('file', new Blob(['# Title'], { type: 'application/octet-stream' }), 'readme.md')
    const { id } = expectStatus(await upload(form), 201)
    expect((await get(id)).body.mimeType).toBe('text/markdown')
  })

  it('keeps names of every script in NFC and removes path parts, control characters and direction overrides', async () => {
    const cases = {
      'Übersicht 概要.txt': 'Übersicht 概要.txt',
      'U\u0308ber.txt': 'Über.txt',
      '../../etc/passwd.txt': 'passwd.txt',
      'C:\\files\\report.txt': 'report.txt',
      'evil\u202etxt.exe.txt': 'eviltxt.exe.txt',
      'a"quote".txt': 'a"quote".txt',
    }
    for (const [given, kept] of Object.entries(cases)) {
      const { id, name } = await uploaded('x', 'file.txt', { name: given })
      expect(name).toBe(kept)
      expect((await get(id)).body.name).toBe(kept)
    }
    expect((await uploaded('x', 'Übersicht 概要.txt')).name).toBe('Übersicht 概要.txt')
    expect((await uploaded('x', 'file.txt', { name: '𝒏'.repeat(255) })).name).toBe('𝒏'.repeat(255))
  })

  it('names an older document with the same content in a header, and is accepted', async () => {
    const first = await uploaded('the very same bytes', 'one.txt')
    const second = await upload(uploadForm('the very same bytes', 'two.txt'))
    expect(second.status).toBe(201)
    expect(second.headers.get('x-duplicate-of')).toBe(first.id)
    expect(second.body.id).not.toBe(first.id)
    const elsewhere = await upload(uploadForm('the very same bytes', 'two.txt'), {}, otherSpace, other)
    expect(elsewhere.headers.get('x-duplicate-of')).toBeNull()
  })
})

describe('Idempotency-Key', () => {
  const keyed = (key: string, content: string, name = 'k.txt', to = space, from = organisation) =>
    upload(uploadForm(content, name), { 'idempotency-key': key }, to, from)

  it('returns the first document again for a repetition and stores nothing', async () => {
    const first = await keyed('key-1', 'content')
    const before = (await list(`spaceId=${space.id}&limit=1`)).body.total
    const again = await keyed('key-1', 'content')
    expect(again.body).toEqual(first.body)
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect((await list(`spaceId=${space.id}&limit=1`)).body.total).toBe(before)
  })

  it('is refused with 409 for other content, name or Space, and belongs to one organisation', async () => {
    await keyed('key-2', 'content')
    const secondSpace = await portico.createSpace(organisation)
    for (const answer of [
      await keyed('key-2', 'other content'),
      await keyed('key-2', 'content', 'other-name.txt'),
      await keyed('key-2', 'content', 'k.txt', secondSpace),
    ]) {
      expect(answer.status).toBe(409)
      expect(errorOf(answer)).toMatchObject({ code: 'idempotency_key_reused' })
    }
    expect((await keyed('key-2', 'content', 'k.txt', otherSpace, other)).headers.get('idempotent-replayed')).toBeNull()
  })

  it('makes one document of several concurrent uploads', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => keyed('key-3', 'at once')))
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
    expect(answers.map((answer) => answer.status)).toEqual(Array(5).fill(201))
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1)
  })

  it('can be used again when the upload was refused', async () => {
    expect((await keyed('key-4', 'x', 'x.exe')).status).toBe(415)
    expect((await keyed('key-4', 'x', 'x.txt')).status).toBe(201)
    expect((await keyed('k'.repeat(256), 'x')).status).toBe(400)
  })
})

describe('metadata', () => {
  const exact = {
    b: 'key order is kept',
    a: { nested: [1, 2.5, -0.125, true, null, { deeper: [] }] },
    text: 'ünïcode 概要 🎉 \u0000 \u001f \\ " / \ud800 end',
    '': 'an empty key',
    __proto_like__: { constructor: 1 },
  }

  it('is returned exactly by get and list, and is absent from upload and update responses', async () => {
    const { id } = await uploaded('x', 'm.txt', { metadata: JSON.stringify(exact) })
    const found = (await get(id)).body
    expect(found.metadata).toEqual(exact)
    expect(JSON.stringify(found.metadata)).toBe(JSON.stringify(exact))
    const listed = (await list(`spaceId=${space.id}&limit=1`)).body.items[0]
    expect(listed).toEqual(found)
    const changed = await patch(id, { metadata: { other: 1 } })
    expect(Object.keys(changed.body).sort()).toEqual(['id', 'name', 'spaceId', 'status'])
  })

  it('keeps what a JavaScript value loses: long numbers, order of number-like keys, __proto__, deep nesting', async () => {
    const deep = `${'['.repeat(30)}1${']'.repeat(30)}`
    const text = `{"10":1,"2":123456789012345678901234567890.10,"b":1E400,"__proto__":{"x":1},"1":${deep}}`
    const { id } = await uploaded('x', 'm.txt', { metadata: ` ${text.replace(',"b"', ' ,\n "b"')} ` })
    expect(await rawMetadata(id)).toBe(text)
    const again = text.replace('"10":1', '"10":-1.50')
    const answer = await fetch(`${portico.url}/v1/documents/${id}`, {
      method: 'PATCH',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
      body: `{"name":"n.txt", "metadata" : ${again}}`,
    })
    expect(answer.status).toBe(200)
    expect(await rawMetadata(id)).toBe(again)
  })

  it('may be nested at most 32 levels deep', async () => {
    const deep = `{"a":${'['.repeat(4000)}1${']'.repeat(4000)}}`
    const inUpload = await upload(uploadForm('x', 'm.txt', { metadata: deep }))
    const { id } = await uploaded('x', 'm.txt')
    const inUpdate = await patch(id, { metadata: JSON.parse(deep) })
    for (const answer of [inUpload, inUpdate]) {
      expect(answer.status).toBe(400)
      expect(errorOf(answer)).toMatchObject({ param: 'metadata', message: expect.stringContaining('32 levels') })
    }
  })

  it('may have at most 16 KiB, in uploads and updates', async () => {
    const ofSize = (bytes: number) => ({ text: 'ü'.repeat((bytes - 12) / 2), n: 1 })
    const fits = { ...ofSize(16 * 1024 - 8) }
    const missing = 16 * 1024 - Buffer.byteLength(JSON.stringify(fits))
    const full = { ...fits, text: fits.text + 'x'.repeat(missing) }
    expect(Buffer.byteLength(JSON.stringify(full))).toBe(16 * 1024)
    const { id } = await uploaded('x', 'm.txt', { metadata: JSON.stringify(full, null, 2) })
    expect((await get(id)).body.metadata).toEqual(full)
    expect((await patch(id, { metadata: full })).status).toBe(200)

    const over = { ...full, text: `${full.text}x` }
    const inUpload = await upload(uploadForm('x', 'm.txt', { metadata: JSON.stringify(over) }))
    const inUpdate = await patch(id, { metadata: over })
    for (const answer of [inUpload, inUpdate]) {
      expect(answer.status).toBe(400)
      expect(errorOf(answer)).toMatchObject({ param: 'metadata', message: expect.stringContaining('16384') })
    }
    const hugeText = JSON.stringify({ a: 'x'.repeat(1_000_000) })
    const asPart = uploadForm('x', 'm.txt')
    asPart.append('metadata', new Blob([hugeText], { type: 'application/json' }))
    for (const form of [uploadForm('x', 'm.txt', { metadata: hugeText }), asPart]) {
      const huge = await upload(form)
      expect([huge.status, errorOf(huge).param]).toEqual([400, 'metadata'])
    }
  })

  async function rawMetadata(id: string): Promise<string | undefined> {
    const answer = await fetch(`${portico.url}/v1/documents/${id}`, { headers: { 'x-api-key': organisation.apiKey } })
    return /"metadata":(.*),"sizeBytes"/s.exec(await answer.text())?.[1]
  }
})

describe('get', () => {
  it('returns name, status, metadata, size, type and times', async () => {
    const { id } = await uploaded('12345', 'five.csv')
    expect((await get(id)).body).toEqual({
      id,
      spaceId: space.id,
      name: 'five.csv',
      status: 'processing',
      metadata: null,
      sizeBytes: 5,
      mimeType: 'text/csv',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
  })

  it('and every other call return the same 404 for malformed, unknown and foreign ids', async () => {
    const { id } = await uploaded()
    const answers = []
    for (const [target, from] of [
      [unknownId, organisation],
      ['not-a-uuid', organisation],
      [`${id}x`, organisation],
      [id, other],
    ] as const) {
      answers.push(await get(target, from), await patch(target, { name: 'x' }, from))
      answers.push(await from.client('DELETE', `/v1/documents/${target}`))
    }
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([404, answers[0]!.body])
    expect(errorOf(answers[0]!)).toMatchObject({ code: 'document_not_found' })
    expect((await get(id)).status).toBe(200)
    expect((await get(id.toUpperCase())).status).toBe(200)
  })
})

describe('list', () => {
  it('is newest first, with the total and pages without gaps or repetitions', async () => {
    const paged = await portico.createSpace(organisation)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push((await upload(uploadForm(`n${n}`, `${n}.txt`), {}, paged)).body.id)
    ids.reverse()
    const all = expectStatus(await list(`spaceId=${paged.id}`), 200)
    expect(all).toMatchObject({ total: 5, limit: 20, offset: 0 })
    expect(all.items.map((item: { id: string }) => item.id)).toEqual(ids)
    expect(all.items[0]).toHaveProperty('metadata', null)
    const page = expectStatus(await list(`spaceId=${paged.id}&limit=2&offset=3`), 200)
    expect(page).toMatchObject({ total: 5, limit: 2, offset: 3 })
    expect(page.items.map((item: { id: string }) => item.id)).toEqual(ids.slice(3))
    expect((await list(`spaceId=${paged.id}&offset=99`)).body).toMatchObject({ total: 5, offset: 99, items: [] })
    expect((await list(`spaceId=${paged.id.toUpperCase()}&limit=100`)).body.total).toBe(5)
  })

  it('refuses values out of bounds with a 400 that names the parameter', async () => {
    const cases: [string, string][] = [
      ['', 'spaceId'],
      ['spaceId=', 'spaceId'],
      ['spaceId=nonsense', 'spaceId'],
      [`spaceId=${space.id}&spaceId=${space.id}`, 'spaceId'],
      [`spaceId=${space.id}&limit=0`, 'limit'],
      [`spaceId=${space.id}&limit=101`, 'limit'],
      [`spaceId=${space.id}&limit=ten`, 'limit'],
      [`spaceId=${space.id}&limit=`, 'limit'],
      [`spaceId=${space.id}&limit=1.5`, 'limit'],
      [`spaceId=${space.id}&offset=-1`, 'offset'],
      [`spaceId=${space.id}&offset=1e3`, 'offset'],
    ]
    for (const [query, param] of cases) {
      const answer = await list(query)
      expect([query, answer.status, answer.body.error.param]).toEqual([query, 400, param])
    }
    const noSpace = await organisation.client('POST', '/v1/documents', uploadForm('x', 'x.txt'))
    expect([noSpace.status, errorOf(noSpace).param]).toEqual([400, 'spaceId'])
  })

  it('and upload return the same 404 for an unknown and a foreign Space', async () => {
    const answers = [
      await list(`spaceId=${unknownId}`),
      await list(`spaceId=${otherSpace.id}`),
      await list('spaceId=11111111-1111-1111-1111-111111111111'),
      await upload(uploadForm('x', 'x.txt'), {}, otherSpace),
      await upload(uploadForm('x', 'x.txt'), {}, { id: unknownId, endpointId: '' }),
    ]
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([404, answers[0]!.body])
    expect(errorOf(answers[0]!)).toMatchObject({ code: 'space_not_found', param: 'spaceId' })
  })
})

describe('update', () => {
  it('changes the given fields and keeps the others; null clears the metadata', async () => {
    const { id } = await uploaded('x', 'first.txt', { metadata: '{"a":1}' })
    expect((await patch(id, { name: ' dir/second.txt ' })).body).toEqual({
      id,
      spaceId: space.id,
      name: 'second.txt',
      status: 'processing',
    })
    expect((await get(id)).body).toMatchObject({ name: 'second.txt', metadata: { a: 1 } })
    await patch(id, { metadata: { b: 2 } })
    expect((await get(id)).body).toMatchObject({ name: 'second.txt', metadata: { b: 2 } })
    await patch(id, { metadata: {} })
    expect((await get(id)).body.metadata).toEqual({})
    await patch(id, { metadata: null })
    const cleared = (await get(id)).body
    expect(cleared.metadata).toBeNull()
    expect(Date.parse(cleared.updatedAt)).toBeGreaterThanOrEqual(Date.parse(cleared.createdAt))
  })

  it('refuses empty bodies, wrong types and malformed bodies with 400', async () => {
    const { id } = await uploaded()
    for (const body of [
      {},
      { other: 1 },
      [],
      null,
      'text',
      { name: null },
      { name: '' },
      { name: '   ' },
      { name: 5 },
    ]) {
      expect([body, (await patch(id, body)).status]).toEqual([body, 400])
    }
    for (const metadata of [[], 'text', 5, true]) {
      const answer = await patch(id, { metadata })
      expect([metadata, answer.status, errorOf(answer).param]).toEqual([metadata, 400, 'metadata'])
    }
    const broken = await fetch(`${portico.url}/v1/documents/${id}`, {
      method: 'PATCH',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
      body: '{"name":',
    })
    expect(broken.status).toBe(400)
    expect(await patch(id, undefined)).toMatchObject({ status: 400 })
  })
})

describe('delete', () => {
  it('returns an empty 204, also for a client that sends a content type; the document is then unknown', async () => {
    const { id } = await uploaded()
    const answer = await organisation.client('DELETE', `/v1/documents/${id}`, undefined, {
      'content-type': 'application/json',
    })
    expect([answer.status, answer.body]).toEqual([204, ''])
    expect((await get(id)).status).toBe(404)
    expect((await organisation.client('DELETE', `/v1/documents/${id}`)).status).toBe(404)
  })
})
