import { BroadcastChannel, isMainThread } from 'node:worker_threads'

/**
 * Loaded into a process that reports its memory, and so into each of its threads (NODE_OPTIONS with --import; needs --expose-gc): the threads collect
 * their garbage on request, because only the thread itself can.
 */

const requests = 'collect-in-threads'
const answers = 'collected-in-threads'
/** A thread that is starting or ending does not answer. */
const longestWaitMs = 2_000

/**
 * The collection of a heap at its limit, which also returns free pages to the operating system. After an ordinary one V8 keeps them, and
 * whether it returns them later depends on when it finds the thread idle: the resident set would vary by 100 MB.
 */
export function collect(): void {
  const gc = globalThis.gc as (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/** Resolves when so many threads have collected, or some do not answer. */
export async function collectInThreads(threads: number): Promise<void> {
  if (threads === 0) return
  const [request, answer] = [new BroadcastChannel(requests), new BroadcastChannel(answers)]
  let missing = threads
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, longestWaitMs)
    answer.addEventListener('message', () => {
      missing -= 1
      if (missing > 0) return
      clearTimeout(timer)
      resolve()
    })
    post(request)
  })
  request.close()
  answer.close()
}

// A channel between threads has no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const post = (channel: BroadcastChannel) => channel.postMessage(null)

if (!isMainThread) {
  const [request, answer] = [new BroadcastChannel(requests), new BroadcastChannel(answers)]
  request.addEventListener('message', () => {
    collect()
    post(answer)
  })
  request.unref()
  answer.unref()
}
