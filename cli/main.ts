import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { runCli } from './run.ts'

/** The `portico` command: a client of the HTTP API. */

// A pipe that is closed early (`portico org list | head -1`) is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort(new Error('interrupted')))

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  writeOut: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY ?? false,
  readLine: async () => {
    const input = createInterface({ input: process.stdin })
    try {
      for await (const line of input) return line
      return ''
    } finally {
      input.close()
    }
  },
  readInput: () => text(process.stdin),
  signal: interrupted.signal,
})
