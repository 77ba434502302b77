/**
 * Counts the files of src/ that a request passes: `npm run structure:walk [-- --files]`. A file counts if one of its functions ran at least
 * once per request in every round, by the coverage of V8, while requests were sent one after the other. Polls pause meanwhile, and so does the
 * copy of the ledger's journal in the database, so that the count is the same on a slow machine. The model is the built-in offline one,
 * the database the embedded one; the answer is sent whole. Ends with 1 if a request passes more files than its bound.
 */
import { Session } from 'node:inspector/promises'
import { setTimeout as delay } from 'node:timers/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Clock, systemClock } from '../src/platform/kernel/index.ts'
import { prepareTemplate } from '../test/harness/database-template.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  uploadForm,
  waitForDocument,
} from '../test/harness/portico.ts'

const showsFiles = process.argv.includes('--files')
const rounds = 3
const requests = 15
/** After each request, so that its batches are its own, however fast the machine is. */
const pauseMs = 30
/** Longer than the command runs. */
const pausedMs = 3_600_000
/** A reader can follow so many: docs/understand/structure.md. */
const mostForCompletion = 60
const mostForQuestion = 110

let isMeasuring = false
const clock: Clock = {
  ...systemClock,
  every: (ms, task) => systemClock.every(ms, () => void (isMeasuring || task())),
  sleep: (ms, signal) => systemClock.sleep(isMeasuring ? pausedMs : ms, signal),
}
await prepareTemplate(undefined)
const portico = await startPortico({ clock })
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
try {
  const organisation = await portico.createOrganisation()
  const whole = await spaceWith(organisation, {})
  const searched = await spaceWith(organisation, { wholeSpaceTokens: 0 })
  isMeasuring = true
  await report('completion', mostForCompletion, () =>
    organisation.client('POST', '/v1/gateway/chat/completions', {
      model: 'portico/offline',
      messages: [{ role: 'user', content: 'What does a ticket cost?' }],
    }),
  )
  await report('question, all files in the prompt', mostForQuestion, () => ask(organisation, whole))
  await report('question, passages searched', mostForQuestion, () => ask(organisation, searched))
} finally {
  await portico.stop()
}

async function report(name: string, most: number, send: () => Promise<{ status: number }>): Promise<void> {
  // What only the first request runs, such as the load of a Space, is no part of the walk.
  for (let index = 0; index < requests; index++) await sendOne(send)
  let walked: ReadonlyMap<string, number> | undefined
  for (let round = 0; round < rounds; round++) {
    const ran = await walkOnce(send)
    walked = walked ? new Map([...walked].filter(([file]) => ran.has(file))) : ran
  }
  console.log(`${name.padEnd(40)}${String(walked!.size).padStart(6)} files, at most ${most}`)
  if (showsFiles) for (const [file, functions] of walked!) console.log(`  ${file} ${functions}`)
  if (walked!.size > most) process.exitCode = 1
}

/** The files with the number of their functions that each request ran. */
async function walkOnce(send: () => Promise<{ status: number }>): Promise<Map<string, number>> {
  await readCoverage()
  for (let index = 0; index < requests; index++) await sendOne(send)
  return filesOf(await readCoverage())
}

async function sendOne(send: () => Promise<{ status: number }>): Promise<void> {
  const { status } = await send()
  if (status !== 200) throw new Error(`a request was answered with ${status}`)
  await delay(pauseMs)
}

/** Returns the calls since the last time. */
async function readCoverage() {
  return (await session.post('Profiler.takePreciseCoverage')).result
}

type Coverage = Awaited<ReturnType<typeof readCoverage>>

function filesOf(coverage: Coverage): Map<string, number> {
  const sources = pathToFileURL(path.join(import.meta.dirname, '../src/')).href
  const counts = coverage
    .filter(({ url }) => url.startsWith(sources))
    .map(({ url, functions }): [string, number] => [
      url.slice(sources.length - 'src/'.length),
      // The one that begins at 0 is the file itself.
      functions.filter(({ ranges: [whole] }) => whole!.startOffset > 0 && whole!.count >= requests).length,
    ])
  return new Map(counts.filter(([, functions]) => functions > 0).sort(([left], [right]) => (left < right ? -1 : 1)))
}

async function spaceWith(organisation: TestOrganisation, settings: object) {
  const space = await portico.createSpace(organisation, { settings })
  const text = Array.from({ length: 50 }, (_, index) => `Room ${index} shows ${index + 10} pictures of the sea.`)
  const form = uploadForm(['A ticket costs 12 euros.', ...text].join('\n\n'), 'museum.txt')
  const { id } = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
  await waitForDocument(organisation.client, id)
  return space
}

async function ask(organisation: TestOrganisation, { endpointId }: { endpointId: string }) {
  const answer = await organisation.client(
    'POST',
    `/v1/endpoints/${endpointId}/chat`,
    { messages: [{ role: 'user', content: 'What does a ticket cost?' }] },
    { 'service-enable-inline-sources': 'true' },
  )
  if (!JSON.stringify(answer.body).includes('[1]')) throw new Error('the answer has no citation')
  return answer
}
