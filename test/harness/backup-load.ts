import { type SeparatePortico, type TestOrganisation, type TestSpace, uploadForm } from './portico.ts'

/** Calls, uploads and removals that run while a backup is taken, and what of them was acknowledged. */

export interface AcknowledgedWork {
  /** Request ids of answered calls. */
  calls: Set<string>
  /** Documents that were stored and that nobody has begun to remove. */
  documents: Set<string>
  removed: Set<string>
}

export interface BackupLoad {
  done: AcknowledgedWork
  /** A copy of what is acknowledged now. */
  snapshot(): AcknowledgedWork
  reach(calls: number): Promise<void>
  stop(): Promise<void>
}

const callers = 3

export function startBackupLoad(
  portico: SeparatePortico,
  organisation: TestOrganisation,
  space: TestSpace,
): BackupLoad {
  const done: AcknowledgedWork = { calls: new Set(), documents: new Set(), removed: new Set() }
  const stopping = new AbortController()
  const failures: unknown[] = []

  async function call(number: number) {
    const body = { model: 'portico/offline', messages: [{ role: 'user', content: `Question ${number}` }] }
    const answer = await organisation.client('POST', '/v1/gateway/chat/completions', body)
    if (answer.status !== 200) throw new Error(`a call got ${answer.status}: ${JSON.stringify(answer.body)}`)
    done.calls.add(answer.headers.get('x-request-id')!)
  }

  let previous: string | undefined

  async function upload(number: number) {
    const form = uploadForm(`Fact ${number}: the box number ${number} is blue.`, `fact-${number}.txt`)
    const answer = await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form)
    if (answer.status >= 300) throw new Error(`an upload got ${answer.status}: ${JSON.stringify(answer.body)}`)
    done.documents.add(answer.body.id)
    // Every third time the one before it is removed again, with its blob.
    if (number % 3 === 0 && previous !== undefined) {
      done.documents.delete(previous)
      const removal = await organisation.client('DELETE', `/v1/documents/${previous}`)
      if (removal.status >= 300) throw new Error(`a removal got ${removal.status}: ${JSON.stringify(removal.body)}`)
      done.removed.add(previous)
    }
    previous = answer.body.id as string
  }

  async function repeat(work: (number: number) => Promise<void>, pauseMs: number) {
    for (let number = 1; !stopping.signal.aborted; number++) {
      await work(number).catch((error: unknown) => {
        if (!stopping.signal.aborted) failures.push(error)
      })
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  const running = [...Array.from({ length: callers }, () => repeat(call, 20)), repeat(upload, 400)]
  return {
    done,
    snapshot: () => ({
      calls: new Set(done.calls),
      documents: new Set(done.documents),
      removed: new Set(done.removed),
    }),
    async reach(calls) {
      while ((done.calls.size < calls || done.documents.size < 4) && failures.length === 0)
        await new Promise((resolve) => setTimeout(resolve, 20))
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
      if (failures.length > 0) throw failures[0]
    },
  }
}
