import { parentPort } from 'node:worker_threads'
import { type BodyReader, readLongBody } from '../bodies/index.ts'
import { describeError, isAppError } from '../kernel/index.ts'
import { type BodyResult, type BodyTask, packTexts } from './body-thread.ts'

/** The thread that parses large bodies, one after another; see body-thread.ts. */
parentPort!.on('message', (task: BodyTask) => {
  void read(task).then(({ result, transfer }) => parentPort!.postMessage(result, transfer))
})

async function read({
  module,
  exportName,
  format,
  bytes,
}: BodyTask): Promise<{ result: BodyResult; transfer: ArrayBuffer[] }> {
  try {
    const exports = (await import(module)) as Record<string, BodyReader>
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const { packed, memory } = packTexts(readLongBody(body, exports[exportName]!, format))
    return { result: { body: packed }, transfer: memory }
  } catch (error) {
    if (!isAppError(error)) return { result: { failed: describeError(error) }, transfer: [] }
    return { result: { refused: { code: error.code, message: error.message, param: error.param } }, transfer: [] }
  }
}
