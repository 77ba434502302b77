import fs from 'node:fs'
import path from 'node:path'
import { chunksOf, pipelineChunkSize } from '../bench/retrieval/bench-index.ts'
import { packPassages } from '../src/chat/chat/context/context-window.ts'
import { formatSources } from '../src/chat/chat/context/prompt.ts'
import { createFileExtractor } from '../src/documents/ingestion/extractors/extract-file.ts'
import { defaultLimits } from '../src/documents/ingestion/isolation/limits.ts'
import { createHashingEmbedder, type Passage } from '../src/documents/retrieval/index.ts'
import { estimateTokens } from '../src/gateway/tokens/index.ts'
import { createDocumentId } from '../src/platform/kernel/index.ts'
import type { Evaluation, Measure } from './measure.ts'

/**
 * Whether the model receives the code of documentation as the file has it: each fence byte for byte in the prompt of its page, and in
 * one passage where it fits into one.
 */
export const codeFences: Evaluation = { title: 'Code', folder: 'code-docs', run }

/** Tokens that the prompt may have: more than any page. */
const room = 200_000

async function run(folder: string): Promise<Measure[]> {
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.md'))
  const fences: { isGiven: boolean; fits: boolean; isWhole: boolean }[] = []
  for (const name of files) {
    const source = fs.readFileSync(path.join(folder, name), 'utf8').replaceAll('\r\n', '\n')
    const chunks = await readChunks(path.join(folder, name))
    const count = (text: string) => Promise.resolve(estimateTokens(text).estimate)
    const { passages } = await packPassages(chunks, 1, { room, limit: room, count })
    const prompt = formatSources(passages)
    for (const fence of fencesOf(source)) {
      fences.push({
        isGiven: prompt.includes(fence),
        fits: embedder.countTokens(fence) <= pipelineChunkSize.maximumTokens * 0.9,
        isWhole: chunks.some(({ text }) => text.includes(fence)),
      })
    }
  }
  const fitting = fences.filter(({ fits }) => fits)
  return [
    {
      name: `fences byte for byte in the prompt, ${fences.length}`,
      value: fences.filter(({ isGiven }) => isGiven).length / fences.length,
      bound: { atLeast: 1 },
      baseline: null,
    },
    {
      name: `fences that fit are in one passage, ${fitting.length}`,
      value: fitting.filter(({ isWhole }) => isWhole).length / fitting.length,
      bound: { atLeast: 1 },
      baseline: null,
    },
  ]
}

const embedder = createHashingEmbedder()
const extractor = createFileExtractor()

/** The chunks of a file, in reading order. */
async function readChunks(filePath: string): Promise<Passage[]> {
  const sizeBytes = fs.statSync(filePath).size
  const report = { progress() {}, warn() {} }
  const limits = defaultLimits('md', sizeBytes)
  const documentId = createDocumentId()
  const blocks = extractor.extract('md', { filePath, sizeBytes, limits, report })
  const chunks = await chunksOf(blocks, embedder, pipelineChunkSize)
  return chunks.map(({ index, tokens: _tokens, ...chunk }) => ({
    ...chunk,
    chunkId: `${documentId} ${index}`,
    documentId,
    documentName: path.basename(filePath),
    url: null,
    chunkIndex: index,
    pageStarts: chunk.pageStarts ?? null,
    score: 0,
  }))
}

/** The fences of a page, from their first to their last line, with the indentation of lists. */
function fencesOf(source: string): string[] {
  const fences: string[] = []
  let open: { sign: string; lines: string[] } | null = null
  for (const line of source.split('\n')) {
    const sign = /^ *(`{3,}|~{3,})/.exec(line)?.[1]
    if (open === null) {
      if (sign !== undefined) open = { sign, lines: [line] }
      continue
    }
    open.lines.push(line)
    if (sign?.startsWith(open.sign) && /^ *[`~]+ *$/.test(line)) {
      fences.push(open.lines.join('\n'))
      open = null
    }
  }
  return fences
}
