import { parentPort } from 'node:worker_threads'
import type { FromSearchThread, ToSearchThread } from './messages.ts'
import { SpaceIndex } from './space-index.ts'
import { createVectorArena } from './vector-arena.ts'

/** The search thread: a search through a million vectors must not block the requests of the process. */

const port = parentPort!
const arena = createVectorArena()
const spaces = new Map<string, SpaceIndex>()

port.on('message', (message: ToSearchThread) => {
  try {
    handle(message)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const { spaceId } = message
    reply({ type: 'failed', id: message.type === 'search' ? message.id : null, spaceId, message: reason })
  }
})

function handle(message: ToSearchThread): void {
  const { spaceId } = message
  const space = spaces.get(spaceId)
  if (message.type === 'open') {
    space?.clear()
    spaces.set(spaceId, new SpaceIndex(arena, message.dimensions))
  } else if (message.type === 'search') {
    if (!space) throw new Error(`the Space ${spaceId} is not in memory`)
    reply({ type: 'found', id: message.id, candidates: space.search(message.query) })
  } else if (message.type === 'close') {
    space?.clear()
    spaces.delete(spaceId)
  } else if (space) {
    // Changes of a Space that is not in memory are ignored: it is loaded whole when it is opened.
    if (message.type === 'add') space.add(message.run, message.columns)
    else if (message.type === 'update') space.update(message.documents)
    else space.complete()
    reply({ type: 'size', spaceId, bytes: space.bytes() })
  }
}

function reply(message: FromSearchThread): void {
  port.postMessage(message)
}
