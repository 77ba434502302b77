import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { DocumentFormat, ExtractedBlock, ExtractionWarning } from '../extraction.ts'
import { createFileExtractor } from '../extractors/extract-file.ts'
import type { ExtractorInput } from '../extractors/extractor.ts'
import { defaultLimits } from '../isolation/limits.ts'

const extractor = createFileExtractor()

/** Extracts a file with this content, with the default limits of its size. `given`: the rest of the input. */
export async function readBlocks(
  format: DocumentFormat,
  content: string | Buffer,
  given: Partial<ExtractorInput> = {},
) {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-extractors-'))
  try {
    const filePath = path.join(folder, `file.${format}`)
    await writeFile(filePath, content)
    const sizeBytes = Buffer.byteLength(content)
    const warnings: ExtractionWarning[] = []
    const report = { progress() {}, warn: (warning: ExtractionWarning) => void warnings.push(warning) }
    const blocks: ExtractedBlock[] = []
    const input = { filePath, sizeBytes, limits: defaultLimits(format, sizeBytes), report, ...given }
    for await (const batch of extractor.extract(format, input)) blocks.push(...batch)
    return { blocks, texts: blocks.map(({ text }) => text), kinds: blocks.map(({ kind }) => kind), warnings }
  } finally {
    await rm(folder, { recursive: true })
  }
}
