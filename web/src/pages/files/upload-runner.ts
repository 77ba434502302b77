import { sendUpload, UploadFailure } from './send-upload.ts'
import { isActive, type Task, type Upload } from './upload-queue.ts'

const parallel = 3
/** Failures that may pass are tried again this often, after 1, 2 and 4 seconds or what the server asks for. */
const automaticRetries = 3

export type UploadRunner = ReturnType<typeof createRunner>

/** Sends waiting uploads, a few at a time and in their order. */
export function createRunner(spaceId: string, tasks: Map<string, Task>, notify: () => void) {
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
