import { parentPort } from 'node:worker_threads'
import type { FromResident, ToResident } from './messages.ts'
import { createSpaceIndex, type SpaceIndex } from './space-index.ts'
import { createVectorArena } from './vector-arena.ts'

/** The thread of the resident index: a search through a million vectors must not hold up the requests of the process. */

const port = parentPort!
const arena = createVectorArena()
const spaces = new Map<string, SpaceIndex>()

port.on('message', (message: ToResident) => {
  try {
    serve(message)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const { spaceId } = message
    say({ type: 'failed', id: message.type === 'search' ? message.id : null, spaceId, message: reason })
  }
})

function serve(message: ToResident): void {
  const { spaceId } = message
  const space = spaces.get(spaceId)
  if (message.type === 'open') {
    space?.clear()
    spaces.set(spaceId, createSpaceIndex(arena, message.dimensions))
  } else if (message.type === 'search') {
    if (!space) throw new Error(`the Space ${spaceId} is not in memory`)
    say({ type: 'found', id: message.id, candidates: space.search(message.query) })
  } else if (message.type === 'close') {
    space?.clear()
    spaces.delete(spaceId)
  } else if (space) {
    // A Space that is not in memory takes nothing: it is loaded whole when it is opened.
    if (message.type === 'add') space.add(message.run, message.rows)
    else if (message.type === 'settle') space.settle(message.documents)
    else space.complete()
    say({ type: 'size', spaceId, bytes: space.bytes() })
  }
}

function say(message: FromResident): void {
  port.postMessage(message)
}
