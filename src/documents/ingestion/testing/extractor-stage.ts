import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Clock, silentLog } from '../../../platform/kernel/index.ts'
import type { DocumentFormat } from '../extraction.ts'
import { createExtractorPool, type ExtractorPool } from '../isolation/extractor-pool.ts'
import type { ExtractionLimits } from '../isolation/limits.ts'
import type { ChunkingSettings } from '../isolation/protocol.ts'

/** So small that each of the test's paragraphs is a chunk. */
export const chunking: ChunkingSettings = {
  counter: { kind: 'word_pieces' },
  targetTokens: 9,
  maximumTokens: 60,
  overlapTokens: 0,
}

export const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => `Paragraph number ${index}.`).join('\n\n')

export type ExtractorStage = Awaited<ReturnType<typeof openExtractorStage>>

/** A folder with files, and the processes that read them. */
export async function openExtractorStage() {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-extraction-'))
  let pool: ExtractorPool | undefined
  async function put(name: string, content: string | Buffer) {
    const filePath = path.join(folder, name)
    await writeFile(filePath, content)
    const format = path.extname(name).slice(1) as DocumentFormat
    return { filePath, format, sizeBytes: (await stat(filePath)).size }
  }
  return {
    folder,
    put,
    startPool(
      limits: Partial<ExtractionLimits> = {},
      size = 1,
      clock?: Clock,
      readable = folder,
      residentBytesOf?: (pid: number) => number,
    ): ExtractorPool {
      const options = { size, limits, chunking, readableFolders: [readable], log: silentLog }
      pool = createExtractorPool({ ...options, ...(clock && { clock }), ...(residentBytesOf && { residentBytesOf }) })
      return pool
    },
    async read(name: string, content: string | Buffer) {
      const { chunks, summary } = pool!.extract(await put(name, content))
      const all = (await Array.fromAsync(chunks)).flat()
      return { text: all.map(({ text }) => text).join('\n'), chunks: all, summary: await summary }
    },
    endTest: () => pool?.close(),
    remove: () => rm(folder, { recursive: true }),
  }
}
