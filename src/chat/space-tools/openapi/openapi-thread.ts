import { Worker } from 'node:worker_threads'
import { AppError, invalidField } from '../../../platform/kernel/index.ts'
import type { ReadTools } from '../tool-server.ts'
import type { OpenapiProblem } from './read-openapi.ts'

/** Longest time of reading a file; 800,000 characters of YAML take about a second. */
const readMs = 15_000
const maximumHeapMegabytes = 512
/** Threads at the same time. */
const maximumThreads = 2

let running = 0

/** Reads an OpenAPI file in a thread, since it may keep the event loop busy. Throws `invalid_request` and `overloaded`. */
export async function readOpenapiInThread(text: string): Promise<ReadTools> {
  if (running >= maximumThreads) throw new AppError('overloaded', 'Other files are being read. Try again in a moment.')
  running++
  try {
    return await read(text)
  } finally {
    running--
  }
}

function read(text: string): Promise<ReadTools> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadTools>()
  const worker = new Worker(new URL('./openapi-worker.ts', import.meta.url), {
    name: 'openapi',
    workerData: text,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maximumHeapMegabytes },
  })
  const timer = setTimeout(() => reject(tooLarge()), readMs)
  worker.once('message', (result: ReadTools | { problem: OpenapiProblem }) =>
    'problem' in result ? reject(invalid(result.problem)) : resolve(result),
  )
  worker.once('error', () => reject(tooLarge()))
  worker.once('exit', () => reject(tooLarge()))
  return promise.finally(() => {
    clearTimeout(timer)
    void worker.terminate()
  })
}

const param = 'document'

function invalid(problem: OpenapiProblem): AppError {
  return problem === 'no_file'
    ? invalidField(param, '`document` must be an OpenAPI file as JSON or YAML.')
    : invalidField(param, '`document` must be an OpenAPI file of version 3.0 or 3.1, with the field `openapi`.')
}

const tooLarge = () =>
  invalidField(param, '`document` takes too long or too much memory to read. Remove what is not needed.')
