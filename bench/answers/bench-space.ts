import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  type ApiClient,
  createApiClient,
  expectStatus,
  organisationMakers,
  type TestOrganisation,
  type TestSpace,
  uploadForm,
} from '../../test/harness/portico.ts'

/** The Space of a bench, in a service that runs in another process. */
export interface BenchSpace {
  organisation: TestOrganisation
  space: TestSpace
  chunks(): number
  /** Uploads `atOnce` files at a time, each until it is ready, while `isWanted`. */
  upload(atOnce: number, isWanted: () => boolean): Promise<void>
}

const paragraphsPerFile = 100
const wordsPerParagraph = 150

interface Kept {
  organisationId: string
  apiKey: string
  space: TestSpace
  files: number
}

/** A new Space, or the one that an earlier run has left in `folder`. `words`: that many words of text. */
export async function openBenchSpace(
  { url, operator }: { url: string; operator: ApiClient },
  folder: string,
  words: (count: number) => string,
): Promise<BenchSpace> {
  const noteFile = path.join(folder, 'bench-space.json')
  const kept = existsSync(noteFile) ? (JSON.parse(readFileSync(noteFile, 'utf8')) as Kept) : await create()
  const { organisationId: id, apiKey, space } = kept
  let { files } = kept
  const client = createApiClient(url, apiKey)

  async function create(): Promise<Kept> {
    const makers = organisationMakers(url, operator)
    const organisation = await makers.createOrganisation({ monthlyBudgetUsd: '100000' })
    return {
      organisationId: organisation.id,
      apiKey: organisation.apiKey,
      space: await makers.createSpace(organisation),
      files: 0,
    }
  }

  async function uploadFile(): Promise<void> {
    const name = `bench ${files++}.txt`
    const paragraphs = Array.from({ length: paragraphsPerFile }, () => words(wordsPerParagraph))
    const form = uploadForm(paragraphs.join('\n\n'), name)
    const document = expectStatus(await client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
    for (;;) {
      const { status } = expectStatus(await client('GET', `/v1/documents/${document.id}`), 200)
      if (status === 'ready') return
      if (status === 'failed') throw new Error(`${name} failed`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  return {
    organisation: { id, apiKey, client },
    space,
    chunks: () => files * paragraphsPerFile,
    async upload(atOnce, isWanted) {
      const worker = async () => {
        while (isWanted()) await uploadFile()
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      writeFileSync(noteFile, JSON.stringify({ organisationId: id, apiKey, space, files } satisfies Kept))
    },
  }
}
