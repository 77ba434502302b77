import { parentPort } from 'node:worker_threads'
import { type BodyReader, describeError, isAppError, readBody } from '../kernel/index.ts'
import type { BodyResult, BodyTask } from './body-messages.ts'

/** The thread that parses large bodies, one after another; see body-thread.ts. */
parentPort!.on('message', (task: BodyTask) => {
  void read(task).then((result) => parentPort!.postMessage(result, []))
})

async function read({ module, exportName, format, bytes }: BodyTask): Promise<BodyResult> {
  try {
    const exports = (await import(module)) as Record<string, BodyReader>
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return { body: readBody(body, exports[exportName]!, format) }
  } catch (error) {
    if (!isAppError(error)) return { failed: describeError(error) }
    return { refused: { code: error.code, message: error.message, param: error.param } }
  }
}
