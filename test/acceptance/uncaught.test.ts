import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { freshDataFolder, testServerUrl } from '../harness/database.ts'
import { createApiClient, organisationMakers, removeFolder, spawnPortico } from '../harness/portico.ts'

const ways = {
  'an uncaught exception': 'throw new Error("planned fault")',
  'an unhandled rejection': 'void Promise.reject(new Error("planned fault"))',
}

for (const [what, statement] of Object.entries(ways)) {
  it(`${what} is logged and ends the process with a code other than 0, so that a supervisor restarts it`, async () => {
    const dataFolder = await freshDataFolder()
    const fault = encodeURIComponent(`process.on('SIGUSR2', () => { ${statement} })`)
    const { child, output } = await spawnPortico({
      PORTICO_DATA_DIR: dataFolder,
      PORTICO_DEMO: 'false',
      PORTICO_OPERATOR_TOKEN: 'operator-token-of-the-fault-tests',
      NODE_OPTIONS: `--import=data:text/javascript,${fault}`,
    })
    const ended = once(child, 'exit')
    child.kill('SIGUSR2')
    expect(await ended).toEqual([1, null])
    expect(output()).toMatch(/"level":"error".*planned fault.*uncaught exception/)
    await removeFolder(dataFolder)
  }, 60_000)
}

it('a failed fsync of the embedded database ends the process, and every acknowledged commit exists afterwards', async () => {
  const dataFolder = await freshDataFolder()
  const fault = path.join(dataFolder, 'fsync-fails')
  // Loaded into the threads of the database, too.
  const module = `import fs from 'node:fs'
    const sync = fs.fdatasyncSync
    fs.fdatasyncSync = (descriptor) => {
      if (fs.existsSync(${JSON.stringify(fault)})) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
      sync(descriptor)
    }`
  const environment = {
    PORTICO_DATA_DIR: dataFolder,
    PORTICO_DEMO: 'false',
    PORTICO_OPERATOR_TOKEN: 'operator-token-of-the-fault-tests',
    PORTICO_SHUTDOWN_GRACE_MS: '1000',
  }
  const broken = await spawnPortico({
    ...environment,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}`,
  })
  const ended = once(broken.child, 'exit')
  const operator = createApiClient(broken.url, environment.PORTICO_OPERATOR_TOKEN)
  const create = (name: string) => operator('POST', '/api/organisations', { name, plan: 'enterprise' })
  expect((await create('Kept')).status).toBe(201)
  writeFileSync(fault, '')
  const refused = await create('Lost').catch(() => ({ status: 503 }))
  expect(refused.status).toBe(503)
  rmSync(fault)
  expect(await ended).toEqual([1, null])
  expect(broken.output()).toMatch(/could not write to the disk/)

  const next = await spawnPortico(environment)
  const { body } = await createApiClient(next.url, environment.PORTICO_OPERATOR_TOKEN)('GET', '/api/organisations')
  expect(JSON.stringify(body)).toContain('Kept')
  expect(await next.kill('SIGTERM')).toBe(0)
  await removeFolder(dataFolder)
}, 120_000)

it.skipIf(testServerUrl() !== undefined)(
  'a failed fsync of the local journal ends the process, and every acknowledged bill exists afterwards',
  async () => {
    const dataFolder = await freshDataFolder()
    const fault = path.join(dataFolder, 'fsync-fails')
    // On Linux a write of the journal is synced (O_DSYNC), elsewhere fdatasync follows it. The threads of the database use neither function.
    const module = `import fs from 'node:fs'
    for (const name of ['write', 'fdatasync']) {
      const original = fs[name]
      fs[name] = (descriptor, ...rest) =>
        descriptor > 2 && fs.existsSync(${JSON.stringify(fault)})
          ? process.nextTick(rest.at(-1), Object.assign(new Error('EIO: i/o error, ' + name), { code: 'EIO' }))
          : original(descriptor, ...rest)
      // How util.promisify names the results.
      Object.defineProperties(fs[name], Object.getOwnPropertyDescriptors(original))
    }`
    const environment = {
      PORTICO_DATA_DIR: dataFolder,
      PORTICO_DEMO: 'false',
      PORTICO_LEDGER_JOURNAL: 'local',
      PORTICO_OPERATOR_TOKEN: 'operator-token-of-the-fault-tests',
      PORTICO_SHUTDOWN_GRACE_MS: '1000',
    }
    const broken = await spawnPortico({
      ...environment,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}`,
    })
    const ended = once(broken.child, 'exit')
    const operator = createApiClient(broken.url, environment.PORTICO_OPERATOR_TOKEN)
    const { apiKey } = await organisationMakers(broken.url, operator).createOrganisation({ monthlyBudgetUsd: '10' })
    const call = () =>
      fetch(`${broken.url}/v1/gateway/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ model: 'portico/offline', messages: [{ role: 'user', content: 'Hello' }] }),
      })
    const answer = await call()
    expect(answer.status).toBe(200)
    writeFileSync(fault, '')
    expect((await call().catch(() => ({ status: 503 }))).status).not.toBe(200)
    expect(await ended).toEqual([1, null])
    expect(broken.output()).toMatch(/could not write its journal/)
    rmSync(fault)

    const next = await spawnPortico(environment)
    const again = createApiClient(next.url, environment.PORTICO_OPERATOR_TOKEN)
    const receipt = await again('GET', `/api/usage/${answer.headers.get('x-request-id')}`)
    expect(receipt.body).toMatchObject({ ending: 'completed' })
    expect((await again('GET', '/api/audit')).body).toMatchObject({ ok: true })
    expect(await next.kill('SIGTERM')).toBe(0)
    await removeFolder(dataFolder)
  },
  120_000,
)

it('requests during a full disk are refused with 503, and served again when there is room', async () => {
  const dataFolder = await freshDataFolder()
  const fault = path.join(dataFolder, 'disk-is-full')
  const module = `import fs from 'node:fs'
    const write = fs.writeSync
    fs.writeSync = (descriptor, ...rest) => {
      if (descriptor > 2 && fs.existsSync(${JSON.stringify(fault)})) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      return write(descriptor, ...rest)
    }`
  const operatorToken = 'operator-token-of-the-fault-tests'
  const { url, kill, output } = await spawnPortico({
    PORTICO_DATA_DIR: dataFolder,
    PORTICO_DEMO: 'false',
    PORTICO_OPERATOR_TOKEN: operatorToken,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}`,
  })
  const operator = createApiClient(url, operatorToken)
  const create = async (name: string) =>
    (await operator('POST', '/api/organisations', { name, plan: 'enterprise' })).status
  expect(await create('Before')).toBe(201)
  writeFileSync(fault, '')
  expect(await create('While full')).toBe(503)
  expect(output()).not.toContain('ran past its deadline')
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 30_000 }).toBe(503)
  rmSync(fault)
  await expect.poll(() => create('After'), { timeout: 75_000, interval: 500 }).toBe(201)
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 30_000 }).toBe(200)
  expect(JSON.stringify((await operator('GET', '/api/organisations')).body)).toContain('Before')
  expect(await kill('SIGTERM')).toBe(0)
  await removeFolder(dataFolder)
}, 240_000)
