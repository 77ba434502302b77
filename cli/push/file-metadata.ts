import { open, readFile } from 'node:fs/promises'
import { parseDocument } from 'yaml'
import { maximumMetadataBytes } from '../../src/contract/documents.ts'
import { FailedError } from '../errors.ts'
import type { LocalFile } from './walk-folder.ts'

export type Metadata = Record<string, unknown>

/** Front matter that is longer is text. */
const maximumFrontMatterBytes = 64 * 1024
const fence = /^---[ \t]*\r?\n/
const endFence = /^(?:---|\.\.\.)[ \t]*$/m

/**
 * The metadata of a file: the front matter of Markdown, then its sidecar files, which override it by key. Throws FailedError if one of
 * them cannot be read, because a document without its metadata could reach readers whom a filter keeps out.
 */
export async function readFileMetadata({ location, path, sidecars }: LocalFile): Promise<Metadata> {
  let metadata: Metadata = {}
  if (/\.md$/i.test(path)) metadata = await readFrontMatter(location)
  for (const sidecar of sidecars) {
    const text = await readFile(sidecar, 'utf8')
    const given = parseYaml(text.replace(/^\ufeff/, ''), sidecar)
    if (!isObject(given)) throw new FailedError(`${sidecar} must contain an object.`)
    metadata = { ...metadata, ...given }
  }
  if (Buffer.byteLength(JSON.stringify(metadata)) > maximumMetadataBytes) {
    throw new FailedError(`The metadata has more than ${maximumMetadataBytes} bytes of JSON.`)
  }
  return metadata
}

async function readFrontMatter(location: string): Promise<Metadata> {
  const head = await readHead(location)
  const text = head.replace(/^\ufeff/, '')
  const start = fence.exec(text)
  if (!start) return {}
  const rest = text.slice(start[0].length)
  const end = endFence.exec(rest)
  if (!end) return {}
  const block = rest.slice(0, end.index)
  // A rule, text and another rule are no front matter.
  if (!/^[\w"'-][^\n]*:(?:\s|$)/m.test(block)) return {}
  const value = parseYaml(block, 'The front matter')
  return isObject(value) ? value : {}
}

async function readHead(location: string): Promise<string> {
  const file = await open(location)
  try {
    const buffer = Buffer.alloc(maximumFrontMatterBytes)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** JSON is YAML. Dates stay text. */
function parseYaml(text: string, where: string): unknown {
  const document = parseDocument(text, { prettyErrors: true, logLevel: 'error' })
  const [error] = document.errors
  if (error) throw new FailedError(`${where} is no valid YAML: ${error.message.split('\n')[0]}`)
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown
  } catch (cause) {
    throw new FailedError(`${where} is no valid YAML: ${(cause as Error).message}`, {}, { cause })
  }
}

function isObject(value: unknown): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
