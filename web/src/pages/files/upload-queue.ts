import type { OnDuplicate } from '@contract/documents.ts'
import type { ChosenFile } from './collect-files.ts'
import type { UploadRunner } from './upload-runner.ts'

export type UploadState = 'waiting' | 'uploading' | 'done' | 'skipped' | 'refused' | 'failed' | 'cancelled'
/** Why a file was refused before its upload. */
export type RefusalReason = 'type' | 'size' | 'empty' | 'sameName'

export interface Upload extends ChosenFile {
  id: string
  state: UploadState
  /** Bytes that were sent. */
  loaded: number
  refusal?: RefusalReason
  /** The server's sentence. */
  message?: string
  attempt: number
}

export interface UploadLimits {
  maximumBytes: number
  supportedExtensions: string[]
}

export interface UploadQueue {
  subscribe(listener: () => void): () => void
  /** The same array until something changes. */
  uploads(): readonly Upload[]
  add(files: readonly ChosenFile[], limits: UploadLimits, onDuplicate: OnDuplicate): void
  cancel(id: string): void
  retry(id: string): void
  retryFailed(): void
  cancelAll(): void
  /** Removes the uploads that have ended. */
  clear(): void
}

/** Progress is shown to people. */
const notifyEveryMs = 100

const queues = new Map<string, UploadQueue>()

/** The queue of a Space. It continues while other pages of the console are open. */
export function uploadQueueOf(spaceId: string): UploadQueue {
  let queue = queues.get(spaceId)
  if (!queue) queues.set(spaceId, (queue = createUploadQueue(spaceId)))
  return queue
}

export interface Task {
  upload: Upload
  onDuplicate: OnDuplicate
  abort?: AbortController
}

function createUploadQueue(spaceId: string): UploadQueue {
  const tasks = new Map<string, Task>()
  const changes = createChanges(() => [...tasks.values()].map(({ upload }) => upload))
  // Its code loads with the first upload.
  let loading: Promise<UploadRunner> | undefined
  const run = (work: (runner: UploadRunner) => void) => {
    loading ??= import('./upload-runner.ts').then(({ createRunner }) => createRunner(spaceId, tasks, changes.notify))
    void loading.then(work)
  }
  const runOne = (id: string, work: (runner: UploadRunner, task: Task) => void) => {
    const task = tasks.get(id)
    if (task) run((runner) => work(runner, task))
  }
  warnBeforeLeaving(() => [...tasks.values()].some(({ upload }) => isActive(upload)))

  return {
    subscribe: changes.subscribe,
    uploads: changes.current,
    add(files, limits, onDuplicate) {
      const names = new Set<string>()
      for (const chosen of files) {
        const id = crypto.randomUUID()
        const isRepeated = onDuplicate !== 'keep' && names.has(chosen.file.name)
        const refusal = refusalOf(chosen.file, limits) ?? (isRepeated ? 'sameName' : undefined)
        names.add(chosen.file.name)
        const state = refusal ? 'refused' : 'waiting'
        const upload: Upload = { ...chosen, id, state, loaded: 0, attempt: 0, ...(refusal ? { refusal } : {}) }
        tasks.set(id, { upload, onDuplicate })
      }
      changes.notify()
      run((runner) => runner.fill())
    },
    cancel: (id) => runOne(id, (runner, task) => runner.cancel(task)),
    retry: (id) => runOne(id, (runner, task) => runner.restart(task)),
    retryFailed: () =>
      run((runner) => [...tasks.values()].filter(({ upload }) => upload.state === 'failed').forEach(runner.restart)),
    cancelAll: () => run((runner) => [...tasks.values()].forEach(runner.cancel)),
    clear() {
      for (const [id, { upload }] of tasks) if (!isActive(upload)) tasks.delete(id)
      changes.notify()
    },
  }
}

export const isActive = ({ state }: Upload) => state === 'waiting' || state === 'uploading'

function refusalOf(file: File, { maximumBytes, supportedExtensions }: UploadLimits): RefusalReason | undefined {
  const name = file.name.toLowerCase()
  if (!supportedExtensions.some((extension) => name.endsWith(extension))) return 'type'
  if (file.size === 0) return 'empty'
  return file.size > maximumBytes ? 'size' : undefined
}

/** Calls listeners at most ten times a second. */
function createChanges(read: () => Upload[]) {
  const listeners = new Set<() => void>()
  let current: readonly Upload[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    current: () => current,
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    notify() {
      timer ??= setTimeout(() => {
        timer = undefined
        current = read()
        for (const listener of listeners) listener()
      }, notifyEveryMs)
    },
  }
}

function warnBeforeLeaving(isBusy: () => boolean) {
  window.addEventListener('beforeunload', (event) => {
    if (isBusy()) event.preventDefault()
  })
}
