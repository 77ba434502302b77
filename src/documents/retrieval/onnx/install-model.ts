import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { ReadableStream } from 'node:stream/web'
import { userAgent } from '../../../platform/kernel/index.ts'
import { defaultHubUrl } from './onnx-download.ts'

/** A file that is missing, differs from its hash, or cannot be fetched. Its message is for the operator. */
export class ModelInstallError extends Error {
  override name = 'ModelInstallError'
}

export interface InstallOptions {
  model: PinnedModel
  /** Models are kept in it, each in a folder with its id. */
  cacheFolder: string
  /** A folder that has the files already; nothing is fetched then. */
  from?: string | undefined
  hubUrl?: string | undefined
  fetch: typeof fetch
  /** Called about once for each percent of a file. */
  report: (progress: InstallProgress) => void
  /** Ends the download; the next one continues it. */
  signal?: AbortSignal | undefined
}

export interface InstallProgress {
  /** A line for people. */
  text: string
  /** Of the whole model. */
  bytesDone: number
}

export interface InstalledModel {
  id: string
  folder: string
  /** Fetched or copied; the others were there. */
  newFiles: string[]
  bytes: number
}

/**
 * Puts the files of a model into its folder. Each has its final name only when its hash is right, so an interrupted call leaves the folder
 * usable or incomplete, never wrong; the next one continues where it ended.
 */
export async function installModel(options: InstallOptions): Promise<InstalledModel> {
  const { model, cacheFolder, from } = options
  const folder = path.join(cacheFolder, model.id)
  const newFiles: string[] = []
  let bytesBefore = 0
  for (const file of model.files) {
    const target = path.join(folder, file.path)
    const before = bytesBefore
    bytesBefore += file.bytes
    if (await isRight(target, file)) continue
    await mkdir(path.dirname(target), { recursive: true })
    const partial = `${target}.partial`
    if (from === undefined) await download(options, file, partial, before)
    else await copy(path.join(path.resolve(from), file.path), partial)
    await assertRight(partial, file)
    await rename(partial, target)
    newFiles.push(file.path)
  }
  return { id: model.id, folder, newFiles, bytes: bytesBefore }
}

/** All files are there with their sizes; `installModel` gives a file its name only when its hash is right. */
export async function hasModel(model: PinnedModel, cacheFolder: string): Promise<boolean> {
  for (const file of model.files)
    if ((await sizeOf(path.join(cacheFolder, model.id, file.path))) !== file.bytes) return false
  return true
}

/** Another size than expected needs no hash. */
async function isRight(file: string, { bytes, sha256 }: PinnedFile): Promise<boolean> {
  if ((await sizeOf(file)) !== bytes) return false
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer)
  return hash.digest('hex') === sha256
}

async function assertRight(partial: string, file: PinnedFile): Promise<void> {
  if (await isRight(partial, file)) return
  const size = await sizeOf(partial)
  await rm(partial, { force: true })
  throw new ModelInstallError(
    `the file ${file.path} is not the expected one: ${size} of ${file.bytes} bytes, SHA-256 must be ${file.sha256}; it was not installed`,
  )
}

/** 0 where it does not exist. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

async function copy(source: string, partial: string): Promise<void> {
  try {
    await copyFile(source, partial)
  } catch (error) {
    throw new ModelInstallError(`the file ${source} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** Continues a partial file where the server can; otherwise begins again. */
async function download(
  { model, hubUrl = defaultHubUrl, fetch, report, signal }: InstallOptions,
  file: PinnedFile,
  partial: string,
  bytesBefore: number,
): Promise<void> {
  const url = `${hubUrl}/${model.id}/resolve/${model.revision}/${file.path}`
  const there = await sizeOf(partial)
  if (there === file.bytes) return
  if (there > file.bytes) await rm(partial)
  const from = there > file.bytes ? 0 : there
  const response = await request(fetch, url, from, signal)
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    throw new ModelInstallError(`the hub returned ${response.status} for ${url}`)
  }
  // A server that ignores the range sends all of it with 200.
  const start = response.status === 206 ? from : 0
  const output = await open(partial, start > 0 ? 'a' : 'w')
  const counter = createByteCounter(start, file, (text, bytes) => report({ text, bytesDone: bytesBefore + bytes }))
  try {
    for await (const piece of response.body as ReadableStream<Uint8Array>) {
      counter.add(piece.length)
      await output.writeFile(piece)
    }
  } catch (error) {
    if (error instanceof ModelInstallError) throw error
    throw new ModelInstallError(
      `the download of ${url} was interrupted (${reasonOf(error)}); install it again to continue`,
      { cause: error },
    )
  } finally {
    await output.close()
  }
}

async function request(
  fetch: InstallOptions['fetch'],
  url: string,
  from: number,
  signal: InstallOptions['signal'],
): Promise<Response> {
  // Compressed content has other ranges than the file.
  const headers = new Headers({ 'user-agent': userAgent, 'accept-encoding': 'identity' })
  if (from > 0) headers.set('range', `bytes=${from}-`)
  try {
    return await fetch(url, { headers: Object.fromEntries(headers), ...(signal && { signal }) })
  } catch (error) {
    throw new ModelInstallError(
      `the hub cannot be reached for ${url}: ${reasonOf(error)}. Behind a proxy set https_proxy; without internet run \`portico embedder install --from FOLDER\``,
      { cause: error },
    )
  }
}

/** Reports each percent, and fails above the size of the file. */
function createByteCounter(start: number, file: PinnedFile, report: (text: string, bytes: number) => void) {
  let bytes = start
  let reported = -1
  return {
    add(more: number): void {
      bytes += more
      if (bytes > file.bytes) throw new ModelInstallError(`the file ${file.path} is longer than ${file.bytes} bytes`)
      const percent = Math.floor((bytes / file.bytes) * 100)
      if (percent === reported) return
      reported = percent
      report(`${file.path}: ${percent} % of ${(file.bytes / 1e6).toFixed(1)} MB`, bytes)
    },
  }
}

/** undici's errors state the reason in their cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message
}

/** A file of a model, relative to its folder. */
interface PinnedFile {
  path: string
  bytes: number
  /** Hexadecimal. */
  sha256: string
}

/** A model whose files are known byte for byte. */
export interface PinnedModel {
  /** What people type. */
  name: string
  /** Of the hub. */
  id: string
  /** The hub's commit. */
  revision: string
  licence: string
  /** In one clause. */
  about: string
  /** Of its vectors. */
  dimensions: number
  files: readonly PinnedFile[]
}

/** The first one is the default. Hashes and sizes: public lock files of several projects that pin this revision, compared with each other. */
export const pinnedModels: readonly PinnedModel[] = [
  {
    name: 'multilingual-e5-small',
    id: 'Xenova/multilingual-e5-small',
    revision: '761b726dd34fb83930e26aab4e9ac3899aa1fa78',
    licence: 'MIT',
    about: 'about 100 languages, 384 dimensions, 8-bit weights',
    dimensions: 384,
    files: [
      {
        path: 'config.json',
        bytes: 658,
        sha256: 'cb99455288675345e1a4f411438d5d0adbba5fbd3a67ea4fb03c015433b996c1',
      },
      {
        path: 'tokenizer_config.json',
        bytes: 443,
        sha256: 'a1d6bc8734a6f635dc158508bef000f8e2e5a759c7d92f984b2c86e5ff53425b',
      },
      {
        path: 'tokenizer.json',
        bytes: 17_082_730,
        sha256: '0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39',
      },
      {
        path: 'onnx/model_quantized.onnx',
        bytes: 118_308_185,
        sha256: 'f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193',
      },
    ],
  },
]
