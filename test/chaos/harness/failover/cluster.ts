import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePorts } from '../../../harness/free-port.ts'
import { startFaultProxy } from '../../../harness/ledger-crash/fault-proxy.ts'
import { type ClusterNode, createNode, type NodeLinks } from './node.ts'
import { etcdOptions, haproxySettings, patroniSettings } from './settings.ts'

/**
 * Two PostgreSQL nodes with Patroni, one etcd and HAProxy, with the settings of deploy/. All connections to a node, and those of its Patroni to
 * etcd, go through proxies of this process, so that the node can be cut off.
 */
export interface FailoverCluster {
  /** Of HAProxy, which leads to the primary. */
  url: string
  /** Of HAProxy too, which leads to the standby. */
  replicaUrl: string
  primary(): Promise<ClusterNode>
  other(node: ClusterNode): ClusterNode
  /** Resolves when one node is the primary and the other one its synchronous standby. */
  untilRedundant(): Promise<void>
  /** `patronictl switchover`. */
  switchOver(from: ClusterNode): Promise<void>
  close(): Promise<void>
}

const script = path.resolve(import.meta.dirname, '../../../../scripts/failover-for-tests.sh')
const root = path.join(os.tmpdir(), 'portico-failover')
const run = promisify(execFile)
/** The machine is busy at times. */
const readyWithinMs = 120_000
const pollMs = 100

/** False where scripts/failover-for-tests.sh has not installed the packages. */
export const canFailOver = () => existsSync(path.join(root, '.complete'))

export async function startFailoverCluster(): Promise<FailoverCluster> {
  const inside = `/var/lib/portico/${randomBytes(4).toString('hex')}`
  const folder = path.join(root, inside)
  await run('bash', [script, 'run', 'mkdir', '-p', `${inside}/node1`, `${inside}/node2`])
  const { start, endAll } = programsWithLogsIn(folder)
  const nodes: ClusterNode[] = []
  const links: NodeLinks[] = []
  const close = async () => {
    for (const node of nodes) node.end()
    await endAll()
    await Promise.all(links.flatMap((link) => Object.values(link)).map((proxy) => proxy.close()))
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const [haproxyPort, replicaPort, etcdPort, peerPort, ...ports] = (await freePorts(8)) as [
    number,
    number,
    number,
    number,
    ...number[],
  ]
  const etcd = `http://127.0.0.1:${etcdPort}`

  async function startNode(name: string, [postgres, rest]: number[]): Promise<ClusterNode> {
    const restUrl = `http://127.0.0.1:${rest}`
    const link = {
      postgres: await startFaultProxy(`http://127.0.0.1:${postgres}`),
      rest: await startFaultProxy(restUrl),
      etcd: await startFaultProxy(etcd),
    }
    links.push(link)
    const own = { postgres: postgres!, rest: rest! }
    const settings = { name, folder: `${inside}/${name}`, ports: own, links: link, binFolder: serverPrograms() }
    // JSON is YAML.
    writeFileSync(path.join(folder, `${name}.yml`), JSON.stringify(patroniSettings(settings)))
    const patroni = start(name, 'patroni', `${inside}/${name}.yml`)
    const url = `postgres://postgres@127.0.0.1:${postgres}/postgres`
    return createNode({ name, patroni, url, restUrl, links: link, dataFolder: path.join(folder, name, 'data') })
  }
  try {
    start('etcd', 'etcd', ...etcdOptions(`${inside}/etcd`, etcd, `http://127.0.0.1:${peerPort}`))
    nodes.push(await startNode('node1', ports.slice(0, 2)))
    // The first one makes the cluster.
    await until(() => nodes[0]!.isPrimary(), `node1 is not the primary: ${folder} has its log`)
    nodes.push(await startNode('node2', ports.slice(2)))
    writeFileSync(path.join(folder, 'haproxy.cfg'), haproxySettings([haproxyPort, replicaPort], links))
    start('haproxy', 'haproxy', '-db', '-f', `${inside}/haproxy.cfg`)
  } catch (error) {
    await close()
    throw error
  }
  return {
    url: `postgres://postgres@127.0.0.1:${haproxyPort}/postgres`,
    replicaUrl: `postgres://postgres@127.0.0.1:${replicaPort}/postgres`,
    async primary() {
      for (const node of nodes) if (await node.isPrimary()) return node
      throw new Error('no node is the primary')
    },
    other: (node) => nodes.find((other) => other !== node)!,
    untilRedundant: () => until(() => isRedundant(nodes), `no synchronous standby: ${folder} has the logs`),
    async switchOver(from) {
      const to = nodes.find((node) => node !== from)!
      const words = ['switchover', 'portico', '--leader', from.name, '--candidate', to.name, '--force']
      await run('bash', [script, 'run', 'patronictl', '-c', `${inside}/${from.name}.yml`, ...words])
    },
    close,
  }
}

/** Programs of the folder of the packages, each with a log. */
function programsWithLogsIn(folder: string) {
  const started: ChildProcess[] = []
  return {
    start(name: string, ...words: string[]): ChildProcess {
      const log = openSync(path.join(folder, `${name}.log`), 'a')
      const child = spawn('bash', [script, 'run', ...words], { stdio: ['ignore', log, log] })
      started.push(child)
      return child
    },
    async endAll() {
      const running = started.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      await Promise.all(
        running.map((child) => {
          child.kill('SIGKILL')
          return once(child, 'exit')
        }),
      )
    },
  }
}

/** Where the programs of PostgreSQL are, below the root of the packages. */
function serverPrograms(): string {
  const [version] = readdirSync(path.join(root, 'usr/lib/postgresql'))
  return `/usr/lib/postgresql/${version}/bin`
}

/** Each node knows the other one, so that both have noticed what happened. */
async function isRedundant(nodes: readonly ClusterNode[]): Promise<boolean> {
  for (const node of nodes) {
    const roles = (await node.members())?.map(({ role, state }) => `${role} ${state}`).toSorted() ?? []
    if (roles.join() !== 'leader running,sync_standby streaming') return false
  }
  return true
}

async function until(isSo: () => Promise<boolean>, failure: string): Promise<void> {
  const deadline = performance.now() + readyWithinMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(failure)
    await wait(pollMs)
  }
}
