/**
 * A process that runs the first start and is killed during it: `first-start-process.ts POINT`, configured by the environment like
 * Portico. It prints `ready` when it serves, waits for a line on standard input, and prints `done` after the first start. POINT is
 * `none`, `welcome` (the demo is stored, its document is not), `before N` or `after N`: around the Nth print, inside the
 * transaction that makes the printed secret valid.
 */
import { once } from 'node:events'
import { loadConfig } from '../../src/app/config/index.ts'
import { runFirstStart } from '../../src/app/first-start/first-start.ts'
import { silentLog } from '../../src/platform/kernel/index.ts'
import { createService } from '../../src/app/roles/all.ts'

const [point = 'none'] = process.argv.slice(2)

const writeLine = (text: string) => new Promise((resolve) => process.stdout.write(`${text}\n`, resolve))

async function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

let prints = 0
async function print(text: string): Promise<void> {
  prints++
  if (point === `before ${prints}`) await die()
  await writeLine(text)
  if (point === `after ${prints}`) await die()
}

const service = await createService({ config: loadConfig(), log: silentLog })
const { url } = await service.start()
if (point === 'welcome') service.parts.documents.upload = die
await writeLine('ready')
await once(process.stdin, 'data')
await runFirstStart(service.parts, { url, print })
await writeLine('done')
await service.stop()
process.exit(0)
