import { fork, type ChildProcess } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ocrFolder } from '../ocr/engine.ts'
import { childHeapMebibytes } from './limits.ts'
import { lifelineDescriptor, memoryMark, timeMark } from './protocol.ts'

/** How a child process ended. */
export interface ChildExit {
  code: number | null
  signal: NodeJS.Signals | null
  /** True when its own watchdog or the JavaScript engine ended it for the memory it took. */
  outOfMemory: boolean
  /** True when its own watchdog ended it for its processor time. */
  outOfTime: boolean
  /** The end of what it wrote to its error output. */
  errorOutput: string
}

/** One running child process that has messages of these types. */
export interface IsolatedChild<ToChild, FromChild> {
  readonly pid: number | undefined
  /** Resolves when it can take work; rejects when it ends before that. */
  readonly ready: Promise<void>
  readonly exited: Promise<ChildExit>
  send(message: ToChild): void
  /**
   * Calls `onMessage` for each message, and `onExit` when the process ends or has ended, until the next call or `stopListening`. A
   * reaction on `exited` would stay in memory as long as the process.
   */
  listen(onMessage: (message: FromChild) => void, onExit: (exit: ChildExit) => void): void
  stopListening(): void
  kill(): void
  /** While busy it keeps its parent alive; idle children never do. */
  setBusy(busy: boolean): void
}

const maximumErrorOutput = 8 * 1024
/**
 * Kernel limit on private memory, above the watchdog's limit: it stops a single huge allocation between two checks. Node
 * reserves about 550 MB of address space that counts against it before any file is read.
 */
const kernelMemoryBytes = 3 * 1024 * 1024 * 1024

export interface ChildProgram {
  /** A file below `src`. It must start the watchdog (start-watchdog.ts) and send `{ type: 'ready' }`. */
  file: URL
  argument?: string
  /** Existing folders. The child may read its own program and these, and nothing else of the machine. */
  readableFolders: readonly string[]
}

export function startIsolatedChild<ToChild extends object, FromChild extends { type: string }>({
  file,
  argument,
  readableFolders,
}: ChildProgram): IsolatedChild<ToChild, FromChild> {
  const nodeArguments = [
    `--max-old-space-size=${childHeapMebibytes}`,
    '--no-warnings',
    '--permission',
    '--allow-worker',
    ...[...programFolders(), ...readableFolders.flatMap(withTarget)].map((folder) => `--allow-fs-read=${folder}`),
  ]
  const limiter = limitProgram()
  const child = fork(fileURLToPath(file), argument === undefined ? [] : [argument], {
    execPath: limiter ?? process.execPath,
    execArgv: limiter
      ? [`--data=${kernelMemoryBytes}`, '--core=0', '--', process.execPath, ...nodeArguments]
      : nodeArguments,
    // Nothing of the service's environment: no secrets, no NODE_OPTIONS.
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
  })
  return wrap(child)
}

function wrap<ToChild extends object, FromChild extends { type: string }>(
  child: ChildProcess,
): IsolatedChild<ToChild, FromChild> {
  let errorOutput = ''
  let lifelineOutput = ''
  const lifeline = child.stdio[lifelineDescriptor]
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-maximumErrorOutput)
  })
  if (lifeline instanceof Socket)
    lifeline.on('data', (bytes) => (lifelineOutput += bytes.toString('latin1'))).on('error', () => {})

  const exited = new Promise<ChildExit>((resolve) => {
    child.on('error', (error) => {
      errorOutput += String(error)
      if (child.pid === undefined)
        resolve({ code: null, signal: null, outOfMemory: false, outOfTime: false, errorOutput })
    })
    child.on('close', (code, signal) => {
      const outOfMemory =
        lifelineOutput.includes(memoryMark) || /out of memory|allocation failed|FatalOOM/i.test(errorOutput)
      resolve({ code, signal, outOfMemory, outOfTime: lifelineOutput.includes(timeMark), errorOutput })
    })
  })
  let listener: { onMessage(message: FromChild): void; onExit(exit: ChildExit): void } | undefined
  let exit: ChildExit | undefined
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message) => {
      const said = message as FromChild
      if (said.type === 'ready') resolve()
      else listener?.onMessage(said)
    })
    void exited.then((end) => {
      exit = end
      listener?.onExit(end)
      reject(new Error(`a child process did not start: ${end.errorOutput.slice(-500)}`))
    })
  })
  ready.catch(() => {})

  const setBusy = (busy: boolean) => {
    const action = busy ? 'ref' : 'unref'
    child[action]()
    child.channel?.[action]()
    for (const stream of [child.stderr, lifeline]) if (stream instanceof Socket) stream[action]()
  }
  setBusy(false)

  return {
    pid: child.pid,
    ready,
    exited,
    // A child that has just died is reported by `exited`.
    send: (message) => void (child.connected && child.send(message, () => {})),
    listen(onMessage, onExit) {
      listener = { onMessage, onExit }
      if (exit) onExit(exit)
    },
    stopListening() {
      listener = undefined
    },
    kill: () => void child.kill('SIGKILL'),
    setBusy,
  }
}

/** prlimit of util-linux; elsewhere only the watchdog limits memory. */
function limitProgram(): string | undefined {
  return ['/usr/bin/prlimit', '/bin/prlimit'].find((file) => existsSync(file))
}

/** The program's sources and the packages they import, wherever the package manager has put them. */
function programFolders(): string[] {
  const root = path.resolve(import.meta.dirname, '../../../..')
  const imported = fileURLToPath(import.meta.resolve('@hyzyla/pdfium'))
  const marker = `${path.sep}node_modules${path.sep}`
  const packages = imported.slice(0, imported.lastIndexOf(marker) + marker.length - 1)
  // The folder next to the sources may be a link to the packages.
  const linked = path.join(root, 'node_modules')
  const folders = [path.join(root, 'src'), path.join(root, 'package.json'), packages]
  return [...folders, ...[linked, ocrFolder].filter(existsSync)].flatMap(withTarget)
}

/** The folder as it is named, and where its links lead: Node.js checks the path that the program uses. */
function withTarget(folder: string): string[] {
  return [...new Set([path.resolve(folder), realpathSync(folder)])]
}
