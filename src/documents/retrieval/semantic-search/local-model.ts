import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { SemanticSearchBody } from '../../../contract/semantic-search.ts'
import { AppError, type Clock, describeError, type Log } from '../../../platform/kernel/index.ts'
import {
  hasModel,
  type InstalledModel,
  type InstallOptions,
  ModelInstallError,
  type PinnedModel,
} from '../onnx/install-model.ts'
import { isOnnxRuntimeInstalled } from '../onnx/onnx-runtime.ts'
import type { LocalModelStore, StoredInstall } from './local-model.store.ts'

/** Between two writes of the progress, which also find out whether it was stopped. */
const writeMs = 1_000
/** Without a write for this time, the instance that fetched the model is gone. */
const silentMs = 20_000

/** The files of the local model on this machine. */
export interface LocalModelFiles {
  model: PinnedModel
  /** Models are kept in it. */
  cacheFolder: string
  /** Fetches what is missing. Throws ModelInstallError. */
  install: (options: Pick<InstallOptions, 'report' | 'signal'>) => Promise<InstalledModel>
}

export interface LocalModelDependencies extends LocalModelFiles {
  store: LocalModelStore
  /** The name of this machine. */
  host: string
  clock: Clock
  log: Log
}

/**
 * Fetches the pinned model into the data folder of this instance, as `portico embedder install` does. At most one installation runs; every
 * instance shows and stops it. It changes no setting.
 */
export function createLocalModel({ store, model, cacheFolder, host, install, clock, log }: LocalModelDependencies) {
  let running: { work: Promise<void>; end: AbortController } | undefined

  async function view(): Promise<SemanticSearchBody['local']> {
    const [stored, hasFiles] = await Promise.all([store.load(), hasModel(model, cacheFolder)])
    return {
      model: model.id,
      hasFiles,
      licence: model.licence,
      bytes: model.files.reduce((sum, { bytes }) => sum + bytes, 0),
      hasRuntime: isOnnxRuntimeInstalled(),
      install: stored && stored.model === model.id ? shown(stored, clock.now()) : null,
    }
  }

  /** Throws AppError while an installation runs. */
  async function start(): Promise<void> {
    const id = randomUUID()
    const atMs = clock.now()
    const folder = path.join(cacheFolder, model.id)
    if (!(await store.begin({ id, model: model.id, host, folder }, { atMs, aliveSinceMs: atMs - silentMs })))
      throw new AppError('conflict', 'The model is being installed already.')
    const end = new AbortController()
    running = { end, work: run(id, end) }
  }

  /** Never rejects. */
  async function run(id: string, end: AbortController): Promise<void> {
    let bytesDone = 0
    const write = async (state: StoredInstall['state'], problem: string | null = null) => {
      try {
        if (!(await store.update({ id, state, bytesDone, problem }, clock.now()))) end.abort()
      } catch (error) {
        log.warn({ error: describeError(error) }, 'the progress of the local model was not stored')
      }
    }
    const stopWriting = clock.every(writeMs, () => void write('running'))
    try {
      const installed = await install({
        report: (progress) => void (bytesDone = progress.bytesDone),
        signal: end.signal,
      })
      bytesDone = installed.bytes
      await write('done')
      log.info({ model: model.id, folder: installed.folder }, 'local model installed')
    } catch (error) {
      // The state of one that was stopped is stored already, unless this instance ends.
      const isExpected = end.signal.aborted || error instanceof ModelInstallError
      if (!isExpected) log.error({ error: describeError(error) }, 'the local model was not installed')
      await write('failed', end.signal.aborted ? null : describeError(error))
    } finally {
      stopWriting()
    }
  }

  return {
    model,
    view,
    start,
    /** On whichever instance it runs: that one ends it with its next write. */
    stop: () => store.stop(clock.now()),
    /** Ends what this instance fetches; a later installation continues it. */
    async close(): Promise<void> {
      running?.end.abort()
      await running?.work
    },
  }
}

export type LocalModel = ReturnType<typeof createLocalModel>

function shown(stored: StoredInstall, nowMs: number): SemanticSearchBody['local']['install'] {
  const { state, host, folder, bytesDone, problem, updatedAt } = stored
  const isGone = state === 'running' && updatedAt.getTime() < nowMs - silentMs
  return { state: isGone ? 'failed' : state, host, folder, bytesDone, problem }
}
