import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
} from '../harness/portico.ts'

/** Version 2 of the document API, compared with version 1. No worker runs here, so documents stay in `processing`. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  portico = await startPortico({ settings: { ingestion: { workers: 0 } } })
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation)
})
afterAll(() => portico?.stop())

const upload = (version: 1 | 2, content: string, fileName: string) =>
  organisation.client('POST', `/v${version}/documents?spaceId=${space.id}`, uploadForm(content, fileName))
/** A document of version 2 without its additional fields. */
function withoutAdded({ contentSha256, queue: _queue, ...document }: Record<string, unknown>) {
  expect(contentSha256).toMatch(/^[0-9a-f]{64}$/)
  return document
}

interface Operation {
  description?: string
  parameters?: { name: string }[]
  requestBody?: { content: Record<string, unknown> }
  responses: Record<string, unknown>
}

/** An operation of version 2 without what it has in addition: fields, `replaces`, and documents from web addresses. */
function asVersion1(operation: unknown): unknown {
  const text = JSON.stringify(operation).replaceAll(/"#\/components\/schemas\/DocumentV2(Page)?"/g, (_all, page = '') =>
    JSON.stringify(`#/components/schemas/Document${page}`),
  )
  const { parameters, requestBody, responses, description, ...rest } = JSON.parse(text) as Operation
  const { 202: _web, ...others } = responses
  return {
    ...rest,
    ...(description !== undefined && { description: description.replace(/ A JSON body .*$/, '') }),
    ...(parameters && { parameters: parameters.filter(({ name }) => name !== 'replaces') }),
    ...(requestBody?.content['multipart/form-data'] === undefined ? requestBody && { requestBody } : {}),
    responses: others,
  }
}

const page = '<h1>Garden</h1><p>120 kinds of roses.</p>'

describe('version 2 of the document API', () => {
  it('has the operations of version 1 with the same descriptions, and fields in addition', async () => {
    const { paths } = expectStatus(await organisation.client('GET', '/openapi.json'), 200) as {
      paths: Record<string, Record<string, { operationId: string; tags: string[] }>>
    }
    const first = Object.entries(paths).filter(([path]) => path.startsWith('/v1/documents'))
    expect(first).toHaveLength(3)
    for (const [path, operations] of first)
      for (const [method, operation] of Object.entries(operations)) {
        // Version 2 has filters: test/acceptance/document-list-filters.test.ts.
        if (operation.operationId === 'listDocuments') continue
        expect(asVersion1(paths[path.replace('/v1/', '/v2/')]?.[method]), `${method} ${path}`).toEqual({
          ...(asVersion1(operation) as object),
          operationId: `${operation.operationId}V2`,
          tags: ['Documents, version 2'],
        })
      }
  })

  it('lists the types of version 1 first and then its own', async () => {
    const types = async (version: 1 | 2) =>
      expectStatus(await organisation.client('GET', `/v${version}/documents/supported-file-types`), 200) as {
        supportedMimeTypes: string[]
        supportedExtensions: string[]
      }
    const [first, second] = [await types(1), await types(2)]
    // Further ones may follow.
    expect(second.supportedExtensions.slice(0, first.supportedExtensions.length + 12)).toEqual([
      ...first.supportedExtensions,
      '.html',
      '.htm',
      '.tsv',
      '.xlsx',
      '.pptx',
      '.eml',
      '.png',
      '.jpg',
      '.jpeg',
      '.tif',
      '.tiff',
      '.webp',
    ])
    expect(second.supportedMimeTypes.slice(0, first.supportedMimeTypes.length + 9)).toEqual([
      ...first.supportedMimeTypes,
      'text/html',
      'text/tab-separated-values',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation',
      'message/rfc822',
      'image/png',
      'image/jpeg',
      'image/tiff',
      'image/webp',
    ])
  })

  it('accepts its own types, which version 1 rejects with the types that it has', async () => {
    for (const [name, content, mimeType] of [
      ['garden.html', page, 'text/html'],
      ['garden.htm', page, 'text/html'],
      ['prices.tsv', 'Plant\tEuro\nRose\t3\n', 'text/tab-separated-values'],
    ] as const) {
      const { id } = expectStatus(await upload(2, content, name), 201)
      expect(expectStatus(await organisation.client('GET', `/v2/documents/${id}`), 200)).toMatchObject({
        name,
        mimeType,
      })
      expect(expectStatus(await upload(1, content, name), 415)).toMatchObject({
        error: {
          code: 'unsupported_file_type',
          message: `file: A ${name.slice(name.indexOf('.'))} file is not supported. Upload one of .pdf, .docx, .txt, .csv, .md.`,
        },
      })
    }
    const refused = expectStatus(await upload(2, 'x', 'program.exe'), 415)
    expect(refused.error.message).toContain('Upload one of .pdf, .docx, .txt, .csv, .md, .html')
  })

  it('shares its documents with version 1, which lists, reads, renames and deletes those of every type', async () => {
    const { id } = expectStatus(await upload(2, page, 'shared.html'), 201)
    const listed = async (version: 1 | 2) =>
      expectStatus(await organisation.client('GET', `/v${version}/documents?spaceId=${space.id}&limit=100`), 200)
    const { next, ...second } = await listed(2)
    expect(next).toEqual(expect.any(String))
    expect(await listed(1)).toEqual({ ...second, items: second.items.map(withoutAdded) })
    expect((await listed(1)).items[0]).toMatchObject({ id, name: 'shared.html', mimeType: 'text/html' })
    const document = expectStatus(await organisation.client('GET', `/v1/documents/${id}`), 200)
    expect(document).toEqual(withoutAdded(expectStatus(await organisation.client('GET', `/v2/documents/${id}`), 200)))
    expect(Object.keys(document)).toEqual(
      Object.keys(
        expectStatus(
          await organisation.client('GET', `/v1/documents/${expectStatus(await upload(1, 'x', 'a.txt'), 201).id}`),
          200,
        ),
      ),
    )
    expectStatus(await organisation.client('PATCH', `/v1/documents/${id}`, { name: 'renamed' }), 200)
    expectStatus(await organisation.client('DELETE', `/v1/documents/${id}`), 204)
    expectStatus(await organisation.client('GET', `/v2/documents/${id}`), 404)
  })
})
