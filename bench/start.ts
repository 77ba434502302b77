/**
 * How long a start takes, from the start of the process until it listens, and which part takes how long: on an empty data folder,
 * on one that an earlier start left, and on one whose process was killed: `npm run bench:start [-- --starts N --flags "..."]`.
 * The processor time counts all threads and depends little on other programs.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '5' },
    folder: { type: 'string', default: os.tmpdir() },
    flags: { type: 'string', default: '' },
  },
})
const flags = values.flags.split(' ').filter(Boolean)
const startCount = Number(values.starts)

const dataFolder = fs.mkdtempSync(path.join(values.folder, 'portico-start-'))
try {
  const runs: Start[] = []
  for (let run = 0; run < startCount; run++) {
    fs.rmSync(dataFolder, { recursive: true, force: true })
    runs.push(await measure())
  }
  print('empty data folder', runs)
  runs.length = 0
  for (let run = 0; run < startCount; run++) runs.push(await measure())
  print('data folder of an earlier start', runs)
} finally {
  fs.rmSync(dataFolder, { recursive: true, force: true })
}

interface Start {
  wallMs: number
  processorMs: number
  /** Milliseconds of each part, in order. */
  parts: Map<string, number>
}

async function measure(): Promise<Start> {
  const service = await startServiceProcess({ dataFolder, flags })
  try {
    return await read(service)
  } finally {
    await service.stop()
  }
}

async function read(service: ServiceProcess): Promise<Start> {
  const { timeline, processorMs } = await service.report()
  const parts = new Map<string, number>()
  let beforeMs = 0
  for (const { name, atMs } of timeline) {
    parts.set(name, atMs - beforeMs)
    beforeMs = atMs
  }
  return { wallMs: service.startMs, processorMs, parts }
}

function print(title: string, starts: Start[]): void {
  console.log(`\n${title}: ${starts.length} starts, load ${os.loadavg()[0]!.toFixed(1)}`)
  const rows: [string, (start: Start) => number][] = [
    ['until it listens, ms', (start) => start.wallMs],
    ['processor time, ms', (start) => start.processorMs],
    ...[...starts[0]!.parts.keys()].map((name): [string, (start: Start) => number] => [
      `  ${name}, ms`,
      (start) => start.parts.get(name) ?? 0,
    ]),
  ]
  console.log('                                    best  median')
  for (const [name, value] of rows) {
    const sorted = starts.map(value).sort((left, right) => left - right)
    const shown = [sorted[0]!, sorted[sorted.length >> 1]!].map((ms) => ms.toFixed(0).padStart(8))
    console.log(name.padEnd(32) + shown.join(''))
  }
}
