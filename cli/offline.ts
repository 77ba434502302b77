import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Context } from './context.ts'
import { FailedError } from './errors.ts'

const program = fileURLToPath(new URL('../src/app/offline/offline.ts', import.meta.url))

/** Runs a task that needs no service in a separate process, and shows its progress. Throws FailedError with its message. */
export async function runOffline<Result>(
  { process: cliProcess, output }: Context,
  task: Record<string, unknown>,
): Promise<Result> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: cliProcess.environment as NodeJS.ProcessEnv,
    signal: cliProcess.signal,
  })
  // Not an argument: other users of the machine can see those.
  child.stdin.on('error', () => {}).end(JSON.stringify(task))
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const ended = new Promise<void>((resolve, reject) => child.once('close', () => resolve()).once('error', reject))
  let last: { result?: Result; error?: { message: string } } = {}
  for await (const line of createInterface({ input: child.stdout })) {
    const message = JSON.parse(line) as typeof last & { progress?: string }
    if (message.progress === undefined) last = message
    else output.progress(message.progress)
  }
  await ended.catch((error: unknown) => {
    if (cliProcess.signal.aborted) throw new FailedError('Interrupted.')
    throw error
  })
  output.progress('')
  if (last.result !== undefined) return last.result
  if (errors !== '') cliProcess.writeError(errors)
  throw new FailedError(sentence(last.error?.message ?? 'the program ended without a result'))
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
