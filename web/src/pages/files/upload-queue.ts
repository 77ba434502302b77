import type { OnDuplicate } from '@contract/documents.ts'
import type { ChosenFile } from './collect-files.ts'
import { sendUpload, UploadFailure } from './send-upload.ts'

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

const parallel = 3
/** Failures that may pass are tried again this often, after 1, 2 and 4 seconds or what the server asks for. */
const automaticRetries = 3
/** Progress is shown to people. */
const notifyEveryMs = 100

const queues = new Map<string, UploadQueue>()

/** The queue of a Space. It continues while other pages of the console are open. */
export function uploadQueueOf(spaceId: string): UploadQueue {
  let queue = queues.get(spaceId)
  if (!queue) queues.set(spaceId, (queue = createUploadQueue(spaceId)))
  return queue
}

interface Task {
  upload: Upload
  onDuplicate: OnDuplicate
  abort?: AbortController
}

function createUploadQueue(spaceId: string): UploadQueue {
  const tasks = new Map<string, Task>()
  const changes = createChanges(() => [...tasks.values()].map(({ upload }) => upload))
  const runner = createRunner(spaceId, tasks, changes.notify)
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
      runner.fill()
    },
    cancel: (id) => void (tasks.has(id) && runner.cancel(tasks.get(id)!)),
    retry: (id) => void (tasks.has(id) && runner.restart(tasks.get(id)!)),
    retryFailed: () => [...tasks.values()].filter(({ upload }) => upload.state === 'failed').forEach(runner.restart),
    cancelAll: () => [...tasks.values()].forEach(runner.cancel),
    clear() {
      for (const [id, { upload }] of tasks) if (!isActive(upload)) tasks.delete(id)
      changes.notify()
    },
  }
}

/** Sends waiting uploads, a few at a time and in their order. */
function createRunner(spaceId: string, tasks: Map<string, Task>, notify: () => void) {
  let running = 0

  function change(task: Task, fields: Partial<Upload>) {
    task.upload = { ...task.upload, ...fields }
    notify()
  }

  function fill() {
    for (const task of tasks.values()) {
      if (running >= parallel) return
      if (task.upload.state === 'waiting') void run(task)
    }
  }

  async function run(task: Task) {
    running++
    task.abort = new AbortController()
    change(task, { state: 'uploading', loaded: 0, attempt: task.upload.attempt + 1 })
    const { id, file, path } = task.upload
    const request = { spaceId, file, path, onDuplicate: task.onDuplicate, key: id }
    try {
      const answer = await sendUpload(request, task.abort.signal, (loaded) => change(task, { loaded }))
      change(task, { state: answer.isSkipped ? 'skipped' : 'done', loaded: file.size })
    } catch (error) {
      if (task.abort.signal.aborted) change(task, { state: 'cancelled' })
      else fail(task, error instanceof UploadFailure ? error : new UploadFailure(String(error), undefined))
    } finally {
      running--
      fill()
    }
  }

  function fail(task: Task, failure: UploadFailure) {
    change(task, { state: 'failed', message: failure.message })
    if (failure.retryAfterMs === undefined || task.upload.attempt > automaticRetries) return
    const delayMs = Math.max(failure.retryAfterMs, 1_000 * 2 ** (task.upload.attempt - 1))
    setTimeout(() => {
      if (task.upload.state === 'failed') again(task)
    }, delayMs)
  }

  function again(task: Task) {
    if (!tasks.has(task.upload.id)) return
    change(task, { state: 'waiting', loaded: 0 })
    fill()
  }

  return {
    fill,
    cancel(task: Task) {
      const { state } = task.upload
      if (state === 'uploading') task.abort?.abort()
      else if (state === 'waiting' || state === 'failed') change(task, { state: 'cancelled' })
    },
    /** A failed or cancelled upload starts again, with all of its automatic attempts. */
    restart(task: Task) {
      if (isActive(task.upload)) return
      task.upload = { ...task.upload, attempt: 0 }
      again(task)
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
