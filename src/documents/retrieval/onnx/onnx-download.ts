import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { userAgent } from '../../../platform/kernel/index.ts'

/** Downloads the files of a model once from the hub into `cacheFolder/MODEL`, in the hub's layout. */

export const defaultHubUrl = 'https://huggingface.co'
/** For one file: 2 GB of weights on 5 Mbit/s. */
const downloadTimeoutMs = 3_600_000
/** Larger than the weights of any sentence-embedding model that a CPU can run. */
const maximumFileBytes = 8 * 1024 ** 3

const modelIdPattern = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)?$/

/** Files that not every model has; they describe how it was trained. */
const optionalFiles = [
  'tokenizer_config.json',
  'sentence_bert_config.json',
  'config_sentence_transformers.json',
  '1_Pooling/config.json',
]

export interface DownloadOptions {
  cacheFolder: string
  modelId: string
  /** The file of the weights, relative to the model's folder. */
  weights: string
  hubUrl?: string | undefined
  fetch?: typeof fetch | undefined
}

/** Weights come last: if they exist, the download was complete. */
export async function downloadModel(options: DownloadOptions): Promise<void> {
  const { cacheFolder, modelId, weights, hubUrl, fetch = globalThis.fetch } = options
  if (!modelIdPattern.test(modelId))
    throw new Error(`${modelId} is no model id of the hub, such as BAAI/bge-small-en-v1.5`)
  const folder = path.join(cacheFolder, modelId)
  const load = (file: string, required: boolean) =>
    downloadFile(fetch, `${hubUrl ?? defaultHubUrl}/${modelId}/resolve/main/${file}`, path.join(folder, file), required)
  for (const file of optionalFiles) await load(file, false)
  // Weights of more than 2 GB are kept in a second file.
  await load(`${weights}_data`, false)
  for (const file of ['config.json', 'tokenizer.json', weights]) await load(file, true)
}

async function downloadFile(modelFetch: typeof fetch, url: string, target: string, required: boolean): Promise<void> {
  if (existsSync(target)) return
  const response = await modelFetch(url, {
    headers: { 'user-agent': userAgent },
    signal: AbortSignal.timeout(downloadTimeoutMs),
  })
  if (response.status === 404 && !required) {
    await response.body?.cancel()
    return
  }
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    throw new Error(`${url} returned ${response.status}`)
  }
  await mkdir(path.dirname(target), { recursive: true })
  // Renamed when complete: a start that is killed leaves no half file under the final name.
  const partial = `${target}.${process.pid}.partial`
  try {
    await pipeline(Readable.fromWeb(response.body as ReadableStream), limitBytes(url), createWriteStream(partial))
    await rename(partial, target)
  } finally {
    await rm(partial, { force: true })
  }
}

function limitBytes(url: string): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maximumFileBytes) done(new Error(`${url} is longer than ${maximumFileBytes} bytes`))
      else done(null, chunk)
    },
  })
}
