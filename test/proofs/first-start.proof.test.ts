import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { databaseVariables, freshDatabasePlace, makeTestFolder, testServerUrl } from '../harness/database.ts'
import { runOnServer, urlOfDatabase } from '../harness/database-template.ts'
import { createApiClient, expectStatus, removeFolder, spawnPortico } from '../harness/portico.ts'

/** The first start: one token and one demo, each printed before it is valid, despite crashes and concurrent starts. */

const victimFile = fileURLToPath(new URL('../harness/first-start-process.ts', import.meta.url))
const secretKey = 'a secret key of tests, 32 bytes or more'
const tokenPattern = /pto_[0-9A-Za-z]{40}/g
const keyPattern = /ptc_[0-9A-Za-z]{40}/g

function startVictim(point: string, environment: Record<string, string>) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', victimFile, point], {
    cwd: environment.PORTICO_DATA_DIR,
    env: { PATH: process.env.PATH, PORT: '0', PORTICO_METRICS_PORT: '0', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return { child, output: () => output, ended: once(child, 'close') }
}

/** Lets the first start begin, and resolves to its complete output. */
async function runToEnd(victim: ReturnType<typeof startVictim>): Promise<string> {
  await untilReady(victim)
  victim.child.stdin.write('go\n')
  await victim.ended
  return victim.output()
}

async function untilReady({ child, output, ended }: ReturnType<typeof startVictim>): Promise<void> {
  while (!output().includes('ready\n')) {
    await Promise.race([once(child.stdout, 'data'), ended])
    if (isOver(child)) throw new Error(`the process ended before it was ready: ${output()}`)
  }
}

const isOver = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** The values of the printed `export` lines. */
function readDemo(output: string) {
  const read = (name: string) => new RegExp(`export ${name}=(\\S+)`).exec(output)![1]!
  return {
    apiKey: read('PORTICO_API_KEY'),
    spaceId: read('PORTICO_SPACE_ID'),
    endpointId: read('PORTICO_ENDPOINT_ID'),
  }
}

test('a first start killed at each critical moment is finished by a later start: one token, one key, one welcome', async () => {
  const place = await freshDatabasePlace()
  const environment = {
    PORTICO_DATA_DIR: place.dataFolder,
    PORTICO_SECRET_KEY: secretKey,
    ...databaseVariables(place),
  }
  const printed: string[] = []
  // The third start prints the token and commits it; after that the first print is the demo.
  for (const point of ['before 1', 'after 1', 'welcome', 'before 1', 'after 1'])
    printed.push(await runToEnd(startVictim(point, environment)))
  const counts = printed.map((text) => [text.match(tokenPattern)?.length ?? 0, text.match(keyPattern)?.length ?? 0])
  expect(counts).toEqual([
    [0, 0],
    [1, 0],
    [1, 0],
    [0, 0],
    [0, 1],
  ])

  const portico = await spawnPortico(environment)
  await expect.poll(portico.output, { timeout: 30_000 }).toContain('export PORTICO_ENDPOINT_ID=')
  expect(portico.output()).not.toMatch(tokenPattern)
  const demo = readDemo(portico.output())
  const [unborn, token] = printed.join().match(tokenPattern)!
  expect(await createApiClient(portico.url, unborn!)('GET', '/api/organisations')).toMatchObject({ status: 401 })
  const unbornKey = readDemo(printed[4]!).apiKey
  expect(await createApiClient(portico.url, unbornKey)('GET', '/v1/gateway/models')).toMatchObject({ status: 401 })

  const operator = createApiClient(portico.url, token!)
  const log = expectStatus(await operator('GET', '/api/admin-log'), 200)
  expect(log.items.map((entry: { action: string }) => entry.action).toSorted()).toEqual([
    'api_key.created',
    'operator_token.created',
    'organisation.created',
    'space.created',
  ])
  const client = createApiClient(portico.url, demo.apiKey)
  expect(await client('GET', `/v1/documents?spaceId=${demo.spaceId}`)).toMatchObject({
    status: 200,
    body: { total: 1, items: [{ name: 'welcome.md', status: 'ready' }] },
  })
  const question = { messages: [{ role: 'user', content: 'When is the museum open on Sundays?' }] }
  const answer = expectStatus(await client('POST', `/v1/endpoints/${demo.endpointId}/chat`, question), 200)
  expect(JSON.stringify(answer)).toContain('11:00')
  await portico.kill('SIGTERM')

  const later = startVictim('none', environment)
  expect(await runToEnd(later)).toBe('ready\ndone\n')
  await place.remove()
}, 180_000)

/** Each run is a race. */
const rounds = 3

test.skipIf(testServerUrl() === undefined)(
  'two processes that start at once on an empty server make one token and one demo together',
  async () => {
    for (let round = 1; round <= rounds; round++) {
      const name = `portico_first_start_${randomBytes(6).toString('hex')}`
      await runOnServer(testServerUrl()!, `create database ${name}`)
      const folders = [makeTestFolder(), makeTestFolder()]
      const victims = folders.map((folder) =>
        startVictim('none', {
          PORTICO_DATA_DIR: folder,
          PORTICO_SECRET_KEY: secretKey,
          DATABASE_URL: urlOfDatabase(testServerUrl()!, name),
        }),
      )
      // Both migrate at the same time, then both begin at the same time.
      await Promise.all(victims.map(untilReady))
      const outputs = await Promise.all(victims.map(runToEnd))
      for (const output of outputs) expect(output).toMatch(/done\n$/)
      const all = outputs.join('')
      expect(all.match(tokenPattern), all).toHaveLength(1)
      expect(all.match(keyPattern), all).toHaveLength(1)

      const portico = await spawnPortico({
        PORTICO_DATA_DIR: folders[0]!,
        PORTICO_SECRET_KEY: secretKey,
        DATABASE_URL: urlOfDatabase(testServerUrl()!, name),
      })
      const operator = createApiClient(portico.url, all.match(tokenPattern)![0])
      expect(await operator('GET', '/api/organisations')).toMatchObject({ status: 200, body: { total: 1 } })
      expect(await operator('GET', '/api/spaces')).toMatchObject({ status: 200, body: { total: 1 } })
      const demo = readDemo(all)
      const documents = await createApiClient(portico.url, demo.apiKey)('GET', `/v1/documents?spaceId=${demo.spaceId}`)
      expect(documents).toMatchObject({ status: 200, body: { total: 1 } })
      await portico.kill('SIGTERM')
      await runOnServer(testServerUrl()!, `drop database ${name} with (force)`)
      for (const folder of folders) await removeFolder(folder)
    }
  },
  180_000,
)
